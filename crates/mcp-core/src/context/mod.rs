//! What a tool, prompt or resource handler can see and do while it serves a request.

mod inputs;
mod question;

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, PoisonError},
};

use serde::Serialize;
use serde_json::Value;

pub(crate) use self::inputs::{Inputs, Rounds};
pub use self::question::{Answers, Question};
use crate::{
    Call, ClientCapabilities, Contracts, CreateMessageRequest, CreateMessageResult, ElicitRequest,
    ElicitResult, Error, Implementation, Json, LogLevel, Meta, Notification, Progress,
    ProgressToken, RequestId, Revision, Root,
};

/// The context of one request, passed to its handler. Cheap to clone.
///
/// The same calls work in every revision: if something is not possible (logging that the client
/// did not request, progress without a token), the call does nothing.
#[derive(Debug, Clone)]
pub struct Context {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    request_id: RequestId,
    params: Option<Json>,
    caller: Caller,
    progress_token: Option<ProgressToken>,
    /// The progress reported last. It must increase.
    progressed: Mutex<f64>,
    call: Call,
    inputs: Inputs,
    contracts: Arc<dyn Contracts>,
}

/// The client that sent the request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) revision: Revision,
    pub(crate) capabilities: Arc<ClientCapabilities>,
    pub(crate) info: Option<Arc<Implementation>>,
    /// The lowest level of log messages to send; `None` to send none.
    pub(crate) log_level: Option<LogLevel>,
    /// The authenticated identity, if known.
    pub(crate) principal: Option<Arc<str>>,
}

impl Context {
    pub(crate) fn new(
        request_id: RequestId,
        params: Option<Json>,
        caller: Caller,
        progress_token: Option<ProgressToken>,
        call: Call,
        (inputs, contracts): (Inputs, Arc<dyn Contracts>),
    ) -> Context {
        let progressed = Mutex::new(f64::NEG_INFINITY);
        let inner = Inner {
            request_id,
            params,
            caller,
            progress_token,
            progressed,
            call,
            inputs,
            contracts,
        };
        Context { inner: Arc::new(inner) }
    }

    /// The id of the request; an empty string for a notification, which can run a tool in
    /// [bare dispatch](crate::Dispatch::Bare).
    pub fn request_id(&self) -> &RequestId {
        &self.inner.request_id
    }

    /// The revision of the request.
    pub fn revision(&self) -> Revision {
        self.inner.caller.revision
    }

    /// The capabilities that the client declared.
    pub fn client_capabilities(&self) -> &ClientCapabilities {
        &self.inner.caller.capabilities
    }

    /// The client's name and version, if it sent them. Texts of more than 1 KiB are cut, and icons of
    /// more than 8 KiB left out.
    pub fn client_info(&self) -> Option<&Implementation> {
        self.inner.caller.info.as_deref()
    }

    /// The client's authenticated identity, if the application provides one. Unlike
    /// [`Context::client_info`], it is not the client's own claim.
    pub fn principal(&self) -> Option<&str> {
        self.inner.caller.principal.as_deref()
    }

    /// The request's `_meta`.
    pub fn meta(&self) -> Option<Meta> {
        #[derive(serde::Deserialize)]
        struct WithMeta {
            #[serde(rename = "_meta")]
            meta: Option<Meta>,
        }
        self.inner.params.as_ref()?.read::<WithMeta>().ok()?.meta
    }

    /// Whether the response is no longer needed: it was sent, or the client has cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.inner.call.cancellation.is_cancelled()
    }

    /// Completes when the response is no longer needed.
    pub async fn cancelled(&self) {
        self.inner.call.cancellation.cancelled().await;
    }

    /// Checks that the client has declared everything in `required`.
    ///
    /// # Errors
    ///
    /// [`Error::MissingCapability`] with the missing ones.
    pub fn require(&self, required: &ClientCapabilities) -> Result<(), Error> {
        match self.client_capabilities().missing(required) {
            None => Ok(()),
            Some(missing) => Err(Error::MissingCapability {
                required: Json::of(&missing).unwrap_or_else(|_| Json::empty_object()),
            }),
        }
    }

    /// Reports progress, if the client asked for it. Progress must increase: a report that does not
    /// is dropped, as is any report after the response.
    pub async fn progress(&self, progress: Progress) {
        let Some(token) = &self.inner.progress_token else { return };
        if self.is_cancelled() {
            return;
        }
        {
            let mut last = self.inner.progressed.lock().unwrap_or_else(PoisonError::into_inner);
            if progress.progress <= *last || !progress.progress.is_finite() {
                return;
            }
            *last = progress.progress;
        }
        let mut params = serde_json::to_value(&progress).unwrap_or_default();
        params["progressToken"] = serde_json::to_value(token).unwrap_or_default();
        if self.revision() < Revision::V2025_03_26
            && let Some(params) = params.as_object_mut()
        {
            params.remove("message");
        }
        self.notify("notifications/progress", &params).await;
    }

    /// Sends a log message to the client, if it wants messages of this level: in the handshake era
    /// `info` and above until the client sets another level; from 2026-07-28 on none unless the
    /// request names a level.
    pub async fn log(&self, level: LogLevel, logger: Option<&str>, data: impl Serialize) {
        if self.inner.caller.log_level.is_none_or(|wanted| level < wanted) {
            return;
        }
        let mut params = serde_json::json!({
            "level": level,
            "data": serde_json::to_value(data).unwrap_or(Value::Null),
        });
        if let Some(logger) = logger {
            params["logger"] = logger.into();
        }
        self.notify("notifications/message", &params).await;
    }

    /// Asks the client's model to continue a conversation.
    ///
    /// `key` identifies the question. In revisions without server requests, where the client repeats
    /// the whole call with the answers, it matches the answer to the question.
    ///
    /// # Errors
    ///
    /// Return [`Error::InputRequired`] unchanged. Any other error means that the client does not
    /// support the request or rejected it.
    pub async fn sample(
        &self,
        key: &str,
        request: &CreateMessageRequest,
    ) -> Result<CreateMessageResult, Error> {
        self.ask([Question::sample(key, request)]).await?.sampled(key)
    }

    /// Asks the user something through the client. See [`Context::sample`] for `key` and errors.
    ///
    /// # Errors
    ///
    /// As for [`Context::sample`], or the answer does not match the form. It is not an error if the
    /// user declines.
    pub async fn elicit(&self, key: &str, request: &ElicitRequest) -> Result<ElicitResult, Error> {
        self.ask([Question::elicit(key, request)]).await?.elicited(key)
    }

    /// The client's roots. See [`Context::sample`] for `key` and errors.
    ///
    /// # Errors
    ///
    /// As for [`Context::sample`].
    pub async fn roots(&self, key: &str) -> Result<Vec<Root>, Error> {
        self.ask([Question::roots(key)]).await?.roots(key)
    }

    /// Asks several questions at once and waits for all answers.
    ///
    /// # Errors
    ///
    /// As for [`Context::sample`].
    pub async fn ask(
        &self,
        questions: impl IntoIterator<Item = Question>,
    ) -> Result<Answers, Error> {
        let questions: Vec<Question> = questions.into_iter().collect();
        for question in &questions {
            self.require(&question.required)?;
        }
        let contracts = &*self.inner.contracts;
        let forms: Vec<_> = questions
            .iter()
            .map(|question| question.form_contract(contracts))
            .collect::<Result<_, _>>()?;
        let answers = self.inner.inputs.ask(&*self.inner.call.peer, questions).await?;
        for form in forms.iter().flatten() {
            form.check(&answers, self.revision())?;
        }
        Ok(answers)
    }

    /// The state that [`Context::save_state`] stored in an earlier round of this call.
    pub fn saved_state(&self) -> Option<Json> {
        self.inner.inputs.saved_state()
    }

    /// Stores `state` for the next round: the client returns it, sealed, together with its answers.
    /// The client can read it but not change it. In revisions in which calls are not repeated, it
    /// is kept in memory.
    pub fn save_state(&self, state: Json) {
        self.inner.inputs.save_state(state);
    }

    /// Ends the stream that would carry the response, if transport and revision let the client
    /// fetch the response later. Long work need not keep a connection open.
    pub fn release_stream(&self) {
        self.inner.call.peer.release_stream();
    }

    pub(crate) fn inputs(&self) -> &Inputs {
        &self.inner.inputs
    }

    async fn notify(&self, method: &'static str, params: &Value) {
        let Ok(params) = Json::of(params) else { return };
        let notification = Notification { method: Cow::Borrowed(method), params: Some(params) };
        // If the client is gone, the notification is moot.
        let _ = self.inner.call.peer.notify(notification).await;
    }
}
