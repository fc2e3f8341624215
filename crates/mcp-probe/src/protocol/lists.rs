//! Probes of the list methods and of pagination.

use mcp_core::{Era, Revision};
use mcp_rules::behaviour;
use serde_json::{Value, json};

use super::{codes, features::completable, probe};
use crate::{
    Needs, Probe, Stage, Stop,
    discover::{LISTS, Listing, all_pages, read_pages},
};

pub(super) static PROBES: &[Probe] = &[
    listing("lists/served", "every declared list is supported", served).everywhere(),
    probe("lists/undeclared", "undeclared methods are refused", undeclared),
    listing("lists/pages", "a list can be read to its end", pages),
    listing("lists/stable", "a list is the same when requested again", stable),
    listing("lists/invalid-cursor", "an unknown cursor is refused", invalid_cursor),
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
        // Servers without templates need not support the method.
        let is_optional = method == "resources/templates/list" && reply.error_code() == Some(-32601);
        if reply.is_error() && !is_optional {
            let declared = &capability[1..];
            let error = reply.error_text();
            let message = format!("`{declared}` is declared, but `{method}` fails: {error}");
            let help = "support what you declare, or do not declare it";
            let rule = &behaviour::DECLARED_FEATURE_REFUSED;
            stage.fail(rule, &talk, reply.line(), message, help);
        }
    }
});

// The rule `feature-served-undeclared` judges the answers.
steps!(undeclared, stage => {
    let offer = stage.offer();
    let missing: Vec<&str> =
        LISTS.iter().filter(|(_, capability, _)| !offer.has(capability)).map(|list| list.0).collect();
    let mut asked: Vec<(&str, Value)> =
        missing.into_iter().map(|method| (method, Value::Null)).collect();
    let uri = offer.resources.first().map(|resource| resource["uri"].clone());
    if let Some(uri) = uri
        && stage.revision().era() == Era::Legacy
        && !offer.has("/resources/subscribe")
    {
        asked.push(("resources/subscribe", json!({ "uri": uri })));
    }
    if stage.revision() >= Revision::V2025_03_26 && !offer.has("/completions") {
        asked.extend(completed(stage).await?);
    }
    if asked.is_empty() {
        return Err(Stop::Skip("everything is declared".to_owned()));
    }
    for (method, params) in asked {
        let talk = stage.clean().await?;
        let reply = talk.request(method, params).await?;
        let is_empty = reply.result().is_some_and(|result| {
            let members = result.as_object().into_iter().flatten().map(|(_, value)| value);
            let mut lists = members.filter_map(Value::as_array);
            method.ends_with("/list") && lists.all(Vec::is_empty)
        });
        if is_empty {
            // Many servers answer undeclared methods with empty lists.
            talk.disregard();
        }
    }
});

/// A request that is answered with completions, though none are declared. Many servers answer with
/// none at all.
async fn completed(stage: &mut Stage) -> Result<Option<(&'static str, Value)>, Stop> {
    let completable = completable(stage);
    if completable.is_empty() {
        return Ok(None);
    }
    let talk = stage.clean().await?;
    talk.disregard();
    for (reference, argument) in completable {
        let argument = json!({ "name": argument, "value": "" });
        let params = json!({ "ref": reference, "argument": argument });
        let reply = talk.request("completion/complete", params.clone()).await?;
        let values = reply.result().and_then(|result| result.pointer("/completion/values"));
        if values.and_then(Value::as_array).is_some_and(|values| !values.is_empty()) {
            return Ok(Some(("completion/complete", params)));
        }
        if reply.error_code() == Some(-32601) {
            break;
        }
    }
    Ok(None)
}

steps!(pages, stage => {
    let talk = stage.shared().await?;
    let offer = stage.offer();
    for (method, capability, member) in LISTS {
        if !offer.has(capability) {
            continue;
        }
        let listing = read_pages(&talk, method, member).await?;
        if let Some(reply) = &listing.refused {
            let error = reply.error_text();
            let message = format!("`{method}` refused its own cursor: {error}");
            let help = "accept every `nextCursor` that you send";
            stage.fail(&behaviour::OWN_CURSOR_REFUSED, &talk, reply.line(), message, help);
        }
        if listing.is_endless {
            let message = format!("`{method}` still has a next page after {} pages without new entries", listing.pages);
            let help = "omit `nextCursor` on the last page";
            stage.fail(&behaviour::LIST_ENDLESS, &talk, listing.line, message, help);
        }
        if let Some(name) = repeated(&listing)
            && repeated(&read_pages(&talk, method, member).await?).is_some()
        {
            let message = format!("`{method}` lists \"{name}\" on two pages");
            let help = "start each page after the last entry of the previous one";
            stage.fail(&behaviour::LIST_ENTRY_REPEATED, &talk, listing.line, message, help);
        }
    }
});

/// An entry that occurs on two pages of a list, unless the list is endless.
fn repeated(listing: &Listing) -> Option<String> {
    listing.repeated.first().filter(|_| !listing.is_endless).cloned()
}

steps!(stable, stage => {
    let talk = stage.shared().await?;
    let offer = stage.offer();
    for (method, capability, member) in LISTS {
        if !offer.has(capability) {
            continue;
        }
        let (first, _) = all_pages(&talk, method, member).await?;
        let (second, _) = all_pages(&talk, method, member).await?;
        let was_told = talk.since(0).iter().any(|message| {
            message.method().is_some_and(|method| method.ends_with("list_changed"))
        });
        let at_first = match method {
            "tools/list" => &offer.tools,
            "resources/list" => &offer.resources,
            "resources/templates/list" => &offer.templates,
            _ => &offer.prompts,
        };
        let differs = first != second || changes_meaning(at_first, &second);
        if differs && !was_told {
            let line = talk.recording().len() as u64;
            let message = format!("`{method}` returns something else when requested again");
            let help = "return lists in a fixed order, and send `list_changed` when they change";
            stage.fail(&behaviour::LIST_UNSTABLE, &talk, line, message, help);
        }
    }
});

/// Whether an entry is still listed, but with a changed definition. Entries may come and go between
/// conversations.
fn changes_meaning(before: &[Value], now: &[Value]) -> bool {
    let agree =
        |old: &Value, new: &Value, keys: &[&str]| keys.iter().all(|key| new[key] == old[key]);
    let identity = ["uri", "uriTemplate", "name"];
    let meaning =
        ["title", "description", "inputSchema", "outputSchema", "annotations", "arguments"];
    before.iter().any(|old| {
        let mut same = now.iter().filter(|new| agree(old, new, &identity)).peekable();
        same.peek().is_some() && !same.any(|new| agree(old, new, &meaning))
    })
}

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
        if reply.is_error() {
            codes::judge_params(stage, &talk, &reply, "an unknown cursor");
        } else {
            let message = format!("`{method}` accepted an unknown cursor");
            let help = "answer with the error -32602";
            stage.fail(&behaviour::INVALID_CURSOR_ACCEPTED, &talk, reply.line(), message, help);
        }
    }
    if !asked {
        return Err(Stop::Skip("no list has a second page".to_owned()));
    }
});
