//! What a schema cannot express about a payload that matches it.
//!
//! One `match` by method and part, so that a message pays only for what its method needs.

use mcp_json::Node;
use mcp_jsonrpc::Envelope;

use super::check::{Part, Payload, Shape};
use crate::{
    Context, Findings,
    criteria::Criteria,
    features::{
        caching, cancellation, completion, elicitation, icons, inputs, meta, modern, progress,
        prompts, resources, roots, sampling, tasks, tools,
    },
};

/// Runs the rules that inspect `payload`.
pub(crate) fn check(criteria: &Criteria, payload: Payload<'_>, findings: &mut Findings<'_>) {
    let node = payload.node;
    let own_meta = node.get("_meta");
    match payload.part {
        Part::Params | Part::InputRequest => {
            if let Some(own_meta) = own_meta {
                meta::check_request(own_meta, findings);
            }
            check_request(criteria, payload.method.name, node, findings);
        }
        Part::NotificationParams => {
            if let Some(own_meta) = own_meta {
                meta::check(own_meta, findings);
            }
            check_notification(payload.method.name, node, findings);
        }
        Part::Result | Part::TaskOutcome => {
            if let Some(own_meta) = own_meta {
                meta::check_result(own_meta, findings);
            }
            match payload.shape {
                Shape::Usual => check_result(criteria, payload.method.name, node, findings),
                Shape::Task => {
                    if let Some(task) = node.get("task") {
                        tasks::check(task, findings);
                    }
                }
                Shape::InputRequired => {
                    caching::check_input_required(node, findings);
                    inputs::check_requests(criteria, node, findings);
                }
            }
        }
    }
}

/// Runs the rules about tools for those of a rejected list that match their definition: one bad tool
/// does not hide what is wrong with the others.
#[cold]
pub(crate) fn check_sound_tools(
    criteria: &Criteria,
    envelope: &Envelope<'_>,
    context: &Context,
    findings: &mut Findings<'_>,
) {
    let method = context.answers.and_then(|answered| answered.method);
    if method.is_none_or(|method| method.name != "tools/list") {
        return;
    }
    let (Some(definition), Some(list)) = (
        mcp_schema::definition(context.revision, "Tool"),
        envelope.result.and_then(|result| result.get("tools")),
    ) else {
        return;
    };
    for tool in list.elements().filter(|tool| criteria.schemas().accepts(definition, *tool)) {
        tools::check_tool(criteria, tool, findings);
    }
}

fn check_request(criteria: &Criteria, method: &str, params: Node<'_>, findings: &mut Findings<'_>) {
    match method {
        "tools/call" | "prompts/get" => inputs::check_responses(params, findings),
        "resources/read" => {
            resources::check_member(params, "uri", findings);
            inputs::check_responses(params, findings);
        }
        "resources/subscribe" | "resources/unsubscribe" => {
            resources::check_member(params, "uri", findings);
        }
        "completion/complete" => completion::check_request(params, findings),
        "sampling/createMessage" => sampling::check_request(criteria, params, findings),
        "elicitation/create" => elicitation::check_request(params, findings),
        "initialize" => icons::check_implementation(params.get("clientInfo"), findings),
        "subscriptions/listen" => check_subscription(params, findings),
        _ => {}
    }
}

fn check_notification(method: &str, params: Node<'_>, findings: &mut Findings<'_>) {
    match method {
        "notifications/progress" => progress::check_message(params, findings),
        "notifications/cancelled" => cancellation::check_message(params, findings),
        "notifications/resources/updated" => resources::check_member(params, "uri", findings),
        "notifications/tasks/status" => tasks::check(params, findings),
        "notifications/subscriptions/acknowledged" => check_subscription(params, findings),
        _ => {}
    }
}

fn check_result(criteria: &Criteria, method: &str, result: Node<'_>, findings: &mut Findings<'_>) {
    match method {
        "tools/call" => tools::check_call(result, findings),
        "tools/list" => tools::check_list(criteria, result, findings),
        "resources/read" => resources::check_read(result, findings),
        "resources/list" => resources::check_list(result, findings),
        "resources/templates/list" => resources::check_templates(result, findings),
        "prompts/get" => prompts::check_get(result, findings),
        "prompts/list" => prompts::check_list(result, findings),
        "completion/complete" => completion::check_result(result, findings),
        "sampling/createMessage" => sampling::check_result(result, findings),
        "roots/list" => roots::check_result(result, findings),
        "initialize" => icons::check_implementation(result.get("serverInfo"), findings),
        "server/discover" => {
            if let Some(capabilities) = result.get("capabilities") {
                modern::check_extensions(capabilities, findings);
            }
        }
        "tasks/get" | "tasks/cancel" => tasks::check(result, findings),
        "tasks/list" => tasks::check_list(result, findings),
        _ => {}
    }
}

/// Checks the URIs a subscription is for.
fn check_subscription(params: Node<'_>, findings: &mut Findings<'_>) {
    let uris = params.get("notifications").and_then(|filter| filter.get("resourceSubscriptions"));
    for uri in uris.into_iter().flat_map(Node::elements) {
        resources::check_uri(uri, findings);
    }
}
