use std::{borrow::Cow, collections::BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    Mcp,
    builder::is_absolute,
    changes::{Change, Changes, is_gone},
    params::{Params, missing},
    result::Caching,
};
use crate::{Call, Error, Json, Meta, Notification, RequestId, Revision};

/// The notifications that a client wants.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Filter {
    #[serde(skip_serializing_if = "is_false")]
    pub(super) tools_list_changed: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) prompts_list_changed: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) resources_list_changed: bool,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) resource_subscriptions: BTreeSet<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde requires")]
fn is_false(value: &bool) -> bool {
    !*value
}

impl Mcp {
    /// Sends the client the notifications it wants until it disconnects or `ending` is cancelled.
    pub(super) async fn listen(
        &self,
        id: &RequestId,
        read: &Params<'_>,
        call: Call,
        ending: &CancellationToken,
    ) -> Result<Json, Error> {
        let Some(wanted) = read.notifications() else {
            return Err(missing("notifications"));
        };
        let wanted: Filter = wanted.read().map_err(|error| {
            Error::invalid_params(format!("`params.notifications` is invalid: {error}"))
        })?;
        let uris = wanted.resource_subscriptions.iter().map(String::as_str);
        check_subscriptions(wanted.resource_subscriptions.len(), uris)?;
        let filter = self.supported_filter(wanted);
        let wanted = &filter.resource_subscriptions;
        let updates = (!wanted.is_empty()).then(|| self.shared.updates.listen(wanted.clone()));
        let mut changes = Changes::of(self, updates);
        let subscription = id_value(id);
        let acknowledged = json!({ "notifications": filter });
        let mut pending = Some(("notifications/subscriptions/acknowledged", acknowledged));
        loop {
            if let Some((method, params)) = pending.take() {
                let notification = tagged(method, params, &subscription);
                if is_gone(&call.peer.notify(notification).await) {
                    return Err(Error::Cancelled);
                }
            }
            let next = tokio::select! {
                biased;
                () = ending.cancelled() => None,
                next = changes.next() => next,
            };
            match next {
                Some(Change::Tools) if filter.tools_list_changed => {
                    pending = Some(("notifications/tools/list_changed", json!({})));
                }
                Some(Change::Prompts) if filter.prompts_list_changed => {
                    pending = Some(("notifications/prompts/list_changed", json!({})));
                }
                Some(Change::Resources) if filter.resources_list_changed => {
                    pending = Some(("notifications/resources/list_changed", json!({})));
                }
                Some(Change::Updated(uri)) => {
                    pending = Some(("notifications/resources/updated", json!({ "uri": &*uri })));
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut meta = Meta::default();
        meta.insert(Meta::SUBSCRIPTION_ID, subscription);
        self.write(Revision::LATEST, &json!({}), Some(meta), Caching::Unspecified)
    }

    /// The part of `wanted` that this server supports. Entries that are not URIs are dropped.
    fn supported_filter(&self, mut wanted: Filter) -> Filter {
        wanted.resource_subscriptions.retain(|uri| is_absolute(uri));
        let offer = &self.shared.offer;
        let lists = offer.list_changes;
        Filter {
            tools_list_changed: wanted.tools_list_changed && lists && offer.tools,
            prompts_list_changed: wanted.prompts_list_changed && lists && offer.prompts,
            resources_list_changed: wanted.resources_list_changed && lists && offer.resources,
            resource_subscriptions: if offer.resources && offer.subscriptions {
                wanted.resource_subscriptions
            } else {
                BTreeSet::new()
            },
        }
    }
}

/// The number of resources that one client may subscribe to.
const MAX_SUBSCRIPTIONS: usize = 10_000;
/// The length in bytes of a URI that a client may subscribe to.
const MAX_URI_LENGTH: usize = 8 * 1024;

/// Subscriptions are stored and compared with every change, and therefore limited.
pub(super) fn check_subscriptions<'a>(
    count: usize,
    uris: impl IntoIterator<Item = &'a str>,
) -> Result<(), Error> {
    if count > MAX_SUBSCRIPTIONS {
        let message = format!("a client can subscribe to at most {MAX_SUBSCRIPTIONS} resources");
        return Err(Error::invalid_params(message));
    }
    if uris.into_iter().any(|uri| uri.len() > MAX_URI_LENGTH) {
        let message = format!("the URI of a subscription can have at most {MAX_URI_LENGTH} bytes");
        return Err(Error::invalid_params(message));
    }
    Ok(())
}

fn tagged(method: &'static str, mut params: Value, subscription: &Value) -> Notification {
    params["_meta"] = json!({ (Meta::SUBSCRIPTION_ID): subscription });
    Notification { method: Cow::Borrowed(method), params: Json::of(&params).ok() }
}

/// The id as JSON; a number stays a number.
fn id_value(id: &RequestId) -> Value {
    match (id.as_i64(), id.as_str()) {
        (Some(number), _) => number.into(),
        (None, Some(text)) => text.into(),
        (None, None) => serde_json::from_str(&id.to_string()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscriptions_are_limited() {
        assert!(check_subscriptions(MAX_SUBSCRIPTIONS, ["a:b"]).is_ok());
        assert!(check_subscriptions(MAX_SUBSCRIPTIONS + 1, ["a:b"]).is_err());
        assert!(check_subscriptions(1, ["x".repeat(MAX_URI_LENGTH + 1).as_str()]).is_err());
    }
}
