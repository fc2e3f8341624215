//! The prompts.

use serde_json::{Value, json};

use crate::{faults::Fault, reply::Failure, server::Faults};

pub(crate) const LANGUAGES: [&str; 4] = ["python", "ruby", "rust", "typescript"];

pub(crate) fn prompts() -> Vec<Value> {
    vec![
        json!({"name": "greet", "description": "Greets somebody", "arguments": [
            {"name": "name", "description": "Whom", "required": true}, {"name": "tone", "description": "How"}]}),
        json!({"name": "summarise", "description": "Summarises the notes"}),
        json!({"name": "review", "description": "Reviews code", "arguments": [
            {"name": "code", "required": true}, {"name": "language", "required": false}]}),
    ]
}

/// The messages of a prompt.
pub(crate) fn get(name: &str, arguments: &Value, faults: Faults) -> Result<Value, Failure> {
    let prompts = prompts();
    let Some(prompt) = prompts.iter().find(|prompt| prompt["name"] == name) else {
        return match faults.0 {
            Some(Fault::UnknownPromptSucceeds) => Ok(message("", faults)),
            Some(Fault::UnknownPromptDies) => crate::server::die(),
            _ => Err(Failure::params("there is no such prompt")),
        };
    };
    if faults.has(Fault::ListedPromptFails) && name == "summarise" {
        return Err(Failure::new(-32603, "the prompt could not be made"));
    }
    if arguments.as_object().into_iter().flatten().any(|(_, value)| !value.is_string()) {
        return Err(Failure::params("arguments of prompts are strings"));
    }
    for argument in prompt["arguments"].as_array().into_iter().flatten() {
        let wanted = if argument["required"] == true {
            !faults.has(Fault::PromptArgumentNotRequired)
        } else {
            faults.has(Fault::PromptOptionalRequired)
        };
        let name = argument["name"].as_str().unwrap_or_default();
        if wanted && arguments[name].is_null() {
            let why = format!("the argument {name} is required");
            return Err(if faults.has(Fault::PromptMissingInternalError) {
                Failure::new(-32603, why)
            } else {
                Failure::params(why)
            });
        }
    }
    let text = |name: &str| arguments[name].as_str().unwrap_or_default();
    Ok(message(
        &match name {
            "greet" => format!("Greet {} {}", text("name"), text("tone")),
            "review" => format!("Review this {}:\n{}", text("language"), text("code")),
            _ => "Summarise the notes".to_owned(),
        },
        faults,
    ))
}

fn message(text: &str, faults: Faults) -> Value {
    let role = if faults.has(Fault::PromptBadRole) { "system" } else { "user" };
    let content = json!({"type": "text", "text": text});
    let content = if faults.has(Fault::PromptContentList) { json!([content]) } else { content };
    json!({"messages": [{"role": role, "content": content}]})
}
