//! Probes of subscriptions in 2026-07-28.

use mcp_core::{Revision, Revisions};
use mcp_rules::behaviour;
use serde_json::{Value, json};

use super::probe;
use crate::{ConversationError, Offer, Probe, Stop};

pub(super) static PROBES: &[Probe] =
    &[probe("subscriptions/listen", "a client can subscribe to changes", listen)
        .at(Revisions::from(Revision::V2026_07_28))];

/// The kinds of changes, with the capabilities that declare them.
const KINDS: [(&str, &str); 3] = [
    ("/tools/listChanged", "toolsListChanged"),
    ("/prompts/listChanged", "promptsListChanged"),
    ("/resources/listChanged", "resourcesListChanged"),
];

/// A filter for all changes that a server declares; `None` if there are none.
pub(crate) fn changes(offer: &Offer) -> Option<Value> {
    let mut filter = json!({});
    for (capability, kind) in KINDS {
        if offer.has(capability) {
            filter[kind] = json!(true);
        }
    }
    if offer.has("/resources/subscribe")
        && let Some(resource) = offer.resources.first()
    {
        filter["resourceSubscriptions"] = json!([resource["uri"]]);
    }
    (filter != json!({})).then_some(filter)
}

// The rules about subscriptions judge the messages.
steps!(listen, stage => {
    let Some(filter) = changes(&stage.offer()) else {
        return Err(Stop::Skip("the server declares no changes".to_owned()));
    };
    let talk = stage.fresh().await?;
    let (id, mark) = (talk.next_id(), talk.mark());
    let params = json!({ "notifications": filter });
    let method = "subscriptions/listen";
    let text = talk.request_message(&json!(id), method, params).to_string();
    let line = talk.send(&text).await?;
    let answer = id.to_string();
    let is_first = |message: &crate::Incoming| {
        message.method() == Some("notifications/subscriptions/acknowledged")
            || message.answers(&answer)
            || message.closes == Some(line)
    };
    let first = match talk.wait_from(mark, talk.limits().answer, method, is_first).await {
        Ok(first) => first,
        Err(ConversationError::Unanswered { .. }) => {
            let message = "a subscription was neither acknowledged nor refused";
            let help = "send `notifications/subscriptions/acknowledged` first";
            stage.fail(&behaviour::SUBSCRIPTION_UNACKNOWLEDGED, &talk, line, message, help);
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    if first.method().is_none() {
        let refusal = first.value.get("error");
        let message = match refusal {
            Some(error) => format!("changes are declared, but `{method}` fails: {}", error["message"]),
            None => format!("`{method}` was answered without an acknowledgement"),
        };
        let help = "support what you declare, or do not declare it";
        let rule = &behaviour::DECLARED_FEATURE_REFUSED;
        stage.fail(rule, &talk, first.line, message, help);
        return Ok(());
    }
    let honours = first.value.pointer("/params/notifications");
    let honours = honours.and_then(Value::as_object).is_some_and(|kinds| !kinds.is_empty());
    let is_end = |message: &crate::Incoming| {
        message.answers(&answer) || message.closes == Some(line)
    };
    if let Ok(end) = talk.wait_from(mark, talk.limits().quiet, method, is_end).await
        && honours
    {
        let message = "a subscription ended right after it was acknowledged";
        let help = "answer `subscriptions/listen` only when the subscription ends";
        stage.fail(&behaviour::SUBSCRIPTION_ENDED_AT_ONCE, &talk, end.line, message, help);
    }
    talk.give_up(id, line).await?;
});
