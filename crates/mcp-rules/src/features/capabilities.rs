//! Features may be used only where declared: one mechanism, one table of cases.

use mcp_core::{Revision, Revisions, Side};
use mcp_json::{Node, Span};

use crate::{
    Level, RuleMeta,
    conversation::{Capabilities, Event, Flag, Known, Notes, Topic, What},
    findings::Fault,
};

const LEGACY: Revisions = Revisions::LEGACY;
/// Where the text says "must"; earlier it says "should", and 2026-07-28 says neither.
const MUST: Level =
    Level::ErrorIn(Revisions::between(Revision::V2025_06_18, Revision::V2025_11_25));
const V25_11: Revisions = Revisions::only(Revision::V2025_11_25);

rules! {
    TOOLS: "capability-tools-undeclared", Session, MUST, Revisions::ALL, "server/tools#capabilities";
    PROMPTS: "capability-prompts-undeclared", Session, MUST, Revisions::ALL, "server/prompts#capabilities";
    RESOURCES: "capability-resources-undeclared", Session, MUST, Revisions::ALL, "server/resources#capabilities";
    SUBSCRIBE: "capability-subscribe-undeclared", Session, MUST, LEGACY, "server/resources#capabilities";
    LOGGING: "capability-logging-undeclared", Session, MUST, LEGACY, "server/utilities/logging#capabilities";
    COMPLETIONS: "capability-completions-undeclared", Session, MUST, Revisions::from(Revision::V2025_03_26), "server/utilities/completion#capabilities";
    ROOTS: "capability-roots-undeclared", Session, MUST, LEGACY, "client/roots#capabilities";
    SAMPLING: "capability-sampling-undeclared", Session, MUST, LEGACY, "client/sampling#capabilities";
    SAMPLING_TOOLS: "capability-sampling-tools-undeclared", Session, Level::Error, V25_11, "client/sampling#tools-in-sampling";
    SAMPLING_CONTEXT: "sampling-context-undeclared", Session, Level::Warning, Revisions::from(Revision::V2025_11_25), "client/sampling#capabilities";
    ELICITATION: "capability-elicitation-undeclared", Session, Level::Error, Revisions::between(Revision::V2025_06_18, Revision::V2025_11_25), "client/elicitation#capabilities";
    ELICITATION_MODE: "elicitation-mode-undeclared", Session, Level::Error, V25_11, "client/elicitation#capabilities";
    TOOLS_CHANGED: "tools-list-changed-undeclared", Session, MUST, LEGACY, "server/tools#list-changed-notification";
    PROMPTS_CHANGED: "prompts-list-changed-undeclared", Session, MUST, LEGACY, "server/prompts#list-changed-notification";
    RESOURCES_CHANGED: "resources-list-changed-undeclared", Session, MUST, LEGACY, "server/resources#list-changed-notification";
    RESOURCES_UPDATED: "resources-updated-undeclared", Session, MUST, LEGACY, "server/resources#subscriptions";
    ROOTS_CHANGED: "roots-list-changed-undeclared", Session, MUST, LEGACY, "client/roots#capabilities";
    LOGS: "logging-undeclared", Session, Level::Error, Revisions::ALL, "server/utilities/logging#capabilities";
    SERVED: "feature-served-undeclared", Session, Level::Error, Revisions::ALL, "basic/lifecycle#capability-negotiation";
    NOT_SERVED: "declared-feature-not-served", Session, Level::ErrorIn(Revisions::only(Revision::V2026_07_28)), Revisions::ALL, "basic/lifecycle#capability-negotiation";
    EMBEDDED: "embedded-resource-undeclared", Session, Level::Warning, Revisions::from(Revision::V2025_06_18), "server/tools#embedded-resources";
}

/// Requests that need a capability of their receiver, by topic.
type Needs = &'static [(&'static str, Flag, &'static RuleMeta)];

const TOOLS_REQUESTS: Needs =
    &[("tools/list", Flag::Tools, &TOOLS), ("tools/call", Flag::Tools, &TOOLS)];
const PROMPTS_REQUESTS: Needs =
    &[("prompts/list", Flag::Prompts, &PROMPTS), ("prompts/get", Flag::Prompts, &PROMPTS)];
const RESOURCES_REQUESTS: Needs = &[
    ("resources/list", Flag::Resources, &RESOURCES),
    ("resources/templates/list", Flag::Resources, &RESOURCES),
    ("resources/read", Flag::Resources, &RESOURCES),
    ("resources/subscribe", Flag::Resources, &RESOURCES),
    ("resources/unsubscribe", Flag::Resources, &RESOURCES),
    ("resources/subscribe", Flag::ResourcesSubscribe, &SUBSCRIBE),
    ("resources/unsubscribe", Flag::ResourcesSubscribe, &SUBSCRIBE),
];
const LOGGING_REQUESTS: Needs = &[("logging/setLevel", Flag::Logging, &LOGGING)];
const COMPLETION_REQUESTS: Needs = &[("completion/complete", Flag::Completions, &COMPLETIONS)];
const ROOTS_REQUESTS: Needs = &[("roots/list", Flag::Roots, &ROOTS)];
const SAMPLING_REQUESTS: Needs = &[("sampling/createMessage", Flag::Sampling, &SAMPLING)];
const ELICITATION_REQUESTS: Needs = &[("elicitation/create", Flag::Elicitation, &ELICITATION)];

/// The requests on a topic that need a capability of their receiver.
fn needs(topic: Topic) -> Needs {
    match topic {
        Topic::Tools => TOOLS_REQUESTS,
        Topic::Prompts => PROMPTS_REQUESTS,
        Topic::Resources => RESOURCES_REQUESTS,
        Topic::Logging => LOGGING_REQUESTS,
        Topic::Completion => COMPLETION_REQUESTS,
        Topic::Roots => ROOTS_REQUESTS,
        Topic::Sampling => SAMPLING_REQUESTS,
        Topic::Elicitation => ELICITATION_REQUESTS,
        _ => &[],
    }
}

/// Messages that need a capability of their sender.
const NOTIFICATIONS: &[(&str, Flag, &RuleMeta)] = &[
    ("notifications/tools/list_changed", Flag::ToolsListChanged, &TOOLS_CHANGED),
    ("notifications/prompts/list_changed", Flag::PromptsListChanged, &PROMPTS_CHANGED),
    ("notifications/resources/list_changed", Flag::ResourcesListChanged, &RESOURCES_CHANGED),
    ("notifications/resources/updated", Flag::ResourcesSubscribe, &RESOURCES_UPDATED),
    ("notifications/roots/list_changed", Flag::RootsListChanged, &ROOTS_CHANGED),
    ("notifications/message", Flag::Logging, &LOGS),
];

/// Requests that a peer declaring the capability cannot reject as unknown.
const BASIC: &[(&str, Flag)] = &[
    ("tools/list", Flag::Tools),
    ("prompts/list", Flag::Prompts),
    ("resources/list", Flag::Resources),
    ("resources/subscribe", Flag::ResourcesSubscribe),
    ("completion/complete", Flag::Completions),
    ("logging/setLevel", Flag::Logging),
    ("roots/list", Flag::Roots),
    ("sampling/createMessage", Flag::Sampling),
    ("elicitation/create", Flag::Elicitation),
];

pub(crate) fn judge(event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
    match event.what {
        What::Request(_) => judge_request(event, known, notes),
        What::Notification => judge_notification(event, known, notes),
        What::Answer(_) => judge_answer(event, known, notes),
    }
}

fn judge_request(event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
    let receiver = event.from.other();
    let Some(declared) = known.capabilities(receiver, event) else { return };
    if let Some((flag, rule)) = missing(event, declared) {
        let message = format!("the {receiver} did not declare `{}`", flag.path());
        notes.note(undeclared(rule, message, declared).at(event.method_span()).code(-32601).help(
            "check the peer's capabilities before using a feature, or declare it on the other side",
        ));
    } else if event.from == Side::Server
        && let Some(params) = event.params()
    {
        check_asked(event.name, params, declared, notes);
    }
}

/// Returns the capability that a request's receiver needs and did not declare.
fn missing(event: &Event<'_>, declared: &Capabilities) -> Option<(Flag, &'static RuleMeta)> {
    needs(event.topic)
        .iter()
        .filter(|(name, ..)| *name == event.name)
        .map(|(_, flag, rule)| (*flag, *rule))
        .find(|(flag, rule)| rule.applies.contains(event.revision) && !declared.has(*flag))
}

/// Checks what a request to the client needs beyond the feature itself.
fn check_asked(name: &str, params: Node<'_>, declared: &Capabilities, notes: &mut Notes) {
    match name {
        "sampling/createMessage" => {
            let tools = params.get("tools").or_else(|| params.get("toolChoice"));
            if let Some(tools) = tools.filter(|_| !declared.has(Flag::SamplingTools)) {
                let message = "the client did not declare `sampling.tools`";
                notes.note(undeclared(&SAMPLING_TOOLS, message, declared).at(tools.span()).help(
                    "omit `tools` and `toolChoice` for clients that did not declare `sampling.tools`",
                ));
            }
            check_context(params, declared, notes);
        }
        "elicitation/create" => {
            let mode = params.get("mode");
            let url = mode.is_some_and(|mode| mode.str_eq("url"));
            let needed = if url { Flag::ElicitationUrl } else { Flag::ElicitationForm };
            if !declared.has(needed) {
                let message = format!("the client did not declare `{}`", needed.path());
                let at = mode.unwrap_or(params).span();
                notes.note(undeclared(&ELICITATION_MODE, message, declared).at(at).help(
                    "use a mode that the client declared; an empty `elicitation` means forms",
                ));
            }
        }
        _ => {}
    }
}

fn check_context(params: Node<'_>, declared: &Capabilities, notes: &mut Notes) {
    let Some(context) = params.get("includeContext") else { return };
    let wide = context.str_eq("thisServer") || context.str_eq("allServers");
    if wide && !declared.has(Flag::SamplingContext) {
        let message = "the client did not declare `sampling.context`";
        notes.note(
            undeclared(&SAMPLING_CONTEXT, message, declared)
                .at(context.span())
                .help("omit `includeContext`, or set it to `none`"),
        );
    }
}

fn judge_notification(event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
    let Some((_, flag, rule)) = NOTIFICATIONS.iter().find(|(name, ..)| *name == event.name) else {
        return;
    };
    let Some(declared) = known.capabilities(event.from, event) else { return };
    if !declared.has(*flag) {
        let message = format!("the {} did not declare `{}`", event.from, flag.path());
        notes.note(
            undeclared(rule, message, declared)
                .at(event.method_span())
                .help("declare the capability: receivers may ignore what was not declared"),
        );
    }
}

fn judge_answer(event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
    let Some(request) = event.answered() else { return };
    check_input_requests(event, notes);
    // A request in the wrong direction or of another revision is reported separately.
    if !event.method.is_some_and(|method| method.sender.allows(event.from.other())) {
        return;
    }
    let Some(declared) = known.capabilities(event.from, event) else { return };
    let asked_at = request.at.line();
    if let Some(result) = event.result() {
        let undeclared_feature =
            missing(event, declared).filter(|(flag, _)| *flag != Flag::Logging);
        if let Some((flag, _)) = undeclared_feature {
            let message =
                format!("the {} did not declare `{}`, but serves it", event.from, flag.path());
            notes.note(
                Fault::new(&SERVED, message)
                    .at(result_span(event))
                    .related(declared.at().line(), "its capabilities were declared here")
                    .help(format!("declare `{}`, or refuse the request", flag.path())),
            );
        }
        check_embedded(event, result, declared, notes);
    } else if event.error_code() == Some(-32601)
        && let Some((_, flag)) = BASIC.iter().find(|(name, _)| *name == event.name)
        && declared.has(*flag)
        && request.asked.elicitation.as_ref().is_none_or(|asked| declared.has(asked.mode()))
    {
        let code = event.error().and_then(|error| error.get("code")).unwrap_or(event.node());
        let message = format!(
            "the {} declared `{}` but does not know `{}`",
            event.from,
            flag.path(),
            event.name
        );
        notes.note(
            Fault::new(&NOT_SERVED, message)
                .at(code.span())
                .related(asked_at, "the request was here")
                .help("handle what is declared (an empty list is enough), or do not declare it"),
        );
    }
}

/// Checks what requests to the client inside a result (2026-07-28) need beyond their feature.
fn check_input_requests(event: &Event<'_>, notes: &mut Notes) {
    let Some(request) = event.answered() else { return };
    let (Some(result), Some(declared)) = (event.result(), request.declared.as_ref()) else {
        return;
    };
    let entries = result.get("inputRequests").into_iter().flat_map(Node::members);
    for (_, entry) in entries {
        if entry.get("method").is_some_and(|method| method.str_eq("sampling/createMessage"))
            && declared.has(Flag::Sampling)
            && let Some(params) = entry.get("params")
        {
            check_context(params, declared, notes);
        }
    }
}

fn check_embedded(event: &Event<'_>, result: Node<'_>, declared: &Capabilities, notes: &mut Notes) {
    if event.name != "tools/call" || declared.has(Flag::Resources) {
        return;
    }
    let blocks = result.get("content").into_iter().flat_map(Node::elements);
    let embedded =
        blocks.filter_map(|block| block.get("type")).find(|kind| kind.str_eq("resource"));
    if let Some(kind) = embedded {
        let message = "the result embeds a resource, but the server did not declare `resources`";
        notes.note(
            undeclared(&EMBEDDED, message, declared)
                .at(kind.span())
                .help("declare `resources`, or send the content as text"),
        );
    }
}

fn undeclared(
    rule: &'static RuleMeta,
    message: impl Into<String>,
    declared: &Capabilities,
) -> Fault {
    Fault::new(rule, message).related(declared.at().line(), "the capabilities were declared here")
}

fn result_span(event: &Event<'_>) -> Span {
    event.envelope.result.unwrap_or(event.node()).span()
}
