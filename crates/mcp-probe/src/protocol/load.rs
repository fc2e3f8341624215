//! Probes of load: concurrent and large messages, slow readers, and the exit.

use std::time::Duration;

use futures_util::future::join_all;
use mcp_core::Era;
use mcp_rules::behaviour;
use serde_json::{Value, json};

use super::probe;
use crate::{ConversationError, Probe, Stop, WireKind};

pub(super) static PROBES: &[Probe] = &[
    probe("load/concurrent", "concurrent requests get their own answers", concurrent),
    probe("load/large", "a large message is handled", large),
    probe("load/slow-reader", "answers are kept for a client that reads slowly", slow_reader)
        .over(&[WireKind::Stdio]),
    probe("end/exit", "the server exits when its input is closed", exit).over(&[WireKind::Stdio]),
    probe("end/exit-busy", "the server exits when its input is closed during a request", exit_busy)
        .over(&[WireKind::Stdio]),
];

/// Number of concurrent requests.
const AT_ONCE: usize = 24;
/// Size of a large message, in bytes.
const LARGE: usize = 1 << 20;

steps!(concurrent, stage => {
    let talk = stage.clean().await?;
    let ping = match stage.revision().era() {
        Era::Legacy => "ping",
        Era::Modern => "server/discover",
    };
    let lists_tools = stage.offer().has("/tools");
    let asked: Vec<&str> = (0..AT_ONCE)
        .map(|n| if lists_tools && n % 2 == 1 { "tools/list" } else { ping })
        .collect();
    let replies = join_all(asked.iter().map(|method| talk.request(method, Value::Null))).await;
    for (method, reply) in asked.iter().zip(replies) {
        let reply = reply?;
        let has_tools = reply.result().is_some_and(|result| result.get("tools").is_some());
        if !reply.is_error() && has_tools != (*method == "tools/list") {
            let message = format!("the answer to `{method}` belongs to another request");
            let help = "keep track of the id of each request until it is answered";
            stage.fail(&behaviour::ANSWERS_CROSSED, &talk, reply.line(), message, help);
        }
    }
});

steps!(large, stage => {
    let talk = stage.fresh().await?;
    let method = match stage.revision().era() {
        Era::Legacy => "ping",
        Era::Modern => "server/discover",
    };
    let params = json!({ "_meta": { "com.example/plumb": "x".repeat(LARGE) } });
    let id = json!(talk.next_id());
    let text = talk.request_message(&id, method, params).to_string();
    let within = talk.limits().answer * 2;
    match talk.exchange(&text, &id.to_string(), "a message of 1 MiB", within).await {
        // Over HTTP, the server may refuse a large body.
        Ok(_) | Err(ConversationError::Exchange { .. }) => {}
        Err(error) => return Err(error.into()),
    }
});

steps!(slow_reader, stage => {
    let talk = stage.fresh().await?;
    let method = if stage.offer().has("/tools") { "tools/list" } else { "ping" };
    let Some(stdio) = talk.wire().as_stdio() else { return Ok(()) };
    stdio.pause(true);
    let ids: Vec<i64> = (0..AT_ONCE).map(|_| talk.next_id()).collect();
    let mark = talk.mark();
    let mut last = 0;
    for id in &ids {
        last = talk.send(&talk.request_message(&json!(id), method, Value::Null).to_string()).await?;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    stdio.pause(false);
    for id in ids {
        talk.answer(mark, last, &id.to_string(), method, talk.limits().answer).await?;
    }
});

steps!(exit, stage => {
    let talk = stage.fresh().await?;
    leave(stage, &talk).await?;
});

steps!(exit_busy, stage => {
    if stage.stays() {
        return Err(Stop::Skip("the server also keeps running without an open request".to_owned()));
    }
    let talk = stage.fresh().await?;
    let method = if stage.offer().has("/tools") { "tools/list" } else { "ping" };
    let id = json!(talk.next_id());
    talk.send(&talk.request_message(&id, method, Value::Null).to_string()).await?;
    leave(stage, &talk).await?;
});

async fn leave(stage: &mut crate::Stage, talk: &crate::Conversation) -> Result<(), Stop> {
    // The server may or may not answer open requests.
    talk.disregard();
    if talk.close().await == Some(false) {
        stage.note_stays();
        let line = talk.recording().len() as u64;
        let seconds = talk.limits().exit.as_secs_f32();
        let message =
            format!("the server was still running {seconds} s after its input was closed");
        let help = "exit when standard input ends";
        stage.fail(&behaviour::NO_EXIT_AFTER_CLOSE, talk, line, message, help);
    }
    Ok(())
}
