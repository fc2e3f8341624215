//! Performs a walk.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use mcp_core::Era;
use mcp_rules::behaviour;
use serde_json::{Value, json};

use super::{step::Step, task::Task};
use crate::{
    Conversation, Incoming, Offer, Reply, Stage, Stop, Trouble, discover::LISTS, wire::WireKind,
};

/// Tools, prompts and resources that did not answer in time while the server was alive: they may
/// take as long as they like.
pub(super) type Slow = Arc<Mutex<BTreeSet<String>>>;

/// The first page of a list, and how many messages had come when it was asked for.
struct Listed {
    page: Value,
    mark: usize,
}

/// Performs the steps in a conversation of its own. An `Err` says that the server did not do its
/// part.
pub(super) async fn perform(stage: &mut Stage, steps: &[Step], slow: &Slow) -> Result<(), Stop> {
    let talk = stage.fresh().await?;
    let mut course = Course {
        offer: stage.offer(),
        hears: stage.wire() != WireKind::Http && stage.revision().era() == Era::Legacy,
        talk,
        cursors: BTreeMap::new(),
        listed: BTreeMap::new(),
        listening: Vec::new(),
        task: None,
    };
    for (number, step) in steps.iter().enumerate() {
        if step.is_call() {
            let is_slow = |slow: &BTreeSet<String>| slow.contains(&subject(step));
            if is_slow(&slow.lock().unwrap_or_else(PoisonError::into_inner)) {
                continue;
            }
            stage.spend_call()?;
        }
        match course.step(stage, number, step).await {
            Ok(()) => {}
            Err(Trouble::Unanswered { .. }) if step.is_call() => {
                // It may be slow rather than wrong, as long as everything else goes on.
                course.talk.check_alive().await?;
                course.talk.note_slow_call();
                slow.lock().unwrap_or_else(PoisonError::into_inner).insert(subject(step));
            }
            Err(trouble) => return Err(trouble.into()),
        }
    }
    while !course.listening.is_empty() {
        course.unlisten().await?;
    }
    Ok(())
}

struct Course {
    offer: Offer,
    talk: Conversation,
    /// Whether changes of lists are heard of.
    hears: bool,
    cursors: BTreeMap<usize, Value>,
    listed: BTreeMap<usize, Listed>,
    /// The ids of what is listened for.
    listening: Vec<i64>,
    /// The last task.
    task: Option<Task>,
}

impl Course {
    async fn step(&mut self, stage: &mut Stage, number: usize, step: &Step) -> Result<(), Trouble> {
        match step {
            Step::Greet => self.talk.check_alive().await,
            Step::List(list) => self.list(stage, *list).await,
            Step::NextPage(list) => {
                let Some(cursor) = self.cursors.get(list) else { return Ok(()) };
                let params = json!({ "cursor": cursor });
                let reply = self.talk.request(step.method(), params).await?;
                self.remember_cursor(*list, &reply);
                Ok(())
            }
            Step::Call { progress, cancel, .. } => {
                let mut params = step.params();
                if *progress {
                    params["_meta"] = json!({ "progressToken": format!("walk-{number}") });
                }
                if *cancel {
                    return self.cancel(params).await;
                }
                self.talk.request(step.method(), params).await.map(|_| ())
            }
            Step::Task { .. } => {
                let reply = self.talk.request(step.method(), step.params()).await?;
                self.task = reply.result().and_then(Task::created_by);
                Ok(())
            }
            Step::OfTask(method) => self.ask_about_task(method).await,
            Step::Listen(_) => self.listen(step).await,
            Step::Unlisten => self.unlisten().await,
            _ => self.talk.request(step.method(), step.params()).await.map(|_| ()),
        }
    }

    /// A call that is cancelled at once. Whether it is answered all the same is left open: the two
    /// may cross. Everything else must go on.
    async fn cancel(&self, params: Value) -> Result<(), Trouble> {
        let id = json!(self.talk.next_id());
        let message = self.talk.request_message(&id, "tools/call", params);
        self.talk.send(&message.to_string()).await?;
        let params = json!({ "requestId": id, "reason": "a walk" });
        self.talk.notify("notifications/cancelled", params).await?;
        self.talk.check_alive().await
    }

    /// Listens until the end of the walk, or until it is cancelled. Whether it may be refused is not
    /// the question here.
    async fn listen(&mut self, step: &Step) -> Result<(), Trouble> {
        let (id, mark) = (self.talk.next_id(), self.talk.mark());
        let message = self.talk.request_message(&json!(id), step.method(), step.params());
        self.talk.send(&message.to_string()).await?;
        let answer = id.to_string();
        let is_about_it = |message: &Incoming| {
            let about =
                message.value.pointer("/params/_meta/io.modelcontextprotocol~1subscriptionId");
            message.answers(&answer)
                || message.method() == Some("notifications/subscriptions/acknowledged")
                    && about.is_none_or(|about| *about == id)
        };
        let within = self.talk.limits().answer;
        let first = self.talk.wait_from(mark, within, step.method(), is_about_it).await?;
        if first.method().is_some() {
            self.listening.push(id);
        }
        Ok(())
    }

    async fn ask_about_task(&mut self, method: &'static str) -> Result<(), Trouble> {
        if method == "tasks/list" {
            return self.talk.request(method, Value::Null).await.map(|_| ());
        }
        let Some(task) = &mut self.task else { return Ok(()) };
        if method == "tasks/get" && !task.may_be_polled().await {
            return Ok(());
        }
        let params = json!({ "taskId": task.id });
        let reply = self.talk.request(method, params).await?;
        if method == "tasks/cancel" && reply.result().is_some() {
            self.task = None;
        }
        Ok(())
    }

    async fn unlisten(&mut self) -> Result<(), Trouble> {
        let Some(id) = self.listening.pop() else { return Ok(()) };
        self.talk.notify("notifications/cancelled", json!({ "requestId": id })).await?;
        self.talk.check_alive().await
    }

    async fn list(&mut self, stage: &mut Stage, list: usize) -> Result<(), Trouble> {
        let (method, capability, member) = LISTS[list];
        let mark = self.talk.mark();
        let reply = self.talk.request(method, Value::Null).await?;
        self.remember_cursor(list, &reply);
        let Some(page) = reply.result().map(|result| result[member].clone()) else {
            return Ok(());
        };
        let before = self.listed.insert(list, Listed { page: page.clone(), mark });
        let Some(before) = before.filter(|before| before.page != page) else { return Ok(()) };
        // Only who promises to tell of changes must tell.
        if !self.hears || !self.offer.has(&format!("{capability}/listChanged")) {
            return Ok(());
        }
        let changed = format!("notifications{capability}/list_changed");
        let quiet = self.talk.limits().quiet;
        let told = self.talk.wait_from(before.mark, quiet, method, |message| {
            message.method() == Some(changed.as_str())
        });
        if matches!(told.await, Err(Trouble::Unanswered { .. })) {
            let message = format!("`{method}` has changed without `{changed}`");
            let help = "send `list_changed` when a list changes";
            stage.fail(&behaviour::LIST_UNSTABLE, &self.talk, reply.line(), message, help);
        }
        Ok(())
    }

    fn remember_cursor(&mut self, list: usize, reply: &Reply) {
        match reply.result().map(|result| &result["nextCursor"]) {
            Some(cursor @ Value::String(_)) => self.cursors.insert(list, cursor.clone()),
            _ => self.cursors.remove(&list),
        };
    }
}

/// What a call is about.
fn subject(step: &Step) -> String {
    let params = step.params();
    let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default();
    format!("{} {name}", step.method())
}
