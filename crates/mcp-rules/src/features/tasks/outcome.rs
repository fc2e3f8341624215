//! The results of `tasks/result`. Their shape is judged with the payload.

use mcp_json::Node;

use super::{
    conversation::{META_RELATED, RELATED_MISSING, Tasks},
    operations::completed_with_error,
    task::{Delivered, Stamp},
};
use crate::{
    conversation::{Event, Notes, TaskStatus, asked::TaskOperation, digest::kept},
    findings::Fault,
};

impl Tasks {
    pub(super) fn judge_outcome(
        &mut self,
        subject: &TaskOperation,
        event: &Event<'_>,
        notes: &mut Notes,
    ) {
        let (Some(id), Some(result)) = (&subject.id, event.result()) else { return };
        check_related(id, event, notes);
        let stamp = Stamp { at: event.at, number: self.now };
        let Some(task) = self.of_mut(event.from).get_mut(id) else { return };
        let is_call = task.original.is_some_and(|method| method.get().name == "tools/call");
        let error = result.get("isError").filter(|node| is_call && node.as_bool() == Some(true));
        let mut is_error = error.is_some();
        if let (Some(node), Some(reported)) = (error, task.status)
            && reported.status == TaskStatus::Completed
        {
            notes.note(
                completed_with_error()
                    .at(node.span())
                    .related(reported.stamp.at.line(), "the status was reported here"),
            );
            is_error = false;
        }
        task.delivered = Some(Delivered { stamp, is_error });
    }
}

fn check_related(id: &str, event: &Event<'_>, notes: &mut Notes) {
    let Some(result) = event.result() else { return };
    let related = event.meta().and_then(|meta| meta.get(META_RELATED));
    let named = related.and_then(|related| related.get("taskId"));
    if named.and_then(Node::as_str).is_some_and(|named| *kept(named) == *id) {
        return;
    }
    let message = match named.and_then(Node::as_str) {
        Some(other) => format!("the result names task `{other}` instead of `{id}`"),
        None => format!("the result does not say that it belongs to task `{id}`"),
    };
    let place = named.or(related).unwrap_or(result);
    notes.note(
        Fault::new(&RELATED_MISSING, message)
            .at(place.span())
            .related(event.answered().and_then(|request| request.at.line()), "the request was here")
            .help(format!("add `{META_RELATED}` with the `taskId` to the `_meta` of the result")),
    );
}
