//! Calls of a tool, and their outcome.

use std::{sync::Arc, time::Duration};

use mcp_core::Era;
use mcp_rules::behaviour;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Plan, Subject};
use crate::{Conversation, ConversationError, Reply, Stage, Stop};

/// Time limit for all calls of one probe.
const TOGETHER: Duration = Duration::from_secs(1);
/// Factor by which the time limit is extended for the first answer of a tool.
const PATIENCE: u32 = 2;
/// Maximum duration of a call that counts as answered at once.
const AT_ONCE: Duration = Duration::from_millis(500);
/// How often a difference between two calls must recur before it is reported.
const REPEATED: usize = 2;
/// Factor by which it is reduced once several tools did not answer.
const IMPATIENCE: u32 = 5;

/// The calls of a tool by one probe.
#[derive(Debug)]
pub(super) struct Calls<'s> {
    subject: &'s Subject,
    pub(super) plan: Arc<Plan>,
    pub(super) talk: Conversation,
    spent: Duration,
    /// The line of the last call, if that was not answered in time.
    unanswered: Option<u64>,
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallOutcome {
    /// A result.
    Done,
    /// A result with `isError`.
    Failed,
    /// An error with this code.
    Refused(i64),
    /// A task or a request for input.
    Unfinished,
}

impl<'s> Calls<'s> {
    /// Prepares calls of `subject`, in a shared conversation.
    ///
    /// # Errors
    ///
    /// If it cannot be called.
    pub(super) async fn of(subject: &'s Subject, stage: &mut Stage) -> Result<Calls<'s>, Stop> {
        let (plan, talk) = subject.on(stage).await?;
        Ok(Calls { subject, plan, talk, spent: Duration::ZERO, unanswered: None })
    }

    /// Calls the tool. `None` if no more calls should be made, because they take too long or the
    /// server died, which is then reported. `what` describes what is special about this call.
    ///
    /// # Errors
    ///
    /// If the server does not answer anything.
    pub(super) async fn call(
        &mut self,
        stage: &mut Stage,
        arguments: Option<&Value>,
        what: &str,
    ) -> Result<Option<Reply>, Stop> {
        // For slow tools, one call is enough.
        let together = if self.subject.takes_long_elsewhere(stage.revision()) {
            TOGETHER / 4
        } else {
            TOGETHER
        };
        if self.spent > together {
            self.subject.note_long(stage.revision());
            return Ok(None);
        }
        stage.spend_call()?;
        let (revision, answer) = (stage.revision(), self.talk.limits().answer);
        let has_answered = self.subject.has_answered(revision);
        let within = match self.subject.silent_tools() {
            _ if has_answered => answer,
            0 => answer * PATIENCE,
            // If several tools do not answer, they probably share the cause.
            1 | 2 => answer,
            _ => answer / IMPATIENCE,
        };
        let id = self.talk.next_id();
        let params = params(self.subject.name(), arguments);
        let message = self.talk.request_message(&json!(id), "tools/call", params).to_string();
        let started = Instant::now();
        let called = format!("a call of `{}`", self.subject.name());
        let reply = self.talk.exchange(&message, &id.to_string(), &called, within).await;
        self.spent += started.elapsed();
        self.unanswered = None;
        match reply {
            Ok(reply) => {
                self.subject.note_answer(revision);
                Ok(Some(reply))
            }
            Err(error @ ConversationError::Unanswered { line, .. }) => {
                self.subject.note_slow(revision, has_answered);
                self.talk.give_up(id, line).await?;
                if !self.is_alive().await {
                    self.subject.note_wedged();
                    return Err(error.into());
                }
                // A tool that has answered before may take long for some arguments.
                self.unanswered = Some(line);
                if has_answered || self.answers_a_listener(stage, arguments).await? {
                    self.talk.note_slow_call();
                    return Ok(None);
                }
                Err(error.into())
            }
            Err(error @ ConversationError::Ended(_)) => {
                let line = self.talk.recording().len() as u64;
                let message = format!("{called} with {what}: {error}");
                let help = "keep running, whatever a client sends";
                stage.fail(&behaviour::SERVER_DIED, &self.talk, line, message, help);
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The line of the last call, if a call with `bad` remains unanswered although one with `good` is
    /// answered at once.
    pub(super) async fn never_answered(
        &mut self,
        stage: &mut Stage,
        bad: &Value,
        good: &Value,
    ) -> Result<Option<u64>, Stop> {
        let Some(line) = self.unanswered else { return Ok(None) };
        let what = "arguments that were sent before";
        self.spent = Duration::ZERO;
        let good = self.call(stage, Some(good), what).await?;
        if good.is_none() || self.spent > AT_ONCE {
            return Ok(None);
        }
        self.call(stage, Some(bad), what).await?;
        Ok(self.unanswered.and(Some(line)))
    }

    /// Whether a call with the plain valid arguments gets anything but an internal error.
    pub(super) async fn is_served(&mut self, stage: &mut Stage) -> Result<bool, Stop> {
        let plan = Arc::clone(&self.plan);
        self.spent = Duration::ZERO;
        let reply = self.call(stage, plan.base.as_ref(), "valid arguments").await?;
        Ok(reply.is_some_and(|reply| outcome(&reply) != CallOutcome::Refused(-32603)))
    }

    /// Whether the tool repeatedly succeeds with `good` and fails with `bad`. A server that limits its
    /// call rate, or fails now and then, treats both alike.
    pub(super) async fn differ(
        &mut self,
        stage: &mut Stage,
        bad: Option<&Value>,
        good: &Value,
    ) -> Result<bool, Stop> {
        for _ in 0..REPEATED {
            let what = "arguments that were sent before";
            let reply = self.call(stage, Some(good), what).await?;
            if reply.is_none_or(|reply| outcome(&reply) != CallOutcome::Done) {
                return Ok(false);
            }
            let reply = self.call(stage, bad, what).await?;
            let fails =
                |reply| matches!(outcome(reply), CallOutcome::Failed | CallOutcome::Refused(_));
            if !reply.as_ref().is_some_and(fails) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the call is answered if the client also opens a GET stream. A tool may send requests
    /// to the client there, and cannot continue without an answer.
    async fn answers_a_listener(
        &self,
        stage: &mut Stage,
        arguments: Option<&Value>,
    ) -> Result<bool, Stop> {
        if self.talk.revision().era() != Era::Legacy || self.talk.wire().as_http().is_none() {
            return Ok(false);
        }
        stage.spend_call()?;
        let talk = stage.fresh().await?;
        let Some(http) = talk.wire().as_http() else { return Ok(false) };
        if !talk.http(http.get()).await?.is_stream() {
            return Ok(false);
        }
        match talk.request("tools/call", params(self.subject.name(), arguments)).await {
            Err(ConversationError::Unanswered { .. }) => {
                talk.disregard();
                Ok(false)
            }
            reply => Ok(reply.is_ok()),
        }
    }

    /// Whether the server answers promptly.
    async fn is_alive(&self) -> bool {
        let method = match self.talk.revision().era() {
            Era::Legacy => "ping",
            Era::Modern => "server/discover",
        };
        let id = json!(self.talk.next_id());
        let message = self.talk.request_message(&id, method, Value::Null).to_string();
        let within = self.talk.limits().quiet * 4;
        self.talk.exchange(&message, &id.to_string(), method, within).await.is_ok()
    }
}

/// The params of a call.
pub(super) fn params(tool: &str, arguments: Option<&Value>) -> Value {
    match arguments {
        Some(arguments) => json!({ "name": tool, "arguments": arguments }),
        None => json!({ "name": tool }),
    }
}

/// Classifies an answer.
pub(super) fn outcome(reply: &Reply) -> CallOutcome {
    let Some(result) = reply.result() else {
        return CallOutcome::Refused(reply.error_code().unwrap_or_default());
    };
    match () {
        () if result["isError"] == true => CallOutcome::Failed,
        () if result["resultType"].as_str().is_some_and(|kind| kind != "complete") => {
            CallOutcome::Unfinished
        }
        () if result.get("task").is_some() => CallOutcome::Unfinished,
        () => CallOutcome::Done,
    }
}

/// The error text of an unsuccessful answer.
pub(super) fn complaint(reply: &Reply) -> String {
    if reply.is_error() {
        return reply.error_text();
    }
    let content = reply.result().and_then(|result| result["content"].as_array());
    let texts = content.into_iter().flatten().filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join(" ")
}

/// The error text, shortened for a message.
pub(super) fn short_complaint(reply: &Reply) -> String {
    mcp_core::excerpt(&complaint(reply), 200).into_owned()
}
