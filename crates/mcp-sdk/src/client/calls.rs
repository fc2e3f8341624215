//! How a call is made in either era.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, PoisonError, atomic::Ordering},
    time::Duration,
};

use mcp_core::{Ask, Era, Json, Labels, Meta, Peer as _, Progress, ProgressToken};
use mcp_json::{Limits, Tape};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{Client, ClientError, connect::modern_meta, events::Events};

/// How one call is made.
#[derive(Clone, Default)]
pub struct CallOptions {
    timeout: Option<Duration>,
    progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    meta: Option<Meta>,
}

impl CallOptions {
    /// As usual.
    pub fn new() -> CallOptions {
        CallOptions::default()
    }

    /// Waits at most this long for the answer.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Wants to know how far the work is.
    #[must_use]
    pub fn on_progress(mut self, sink: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(sink));
        self
    }

    /// Sends this `_meta` along.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }
}

/// A result that may ask questions instead.
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
    /// Calls any method with any params and gives the result as it came. Questions that a server
    /// asks in its result are answered, and the call is made again.
    ///
    /// Dropping the future cancels the call.
    ///
    /// # Errors
    ///
    /// If the server answers with an error or not at all, or validation holds something back.
    pub async fn request(
        &self,
        method: &str,
        params: Map<String, Value>,
        options: &CallOptions,
    ) -> Result<Json, ClientError> {
        let followed = self.follow_progress(options);
        let token = followed.as_ref().map(|followed| followed.token.clone());
        let mut params = params;
        for _ in 0..=self.inner.builder.max_rounds {
            let result = self.ask(method, &params, token.as_ref(), options).await?;
            if self.revision().era() == Era::Legacy {
                return Ok(result);
            }
            let Some(rounds) = asks_for_input(&result) else { return Ok(result) };
            self.answer(rounds, &mut params).await?;
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
        result
            .read()
            .map_err(|source| ClientError::Unreadable { method: method.to_owned(), source })
    }

    async fn ask(
        &self,
        method: &str,
        params: &Map<String, Value>,
        token: Option<&ProgressToken>,
        options: &CallOptions,
    ) -> Result<Json, ClientError> {
        let mut params = params.clone();
        let meta = self.meta(token, options);
        match params.get_mut("_meta") {
            Some(Value::Object(own)) => own.extend(meta),
            _ if meta.is_empty() => {}
            _ => drop(params.insert("_meta".to_owned(), meta.into())),
        }
        let labels = self.labels(method, &params);
        let written =
            if params.is_empty() {
                None
            } else {
                let written = Json::of(&params);
                Some(written.map_err(|source| ClientError::Unwritable {
                    method: method.to_owned(),
                    source,
                })?)
            };
        let ask = Ask {
            method: method.to_owned().into(),
            params: written,
            timeout: options.timeout,
            labels: Some(Box::new(labels)),
        };
        let answer = self.inner.peer.request(ask).await;
        answer.map_err(|source| ClientError::Call { method: method.to_owned(), source })
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
            let answer = answer.read().map_err(|source| ClientError::Unreadable {
                method: "input response".to_owned(),
                source,
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

    fn meta(&self, token: Option<&ProgressToken>, options: &CallOptions) -> Map<String, Value> {
        let mut meta = Map::new();
        if self.revision().era() == Era::Modern
            && let Value::Object(modern) = modern_meta(&self.inner.builder, self.revision())
        {
            meta.extend(modern);
            let level = *self.inner.log_level.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(level) = level {
                meta.insert(Meta::LOG_LEVEL.to_owned(), json!(level));
            }
        }
        if let Some(token) = token {
            meta.insert(Meta::PROGRESS_TOKEN.to_owned(), json!(token));
        }
        if let Some(own) = &options.meta {
            meta.extend(own.iter().map(|(key, value)| (key.to_owned(), value.clone())));
        }
        meta
    }

    /// What the transport shows on the outside; older revisions show nothing but themselves.
    fn labels(&self, method: &str, params: &Map<String, Value>) -> Labels {
        let mut labels = Labels { revision: Some(self.revision()), ..Labels::default() };
        if self.revision().era() == Era::Modern {
            labels.method = Some(method.to_owned());
            let subject = match method {
                "tools/call" | "prompts/get" => params.get("name"),
                "resources/read" => params.get("uri"),
                _ => None,
            };
            labels.name = subject.and_then(Value::as_str).map(str::to_owned);
            if let (Some(name), Some(arguments)) = (&labels.name, params.get("arguments")) {
                labels.arguments = self.shown_arguments(name, arguments);
            }
        }
        labels
    }

    fn shown_arguments(&self, tool: &str, arguments: &Value) -> Vec<(String, String)> {
        let marked = self.inner.marked.read().unwrap_or_else(PoisonError::into_inner);
        let Some(marked) = marked.get(tool).filter(|marked| !marked.is_empty()).cloned() else {
            return Vec::new();
        };
        let Ok(text) = serde_json::to_vec(arguments) else { return Vec::new() };
        let mut tape = Tape::new();
        let Ok(document) = tape.parse(&text, Limits::default()) else { return Vec::new() };
        marked
            .values(Some(document.root()))
            .into_iter()
            .filter_map(|(label, value)| Some((label.to_owned(), value?.text)))
            .collect()
    }

    fn follow_progress(&self, options: &CallOptions) -> Option<Followed> {
        let sink = options.progress.clone()?;
        let token = self.inner.next_token.fetch_add(1, Ordering::Relaxed);
        let token = ProgressToken::from(token);
        let events = Arc::clone(&self.inner.events);
        events.follow_progress(token.clone(), sink);
        Some(Followed { token, events })
    }
}

/// Forgets a call's progress when the call is over.
struct Followed {
    token: ProgressToken,
    events: Arc<Events>,
}

impl Drop for Followed {
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
            .field("follows_progress", &self.progress.is_some())
            .field("meta", &self.meta)
            .finish()
    }
}
