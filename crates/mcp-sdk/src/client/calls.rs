//! Making calls in either era.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt,
    sync::{Arc, OnceLock, PoisonError, atomic::Ordering},
    time::Duration,
};

use mcp_core::{
    Era, Json, MessageHeaders, Meta, OutgoingRequest, PeerError, Progress, ProgressToken,
};
use mcp_json::{Limits, Tape};
use serde::{Deserialize, Serialize, Serializer, de::DeserializeOwned, ser::SerializeMap as _};
use serde_json::{Map, Value, json};

use super::{
    Client, ClientError,
    call_clock::{CallClock, PendingCall},
    events::Events,
};

/// Options for one call.
#[derive(Clone, Default)]
pub struct CallOptions {
    timeout: Option<Duration>,
    max_timeout: Option<Duration>,
    progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    meta: Option<Meta>,
}

impl CallOptions {
    /// The defaults.
    pub fn new() -> CallOptions {
        CallOptions::default()
    }

    /// How long to wait for the answer, or for the next [progress](CallOptions::on_progress)
    /// report. Time spent answering requests of the server does not count.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How long to wait for the answer in total, however much progress there is.
    #[must_use]
    pub fn max_timeout(mut self, timeout: Duration) -> Self {
        self.max_timeout = Some(timeout);
        self
    }

    /// Requests progress reports. Each restarts the time-out. `sink` is called on the task of the
    /// conversation and must not block.
    #[must_use]
    pub fn on_progress(mut self, sink: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(sink));
        self
    }

    /// Adds this `_meta` to the request.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }
}

/// A result that may ask for input instead.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rounds {
    result_type: Option<String>,
    #[serde(default)]
    input_requests: BTreeMap<String, Json>,
    request_state: Option<String>,
}

const INPUT_REQUIRED: &str = "input_required";

impl Client {
    /// Calls any method with any params and returns the raw result. If the result asks for input,
    /// the questions are answered and the call is repeated.
    ///
    /// Dropping the future cancels the call.
    ///
    /// # Errors
    ///
    /// If the server answers with an error or not at all, or validation blocks a message.
    pub async fn request(
        &self,
        method: &str,
        params: Map<String, Value>,
        options: &CallOptions,
    ) -> Result<Json, ClientError> {
        let waiting = self.start_clock(options);
        let followed = self.follow_progress(options, &waiting);
        let token = followed.as_ref().map(|followed| &followed.token);
        let mut params = params;
        for _ in 0..=self.inner.builder.max_rounds {
            let ask = self.prepare(method, &params, token, options)?;
            let result = self.ask(ask, &waiting).await.map_err(|cause| {
                let name = subject(method, &params).map(str::to_owned);
                ClientError::Call { method: method.to_owned(), name, cause }
            })?;
            if self.revision().era() == Era::Legacy {
                return Ok(result);
            }
            let Some(rounds) = asks_for_input(&result) else { return Ok(result) };
            waiting.pause();
            self.answer(rounds, &mut params).await?;
            waiting.resume();
            waiting.restart_timeout();
        }
        let rounds = self.inner.builder.max_rounds;
        Err(ClientError::TooManyRounds { method: method.to_owned(), rounds })
    }

    pub(super) async fn typed<T: DeserializeOwned>(
        &self,
        method: &str,
        params: Value,
        options: &CallOptions,
    ) -> Result<T, ClientError> {
        let params = match params {
            Value::Object(params) => params,
            _ => Map::new(),
        };
        let result = self.request(method, params, options).await?;
        result.read().map_err(|cause| ClientError::Unreadable { method: method.to_owned(), cause })
    }

    async fn ask(&self, ask: OutgoingRequest, clock: &CallClock) -> Result<Json, PeerError> {
        let peer = &self.inner.peer;
        let asked = OnceLock::new();
        let too_late = async {
            let after = clock.expired().await;
            // Must come before the request is dropped, which cancels it.
            let last_error = asked.get().and_then(|id| peer.last_error(*id));
            PeerError::TimedOut { after, last_error }
        };
        let note = |id| {
            let _ = asked.set(id);
        };
        tokio::select! {
            biased;
            answer = peer.request_with_id(ask, note) => answer,
            error = too_late => Err(error),
        }
    }

    /// The request as it is sent.
    pub(super) fn prepare(
        &self,
        method: &str,
        params: &Map<String, Value>,
        token: Option<&ProgressToken>,
        options: &CallOptions,
    ) -> Result<OutgoingRequest, ClientError> {
        let own = params.get("_meta").and_then(Value::as_object);
        let meta = self.meta(own, token, options);
        let written = Params { params, meta: &meta };
        let written = if params.is_empty() && meta.is_empty() {
            None
        } else {
            let unwritable = |cause| ClientError::Unwritable { method: method.to_owned(), cause };
            Some(Json::of(&written).map_err(unwritable)?)
        };
        Ok(OutgoingRequest {
            method: method.to_owned().into(),
            params: written,
            // The time-out is applied elsewhere, where progress and questions are known.
            timeout: Some(Duration::MAX),
            headers: Some(Box::new(self.message_headers(method, params))),
        })
    }

    /// Answers the questions and prepares the next round.
    async fn answer(
        &self,
        rounds: Rounds,
        params: &mut Map<String, Value>,
    ) -> Result<(), ClientError> {
        let mut responses = Map::new();
        for (key, entry) in &rounds.input_requests {
            let answer = self.inner.builder.answers.answer_entry(entry).await?;
            let answer = answer.read().map_err(|cause| ClientError::Unreadable {
                method: "input response".to_owned(),
                cause,
            })?;
            responses.insert(key.clone(), answer);
        }
        params.insert("inputResponses".to_owned(), responses.into());
        match rounds.request_state {
            Some(state) => params.insert("requestState".to_owned(), state.into()),
            None => params.remove("requestState"),
        };
        Ok(())
    }

    /// The `_meta` of a request: what every request carries, merged with the caller's (`own`).
    fn meta<'m>(
        &'m self,
        own: Option<&'m Map<String, Value>>,
        token: Option<&ProgressToken>,
        options: &CallOptions,
    ) -> Cow<'m, Map<String, Value>> {
        let common = &self.inner.meta;
        let mut meta = match own {
            None => Cow::Borrowed(common),
            Some(own) if common.is_empty() => Cow::Borrowed(own),
            Some(own) => {
                let mut both = own.clone();
                both.extend(common.clone());
                Cow::Owned(both)
            }
        };
        let level = *self.inner.log_level.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(level) = level.filter(|_| self.revision().era() == Era::Modern) {
            meta.to_mut().insert(Meta::LOG_LEVEL.to_owned(), json!(level));
        }
        if let Some(token) = token {
            meta.to_mut().insert(Meta::PROGRESS_TOKEN.to_owned(), json!(token));
        }
        if let Some(given) = &options.meta {
            let given = given.iter().map(|(key, value)| (key.to_owned(), value.clone()));
            meta.to_mut().extend(given);
        }
        meta
    }

    /// What the transport mirrors in headers; older revisions only have the revision.
    fn message_headers(&self, method: &str, params: &Map<String, Value>) -> MessageHeaders {
        let mut headers =
            MessageHeaders { revision: Some(self.revision()), ..MessageHeaders::default() };
        if self.revision().era() == Era::Modern {
            headers.method = Some(method.to_owned());
            headers.name = subject(method, params).map(str::to_owned);
            if let ("tools/call", Some(tool), Some(arguments)) =
                (method, &headers.name, params.get("arguments"))
            {
                headers.arguments = self.shown_arguments(tool, arguments);
            }
        }
        headers
    }

    fn shown_arguments(&self, tool: &str, arguments: &Value) -> Vec<(String, String)> {
        let marked = self.inner.marked.read().unwrap_or_else(PoisonError::into_inner);
        let Some(marked) = marked.get(tool).filter(|marked| !marked.is_empty()).cloned() else {
            return Vec::new();
        };
        let Ok(text) = serde_json::to_vec(arguments) else { return Vec::new() };
        let mut tape = Tape::new();
        let Ok(document) = tape.parse(&text, Limits::default()) else { return Vec::new() };
        marked.values(document.root())
    }

    fn start_clock(&self, options: &CallOptions) -> PendingCall {
        let builder = &self.inner.builder;
        let silence = options.timeout.unwrap_or(builder.timeout);
        let most = options.max_timeout.unwrap_or(builder.max_timeout);
        self.inner.calls.begin(silence, most)
    }

    fn follow_progress(
        &self,
        options: &CallOptions,
        waiting: &PendingCall,
    ) -> Option<ProgressGuard> {
        let sink = options.progress.clone()?;
        let clock = waiting.clock();
        let token = self.inner.next_token.fetch_add(1, Ordering::Relaxed);
        let token = ProgressToken::from(token);
        let events = Arc::clone(&self.inner.events);
        let followed = move |progress| {
            clock.restart_timeout();
            sink(progress);
        };
        events.follow_progress(token.clone(), Arc::new(followed));
        Some(ProgressGuard { token, events })
    }
}

/// The tool, prompt or resource that a request is about.
fn subject<'p>(method: &str, params: &'p Map<String, Value>) -> Option<&'p str> {
    let subject = match method {
        "tools/call" | "prompts/get" => params.get("name"),
        "resources/read" => params.get("uri"),
        _ => None,
    };
    subject.and_then(Value::as_str)
}

/// The params of a request with the `_meta` that it gets.
struct Params<'p> {
    params: &'p Map<String, Value>,
    meta: &'p Map<String, Value>,
}

impl Serialize for Params<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        let keeps = |key: &str| key != "_meta" || self.meta.is_empty();
        for (key, value) in self.params.iter().filter(|(key, _)| keeps(key)) {
            object.serialize_entry(key, value)?;
        }
        if !self.meta.is_empty() {
            object.serialize_entry("_meta", self.meta)?;
        }
        object.end()
    }
}

/// Stops following progress when the call is over.
struct ProgressGuard {
    token: ProgressToken,
    events: Arc<Events>,
}

impl Drop for ProgressGuard {
    fn drop(&mut self) {
        self.events.forget_progress(&self.token);
    }
}

/// A result without a type is complete, as in older revisions.
fn asks_for_input(result: &Json) -> Option<Rounds> {
    let rounds: Rounds = result.read().ok()?;
    (rounds.result_type.as_deref() == Some(INPUT_REQUIRED)).then_some(rounds)
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .field("max_timeout", &self.max_timeout)
            .field("follows_progress", &self.progress.is_some())
            .field("meta", &self.meta)
            .finish()
    }
}
