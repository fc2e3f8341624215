//! Probes around tool calls: progress, logs, pings and cancellation. They only use tools that may
//! be called and need no arguments, and ignore the results.

use std::time::Duration;

use futures_util::future::join_all;
use mcp_core::{Era, Revisions};
use mcp_rules::behaviour;
use serde_json::{Value, json};

use super::probe;
use crate::{Conversation, ConversationError, Needs, Opening, Probe, Reply, Stage, Stop, WireKind};

pub(super) static PROBES: &[Probe] = &[
    calling("calls/progress", "progress is reported as requested", progress),
    calling("calls/logs", "logs are sent at the requested level", logs),
    calling("calls/ping-while-busy", "a ping is answered while a tool runs", ping_while_busy)
        .at(Revisions::LEGACY),
    calling("calls/cancel", "a cancelled call is not answered", cancel),
    calling("calls/cancel-one", "cancelling a call does not affect other calls", cancel_one),
    calling("calls/bare-client", "a client without capabilities gets no requests", bare_client),
    calling("calls/concurrent", "concurrent calls are all answered", concurrent),
];

/// Maximum number of tools to try.
const TOOLS: usize = 6;
/// Number of concurrent calls.
const AT_ONCE: usize = 8;
/// Minimum duration of a slow tool.
const SLOW: Duration = Duration::from_millis(100);
/// Number of pings that must have waited.
const ATTEMPTS: usize = 3;

const fn calling(
    name: &'static str,
    about: &'static str,
    steps: for<'s> fn(&'s mut Stage) -> crate::StepsFuture<'s>,
) -> Probe {
    let mut probe = probe(name, about, steps);
    probe.needs = Needs::Tool;
    probe
}

/// Tools that can be called without arguments, except those known not to finish in time.
pub(super) fn callable(stage: &Stage) -> Result<Vec<String>, Stop> {
    let (offer, safety) = (stage.offer(), &stage.settings().safety);
    let needs_nothing = |tool: &&Value| {
        tool.pointer("/inputSchema/required").and_then(Value::as_array).is_none_or(Vec::is_empty)
    };
    let tools: Vec<String> = offer
        .tools
        .iter()
        .filter(|tool| safety.permits(tool).is_ok())
        .filter(needs_nothing)
        .filter_map(|tool| tool["name"].as_str().map(str::to_owned))
        .filter(|tool| !stage.is_endless(tool))
        .take(TOOLS)
        .collect();
    if tools.is_empty() {
        let reason = "no tool can be called without arguments and finishes in time";
        return Err(Stop::Skip(reason.to_owned()));
    }
    Ok(tools)
}

/// A call under way.
struct Call {
    tool: String,
    id: i64,
    mark: usize,
    line: u64,
}

impl Call {
    async fn start(
        stage: &Stage,
        talk: &Conversation,
        tool: &str,
        meta: Value,
    ) -> Result<Call, Stop> {
        stage.spend_call()?;
        let (id, mark) = (talk.next_id(), talk.mark());
        let mut params = json!({ "name": tool, "arguments": {} });
        if !meta.is_null() {
            params["_meta"] = meta;
        }
        let message = talk.request_message(&json!(id), "tools/call", params);
        let line = talk.send(&message.to_string()).await?;
        Ok(Call { tool: tool.to_owned(), id, mark, line })
    }

    /// Waits for the answer; `None` on timeout.
    async fn answer(&self, talk: &Conversation, within: Duration) -> Result<Option<Reply>, Stop> {
        let id = self.id.to_string();
        match talk.answer(self.mark, self.line, &id, "tools/call", within).await {
            Ok(reply) => Ok(Some(reply)),
            Err(ConversationError::Unanswered { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn cancel(&self, talk: &Conversation) -> Result<(), Stop> {
        Ok(talk.give_up(self.id, self.line).await?)
    }

    /// Waits for the end of the call, and cancels it after a timeout, which is no failure here.
    async fn finish(&self, stage: &mut Stage, talk: &Conversation) -> Result<Option<Reply>, Stop> {
        let reply = self.answer(talk, talk.limits().answer).await?;
        if reply.is_none() {
            stage.note_endless(&self.tool);
            // Take earlier findings first, which are not due to the cancellation.
            stage.take_findings(talk);
            self.cancel(talk).await?;
            talk.disregard();
        }
        Ok(reply)
    }
}

/// A conversation for the next call: the last one, unless it has a call under way. Reused because
/// starting a server may take longer than the call.
async fn for_next(
    stage: &mut Stage,
    last: &mut Option<Conversation>,
    opening: Option<&Opening>,
) -> Result<Conversation, Stop> {
    if let Some(talk) = last
        && !talk.is_disregarded()
        && talk.ended().is_none()
    {
        return Ok(talk.clone());
    }
    let talk = match opening {
        None => stage.clean().await?,
        Some(opening) => stage.fresh_as(opening).await?,
    };
    *last = Some(talk.clone());
    Ok(talk)
}

// The rules about progress judge the messages.
steps!(progress, stage => {
    let mut last = None;
    for (number, tool) in callable(stage)?.into_iter().enumerate() {
        let talk = for_next(stage, &mut last, None).await?;
        for token in [json!(format!("plumb-progress-{number}")), json!(7_000 + number), Value::Null] {
            let meta = if token.is_null() { Value::Null } else { json!({ "progressToken": token }) };
            let call = Call::start(stage, &talk, &tool, meta).await?;
            if call.finish(stage, &talk).await?.is_none() {
                break;
            }
        }
    }
    if let Some(talk) = last {
        talk.pause_for_more().await;
    }
});

// The rules about logging judge the messages.
steps!(logs, stage => {
    let has_levels = stage.offer().has("/logging") && stage.revision().era() == Era::Legacy;
    let mut last = None;
    for tool in callable(stage)? {
        let talk = for_next(stage, &mut last, None).await?;
        for level in ["emergency", "debug"] {
            let meta = match stage.revision().era() {
                Era::Legacy => Value::Null,
                Era::Modern => json!({ "io.modelcontextprotocol/logLevel": level }),
            };
            if has_levels {
                talk.request("logging/setLevel", json!({ "level": level })).await?;
            }
            let call = Call::start(stage, &talk, &tool, meta).await?;
            if call.finish(stage, &talk).await?.is_none() {
                break;
            }
        }
        if talk.is_disregarded() {
            continue;
        }
        let call = Call::start(stage, &talk, &tool, Value::Null).await?;
        call.finish(stage, &talk).await?;
    }
});

// The rules about capabilities judge requests of the server.
steps!(bare_client, stage => {
    let opening = Opening { capabilities: json!({}), ..Opening::at(stage.revision()) };
    let mut last = None;
    for tool in callable(stage)? {
        let talk = for_next(stage, &mut last, Some(&opening)).await?;
        let call = Call::start(stage, &talk, &tool, Value::Null).await?;
        call.finish(stage, &talk).await?;
    }
});

/// Tools that take a moment but finish in time.
async fn slow(stage: &mut Stage) -> Result<Vec<String>, Stop> {
    let mut slow = Vec::new();
    let talk = stage.clean().await?;
    for tool in callable(stage)? {
        let call = Call::start(stage, &talk, &tool, Value::Null).await?;
        if call.answer(&talk, SLOW).await?.is_none() && call.finish(stage, &talk).await?.is_some() {
            slow.push(tool);
        }
    }
    if slow.is_empty() {
        return Err(Stop::Skip("no tool that may be called takes long enough".to_owned()));
    }
    Ok(slow)
}

steps!(ping_while_busy, stage => {
    for tool in slow(stage).await? {
        let talk = stage.clean().await?;
        let mut blocked = 0;
        let mut line = 0;
        for _ in 0..ATTEMPTS {
            let call = Call::start(stage, &talk, &tool, Value::Null).await?;
            if call.answer(&talk, SLOW / 2).await?.is_some() {
                break;
            }
            let (begun, mark, id) = (tokio::time::Instant::now(), talk.mark(), talk.next_id());
            let ping = talk.request_message(&json!(id), "ping", Value::Null).to_string();
            let asked = talk.send(&ping).await?;
            let id_text = id.to_string();
            let is_either = |message: &crate::Incoming| {
                message.answers(&id_text) || message.answers(&call.id.to_string())
            };
            let first = talk.wait_from(mark, talk.limits().answer, "ping", is_either).await?;
            if !first.answers(&id_text) && begun.elapsed() > SLOW / 2 {
                blocked += 1;
                line = asked;
            }
            talk.answer(mark, asked, &id_text, "ping", talk.limits().answer).await?;
            call.finish(stage, &talk).await?;
        }
        if blocked == ATTEMPTS {
            let message = format!("a ping was answered only after the call of `{tool}`");
            let help = "keep reading while a tool runs";
            stage.fail(&behaviour::PING_BLOCKED, &talk, line, message, help);
        }
    }
});

// The rule `response-after-cancel` judges the messages. A single case may be chance.
steps!(cancel, stage => {
    if stage.revision().era() == Era::Modern && stage.wire() == WireKind::Http {
        return Err(Stop::Skip("requests are only cancelled by ending their exchange here".to_owned()));
    }
    for tool in slow(stage).await? {
        let mut late = Vec::new();
        for _ in 0..ATTEMPTS {
            let talk = stage.clean().await?;
            let call = Call::start(stage, &talk, &tool, Value::Null).await?;
            if call.answer(&talk, SLOW / 2).await?.is_some() {
                break;
            }
            call.cancel(&talk).await?;
            talk.check_alive().await?;
            let is_answered = matches!(call.answer(&talk, talk.limits().quiet * 4).await, Ok(Some(_)));
            late.push(talk);
            if !is_answered {
                break;
            }
        }
        if late.len() < ATTEMPTS {
            late.iter().for_each(Conversation::disregard);
        }
    }
});

steps!(cancel_one, stage => {
    for tool in slow(stage).await? {
        let talk = stage.clean().await?;
        let first = Call::start(stage, &talk, &tool, Value::Null).await?;
        let second = Call::start(stage, &talk, &tool, Value::Null).await?;
        if first.answer(&talk, SLOW / 2).await?.is_some() {
            second.finish(stage, &talk).await?;
            continue;
        }
        // Whether the cancelled one is answered is judged elsewhere.
        talk.disregard();
        first.cancel(&talk).await?;
        if second.answer(&talk, talk.limits().answer).await?.is_none() {
            let message = format!("one of two calls of `{tool}` was cancelled, and neither was answered");
            let help = "cancel only the request named by `requestId`";
            stage.fail(&behaviour::CANCELLATION_HITS_OTHERS, &talk, second.line, message, help);
        }
    }
});

steps!(concurrent, stage => {
    // With a slow tool, more calls overlap.
    let tool = match slow(stage).await {
        Ok(slow) => slow.into_iter().next(),
        Err(Stop::Skip(_)) => quick(stage).await?,
        Err(error) => return Err(error),
    };
    let Some(tool) = tool else {
        return Err(Stop::Skip("no tool that may be called finishes in time".to_owned()));
    };
    let talk = stage.clean().await?;
    let mut calls = Vec::new();
    for _ in 0..AT_ONCE {
        calls.push(Call::start(stage, &talk, &tool, Value::Null).await?);
    }
    let within = talk.limits().answer * 2;
    let answers = join_all(calls.iter().map(|call| call.answer(&talk, within))).await;
    for (call, answer) in calls.iter().zip(answers) {
        if answer?.is_none() {
            let what = format!("a call of `{tool}`, one of {AT_ONCE} at once,");
            return Err(ConversationError::Unanswered { what, within, line: call.line }.into());
        }
    }
});

/// A tool that finishes in time.
async fn quick(stage: &mut Stage) -> Result<Option<String>, Stop> {
    for tool in callable(stage)? {
        let talk = stage.clean().await?;
        let call = Call::start(stage, &talk, &tool, Value::Null).await?;
        if call.finish(stage, &talk).await?.is_some() {
            return Ok(Some(tool));
        }
    }
    Ok(None)
}
