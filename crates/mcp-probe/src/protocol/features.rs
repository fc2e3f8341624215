//! What servers declare works, and lists stay what they are.

use mcp_core::Revisions;
use mcp_rules::behaviour;
use serde_json::{Value, json};

use super::probe;
use crate::{
    Needs, Probe, Stop,
    discover::{LISTS, all_pages},
};

pub(super) static PROBES: &[Probe] = &[
    listing("lists/served", "every declared list is served", served).everywhere(),
    listing("lists/stable", "a list is the same when asked for again", stable),
    listing("lists/invalid-cursor", "a cursor that was never given is refused", invalid_cursor),
    probe("logging/levels", "every log level is accepted", levels)
        .needing("/logging")
        .at(Revisions::LEGACY),
    probe("logging/invalid-level", "a log level that does not exist is refused", invalid_level)
        .needing("/logging")
        .at(Revisions::LEGACY),
    probe("completion/served", "arguments of prompts can be completed", completion)
        .needing("/completions"),
    probe("subscriptions/served", "a resource can be subscribed to", subscription)
        .needing("/resources/subscribe")
        .at(Revisions::LEGACY),
];

const fn listing(
    name: &'static str,
    about: &'static str,
    steps: for<'s> fn(&'s mut crate::Stage) -> crate::StepsFuture<'s>,
) -> Probe {
    let mut probe = probe(name, about, steps);
    probe.needs = Needs::Lists;
    probe
}

steps!(served, stage => {
    let talk = stage.shared().await?;
    let offer = stage.offer();
    for (method, capability, _) in LISTS {
        if !offer.has(capability) {
            continue;
        }
        let reply = talk.request(method, Value::Null).await?;
        // Servers without templates need not know the method.
        let is_optional = method == "resources/templates/list" && reply.error_code() == Some(-32601);
        if reply.is_error() && !is_optional {
            let declared = &capability[1..];
            let error = reply.error_text();
            let message = format!("`{declared}` is declared, but `{method}` fails: {error}");
            let help = "serve what you declare, or do not declare it";
            let rule = &behaviour::DECLARED_FEATURE_REFUSED;
            stage.fail(rule, &talk, reply.line(), message, help);
        }
    }
});

steps!(stable, stage => {
    let talk = stage.shared().await?;
    let offer = stage.offer();
    for (method, capability, member) in LISTS {
        if !offer.has(capability) {
            continue;
        }
        let mark = talk.mark();
        let (first, _) = all_pages(&talk, method, member).await?;
        let (second, _) = all_pages(&talk, method, member).await?;
        let was_told = talk.since(mark).iter().any(|message| {
            message.method().is_some_and(|method| method.ends_with("list_changed"))
        });
        if first != second && !was_told {
            let line = talk.recording().len() as u64;
            let message = format!("`{method}` gives something else when asked again");
            let help = "list in a fixed order, and send `list_changed` when a list changes";
            stage.fail(&behaviour::LIST_UNSTABLE, &talk, line, message, help);
        }
    }
});

steps!(invalid_cursor, stage => {
    let talk = stage.shared().await?;
    let offer = stage.offer();
    let mut asked = false;
    for (method, _, _) in LISTS {
        if offer.pages.get(method).is_none_or(|pages| *pages < 2) {
            continue;
        }
        asked = true;
        let params = json!({ "cursor": "plumb-no-such-cursor" });
        let reply = talk.request(method, params).await?;
        if !reply.is_error() {
            let message = format!("`{method}` accepts a cursor that it never gave");
            let help = "answer with the error -32602";
            stage.fail(&behaviour::INVALID_CURSOR_ACCEPTED, &talk, reply.line(), message, help);
        }
    }
    if !asked {
        return Err(Stop::Skip("no list has a second page".to_owned()));
    }
});

steps!(levels, stage => {
    let talk = stage.fresh().await?;
    for level in
        ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
    {
        let reply = talk.request("logging/setLevel", json!({ "level": level })).await?;
        if reply.is_error() {
            let message = format!("the level \"{level}\" is refused: {}", reply.error_text());
            let help = "accept all eight levels of RFC 5424";
            stage.fail(&behaviour::LOG_LEVEL_REFUSED, &talk, reply.line(), message, help);
        }
    }
});

steps!(invalid_level, stage => {
    let talk = stage.fresh().await?;
    let reply = talk.request("logging/setLevel", json!({ "level": "plumb-loud" })).await?;
    if !reply.is_error() {
        let message = "a log level that does not exist was accepted";
        let help = "answer with the error -32602";
        stage.fail(&behaviour::INVALID_LOG_LEVEL_ACCEPTED, &talk, reply.line(), message, help);
    }
});

steps!(completion, stage => {
    let talk = stage.shared().await?;
    let prompts = stage.offer().prompts;
    let argument = prompts.iter().find_map(|prompt| {
        Some((prompt["name"].as_str()?, prompt.pointer("/arguments/0/name")?.as_str()?))
    });
    let Some((prompt, argument)) = argument else {
        return Err(Stop::Skip("no prompt has an argument".to_owned()));
    };
    let params = json!({
        "ref": { "type": "ref/prompt", "name": prompt },
        "argument": { "name": argument, "value": "" },
    });
    let reply = talk.request("completion/complete", params).await?;
    if reply.is_error() {
        let message = format!("an argument cannot be completed: {}", reply.error_text());
        let help = "answer with no values where there are none";
        let rule = &behaviour::DECLARED_FEATURE_REFUSED;
        stage.fail(rule, &talk, reply.line(), message, help);
    }
});

steps!(subscription, stage => {
    let talk = stage.fresh().await?;
    let resources = stage.offer().resources;
    let Some(uri) = resources.first().map(|resource| resource["uri"].clone()) else {
        return Err(Stop::Skip("no resource is listed".to_owned()));
    };
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let reply = talk.request(method, json!({ "uri": uri })).await?;
        if reply.is_error() {
            let error = reply.error_text();
            let message = format!("`resources.subscribe` is declared, but `{method}` fails: {error}");
            let help = "serve what you declare, or do not declare it";
            let rule = &behaviour::DECLARED_FEATURE_REFUSED;
            stage.fail(rule, &talk, reply.line(), message, help);
        }
    }
});
