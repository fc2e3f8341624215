//! What a tool, prompt or resource can see and do while it serves a request.

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

/// The surroundings of one request, handed to whatever serves it. Cheap to clone.
///
/// The same calls work in every revision: where a revision has no way to do something (logging
/// that nobody asked for, progress without a token), nothing happens.
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
    /// The progress reported last; it may only grow.
    progressed: Mutex<f64>,
    call: Call,
    inputs: Inputs,
    contracts: Arc<dyn Contracts>,
}

/// Who asks, and how.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) revision: Revision,
    pub(crate) capabilities: Arc<ClientCapabilities>,
    pub(crate) info: Option<Arc<Implementation>>,
    /// Below this level, log messages are not wanted; `None` if none are.
    pub(crate) log_level: Option<LogLevel>,
    /// Who it is, if whoever let it in knows.
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

    /// The name of the request; empty if it was a notification, which can run a tool in
    /// [bare dispatch](crate::Dispatch::Bare).
    pub fn request_id(&self) -> &RequestId {
        &self.inner.request_id
    }

    /// The revision that is spoken.
    pub fn revision(&self) -> Revision {
        self.inner.caller.revision
    }

    /// What the client says it can do.
    pub fn client_capabilities(&self) -> &ClientCapabilities {
        &self.inner.caller.capabilities
    }

    /// What the client calls itself, if it says so.
    pub fn client_info(&self) -> Option<&Implementation> {
        self.inner.caller.info.as_deref()
    }

    /// Who the client is, if the application has said how that is found out. What a client calls
    /// itself proves nothing.
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

    /// Whether nobody waits for the answer any more: it was given, or the client has cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.inner.call.cancellation.is_cancelled()
    }

    /// Completes when nobody waits for the answer any more.
    pub async fn cancelled(&self) {
        self.inner.call.cancellation.cancelled().await;
    }

    /// Goes on only if the client has declared everything in `required`.
    ///
    /// # Errors
    ///
    /// [`Error::MissingCapability`] with what is missing.
    pub fn require(&self, required: &ClientCapabilities) -> Result<(), Error> {
        match self.client_capabilities().missing(required) {
            None => Ok(()),
            Some(missing) => Err(Error::MissingCapability {
                required: Json::of(&missing).unwrap_or_else(|_| Json::empty_object()),
            }),
        }
    }

    /// Reports how far the work is, if the client wants to know. Progress only grows: a step back
    /// is not sent, nor anything after the answer.
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

    /// Sends a log message to the client, if it wants messages of this level. In the handshake era
    /// these are `info` and above until the client says otherwise; from 2026-07-28 on none unless the
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

    /// Has the client's model continue a conversation.
    ///
    /// `key` names the question; in revisions without server requests, where the whole call is
    /// made again with the answers, it connects the two.
    ///
    /// # Errors
    ///
    /// [`Error::InputRequired`] must be passed on as it is. Otherwise the client cannot do it, or
    /// did not want to.
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
    /// As for [`Context::sample`], or what was filled in does not fit the form. A user who declines is
    /// no error.
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

    /// Asks several things at once and waits for all answers.
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
        let promises: Vec<_> = questions
            .iter()
            .map(|question| question.promise(contracts))
            .collect::<Result<_, _>>()?;
        let answers = self.inner.inputs.ask(&*self.inner.call.peer, questions).await?;
        for promise in promises.iter().flatten() {
            promise.keep(&answers, self.revision())?;
        }
        Ok(answers)
    }

    /// What [`Context::keep`] kept in an earlier round of this call.
    pub fn kept(&self) -> Option<Json> {
        self.inner.inputs.kept()
    }

    /// Keeps `state` for the next round: the client brings it back, sealed, together with its
    /// answers. The client cannot change it, but it can read it. In revisions where the call is not
    /// made again, it simply stays.
    pub fn keep(&self, state: Json) {
        self.inner.inputs.keep(state);
    }

    /// Lets go of the stream on which this request is answered; the client fetches the answer
    /// later, if transport and revision can do that. Long work need not hold a connection open.
    pub fn release_stream(&self) {
        self.inner.call.peer.release_stream();
    }

    pub(crate) fn inputs(&self) -> &Inputs {
        &self.inner.inputs
    }

    async fn notify(&self, method: &'static str, params: &Value) {
        let Ok(params) = Json::of(params) else { return };
        let notification = Notification { method: Cow::Borrowed(method), params: Some(params) };
        // Who is gone does not want to know.
        let _ = self.inner.call.peer.notify(notification).await;
    }
}
