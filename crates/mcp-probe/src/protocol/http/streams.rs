//! Probes of event streams: of a GET, of a call, and resumed ones.

use mcp_core::{Revision, Revisions};
use mcp_rules::behaviour;
use serde_json::json;

use super::{HTTP, SESSIONS, not_ours};
use crate::{
    Conversation, HttpReply, Incoming, Needs, Probe, Reply, Stage, Stop,
    protocol::{calls::callable, probe},
};

pub(in crate::protocol) static PROBES: &[Probe] = &[
    probe("http/get", "GET returns an event stream or is refused", get).over(HTTP),
    probe("http/get-resume", "resuming an unknown stream is handled", resume)
        .over(HTTP)
        .at(SESSIONS),
    calling("http/get-and-call", "a GET stream carries no answers", get_and_call).at(SESSIONS),
    calling("http/stream-end", "the stream of a call ends with the answer", stream_end)
        .at(Revisions::from(Revision::V2025_03_26)),
    calling("http/resume", "a stream is resumed where it was interrupted", resume_call)
        .at(SESSIONS),
];

const fn calling(
    name: &'static str,
    about: &'static str,
    steps: for<'s> fn(&'s mut Stage) -> crate::StepsFuture<'s>,
) -> Probe {
    let mut probe = probe(name, about, steps).over(HTTP);
    probe.needs = Needs::Tool;
    probe
}

steps!(get, stage => {
    let talk = stage.fresh().await?;
    let reply = open_stream(&talk, None).await?;
    not_ours(stage, &talk, &reply, "GET");
});

steps!(resume, stage => {
    let talk = stage.fresh().await?;
    let reply = open_stream(&talk, Some("plumb-never-sent")).await?;
    not_ours(stage, &talk, &reply, "an unknown event id");
});

/// Opens a GET stream, or resumes a stream after an event.
async fn open_stream(talk: &Conversation, after: Option<&str>) -> Result<HttpReply, Stop> {
    let Some(http) = talk.wire().as_http() else {
        return Err(Stop::Skip("this is not HTTP".to_owned()));
    };
    let get = match after {
        Some(id) => http.get().with("Last-Event-ID", id),
        None => http.get(),
    };
    Ok(talk.http(get).await?)
}

// The rules about streams judge which messages arrive on which stream.
steps!(get_and_call, stage => {
    let tools = callable(stage)?;
    let talk = stage.fresh().await?;
    if !open_stream(&talk, None).await?.is_stream() {
        return Err(Stop::Skip("the server offers no GET stream".to_owned()));
    }
    for tool in tools {
        if call(stage, &talk, &tool).await?.is_none() {
            break;
        }
    }
    talk.pause_for_more().await;
});

/// Calls a tool with a progress token. `None` if that takes too long.
async fn call(stage: &Stage, talk: &Conversation, tool: &str) -> Result<Option<Reply>, Stop> {
    stage.spend_call()?;
    let id = talk.next_id();
    let meta = json!({ "progressToken": format!("plumb-{id}") });
    let params = json!({ "name": tool, "arguments": {}, "_meta": meta });
    match talk.request_as(&json!(id), "tools/call", params).await {
        Ok(reply) => Ok(Some(reply)),
        Err(crate::ConversationError::Unanswered { .. }) => {
            talk.disregard();
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

steps!(stream_end, stage => {
    for tool in callable(stage)? {
        let talk = stage.fresh().await?;
        let mark = talk.mark();
        let Some(reply) = call(stage, &talk, &tool).await? else { continue };
        let asked = reply.asked;
        let is_end = |message: &Incoming| message.closes == Some(asked);
        let ended = talk.wait_from(mark, talk.limits().answer, "the end", is_end).await;
        if ended.is_err() {
            let message = format!("the stream of a call of `{tool}` stayed open after the answer");
            let help = "end the stream once the response is sent";
            stage.fail(&behaviour::STREAM_LEFT_OPEN, &talk, reply.line(), message, help);
            break;
        }
    }
});

// The rules about streams judge whether events belong to another stream.
steps!(resume_call, stage => {
    let tools = callable(stage)?;
    let talk = stage.fresh().await?;
    let Some(http) = talk.wire().as_http() else { return Ok(()) };
    let mut streams = Vec::new();
    for tool in tools {
        let Some(reply) = call(stage, &talk, &tool).await? else { break };
        let asked = reply.asked;
        let is_end = |message: &Incoming| message.closes == Some(asked);
        let _ = talk.wait_from(0, talk.limits().answer, "the end", is_end).await;
        if let Some(exchange) = reply.message.exchange {
            streams.push(http.event_ids(exchange));
        }
    }
    streams.retain(|ids| ids.len() > 1);
    if streams.is_empty() {
        return Err(Stop::Skip("events have no ids".to_owned()));
    }
    for ids in streams {
        // Resume after the first event, and in the middle.
        for after in [0, ids.len() / 2] {
            let reply = open_stream(&talk, Some(&ids[after])).await?;
            not_ours(stage, &talk, &reply, "resuming a stream");
            talk.pause_for_more().await;
            let again = http.event_ids(reply.exchange);
            if let Some(early) = again.iter().find(|id| ids[..=after].contains(id)) {
                let given = &ids[after];
                let message = format!("resumed after event {given}, the stream repeated {early}");
                let help = "start with the event after `Last-Event-ID`";
                stage.fail(&behaviour::RESUME_REPEATS_EVENTS, &talk, reply.line, message, help);
                return Ok(());
            }
        }
    }
});
