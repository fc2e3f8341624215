//! What the client does for the server: sampling, asking the user, naming its roots.

use std::{fmt, panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt as _;
use mcp_core::{
    BoxFuture, Call, ClientCapabilities, CreateMessageRequest, CreateMessageResult, ElicitRequest,
    ElicitResult, Error, Handler, Json, ListRootsResult, Notification, Peer, Request, Response,
    Revision, Root,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{ClientError, events::Events};
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
    pub(super) roots: Option<Arc<[Root]>>,
    /// What is declared besides.
    pub(super) declared: ClientCapabilities,
}

impl Answers {
    pub(super) fn capabilities(&self) -> ClientCapabilities {
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
        capabilities
    }

    /// Answers one question of a server, whichever way it came.
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
            ("roots/list", _, _, Some(roots)) => write(&ListRootsResult::new(roots.to_vec())),
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
        let unreadable =
            |source| ClientError::Unreadable { method: "input request".into(), source };
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
    params.read().map_err(|error| Error::invalid_params(format!("params do not fit: {error}")))
}

fn write<T: Serialize>(result: &T) -> Result<Json, Error> {
    Json::of(result).map_err(|error| Error::internal(format!("cannot be written: {error}")))
}

/// Serves the server's own requests and takes its notifications.
#[derive(Debug)]
pub(super) struct ClientHandler {
    pub(super) answers: Answers,
    pub(super) events: Arc<Events>,
    pub(super) revision: Arc<std::sync::OnceLock<Revision>>,
}

impl Handler for ClientHandler {
    fn handle_request(&self, request: Request, _: Call) -> BoxFuture<'_, Response> {
        Box::pin(async move {
            let outcome = self.answers.answer(&request.method, request.params.as_ref()).await;
            let revision = self.revision().unwrap_or(Revision::LATEST_LEGACY);
            Response { id: request.id, revision, outcome }
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

    fn revision(&self) -> Option<Revision> {
        self.revision.get().copied()
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers").field("capabilities", &self.capabilities()).finish()
    }
}
