//! Subscriptions to lists and resources, which each era delivers in its own way.

use std::collections::BTreeSet;

use mcp_core::{Era, PeerError};
use serde_json::{Map, Value, json};
use tokio::{sync::oneshot, task::AbortHandle};
use tokio_util::sync::CancellationToken;

use super::{
    CallOptions, Client, ClientError, ClientEvent, Granted, events::Events,
    resource_subscriptions::ResourceSubscription,
};
use crate::feed::{ListenError, Listener};

/// Notifications that arrive as long as this lives: here, and as [events](Client::events) of the
/// client.
///
/// It keeps the connection open. Dropping the last one for a resource unsubscribes from it in the
/// background.
#[derive(Debug)]
#[must_use = "dropping it ends the subscription"]
pub struct Subscription {
    granted: Granted,
    missing: BTreeSet<String>,
    /// Listens from before the server agreed, so that nothing is lost in between.
    listener: Listener<ClientEvent>,
    delivery: Delivery,
}

/// What has to be undone at the end.
#[derive(Debug)]
enum Delivery {
    /// One subscription per resource.
    PerResource { _resources: Vec<ResourceSubscription>, stream_lost: CancellationToken },
    /// One request stays open.
    Listening(Listening),
}

/// The request that stays open; dropping it cancels it.
#[derive(Debug)]
pub(crate) struct Listening {
    task: AbortHandle,
    over: CancellationToken,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Listening {
    pub(crate) fn is_open(&self) -> bool {
        !self.over.is_cancelled()
    }
}

impl Delivery {
    /// Cancelled when there will be no more notifications.
    fn over(&self) -> &CancellationToken {
        match self {
            Delivery::PerResource { stream_lost, .. } => stream_lost,
            Delivery::Listening(listening) => &listening.over,
        }
    }
}

impl Subscription {
    /// What the server has agreed to send. Changes of all lists are requested; the server agrees to
    /// those that it supports.
    pub fn granted(&self) -> &Granted {
        &self.granted
    }

    /// The requested resources that the server will not send updates about.
    pub fn missing(&self) -> &BTreeSet<String> {
        &self.missing
    }

    /// Whether notifications still arrive: the server has not ended the subscription, the session
    /// has not expired, and the notification stream is not lost.
    pub fn is_open(&self) -> bool {
        !self.delivery.over().is_cancelled()
    }

    /// The next notification of the server, on any topic, from the moment it agreed.
    /// [`Client::events`] receives the same, but only from when it is called.
    ///
    /// # Errors
    ///
    /// If events were missed because they were not read in time, or the subscription is
    /// [over](Subscription::is_open): then subscribe again, after [reconnecting](Client::reconnect)
    /// if this client can no longer be used.
    pub async fn recv(&mut self) -> Result<ClientEvent, ListenError> {
        tokio::select! {
            biased;
            event = self.listener.recv() => event,
            () = self.delivery.over().cancelled() => Err(ListenError::Closed),
        }
    }
}

impl Client {
    /// Subscribes to changes of lists and of these resources. Completes when the server has agreed;
    /// [`Subscription::granted`] is what it has agreed to.
    ///
    /// # Errors
    ///
    /// If the server rejects the request, does not answer in time, or agrees to none of these
    /// resources.
    pub async fn subscribe(&self, uris: &[&str]) -> Result<Subscription, ClientError> {
        let listener = self.events();
        let (granted, delivery) = match self.revision().era() {
            Era::Legacy => {
                let stream_lost = self.inner.events.stream_lost();
                let mut resource_subscriptions = Vec::new();
                for uri in uris {
                    resource_subscriptions.push(self.subscribe_resource(uri, &stream_lost).await?);
                }
                let granted = Granted::declared(self.server_capabilities(), uris);
                (granted, Delivery::PerResource { _resources: resource_subscriptions, stream_lost })
            }
            Era::Modern => {
                let (listening, opened) = self.listen(uris);
                (opened.await?, Delivery::Listening(listening))
            }
        };
        let missing: BTreeSet<String> = uris
            .iter()
            .filter(|&&uri| !granted.uris.contains(uri))
            .map(|&uri| uri.to_owned())
            .collect();
        if !uris.is_empty() && granted.uris.is_empty() {
            return Err(ClientError::NotGranted { uris: missing.into_iter().collect() });
        }
        Ok(Subscription { granted, missing, listener, delivery })
    }

    /// Subscribes to changes of lists; `None` in revisions that need no subscription for them.
    pub(crate) fn listen_for_lists(
        &self,
    ) -> Option<(Listening, impl Future<Output = Result<Granted, ClientError>> + use<>)> {
        (self.revision().era() == Era::Modern).then(|| self.listen(&[]))
    }

    /// Opens the request that delivers notifications. The future completes with what the server
    /// grants.
    fn listen(
        &self,
        uris: &[&str],
    ) -> (Listening, impl Future<Output = Result<Granted, ClientError>> + use<>) {
        let method = "subscriptions/listen";
        let mut params = Map::new();
        let wanted = json!({
            "toolsListChanged": true,
            "promptsListChanged": true,
            "resourcesListChanged": true,
            "resourceSubscriptions": uris,
        });
        params.insert("notifications".to_owned(), wanted);
        let (acknowledge, acknowledged) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let (client, limit) = (self.clone(), self.inner.builder.timeout);
        let over = CancellationToken::new();
        let ending = over.clone().drop_guard();
        let listening = tokio::spawn(async move {
            let _ending = ending;
            let outcome = client.keep_open(method, &params, acknowledge).await;
            if let Err(error) = &outcome {
                tracing::debug!(%error, "a subscription ended");
            }
            // Fails if nobody is waiting for the acknowledgement any more.
            let _ = end.send(outcome);
        });
        let opened = async move {
            let opened = async {
                // Either the server agrees, or the request ends first.
                if let Ok(granted) = acknowledged.await {
                    return Ok(granted);
                }
                let unanswered = || Err(ClientError::call(method, PeerError::Unanswered));
                match ended.await {
                    Ok(Err(error)) => Err(error),
                    Ok(Ok(())) | Err(_) => unanswered(),
                }
            };
            let timed_out = PeerError::TimedOut { after: limit, last_error: None };
            let too_late = |_| Err(ClientError::call(method, timed_out));
            tokio::time::timeout(limit, opened).await.unwrap_or_else(too_late)
        };
        (Listening { task: listening.abort_handle(), over }, opened)
    }

    /// Sends a request that is answered when the subscription ends.
    async fn keep_open(
        &self,
        method: &str,
        params: &Map<String, Value>,
        acknowledge: oneshot::Sender<Granted>,
    ) -> Result<(), ClientError> {
        let mut ask = self.prepare(method, params, None, &CallOptions::default())?;
        ask.timeout = Some(std::time::Duration::MAX);
        let mut awaited = Awaited { events: &self.inner.events, id: None };
        let answer = self.inner.peer.request_with_id(ask, |id| {
            awaited.id = Some(id);
            self.inner.events.await_acknowledgement(id, acknowledge);
        });
        let outcome = answer.await;
        drop(awaited);
        outcome.map(drop).map_err(|cause| ClientError::call(method, cause))
    }
}

/// Removes the waiter for an acknowledgement when the request is over.
struct Awaited<'e> {
    events: &'e Events,
    id: Option<i64>,
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.events.forget_acknowledgement(id);
        }
    }
}
