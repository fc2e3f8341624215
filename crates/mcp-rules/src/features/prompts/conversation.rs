//! Prompts and completion against the server's listings.

use mcp_core::Revisions;
use mcp_json::Node;
use mcp_jsonrpc::ErrorCode;
use serde::{Deserialize, Serialize};

use crate::{
    Level,
    conversation::{Event, Known, Notes, Remembered, Topic, What, asked::AskedPrompt},
    features::{Family, modern::is_complete, shown::shown},
    findings::Fault,
};

rules! {
    REQUIRED_ARGUMENT_MISSING: "prompt-required-argument-missing", Session, Level::Warning, Revisions::ALL, "server/prompts#error-handling";
    MISSING_ARGUMENT_ACCEPTED: "prompt-missing-argument-accepted", Session, Level::Warning, Revisions::ALL, "server/prompts#error-handling";
    UNKNOWN: "prompt-unknown", Session, Level::Warning, Revisions::ALL, "server/prompts#error-handling";
    COMPLETION_REF_UNKNOWN: "completion-ref-unknown", Session, Level::Warning, Revisions::ALL, "server/utilities/completion#error-handling";
}

/// Stateless: listings and requests hold everything needed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Prompts {}

impl Family for Prompts {
    fn concerns(event: &Event<'_>) -> bool {
        matches!(event.topic, Topic::Prompts | Topic::Completion)
    }

    fn follow(
        &mut self,
        event: &Event<'_>,
        asked: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        match (event.what, event.name, event.params()) {
            (What::Request(_), "prompts/get", Some(params)) => {
                if let Some(prompt) = check_get(params, known, notes) {
                    asked.remember().prompt = Some(Box::new(prompt));
                }
            }
            (What::Answer(_), "prompts/get", _) => check_result(event, notes),
            (What::Request(_), "completion/complete", Some(params)) => {
                if let Some(reference) = params.get("ref") {
                    check_reference(reference, known, notes);
                }
            }
            _ => {}
        }
    }
}

/// Checks the params of `prompts/get`. Returns what is missing.
fn check_get(params: Node<'_>, known: &Known<'_>, notes: &mut Notes) -> Option<AskedPrompt> {
    let node = params.get("name")?;
    let name = node.as_str()?;
    let prompts = &known.listings.prompts;
    if prompts.lacks(&name) {
        notes.note(
            Fault::new(&UNKNOWN, format!("the server lists no prompt `{}`", shown(&name)))
                .at(node.span())
                .code(ErrorCode::InvalidParams.code())
                .help(prompts.suggestion(&name)),
        );
        return None;
    }
    let prompt = prompts.get(&name)?;
    let arguments = params.get("arguments");
    let given = |name: &str| arguments.is_some_and(|arguments| arguments.get(name).is_some());
    let missing: Vec<&str> =
        prompt.required.iter().map(|name| &**name).filter(|name| !given(name)).take(10).collect();
    let first = shown(missing.first()?);
    let names: Vec<_> = missing.iter().map(|name| shown(name)).collect();
    let names = names.join("`, `");
    notes.note(
        Fault::new(
            &REQUIRED_ARGUMENT_MISSING,
            format!("`{names}` is missing, which the prompt `{}` requires", shown(&name)),
        )
        .at(arguments.unwrap_or(params).span())
        .code(ErrorCode::InvalidParams.code())
        .related(prompt.at.line(), "the prompt was listed here")
        .help(format!("add `{first}` to `arguments`")),
    );
    Some(AskedPrompt { missing: names.into() })
}

fn check_result(event: &Event<'_>, notes: &mut Notes) {
    let (Some(request), Some(result)) = (event.answered(), event.result()) else {
        return;
    };
    let Some(asked) = &request.asked.prompt else { return };
    if !is_complete(result) {
        return;
    }
    notes.note(
        Fault::new(
            &MISSING_ARGUMENT_ACCEPTED,
            format!("the request lacked `{}`, but the server returned the prompt", asked.missing),
        )
        .at(result.span())
        .related(request.at.line(), "the request was here")
        .help("answer with error -32602, or list the argument without `required`"),
    );
}

/// Checks the `ref` of `completion/complete`.
fn check_reference(reference: Node<'_>, known: &Known<'_>, notes: &mut Notes) {
    let kind = reference.get("type").and_then(Node::as_str);
    let member = match kind.as_deref() {
        Some("ref/prompt") => "name",
        Some("ref/resource") => "uri",
        _ => return,
    };
    let Some(node) = reference.get(member) else { return };
    let Some(name) = node.as_str() else { return };
    let (prompts, templates) = (&known.listings.prompts, &known.listings.templates);
    // Without a variable it may be a plain resource, which supports completion too.
    let (what, help) = if member == "name" && prompts.lacks(&name) {
        ("prompt", prompts.suggestion(&name))
    } else if member == "uri" && name.contains('{') && templates.lacks(&name) {
        ("template", templates.suggestion(&name))
    } else {
        return;
    };
    let message = format!("the server lists no {what} `{}`", shown(&name));
    notes.note(
        Fault::new(&COMPLETION_REF_UNKNOWN, message)
            .at(node.span())
            .code(ErrorCode::InvalidParams.code())
            .help(help),
    );
}
