//! Probes of line framing: lines may arrive in any chunks.

use mcp_core::Era;
use serde_json::{Value, json};

use super::probe;
use crate::{Probe, Stage, WireKind};

const STDIO: &[WireKind] = &[WireKind::Stdio];

pub(super) static PROBES: &[Probe] = &[
    probe("framing/split", "a message may arrive in two parts", split).over(STDIO),
    probe("framing/joined", "two messages may arrive at once", joined).over(STDIO),
];

/// A request that every server supports.
fn asked(stage: &Stage) -> &'static str {
    match stage.revision().era() {
        Era::Legacy => "ping",
        Era::Modern => "server/discover",
    }
}

steps!(split, stage => {
    let talk = stage.clean().await?;
    let Some(stdio) = talk.wire().as_stdio() else { return Ok(()) };
    let (id, mark) = (talk.next_id(), talk.mark());
    let text = talk.request_message(&json!(id), asked(stage), Value::Null).to_string();
    let line = stdio.send_in_two(text.as_bytes()).await?;
    let what = "a message in two parts";
    talk.answer(mark, line, &id.to_string(), what, talk.limits().answer).await?;
});

steps!(joined, stage => {
    let talk = stage.clean().await?;
    let Some(stdio) = talk.wire().as_stdio() else { return Ok(()) };
    let (ids, mark) = ([talk.next_id(), talk.next_id()], talk.mark());
    let messages = ids
        .map(|id| talk.request_message(&json!(id), asked(stage), Value::Null).to_string());
    let line = stdio.send_joined(&messages).await?;
    for id in ids {
        let what = "one of two messages in one write";
        talk.answer(mark, line, &id.to_string(), what, talk.limits().answer).await?;
    }
});
