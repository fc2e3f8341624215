//! The order in which a server lists its tools (2026-07-28).

use mcp_json::Node;
use serde::{Deserialize, Serialize};

use super::conversation::ORDER_UNSTABLE;
use crate::{
    conversation::{Event, Known, Moment, Notes, digest::digest},
    findings::Fault,
};

/// The last complete listing, and the one being read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Order {
    complete: Option<Box<Complete>>,
    reading: Option<Box<Reading>>,
}

/// Names are kept as digests.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Complete {
    at: Moment,
    names: Vec<u64>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Reading {
    names: Vec<u64>,
    /// Digest of the cursor that continues it.
    next: Option<u64>,
}

impl Order {
    /// Follows a page of `tools/list`.
    pub(super) fn follow(&mut self, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
        let (Some(request), Some(result)) = (event.answered(), event.result()) else {
            return;
        };
        let (Some(page), true) = (&request.asked.page, event.is_modern()) else {
            return;
        };
        let Some(list) = result.get("tools") else { return };
        let mut reading = match (page.cursor, self.reading.take()) {
            (None, _) => Box::default(),
            (Some(cursor), Some(reading)) if reading.next == Some(cursor) => reading,
            (Some(_), _) => return,
        };
        let names = list.elements().filter_map(|tool| tool.get("name")?.str_bytes());
        reading.names.extend(names.map(|name| digest(&name)));
        if reading.names.len() > known.limits.remembered {
            return;
        }
        match result.get("nextCursor") {
            Some(next) => {
                reading.next = next.str_bytes().map(|cursor| digest(&cursor));
                self.reading = Some(reading);
            }
            None => self.compare(event, list, reading.names, notes),
        }
    }

    fn compare(&mut self, event: &Event<'_>, list: Node<'_>, names: Vec<u64>, notes: &mut Notes) {
        if let Some(before) = &self.complete
            && before.names != names
            && sorted(&before.names) == sorted(&names)
        {
            notes.note(
                Fault::new(&ORDER_UNSTABLE, "the same tools were listed in another order before")
                    .at(list.span())
                    .related(before.at.line(), "the previous list ended here")
                    .help("list tools in a fixed order, for instance by name"),
            );
        }
        self.complete = Some(Box::new(Complete { at: event.at, names }));
    }
}

fn sorted(names: &[u64]) -> Vec<u64> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names
}
