//! Subscriptions: to single resources before 2026-07-28, to kinds of changes since.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, json};

use crate::{
    faults::Fault,
    outbox::{Outbox, notify},
    reply::{Failure, Reply},
    server::{Faults, Server},
    world::{Listener, held},
};

/// `resources/subscribe` and `resources/unsubscribe`. None if there is no answer.
pub(crate) fn change(
    listener: &Listener,
    side: &Outbox,
    method: &str,
    params: &Value,
    faults: Faults,
) -> Option<Result<Value, Failure>> {
    let Some(uri) = params["uri"].as_str() else {
        return Some(Err(Failure::params("uri must be a string")));
    };
    let update = |uri: &str| notify(side, "notifications/resources/updated", &json!({"uri": uri}));
    if method == "resources/unsubscribe" {
        held(&listener.uris).remove(uri);
        if faults.has(Fault::UpdateAfterUnsubscribe) {
            let (side, uri) = (side.clone(), uri.to_owned());
            tokio::spawn(async move {
                tokio::time::sleep(std::time::Duration::from_millis(30)).await;
                notify(&side, "notifications/resources/updated", &json!({"uri": uri}));
            });
        }
        return Some(Ok(json!({})));
    }
    match faults.0 {
        Some(Fault::SubscribeHangs) => return None,
        Some(Fault::UpdateUnsubscribed) => update("note://somebody-elses"),
        Some(Fault::ListChangedUndeclared) => {
            notify(side, "notifications/prompts/list_changed", &json!({}));
        }
        _ => {}
    }
    held(&listener.uris).insert(uri.to_owned());
    Some(Ok(json!({})))
}

/// `subscriptions/listen`: acknowledges it, and returns the listener. None if the subscription was
/// refused or has ended.
pub(crate) fn listen(server: &Server, params: &Value, reply: &Reply) -> Option<Arc<Listener>> {
    let faults = server.faults;
    let Some(filter) = params["notifications"].as_object() else {
        reply.fail(&Failure::params("notifications must be an object"));
        return None;
    };
    let wants = |name: &str| filter.get(name) == Some(&Value::Bool(true));
    let uris: BTreeSet<String> = filter
        .get("resourceSubscriptions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    let listener = Arc::new(Listener {
        outbox: reply.outbox().clone(),
        subscription: Some(reply.id().to_owned()),
        tools: wants("toolsListChanged"),
        resources: wants("resourcesListChanged"),
        uris: uris.clone().into(),
    });
    let mut honoured = json!({});
    for name in ["toolsListChanged", "resourcesListChanged"] {
        if wants(name) {
            honoured[name] = json!(true);
        }
    }
    if !uris.is_empty() {
        honoured["resourceSubscriptions"] = json!(uris);
    }
    let id: Value = serde_json::from_str(reply.id()).unwrap_or(Value::Null);
    let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
    let mut acknowledgement = json!({"notifications": honoured});
    if !faults.has(Fault::ListenIdMissing) {
        acknowledgement["_meta"] = meta.clone();
    }
    if !faults.has(Fault::ListenUnacknowledged) {
        notify(reply.outbox(), "notifications/subscriptions/acknowledged", &acknowledgement);
    }
    if faults.has(Fault::ListenUnasked) {
        notify(reply.outbox(), "notifications/prompts/list_changed", &json!({"_meta": meta}));
    }
    if faults.has(Fault::ListenEndsAtOnce) {
        reply.succeed(&json!({"resultType": "complete", "_meta": meta}));
        return None;
    }
    if !faults.has(Fault::ListenUntold) {
        server.world.listen(&listener);
    }
    Some(listener)
}
