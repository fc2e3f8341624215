//! Probes of prompts: with all arguments, without optional ones, without required ones, with
//! unusual texts, and with completions.

use std::sync::Arc;

use mcp_rules::behaviour;
use serde_json::{Map, Value, json};

use super::{Listed, calls::short_complaint, listed, made, shown};
use crate::{
    Conversation, Discovery, Probe, Reply, Settings, Stage, StepsFuture, Stop, discover::all_pages,
    values::hostile_texts,
};

/// Maximum number of arguments to try per prompt.
const ARGUMENTS: usize = 20;

/// Maximum number of arguments to complete.
const COMPLETED: usize = 3;

/// The value for an argument.
const WORD: &str = "plumb";

type PromptSteps = for<'s> fn(&'s mut Stage, Arc<Listed>) -> StepsFuture<'s>;

pub(super) fn probes(found: &Discovery, _settings: &Settings) -> Vec<Probe> {
    let mut probes = Vec::new();
    for prompt in listed(found, |offer| &offer.prompts, "name") {
        let Some(newest) = prompt.newest().map(|(_, entry)| entry.clone()) else { continue };
        let prompt = Arc::new(prompt);
        let (all, required) = (arguments(&newest), required(&newest));
        let name = prompt.name.clone();
        let mut add =
            |kind: &str, about: &'static str, preview: Vec<String>, steps: PromptSteps| {
                let subject = Arc::clone(&prompt);
                probes.push(made(&prompt, &format!("prompts/{name}/{kind}"), about, preview, {
                    move |stage| steps(stage, Arc::clone(&subject))
                }));
            };
        let get = |given: &[String]| shown("prompts/get", &params(&name, given, WORD));
        add("valid", "it can be retrieved", vec![get(&all)], valid);
        if all.len() > required.len() {
            add("optional", "optional arguments can be left out", vec![get(&required)], optional);
        }
        if !required.is_empty() {
            add("invalid", "missing required arguments are refused", vec![get(&[])], invalid);
        }
        if !all.is_empty() {
            add("hostile", "unusual texts are handled", Vec::new(), hostile);
        }
    }
    probes
}

fn valid(stage: &mut Stage, prompt: Arc<Listed>) -> StepsFuture<'_> {
    Box::pin(async move {
        let (talk, entry) = on(stage, &prompt).await?;
        let all = arguments(&entry);
        let reply = get(stage, &talk, &prompt.name, &all, WORD).await?;
        let is_certain = all.is_empty() || reply.error_code() == Some(-32601);
        if reply.is_error() && is_certain {
            let error = short_complaint(&reply);
            let message = format!("`{}` is listed, but cannot be retrieved: {error}", prompt.name);
            let help = "support what you list, or do not list it";
            let rule = &behaviour::LISTED_PROMPT_UNAVAILABLE;
            stage.fail(rule, &talk, reply.line(), message, help);
        }
        Ok(())
    })
}

fn optional(stage: &mut Stage, prompt: Arc<Listed>) -> StepsFuture<'_> {
    Box::pin(async move {
        let (talk, entry) = on(stage, &prompt).await?;
        let (all, required) = (arguments(&entry), required(&entry));
        if get(stage, &talk, &prompt.name, &all, WORD).await?.is_error() {
            let reason = "it cannot be retrieved with all arguments either".to_owned();
            return Err(Stop::Skip(reason));
        }
        let optional = all.iter().filter(|name| !required.contains(name));
        for left_out in optional {
            let given: Vec<String> = all.iter().filter(|name| *name != left_out).cloned().collect();
            let reply = get(stage, &talk, &prompt.name, &given, WORD).await?;
            if !reply.is_error() {
                continue;
            }
            if get(stage, &talk, &prompt.name, &all, WORD).await?.is_error() {
                return Ok(());
            }
            let (name, error) = (&prompt.name, short_complaint(&reply));
            let message =
                format!("`{name}` fails without `{left_out}`, which is optional: {error}");
            let help = "declare the argument with `\"required\": true`, or accept its absence";
            let rule = &behaviour::OPTIONAL_ARGUMENT_REQUIRED;
            stage.fail(rule, &talk, reply.line(), message, help);
            break;
        }
        Ok(())
    })
}

fn invalid(stage: &mut Stage, prompt: Arc<Listed>) -> StepsFuture<'_> {
    Box::pin(async move {
        let (talk, entry) = on(stage, &prompt).await?;
        let all = arguments(&entry);
        let is_served = !get(stage, &talk, &prompt.name, &all, WORD).await?.is_error();
        let (mut accepted, mut internal) = (None, None);
        for missing in required(&entry) {
            let given: Vec<String> = all.iter().filter(|name| **name != missing).cloned().collect();
            let reply = get(stage, &talk, &prompt.name, &given, WORD).await?;
            let is_done = reply.result().is_some_and(|result| result.get("messages").is_some());
            if is_done && accepted.is_none() {
                accepted = Some((missing, reply));
            } else if is_served && internal.is_none() && reply.error_code() == Some(-32603) {
                internal = Some((missing, reply));
            }
        }
        if let Some((missing, reply)) = internal {
            let (name, error) = (&prompt.name, short_complaint(&reply));
            let message =
                format!("`{name}` without `{missing}`, which is required, fails with {error}");
            let help = "answer with the error -32602";
            let rule = &behaviour::INVALID_PARAMS_CODE;
            stage.fail(rule, &talk, reply.line(), message, help);
        }
        if let Some(rule) = mcp_rules::rule("prompt-missing-argument-accepted") {
            stage.speak_for(rule);
            if let Some((missing, reply)) = accepted {
                let name = &prompt.name;
                let message =
                    format!("`{name}` can be retrieved without `{missing}`, which is required");
                let help = "answer with the error -32602";
                stage.fail(rule, &talk, reply.line(), message, help);
            }
        }
        Ok(())
    })
}

/// The server may accept or refuse unusual texts: only the rules judge the answers.
fn hostile(stage: &mut Stage, prompt: Arc<Listed>) -> StepsFuture<'_> {
    Box::pin(async move {
        let (talk, entry) = on(stage, &prompt).await?;
        let all = arguments(&entry);
        for (_, text) in hostile_texts() {
            get(stage, &talk, &prompt.name, &all, text.as_str().unwrap_or_default()).await?;
        }
        if stage.offer().has("/completions") {
            let unknown = "plumb-no-such-argument".to_owned();
            for argument in all.iter().take(COMPLETED).chain([&unknown]) {
                complete(stage, &talk, &prompt.name, argument).await?;
            }
        }
        Ok(())
    })
}

/// Requests completions of an argument.
async fn complete(
    stage: &Stage,
    talk: &Conversation,
    prompt: &str,
    argument: &str,
) -> Result<(), Stop> {
    for text in ["", "p", "🙂", "plumb\u{0}", "../../etc/passwd"] {
        stage.spend_call()?;
        let params = json!({
            "ref": { "type": "ref/prompt", "name": prompt },
            "argument": { "name": argument, "value": text },
        });
        talk.request("completion/complete", params).await?;
    }
    Ok(())
}

/// The shared conversation, and the prompt as listed at its revision.
async fn on(stage: &mut Stage, prompt: &Listed) -> Result<(Conversation, Value), Stop> {
    let Some(entry) = prompt.at(stage.revision()) else {
        return Err(Stop::Skip("it is not listed".to_owned()));
    };
    let talk = stage.shared().await?;
    if talk.is_first_visit("prompts/list") {
        all_pages(&talk, "prompts/list", "prompts").await?;
    }
    Ok((talk, entry.clone()))
}

async fn get(
    stage: &Stage,
    talk: &Conversation,
    name: &str,
    given: &[String],
    text: &str,
) -> Result<Reply, Stop> {
    stage.spend_call()?;
    Ok(talk.request("prompts/get", params(name, given, text)).await?)
}

fn params(name: &str, given: &[String], text: &str) -> Value {
    let arguments: Map<String, Value> =
        given.iter().map(|argument| (argument.clone(), json!(text))).collect();
    if arguments.is_empty() {
        return json!({ "name": name });
    }
    json!({ "name": name, "arguments": arguments })
}

/// The names of a prompt's arguments.
fn arguments(prompt: &Value) -> Vec<String> {
    let all = prompt["arguments"].as_array().into_iter().flatten();
    all.filter_map(|argument| argument["name"].as_str())
        .take(ARGUMENTS)
        .map(str::to_owned)
        .collect()
}

/// The names of those that are required.
fn required(prompt: &Value) -> Vec<String> {
    let all = prompt["arguments"].as_array().into_iter().flatten();
    let required = all.filter(|argument| argument["required"] == true);
    required
        .filter_map(|argument| argument["name"].as_str())
        .take(ARGUMENTS)
        .map(str::to_owned)
        .collect()
}
