//! Probes of request ids, which must come back as they were sent.

use mcp_core::Era;
use mcp_rules::behaviour;
use serde_json::{Value, json};

use super::probe;
use crate::{ConversationError, Kind, Probe, Stage, Stop};

pub(super) static PROBES: &[Probe] = &[
    probe("ids/zero", "the id 0 comes back", zero),
    probe("ids/negative", "a negative id comes back", negative),
    probe("ids/string", "a string comes back as a string", string),
    probe("ids/empty-string", "an empty string comes back", empty),
    probe("ids/digits", "a string of digits stays a string", digits),
    probe("ids/long", "a long string comes back", long),
    probe("ids/unicode", "Unicode characters and escapes come back", unicode),
    probe("ids/max-safe", "the largest safe integer comes back", max_safe),
    probe("ids/beyond-safe", "an integer beyond 2^53 comes back", beyond_safe),
];

steps!(zero, stage => { echo(stage, json!(0)).await?; });
steps!(negative, stage => { echo(stage, json!(-7)).await?; });
steps!(string, stage => { echo(stage, json!("Plumb-One-1")).await?; });
steps!(empty, stage => { echo(stage, json!("")).await?; });
steps!(digits, stage => { echo(stage, json!("42")).await?; });
steps!(long, stage => { echo(stage, json!("x".repeat(4_000))).await?; });
steps!(unicode, stage => { echo(stage, json!("π 🎉 日本 \" \\ \n")).await?; });
steps!(max_safe, stage => { echo(stage, json!((1_u64 << 53) - 1)).await?; });

/// A request that every server supports.
fn asked(stage: &Stage) -> &'static str {
    match stage.revision().era() {
        Era::Legacy => "ping",
        Era::Modern => "server/discover",
    }
}

async fn echo(stage: &mut Stage, id: Value) -> Result<(), Stop> {
    let talk = stage.shared().await?;
    let method = asked(stage);
    let (mark, within) = (talk.mark(), talk.limits().answer);
    let text = talk.request_message(&id, method, Value::Null).to_string();
    let line = talk.send(&text).await?;
    let is_answer = |message: &crate::Incoming| {
        matches!(message.kind, Kind::Result | Kind::Error) || message.closes == Some(line)
    };
    let answer = match talk.wait_from(mark, within, method, is_answer).await {
        Err(ConversationError::Unanswered { within, .. }) => {
            let what = format!("`{method}` with the id {}", shown(&id));
            return Err(ConversationError::Unanswered { what, within, line }.into());
        }
        answer => answer?,
    };
    if answer.closes.is_some() || answer.value["id"] != id {
        let back = &answer.value["id"];
        let message = format!("the id {} came back as {}", shown(&id), shown(back));
        let help = "return the id of the request unchanged, including its type and digits";
        stage.fail(&behaviour::ID_NOT_ECHOED, &talk, answer.line, message, help);
    }
    Ok(())
}

steps!(
    /// Many parsers turn it into a double, and clients should not send it, so other findings of the
    /// rules are ignored here.
    beyond_safe, stage => {
    let talk = stage.clean().await?;
    talk.disregard();
    let method = asked(stage);
    let (mark, within) = (talk.mark(), talk.limits().quiet * 4);
    let id = json!((1_u64 << 53) + 1);
    let line = talk.send(&talk.request_message(&id, method, Value::Null).to_string()).await?;
    let is_answer = |message: &crate::Incoming| {
        matches!(message.kind, Kind::Result | Kind::Error) || message.closes == Some(line)
    };
    let answer = match talk.wait_from(mark, within, method, is_answer).await {
        Ok(answer) => answer,
        Err(ConversationError::Unanswered { .. }) => {
            let message = format!("a request with the id {id} was not answered");
            let help = "keep ids as text or as 64-bit integers";
            stage.fail(&behaviour::LARGE_ID_NOT_ECHOED, &talk, line, message, help);
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    if answer.closes.is_some() || answer.value["id"] != id {
        let message = format!("the id {id} came back as {}", shown(&answer.value["id"]));
        let help = "keep ids as text or as 64-bit integers";
        stage.fail(&behaviour::LARGE_ID_NOT_ECHOED, &talk, answer.line, message, help);
    }
});

fn shown(id: &Value) -> String {
    let text = id.to_string();
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
