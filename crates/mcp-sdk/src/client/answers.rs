//! What the client does for the server: sampling, elicitation, roots.

use std::{fmt, panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt as _;
use mcp_core::{
    BoxFuture, Call, ClientCapabilities, CreateMessageRequest, CreateMessageResult, ElicitRequest,
    ElicitResult, Era, Error, Handler, Json, ListRootsResult, Notification, Peer, Request,
    Response, Revision, UncheckedResponse,
};
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use super::{
    ClientError, call_clock::PendingCalls, events::Events, granted::announces_changes, roots::Roots,
};
use crate::Failure;

type Sampler = dyn Fn(CreateMessageRequest) -> BoxFuture<'static, Result<CreateMessageResult, Failure>>
    + Send
    + Sync;
type Asker =
    dyn Fn(ElicitRequest) -> BoxFuture<'static, Result<ElicitResult, Failure>> + Send + Sync;

/// What a client offers to servers.
#[derive(Clone, Default)]
pub(super) struct Answers {
    pub(super) sampler: Option<Arc<Sampler>>,
    pub(super) asker: Option<Arc<Asker>>,
    pub(super) roots: Option<Arc<Roots>>,
    /// Whether servers are notified when the roots change.
    pub(super) roots_may_change: bool,
    /// Further declared capabilities.
    pub(super) declared: ClientCapabilities,
}

impl Answers {
    /// The declared capabilities. In the stateless era clients send no notifications, so none are
    /// declared.
    pub(super) fn capabilities(&self, era: Era) -> ClientCapabilities {
        let mut capabilities = self.declared.clone();
        if self.sampler.is_some() {
            capabilities = capabilities.with_sampling();
        }
        if self.asker.is_some() {
            capabilities = capabilities.with_elicitation();
        }
        if self.roots.is_some() {
            capabilities = capabilities.with_roots();
        }
        if self.roots_may_change
            && era == Era::Legacy
            && let Some(Value::Object(roots)) = &mut capabilities.roots
        {
            roots.insert("listChanged".to_owned(), true.into());
        }
        capabilities
    }

    /// The roots, if servers are notified when they change.
    pub(super) fn changing_roots(&self) -> Option<&Roots> {
        let declared = self.declared.roots.as_ref().is_some_and(announces_changes);
        self.roots.as_deref().filter(|_| self.roots_may_change || declared)
    }

    /// A copy with separate roots.
    pub(super) fn detached(&self) -> Answers {
        let roots = self.roots.as_ref().map(|roots| Arc::new(Roots::new(roots.get().to_vec())));
        Answers { roots, ..self.clone() }
    }

    /// Answers a request of the server, however it was sent.
    pub(super) async fn answer(&self, method: &str, params: Option<&Json>) -> Result<Json, Error> {
        match (method, &self.sampler, &self.asker, &self.roots) {
            ("sampling/createMessage", Some(sampler), ..) => {
                let result = sampler(read(params)?).await.map_err(|failure| failure.0)?;
                write(&result)
            }
            ("elicitation/create", _, Some(asker), _) => {
                let result = asker(read(params)?).await.map_err(|failure| failure.0)?;
                write(&result)
            }
            ("roots/list", _, _, Some(roots)) => write(&ListRootsResult::new(roots.get().to_vec())),
            ("ping", ..) => Ok(Json::empty_object()),
            _ => Err(Error::MethodNotFound { method: method.to_owned() }),
        }
    }

    /// Answers an entry of an input-required result.
    pub(super) async fn answer_entry(&self, entry: &Json) -> Result<Json, ClientError> {
        #[derive(serde::Deserialize)]
        struct Entry<'a> {
            method: String,
            #[serde(borrow)]
            params: Option<&'a RawValue>,
        }
        let unreadable = |cause| ClientError::Unreadable { method: "input request".into(), cause };
        let read: Entry<'_> = entry.read().map_err(unreadable)?;
        let params = match read.params {
            Some(params) => Some(Json::parse(params.get().to_owned()).map_err(unreadable)?),
            None => None,
        };
        let answered = AssertUnwindSafe(self.answer(&read.method, params.as_ref())).catch_unwind();
        let failed =
            |reason: String| ClientError::HandlerFailed { asked: read.method.clone(), reason };
        match answered.await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(Error::MethodNotFound { method })) => {
                Err(ClientError::CannotAnswer { asked: method })
            }
            Ok(Err(error)) => Err(failed(error.to_string())),
            Err(_) => Err(failed("it panicked".to_owned())),
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(params: Option<&Json>) -> Result<T, Error> {
    let params = params.ok_or_else(|| Error::invalid_params("`params` is missing"))?;
    params.read().map_err(|error| Error::invalid_params(format!("invalid params: {error}")))
}

fn write<T: Serialize>(result: &T) -> Result<Json, Error> {
    Json::of(result).map_err(|error| Error::internal(format!("could not be serialized: {error}")))
}

/// Handles the server's requests and notifications.
#[derive(Debug)]
pub(super) struct ClientHandler {
    pub(super) answers: Answers,
    pub(super) events: Arc<Events>,
    pub(super) calls: Arc<PendingCalls>,
    pub(super) revision: Arc<std::sync::OnceLock<Revision>>,
}

impl Handler for ClientHandler {
    fn handle_request(&self, request: Request, _: Call) -> BoxFuture<'_, UncheckedResponse> {
        Box::pin(async move {
            let _owed = self.calls.pause_all();
            let outcome = self.answers.answer(&request.method, request.params.as_ref()).await;
            let revision = self.revision().unwrap_or(Revision::LATEST_LEGACY);
            Response { id: request.id, revision, outcome }.into()
        })
    }

    fn handle_notification(
        &self,
        notification: Notification,
        _: Arc<dyn Peer>,
    ) -> BoxFuture<'_, ()> {
        self.events.take(notification);
        Box::pin(std::future::ready(()))
    }

    fn notifications_lost(&self) {
        self.events.notifications_lost();
    }

    fn revision(&self) -> Option<Revision> {
        self.revision.get().copied()
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers").field("capabilities", &self.capabilities(Era::Legacy)).finish()
    }
}
