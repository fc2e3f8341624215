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
pub(super) struct Interests(Mutex<HashMap<String, Topic>>);

/// One resource.
#[derive(Debug, Default)]
struct Topic {
    /// The number of local subscriptions.
    wanted: usize,
    told: Arc<Word>,
}

/// The state at the server. Locked while a request is in flight, so that requests stay in order;
/// each resource has its own lock, so that none waits for another.
type Word = tokio::sync::Mutex<Told>;

#[derive(Debug, Default)]
enum Told {
    /// Not subscribed.
    #[default]
    Nothing,
    /// A request was sent but not answered, or nobody waited for the answer. Updates may still
    /// arrive.
    Asked,
    /// Subscribed, until the token is cancelled because notifications may have been lost.
    Agreed(CancellationToken),
}

impl Told {
    fn comes_already(&self) -> bool {
        matches!(self, Told::Agreed(hearing) if !hearing.is_cancelled())
    }
}

impl Interests {
    fn topics(&self) -> MutexGuard<'_, HashMap<String, Topic>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self, uri: &str) -> Option<Arc<Word>> {
        self.topics().get(uri).map(|topic| Arc::clone(&topic.told))
    }

    fn is_wanted(&self, uri: &str) -> bool {
        self.topics().get(uri).is_some_and(|topic| topic.wanted > 0)
    }

    /// Removes a resource without subscriptions, unless it has been replaced by now.
    fn forget(&self, uri: &str, told: &Arc<Word>) {
        let mut topics = self.topics();
        if topics.get(uri).is_some_and(|topic| topic.wanted == 0 && Arc::ptr_eq(&topic.told, told))
        {
            topics.remove(uri);
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
        let told = self.inner.interests.told(uri).unwrap_or_default();
        let mut told = told.lock().await;
        *told = Told::Nothing;
        self.about_resource("resources/unsubscribe", uri).await
    }

    /// Subscribes to a resource, unless the server already sends updates.
    pub(super) async fn take_interest(
        &self,
        uri: &str,
        hearing: &CancellationToken,
    ) -> Result<Interest, ClientError> {
        let (interest, told) = Interest::new(self, uri);
        let mut told = told.lock().await;
        if !told.comes_already() {
            // Whatever happens to the request, the server may have processed it.
            *told = Told::Asked;
            let asked = self.about_resource("resources/subscribe", uri).await;
            *told = match &asked {
                Ok(()) => Told::Agreed(hearing.clone()),
                Err(error) if error.code().is_some() => Told::Nothing,
                Err(_) => Told::Asked,
            };
            asked?;
        }
        Ok(interest)
    }

    /// Unsubscribes at the server if there are still no local subscriptions.
    async fn lose_interest(&self, uri: &str) {
        let interests = &self.inner.interests;
        let Some(word) = interests.told(uri) else { return };
        let mut told = word.lock().await;
        if interests.is_wanted(uri) {
            return;
        }
        if !matches!(std::mem::take(&mut *told), Told::Nothing) {
            let outcome = self.about_resource("resources/unsubscribe", uri).await;
            if let Err(error) = outcome {
                tracing::debug!(%error, uri, "could not unsubscribe from a resource");
            }
        }
        interests.forget(uri, &word);
    }

    async fn about_resource(&self, method: &str, uri: &str) -> Result<(), ClientError> {
        let params = json!({ "uri": uri });
        self.typed::<Value>(method, params, &CallOptions::default()).await.map(drop)
    }
}

/// A local subscription to a resource.
#[derive(Debug)]
pub(super) struct Interest {
    client: Client,
    uri: String,
}

impl Interest {
    fn new(client: &Client, uri: &str) -> (Interest, Arc<Word>) {
        let mut topics = client.inner.interests.topics();
        let topic = topics.entry(uri.to_owned()).or_default();
        topic.wanted += 1;
        (Interest { client: client.clone(), uri: uri.to_owned() }, Arc::clone(&topic.told))
    }
}

impl Drop for Interest {
    fn drop(&mut self) {
        let is_last =
            self.client.inner.interests.topics().get_mut(&self.uri).is_some_and(|topic| {
                topic.wanted = topic.wanted.saturating_sub(1);
                topic.wanted == 0
            });
        if !is_last {
            return;
        }
        // Without a runtime, the conversation has ended anyway.
        if let Ok(runtime) = Handle::try_current() {
            let (client, uri) = (self.client.clone(), std::mem::take(&mut self.uri));
            runtime.spawn(async move { client.lose_interest(&uri).await });
        }
    }
}
