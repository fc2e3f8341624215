//! Calls of a tool, and what they come to.

use std::{sync::Arc, time::Duration};

use mcp_core::Era;
use mcp_rules::behaviour;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Plan, Subject};
use crate::{Conversation, Reply, Stage, Stop, Trouble};

/// How long the calls of one probe may take together.
const TOGETHER: Duration = Duration::from_secs(1);
/// How many times longer than any other answer the first one of a tool may take.
const PATIENCE: u32 = 2;
/// How long a call takes at most that is answered at once.
const AT_ONCE: Duration = Duration::from_millis(500);
/// How often a difference between two calls must show again.
const REPEATED: usize = 2;
/// How many times shorter it must be once several tools did not answer.
const IMPATIENCE: u32 = 5;

/// The calls that one probe makes of a tool.
#[derive(Debug)]
pub(super) struct Calls<'s> {
    subject: &'s Subject,
    pub(super) plan: Arc<Plan>,
    pub(super) talk: Conversation,
    spent: Duration,
    /// The line of the last call, if that was not answered in time.
    unanswered: Option<u64>,
}

/// What a call has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A result.
    Done,
    /// A result that says that it failed.
    Failed,
    /// An error with this code.
    Refused(i64),
    /// Something that is to be continued.
    Unfinished,
}

impl<'s> Calls<'s> {
    /// Calls of `subject`, in the conversation that probes share.
    ///
    /// # Errors
    ///
    /// If it cannot be called.
    pub(super) async fn of(subject: &'s Subject, stage: &mut Stage) -> Result<Calls<'s>, Stop> {
        let (plan, talk) = subject.on(stage).await?;
        Ok(Calls { subject, plan, talk, spent: Duration::ZERO, unanswered: None })
    }

    /// Calls the tool. `None` if there were enough calls: they take long, or the server has died of
    /// one, which is then reported. `what` says what is special about this one.
    ///
    /// # Errors
    ///
    /// If the server does not answer at all.
    pub(super) async fn call(
        &mut self,
        stage: &mut Stage,
        arguments: Option<&Value>,
        what: &str,
    ) -> Result<Option<Reply>, Stop> {
        // Once is enough for what takes long.
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
            // Whatever it is, it seems to be the same with all of them.
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
            Err(trouble @ Trouble::Unanswered { line, .. }) => {
                self.subject.note_slow(revision, has_answered);
                self.talk.give_up(id, line).await?;
                if !self.is_alive().await {
                    self.subject.note_wedged();
                    return Err(trouble.into());
                }
                // What has answered before may take long for some arguments.
                self.unanswered = Some(line);
                if has_answered || self.answers_a_listener(stage, arguments).await? {
                    self.talk.note_slow_call();
                    return Ok(None);
                }
                Err(trouble.into())
            }
            Err(trouble @ Trouble::Ended(_)) => {
                let line = self.talk.recording().len() as u64;
                let message = format!("{called} with {what}: {trouble}");
                let help = "a server must outlive whatever a client sends";
                stage.fail(&behaviour::SERVER_DIED, &self.talk, line, message, help);
                Ok(None)
            }
            Err(trouble) => Err(trouble.into()),
        }
    }

    /// The line of a call with `bad` that is not answered, although that with `good` is answered at
    /// once: the last call was such a one, and it is so again.
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

    /// Whether a call with the arguments that the others are made from does not get an internal
    /// error.
    pub(super) async fn is_served(&mut self, stage: &mut Stage) -> Result<bool, Stop> {
        let plan = Arc::clone(&self.plan);
        self.spent = Duration::ZERO;
        let reply = self.call(stage, plan.base.as_ref(), "valid arguments").await?;
        Ok(reply.is_some_and(|reply| verdict(&reply) != Verdict::Refused(-32603)))
    }

    /// Whether the tool succeeds with `good` and fails with `bad` however often it is asked. A server
    /// that limits how often it may be called, or fails now and then, answers both alike.
    pub(super) async fn differ(
        &mut self,
        stage: &mut Stage,
        bad: Option<&Value>,
        good: &Value,
    ) -> Result<bool, Stop> {
        for _ in 0..REPEATED {
            let what = "arguments that were sent before";
            let reply = self.call(stage, Some(good), what).await?;
            if reply.is_none_or(|reply| verdict(&reply) != Verdict::Done) {
                return Ok(false);
            }
            let reply = self.call(stage, bad, what).await?;
            let fails = |reply| matches!(verdict(reply), Verdict::Failed | Verdict::Refused(_));
            if !reply.as_ref().is_some_and(fails) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the call is answered if the client also listens on the stream of a GET. A tool may
    /// ask the client something there, and cannot go on without an answer.
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
            Err(Trouble::Unanswered { .. }) => {
                talk.disregard();
                Ok(false)
            }
            reply => Ok(reply.is_ok()),
        }
    }

    /// Whether the server answers anything, at once.
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

/// What an answer comes to.
pub(super) fn verdict(reply: &Reply) -> Verdict {
    let Some(result) = reply.result() else {
        return Verdict::Refused(reply.error_code().unwrap_or_default());
    };
    match () {
        () if result["isError"] == true => Verdict::Failed,
        () if result["resultType"].as_str().is_some_and(|kind| kind != "complete") => {
            Verdict::Unfinished
        }
        () if result.get("task").is_some() => Verdict::Unfinished,
        () => Verdict::Done,
    }
}

/// What an answer that is no success says.
pub(super) fn complaint(reply: &Reply) -> String {
    if reply.is_error() {
        return reply.error_text();
    }
    let content = reply.result().and_then(|result| result["content"].as_array());
    let texts = content.into_iter().flatten().filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join(" ")
}

/// A complaint, short enough for a message.
pub(super) fn short_complaint(reply: &Reply) -> String {
    mcp_core::excerpt(&complaint(reply), 200).into_owned()
}
