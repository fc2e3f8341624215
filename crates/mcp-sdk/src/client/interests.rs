//! What servers of the handshake era were asked to tell about resources.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mcp_core::Era;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::{CallOptions, Client, ClientError};

/// The resources about which somebody wants to hear: the server counts one subscription for each,
/// however many there are here.
#[derive(Debug, Default)]
pub(super) struct Interests(Mutex<HashMap<String, Topic>>);

/// One resource.
#[derive(Debug, Default)]
struct Topic {
    /// How many want to hear about it.
    wanted: usize,
    told: Arc<Word>,
}

/// What the server has been told last. Held while it is told, so that it hears things in order;
/// each resource has its own, so that none waits for what the server makes of another.
type Word = tokio::sync::Mutex<Told>;

#[derive(Debug, Default)]
enum Told {
    /// It tells nothing.
    #[default]
    Nothing,
    /// It was asked to tell and has not answered, or nobody waited for its answer. News may come all
    /// the same.
    Asked,
    /// It has agreed to tell, and does until what it tells may be lost.
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

    /// Forgets a resource that nobody wants to hear about, unless it is another one by now.
    fn forget(&self, uri: &str, told: &Arc<Word>) {
        let mut topics = self.topics();
        if topics.get(uri).is_some_and(|topic| topic.wanted == 0 && Arc::ptr_eq(&topic.told, told))
        {
            topics.remove(uri);
        }
    }
}

impl Client {
    /// No longer wants to hear about a resource, in revisions where that is told, whatever
    /// subscriptions there are.
    ///
    /// # Errors
    ///
    /// If the call failed, or the revision ends subscriptions by dropping them.
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), ClientError> {
        self.only(Era::Legacy, "`resources/unsubscribe`")?;
        let told = self.inner.interests.told(uri).unwrap_or_default();
        let mut told = told.lock().await;
        *told = Told::Nothing;
        self.about_resource("resources/unsubscribe", uri).await
    }

    /// Asks for news about a resource, unless they come already.
    pub(super) async fn take_interest(
        &self,
        uri: &str,
        hearing: &CancellationToken,
    ) -> Result<Interest, ClientError> {
        let (interest, told) = Interest::new(self, uri);
        let mut told = told.lock().await;
        if !told.comes_already() {
            // Whatever becomes of the request, the server may have taken it.
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

    /// Tells the server that nobody is interested any more, if that is still so.
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
                tracing::debug!(%error, uri, "a subscription was not taken back");
            }
        }
        interests.forget(uri, &word);
    }

    async fn about_resource(&self, method: &str, uri: &str) -> Result<(), ClientError> {
        let params = json!({ "uri": uri });
        self.typed::<Value>(method, params, &CallOptions::default()).await.map(drop)
    }
}

/// One who wants to hear about a resource.
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
        // Without a runtime the conversation has ended too.
        if let Ok(runtime) = Handle::try_current() {
            let (client, uri) = (self.client.clone(), std::mem::take(&mut self.uri));
            runtime.spawn(async move { client.lose_interest(&uri).await });
        }
    }
}
