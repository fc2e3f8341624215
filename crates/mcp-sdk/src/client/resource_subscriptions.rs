//! Resource subscriptions in the handshake era.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mcp_core::Era;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::{CallOptions, Client, ClientError};

/// The subscribed resources: the server has one subscription for each, however many there are here.
#[derive(Debug, Default)]
pub(super) struct ResourceSubscriptions(Mutex<HashMap<String, Resource>>);

/// One resource.
#[derive(Debug, Default)]
struct Resource {
    /// The number of local subscriptions.
    subscriptions: usize,
    remote: Arc<RemoteLock>,
}

/// The state at the server. Locked while a request is in flight, so that requests stay in order;
/// each resource has its own lock, so that none waits for another.
type RemoteLock = tokio::sync::Mutex<RemoteState>;

#[derive(Debug, Default)]
enum RemoteState {
    /// Not subscribed.
    #[default]
    Unsubscribed,
    /// A request was sent but not answered, or nobody waited for the answer. Updates may still
    /// arrive.
    Requested,
    /// Subscribed, until the token is cancelled because notifications may have been lost.
    Subscribed(CancellationToken),
}

impl RemoteState {
    fn is_subscribed(&self) -> bool {
        matches!(self, RemoteState::Subscribed(stream_lost) if !stream_lost.is_cancelled())
    }
}

impl ResourceSubscriptions {
    fn resources(&self) -> MutexGuard<'_, HashMap<String, Resource>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remote(&self, uri: &str) -> Option<Arc<RemoteLock>> {
        self.resources().get(uri).map(|resource| Arc::clone(&resource.remote))
    }

    fn has_subscriptions(&self, uri: &str) -> bool {
        self.resources().get(uri).is_some_and(|resource| resource.subscriptions > 0)
    }

    /// Removes a resource without subscriptions, unless it has been replaced by now.
    fn forget(&self, uri: &str, remote: &Arc<RemoteLock>) {
        let mut resources = self.resources();
        if resources.get(uri).is_some_and(|resource| {
            resource.subscriptions == 0 && Arc::ptr_eq(&resource.remote, remote)
        }) {
            resources.remove(uri);
        }
    }
}

impl Client {
    /// Unsubscribes from a resource, in revisions that have `resources/unsubscribe`, even if there
    /// are [subscriptions](Client::subscribe) for it.
    ///
    /// # Errors
    ///
    /// If the call failed, or the revision has no such request.
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), ClientError> {
        self.only(Era::Legacy, "`resources/unsubscribe`")?;
        let remote = self.inner.resource_subscriptions.remote(uri).unwrap_or_default();
        let mut remote = remote.lock().await;
        *remote = RemoteState::Unsubscribed;
        self.call_for_resource("resources/unsubscribe", uri).await
    }

    /// Subscribes to a resource, unless the server already sends updates.
    pub(super) async fn subscribe_resource(
        &self,
        uri: &str,
        stream_lost: &CancellationToken,
    ) -> Result<ResourceSubscription, ClientError> {
        let (subscription, remote) = ResourceSubscription::new(self, uri);
        let mut remote = remote.lock().await;
        if !remote.is_subscribed() {
            // Whatever happens to the request, the server may have processed it.
            *remote = RemoteState::Requested;
            let asked = self.call_for_resource("resources/subscribe", uri).await;
            *remote = match &asked {
                Ok(()) => RemoteState::Subscribed(stream_lost.clone()),
                Err(error) if error.code().is_some() => RemoteState::Unsubscribed,
                Err(_) => RemoteState::Requested,
            };
            asked?;
        }
        Ok(subscription)
    }

    /// Unsubscribes at the server if there are still no local subscriptions.
    async fn unsubscribe_resource(&self, uri: &str) {
        let resource_subscriptions = &self.inner.resource_subscriptions;
        let Some(lock) = resource_subscriptions.remote(uri) else { return };
        let mut remote = lock.lock().await;
        if resource_subscriptions.has_subscriptions(uri) {
            return;
        }
        if !matches!(std::mem::take(&mut *remote), RemoteState::Unsubscribed) {
            let outcome = self.call_for_resource("resources/unsubscribe", uri).await;
            if let Err(error) = outcome {
                tracing::debug!(%error, uri, "could not unsubscribe from a resource");
            }
        }
        resource_subscriptions.forget(uri, &lock);
    }

    async fn call_for_resource(&self, method: &str, uri: &str) -> Result<(), ClientError> {
        let params = json!({ "uri": uri });
        self.typed::<Value>(method, params, &CallOptions::default()).await.map(drop)
    }
}

/// A local subscription to a resource.
#[derive(Debug)]
pub(super) struct ResourceSubscription {
    client: Client,
    uri: String,
}

impl ResourceSubscription {
    fn new(client: &Client, uri: &str) -> (ResourceSubscription, Arc<RemoteLock>) {
        let mut resources = client.inner.resource_subscriptions.resources();
        let resource = resources.entry(uri.to_owned()).or_default();
        resource.subscriptions += 1;
        (
            ResourceSubscription { client: client.clone(), uri: uri.to_owned() },
            Arc::clone(&resource.remote),
        )
    }
}

impl Drop for ResourceSubscription {
    fn drop(&mut self) {
        let is_last =
            self.client.inner.resource_subscriptions.resources().get_mut(&self.uri).is_some_and(
                |resource| {
                    resource.subscriptions = resource.subscriptions.saturating_sub(1);
                    resource.subscriptions == 0
                },
            );
        if !is_last {
            return;
        }
        // Without a runtime, the conversation has ended anyway.
        if let Ok(runtime) = Handle::try_current() {
            let (client, uri) = (self.client.clone(), std::mem::take(&mut self.uri));
            runtime.spawn(async move { client.unsubscribe_resource(&uri).await });
        }
    }
}
