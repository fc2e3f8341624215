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
    Conversation, ConversationError, Incoming, Offer, Reply, Stage, Stop,
    discover::{LISTS, read_pages},
    wire::WireKind,
};

/// Tools, prompts and resources that did not answer in time although the server was alive, which is
/// no fault.
pub(super) type Slow = Arc<Mutex<BTreeSet<String>>>;

/// A list or its first page, and the message position at which it was requested.
struct Listed {
    entries: Value,
    mark: usize,
}

/// Performs the steps in a new conversation. An `Err` means that the conversation failed.
pub(super) async fn perform(stage: &mut Stage, steps: &[Step], slow: &Slow) -> Result<(), Stop> {
    let talk = stage.fresh().await?;
    let mut walk = WalkState {
        offer: stage.offer(),
        wire: stage.wire(),
        talk,
        cursors: BTreeMap::new(),
        listed: BTreeMap::new(),
        listening: Vec::new(),
        stream: None,
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
        match walk.step(stage, number, step).await {
            Ok(()) => {}
            Err(ConversationError::Unanswered { .. }) if step.is_call() => {
                // It may just be slow, as long as the server answers otherwise.
                walk.talk.check_alive().await?;
                walk.talk.note_slow_call();
                slow.lock().unwrap_or_else(PoisonError::into_inner).insert(subject(step));
            }
            Err(error) => return Err(error.into()),
        }
    }
    while !walk.listening.is_empty() {
        walk.unlisten().await?;
    }
    Ok(())
}

/// A channel for messages that the server sends on its own.
struct Heard {
    /// The line of its request.
    line: u64,
    /// The message position at which it was open.
    mark: usize,
}

/// A subscription.
struct Subscription {
    id: i64,
    heard: Heard,
    /// The kinds of changes that were acknowledged.
    kinds: Value,
}

struct WalkState {
    offer: Offer,
    wire: WireKind,
    talk: Conversation,
    cursors: BTreeMap<usize, Value>,
    /// By index of the list, and whether it was read completely.
    listed: BTreeMap<(usize, bool), Listed>,
    listening: Vec<Subscription>,
    /// The GET stream.
    stream: Option<Heard>,
    /// The last task.
    task: Option<Task>,
}

impl WalkState {
    async fn step(
        &mut self,
        stage: &mut Stage,
        number: usize,
        step: &Step,
    ) -> Result<(), ConversationError> {
        match step {
            Step::Greet => self.talk.check_alive().await,
            Step::List(list) => self.list(stage, *list).await,
            Step::ListAll(list) => self.list_all(stage, *list).await,
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
            Step::OpenStream => self.open_stream().await,
            Step::CloseStream => {
                if let Some(stream) = self.stream.take() {
                    self.talk.hang_up(stream.line).await;
                }
                Ok(())
            }
            _ => self.talk.request(step.method(), step.params()).await.map(|_| ()),
        }
    }

    /// Cancels a call right after sending it. It may still be answered, since the messages may
    /// cross. Everything else must continue.
    async fn cancel(&self, params: Value) -> Result<(), ConversationError> {
        let id = self.talk.next_id();
        let message = self.talk.request_message(&json!(id), "tools/call", params);
        let line = self.talk.send(&message.to_string()).await?;
        self.talk.give_up(id, line).await?;
        self.talk.check_alive().await
    }

    /// Subscribes until the end of the walk, or until cancelled. A refusal is not judged here.
    async fn listen(&mut self, step: &Step) -> Result<(), ConversationError> {
        let (id, mark) = (self.talk.next_id(), self.talk.mark());
        let message = self.talk.request_message(&json!(id), step.method(), step.params());
        let line = self.talk.send(&message.to_string()).await?;
        let answer = id.to_string();
        let is_about_it = |message: &Incoming| {
            let about =
                message.value.pointer("/params/_meta/io.modelcontextprotocol~1subscriptionId");
            message.answers(&answer)
                || message.closes == Some(line)
                || message.method() == Some("notifications/subscriptions/acknowledged")
                    && about.is_none_or(|about| *about == id)
        };
        let within = self.talk.limits().answer;
        let first = self.talk.wait_from(mark, within, step.method(), is_about_it).await?;
        if first.method().is_some() {
            let kinds = first.value.pointer("/params/notifications").cloned();
            let heard = Heard { line, mark: self.talk.mark() };
            self.listening.push(Subscription { id, heard, kinds: kinds.unwrap_or_default() });
        }
        Ok(())
    }

    /// Servers need not offer such a stream.
    async fn open_stream(&mut self) -> Result<(), ConversationError> {
        let Some(http) = self.talk.wire().as_http() else { return Ok(()) };
        let reply = self.talk.http(http.get()).await?;
        if reply.is_stream() {
            self.stream = Some(Heard { line: reply.asked, mark: self.talk.mark() });
        }
        Ok(())
    }

    /// The message position from which changes of a capability's lists are announced to the client.
    fn hears_from(&self, capability: &str) -> Option<usize> {
        let lasts = |heard: &&Heard| !self.talk.is_over(heard.line);
        match (self.talk.revision().era(), self.wire) {
            (Era::Legacy, WireKind::Http) => self.stream.iter().find(lasts).map(|heard| heard.mark),
            (Era::Legacy, _) => Some(0),
            (Era::Modern, _) => {
                let kind = format!("{}ListChanged", &capability[1..]);
                let told = self.listening.iter().filter(|it| it.kinds[&kind] == true);
                let told = told.map(|it| &it.heard).filter(lasts);
                told.map(|heard| heard.mark).min()
            }
        }
    }

    async fn ask_about_task(&mut self, method: &'static str) -> Result<(), ConversationError> {
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

    async fn unlisten(&mut self) -> Result<(), ConversationError> {
        let Some(subscription) = self.listening.pop() else { return Ok(()) };
        self.talk.give_up(subscription.id, subscription.heard.line).await?;
        self.talk.check_alive().await
    }

    async fn list(&mut self, stage: &mut Stage, list: usize) -> Result<(), ConversationError> {
        let (method, _, member) = LISTS[list];
        let mark = self.talk.mark();
        let reply = self.talk.request(method, Value::Null).await?;
        self.remember_cursor(list, &reply);
        let Some(entries) = reply.result().map(|result| result[member].clone()) else {
            return Ok(());
        };
        self.compare(stage, (list, false), Listed { entries, mark }, reply.line()).await;
        Ok(())
    }

    async fn list_all(&mut self, stage: &mut Stage, list: usize) -> Result<(), ConversationError> {
        let (method, _, member) = LISTS[list];
        let mark = self.talk.mark();
        let listing = read_pages(&self.talk, method, member).await?;
        if listing.refused.is_none() && !listing.is_endless {
            let listed = Listed { entries: listing.entries.into(), mark };
            self.compare(stage, (list, true), listed, listing.line).await;
        }
        Ok(())
    }

    /// Compares a list with its previous content. A change must have been announced.
    async fn compare(&mut self, stage: &mut Stage, of: (usize, bool), now: Listed, line: u64) {
        let (method, capability, _) = LISTS[of.0];
        let entries = now.entries.clone();
        let before = self.listed.insert(of, now);
        let Some(before) = before.filter(|before| before.entries != entries) else { return };
        // Only servers that declare `listChanged` must announce changes, and only to clients that
        // listen.
        let hears = self.hears_from(capability).is_some_and(|from| from <= before.mark);
        if !hears || !self.offer.has(&format!("{capability}/listChanged")) {
            return;
        }
        let changed = format!("notifications{capability}/list_changed");
        // The announcement may arrive on another connection than the list.
        let within = self.talk.limits().quiet * 4;
        let told = self.talk.wait_from(before.mark, within, method, |message| {
            message.method() == Some(changed.as_str())
        });
        if matches!(told.await, Err(ConversationError::Unanswered { .. })) {
            let message = format!("`{method}` changed without `{changed}`");
            let help = "send `list_changed` when a list changes";
            stage.fail(&behaviour::LIST_UNSTABLE, &self.talk, line, message, help);
        }
    }

    fn remember_cursor(&mut self, list: usize, reply: &Reply) {
        match reply.result().map(|result| &result["nextCursor"]) {
            Some(cursor @ Value::String(_)) => self.cursors.insert(list, cursor.clone()),
            _ => self.cursors.remove(&list),
        };
    }
}

/// The subject of a call.
fn subject(step: &Step) -> String {
    let params = step.params();
    let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default();
    format!("{} {name}", step.method())
}
