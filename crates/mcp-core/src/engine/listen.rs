use std::{borrow::Cow, collections::BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    Mcp,
    builder::is_absolute,
    news::{Changes, News, is_gone},
    params::{Params, missing},
    result::Keep,
};
use crate::{Call, Error, Json, Meta, Notification, RequestId, Revision};

/// What a client wants to hear about.
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(value: &bool) -> bool {
    !*value
}

impl Mcp {
    /// Tells the client what it wants to hear until it hangs up, or the conversation is `ending`.
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
            Error::invalid_params(format!("`params.notifications` does not fit: {error}"))
        })?;
        let uris = wanted.resource_subscriptions.iter().map(String::as_str);
        check_subscriptions(wanted.resource_subscriptions.len(), uris)?;
        let filter = self.honour(wanted);
        let wanted = &filter.resource_subscriptions;
        let updates = (!wanted.is_empty()).then(|| self.shared.updates.listen(wanted.clone()));
        let mut changes = Changes::of(self, updates);
        let subscription = id_value(id);
        let acknowledged = json!({ "notifications": filter });
        let mut news = Some(("notifications/subscriptions/acknowledged", acknowledged));
        loop {
            if let Some((method, params)) = news.take() {
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
                Some(News::Tools) if filter.tools_list_changed => {
                    news = Some(("notifications/tools/list_changed", json!({})));
                }
                Some(News::Prompts) if filter.prompts_list_changed => {
                    news = Some(("notifications/prompts/list_changed", json!({})));
                }
                Some(News::Resources) if filter.resources_list_changed => {
                    news = Some(("notifications/resources/list_changed", json!({})));
                }
                Some(News::Updated(uri)) => {
                    news = Some(("notifications/resources/updated", json!({ "uri": &*uri })));
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut meta = Meta::default();
        meta.insert(Meta::SUBSCRIPTION_ID, subscription);
        self.write(Revision::LATEST, &json!({}), Some(meta), Keep::Not)
    }

    /// What of `wanted` this server can tell. What is no URI names no resource.
    fn honour(&self, mut wanted: Filter) -> Filter {
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

/// Resources one client may subscribe to.
const MOST: usize = 10_000;
/// How long the URI of each may be.
const LONGEST: usize = 8 * 1024;

/// What a client subscribes to is kept, and compared with every change.
pub(super) fn check_subscriptions<'a>(
    count: usize,
    uris: impl IntoIterator<Item = &'a str>,
) -> Result<(), Error> {
    if count > MOST {
        let message = format!("more than {MOST} resources cannot be subscribed to");
        return Err(Error::invalid_params(message));
    }
    if uris.into_iter().any(|uri| uri.len() > LONGEST) {
        let message = format!("a URI of more than {LONGEST} bytes cannot be subscribed to");
        return Err(Error::invalid_params(message));
    }
    Ok(())
}

fn tagged(method: &'static str, mut params: Value, subscription: &Value) -> Notification {
    params["_meta"] = json!({ (Meta::SUBSCRIPTION_ID): subscription });
    Notification { method: Cow::Borrowed(method), params: Json::of(&params).ok() }
}

/// The id as it was written: a number stays a number.
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
    fn what_is_subscribed_to_is_bounded() {
        assert!(check_subscriptions(MOST, ["a:b"]).is_ok());
        assert!(check_subscriptions(MOST + 1, ["a:b"]).is_err());
        assert!(check_subscriptions(1, ["x".repeat(LONGEST + 1).as_str()]).is_err());
    }
}
