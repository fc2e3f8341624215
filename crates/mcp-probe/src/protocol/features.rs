//! Probes of logging, completion and subscriptions, where declared.

use mcp_core::Revisions;
use mcp_rules::behaviour;
use serde_json::{Value, json};

use super::{codes, probe};
use crate::{Conversation, Probe, Reply, Stage, Stop};

pub(super) static PROBES: &[Probe] = &[
    probe("logging/levels", "every log level is accepted", levels)
        .needing("/logging")
        .at(Revisions::LEGACY),
    probe("logging/invalid-level", "an unknown log level is refused", invalid_level)
        .needing("/logging")
        .at(Revisions::LEGACY),
    probe("completion/served", "arguments can be completed", completion).needing("/completions"),
    probe(
        "completion/unknown",
        "a completion for an unknown prompt is refused",
        unknown_completion,
    )
    .needing("/completions"),
    probe(
        "completion/unknown-argument",
        "an unknown argument in a completion is handled",
        unknown_argument,
    )
    .needing("/completions"),
    probe("subscriptions/served", "a resource can be subscribed to", subscription)
        .needing("/resources/subscribe")
        .at(Revisions::LEGACY),
];

steps!(levels, stage => {
    let talk = stage.clean().await?;
    for level in
        ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
    {
        let reply = talk.request("logging/setLevel", json!({ "level": level })).await?;
        if reply.error_code() == Some(-32601) {
            let message = "`logging` is declared, but `logging/setLevel` is not supported";
            let help = "support what you declare, or do not declare it";
            let rule = &behaviour::DECLARED_FEATURE_REFUSED;
            stage.fail(rule, &talk, reply.line(), message, help);
            break;
        }
        if reply.is_error() {
            let message = format!("the level \"{level}\" was refused: {}", reply.error_text());
            let help = "accept all eight levels of RFC 5424";
            stage.fail(&behaviour::LOG_LEVEL_REFUSED, &talk, reply.line(), message, help);
        }
    }
});

steps!(invalid_level, stage => {
    let talk = stage.clean().await?;
    let reply = talk.request("logging/setLevel", json!({ "level": "plumb-loud" })).await?;
    if reply.is_error() {
        if reply.error_code() != Some(-32601) {
            codes::judge_params(stage, &talk, &reply, "an unknown log level");
        }
    } else {
        let message = "an unknown log level was accepted";
        let help = "answer with the error -32602";
        stage.fail(&behaviour::INVALID_LOG_LEVEL_ACCEPTED, &talk, reply.line(), message, help);
    }
});

/// Maximum number of prompts and templates to try.
const ASKED: usize = 8;

/// Arguments that can be completed, with references to their prompts or templates.
pub(super) fn completable(stage: &Stage) -> Vec<(Value, String)> {
    let offer = stage.offer();
    let prompts = offer.prompts.iter().flat_map(|prompt| {
        let arguments = prompt["arguments"].as_array().into_iter().flatten();
        let reference = json!({ "type": "ref/prompt", "name": prompt["name"] });
        arguments
            .filter_map(|argument| argument["name"].as_str())
            .map(move |name| (reference.clone(), name.to_owned()))
    });
    let templates = offer.templates.iter().filter_map(|template| {
        let uri = template["uriTemplate"].as_str()?;
        let expression = uri.split_once('{')?.1.split_once('}')?.0;
        let name = expression.trim_start_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let name = name.split([',', ':', '*']).next()?;
        (!name.is_empty()).then(|| (json!({ "type": "ref/resource", "uri": uri }), name.to_owned()))
    });
    prompts.take(ASKED).chain(templates.take(ASKED)).collect()
}

async fn complete(
    talk: &Conversation,
    reference: &Value,
    argument: &str,
    value: &str,
) -> Result<Reply, Stop> {
    let argument = json!({ "name": argument, "value": value });
    let params = json!({ "ref": reference, "argument": argument });
    Ok(talk.request("completion/complete", params).await?)
}

steps!(completion, stage => {
    let talk = stage.shared().await?;
    let completable = completable(stage);
    if completable.is_empty() {
        return Err(Stop::Skip("no prompt or template has arguments".to_owned()));
    }
    for (reference, argument) in completable {
        let reply = complete(&talk, &reference, &argument, "").await?;
        if reply.is_error() {
            let error = reply.error_text();
            let message = format!("the argument `{argument}` of {reference} cannot be completed: {error}");
            let help = "answer with an empty list of values if there are none";
            let rule = &behaviour::DECLARED_FEATURE_REFUSED;
            stage.fail(rule, &talk, reply.line(), message, help);
            break;
        }
        complete(&talk, &reference, &argument, "e").await?;
    }
});

steps!(unknown_completion, stage => {
    let talk = stage.shared().await?;
    let reference = json!({ "type": "ref/prompt", "name": "plumb-no-such-prompt" });
    let reply = complete(&talk, &reference, "argument", "").await?;
    if reply.is_error() {
        codes::judge_params(stage, &talk, &reply, "an unknown prompt");
    } else {
        let message = "an argument of an unknown prompt was completed";
        let help = "answer with the error -32602";
        stage.fail(&behaviour::UNKNOWN_COMPLETION_ACCEPTED, &talk, reply.line(), message, help);
    }
});

steps!(unknown_argument, stage => {
    let talk = stage.shared().await?;
    let Some((reference, _)) = completable(stage).into_iter().next() else {
        return Err(Stop::Skip("no prompt or template has arguments".to_owned()));
    };
    // The server may answer with values or an error.
    complete(&talk, &reference, "plumb-no-such-argument", "").await?;
});

steps!(subscription, stage => {
    let talk = stage.clean().await?;
    let resources = stage.offer().resources;
    let Some(uri) = resources.first().map(|resource| resource["uri"].clone()) else {
        return Err(Stop::Skip("no resource is listed".to_owned()));
    };
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let reply = talk.request(method, json!({ "uri": uri })).await?;
        if reply.is_error() {
            let error = reply.error_text();
            let message = format!("`resources.subscribe` is declared, but `{method}` fails: {error}");
            let help = "support what you declare, or do not declare it";
            let rule = &behaviour::DECLARED_FEATURE_REFUSED;
            stage.fail(rule, &talk, reply.line(), message, help);
        }
    }
    // Messages after the end are judged, too.
    talk.pause_for_more().await;
});
