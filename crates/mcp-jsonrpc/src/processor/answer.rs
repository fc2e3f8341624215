//! How requests of the other side get their answers.

use std::{any::Any, panic::AssertUnwindSafe, sync::Arc};

use bytes::Bytes;
use futures_util::{FutureExt as _, future::join_all};
use mcp_core::{
    Answer, Call, Dispatch, Error, Json, OutboundRole, PeerError, Refusal, RefusalReason, Response,
    Revision, Standing, Ticket, Transport, TransportError,
};
use serde_json::json;

use super::{
    JsonRpcPeer, JsonRpcProcessor,
    calls::Outcome,
    cancelled::INITIALIZE,
    in_work::{Place, Room},
    promise::Promise,
};
use crate::{
    JsonRpcError, JsonRpcId, JsonRpcRequest, JsonRpcResponse, ToJsonRpc as _, Verdict,
    error_map::{refusal_to_json_rpc, standing_of, standing_of_refusal},
    outgoing::write_batch,
    transport::{OwnMessage, RefusedMessage, SendError},
};

/// An answer as it goes out, how a transport should show it, and what it must still be held to.
struct WireAnswer {
    response: JsonRpcResponse,
    standing: Standing,
    promise: Option<Promise>,
}

impl WireAnswer {
    fn new(response: JsonRpcResponse, standing: Standing) -> WireAnswer {
        WireAnswer { response, standing, promise: None }
    }
}

impl<T: Transport + 'static> JsonRpcProcessor<T> {
    pub(super) async fn serve(&self, request: JsonRpcRequest, ticket: Option<Ticket>) {
        match self.answer(request, ticket).await {
            Some(answer) => self.send(answer, ticket).await,
            // Nobody waits for it, but the transport may hold something open.
            None => self.settle(ticket),
        }
    }

    pub(super) async fn serve_batch(
        &self,
        entries: Vec<Result<JsonRpcRequest, Box<RefusedMessage>>>,
        ticket: Option<Ticket>,
    ) {
        let answers = join_all(entries.into_iter().map(async |entry| match entry {
            Ok(request) => self.answer(request, ticket).await,
            Err(refused) => Some(self.refusal(refused.id, &refused.refusal)),
        }));
        let (mut responses, promises): (Vec<_>, Vec<_>) = answers
            .await
            .into_iter()
            .flatten()
            .map(|answer| (answer.response, answer.promise))
            .unzip();
        if responses.is_empty() {
            return self.settle(ticket);
        }
        let mut message = OwnMessage::from(write_batch(&responses));
        if let Err(error) = self.link.transport.fits(&message.bytes) {
            responses = all_unsendable(responses, &error);
            message = write_batch(&responses).into();
        } else {
            let broken = self.broken_promises(&promises, &mut message);
            if !broken.is_empty() {
                for (index, error) in broken {
                    responses[index].outcome = Err(error);
                }
                message = write_batch(&responses).into();
            }
        }
        let verdict = self.link.transport.judge_own(&mut message);
        if !verdict.refusals.is_empty() {
            tracing::error!(refusals = verdict.refusals.len(), "answers break the protocol");
            responses = mended(responses, &verdict);
            message = write_batch(&responses).into();
        }
        let role = OutboundRole::Answer(Standing::Served);
        match self.link.transport.send_unjudged(message.bytes, role, ticket, None).await {
            Ok(()) => {}
            Err(SendError::Transport(error)) if is_too_long(&error) => {
                let responses = all_unsendable(responses, &error);
                self.send_unjudged(write_batch(&responses), Standing::Served, ticket).await;
            }
            Err(error) => tracing::debug!(%error, "the answers to a batch were not sent"),
        }
    }

    /// Tells the other side that its message was not accepted.
    pub(super) async fn refuse(
        &self,
        id: Option<JsonRpcId>,
        refusal: Refusal,
        ticket: Option<Ticket>,
    ) {
        let answer = self.refusal(id, &refusal);
        self.send(answer, ticket).await;
    }

    /// The same for a message that the gate has not seen: it would not know what is answered.
    pub(super) async fn refuse_unseen(
        &self,
        id: Option<JsonRpcId>,
        refusal: Refusal,
        ticket: Option<Ticket>,
    ) {
        let WireAnswer { response, standing, .. } = self.refusal(id, &refusal);
        self.send_unjudged(response.to_bytes(), standing, ticket).await;
    }

    pub(super) fn takes_batches(&self) -> bool {
        self.is_bare()
            || self.link.settings.batches
            || self.handler.revision() == Some(Revision::V2025_03_26)
    }

    /// Lets the request be handled. `None` if it was cancelled: then there is no answer.
    async fn answer(&self, request: JsonRpcRequest, ticket: Option<Ticket>) -> Option<WireAnswer> {
        if !self.knows(&request.id) {
            return Some(self.refusal(None, &no_id()));
        }
        let (id, params) = (Some(request.id.clone()), request.params.as_ref());
        let Some(place) = self.enter(id, params, ticket) else {
            return Some(self.failed(request, Error::Busy));
        };
        let call = Call {
            peer: Arc::new(JsonRpcPeer { link: Arc::clone(&self.link), ticket }),
            cancellation: place.cancellation.clone(),
        };
        let handled =
            async { self.handler.handle_request(request.to_domain_request(), call).await };
        tokio::select! {
            biased;
            handled = AssertUnwindSafe(handled).catch_unwind() => Some(match handled {
                Ok(answer) => {
                    if request.method == INITIALIZE {
                        self.agreed();
                    }
                    self.written(answer, request.id)
                }
                Err(panic) => {
                    tracing::error!(method = request.method, "panicked: {}", said(&*panic));
                    self.failed(request, Error::internal("the handler of this request failed"))
                }
            }),
            () = place.cancellation.cancelled() => None,
        }
    }

    /// Makes room for work that keeps `params` as long as it lasts, if there is any.
    pub(super) fn enter(
        &self,
        id: Option<JsonRpcId>,
        params: Option<&Json>,
        ticket: Option<Ticket>,
    ) -> Option<Place<'_>> {
        let settings = &self.link.settings;
        let room = Room { requests: settings.max_in_work, bytes: settings.max_in_work_bytes };
        let bytes = params.map_or(0, Json::memory);
        self.link.in_work.enter(id, ticket, bytes, room)
    }

    /// Tells the transport what the opening handshake has led to, if it has led to something.
    fn agreed(&self) {
        if let Some(revision) = self.handler.revision() {
            self.link.transport.inner().established(revision);
        }
    }

    fn failed(&self, request: JsonRpcRequest, error: Error) -> WireAnswer {
        let id = request.to_domain_request().id;
        let revision = self.handler.revision().unwrap_or(Revision::LATEST_LEGACY);
        self.written(Response { id, revision, outcome: Err(error) }.into(), request.id)
    }

    fn written(&self, answer: Answer, id: JsonRpcId) -> WireAnswer {
        let Answer { response, promise } = answer;
        let revision = response.revision;
        WireAnswer {
            standing: response.outcome.as_ref().err().map_or(Standing::Served, standing_of),
            response: response.to_json_rpc(id, self.handler.dispatch()),
            promise: promise.map(|output| Promise { output, revision }),
        }
    }

    /// MCP leaves out an id that could not be read; base JSON-RPC, and the revisions whose errors
    /// must have one, say null.
    fn refusal(&self, id: Option<JsonRpcId>, refusal: &Refusal) -> WireAnswer {
        let says_null = self.is_bare()
            || self.link.settings.any_id
            || self.handler.revision().is_some_and(|spoken| spoken < Revision::V2025_11_25);
        let id = id.filter(|id| self.knows(id)).or(says_null.then_some(JsonRpcId::Null));
        let response = JsonRpcResponse { id, outcome: Err(refusal_to_json_rpc(refusal)) };
        WireAnswer::new(response, standing_of_refusal(refusal.reason))
    }

    pub(super) fn is_bare(&self) -> bool {
        self.handler.dispatch() == Dispatch::Bare
    }

    /// Base JSON-RPC puts up with null and fractions, MCP does not.
    fn knows(&self, id: &JsonRpcId) -> bool {
        self.is_bare() || self.link.settings.any_id || id.is_known_to_mcp()
    }

    async fn send(&self, answer: WireAnswer, ticket: Option<Ticket>) {
        let WireAnswer { mut response, mut standing, promise } = answer;
        let mut message = OwnMessage::from(response.to_bytes());
        if let Err(error) = self.link.transport.fits(&message.bytes) {
            WireAnswer { response, standing, .. } = unsendable(response.id, &error);
            message = response.to_bytes().into();
        } else if let Some((_, error)) = self.broken_promises(&[promise], &mut message).pop() {
            response.outcome = Err(error);
            message = response.to_bytes().into();
        }
        let role = OutboundRole::Answer(standing);
        match self.link.transport.send(message, role, ticket, None).await {
            Ok(()) => {}
            Err(SendError::Transport(error)) if is_too_long(&error) => {
                let WireAnswer { response, standing, .. } = unsendable(response.id, &error);
                self.send_unjudged(response.to_bytes(), standing, ticket).await;
            }
            Err(SendError::Transport(error)) => tracing::debug!(%error, "an answer was not sent"),
            // What is wrong about an error is no reason to say nothing.
            Err(SendError::Refused(_)) if response.outcome.is_err() => {
                self.send_unjudged(response.to_bytes(), standing, ticket).await;
            }
            Err(SendError::Refused(refusal)) => {
                tracing::error!(reason = ?refusal.reason, "an answer breaks the protocol");
                let WireAnswer { response, standing, .. } = fallback(response.id, &refusal);
                self.send_unjudged(response.to_bytes(), standing, ticket).await;
            }
        }
    }

    async fn send_unjudged(&self, bytes: Bytes, standing: Standing, ticket: Option<Ticket>) {
        let role = OutboundRole::Answer(standing);
        if let Err(error) = self.link.transport.send_unjudged(bytes, role, ticket, None).await {
            tracing::debug!(%error, "an answer was not sent");
            // Nothing can be said, but the transport may hold something open.
            self.settle(ticket);
        }
    }
}

/// What is said instead of an answer that does not pass the gate.
fn fallback(id: Option<JsonRpcId>, refusal: &Refusal) -> WireAnswer {
    let message = format!("the answer breaks the protocol and was held back: {}", refusal.message);
    instead(id, message, refusal.findings.clone())
}

/// Whether an answer is longer than we send, the transport carries or the other side takes. Whoever
/// asked must not wait for it.
fn is_too_long(error: &TransportError) -> bool {
    matches!(error, TransportError::TooLong { .. } | TransportError::Status { status: 413, .. })
}

/// However short each of them is: whoever asked must not wait for them.
fn all_unsendable(responses: Vec<JsonRpcResponse>, error: &TransportError) -> Vec<JsonRpcResponse> {
    responses.into_iter().map(|answer| unsendable(answer.id, error).response).collect()
}

/// What is said instead of an answer that is too long.
fn unsendable(id: Option<JsonRpcId>, error: &TransportError) -> WireAnswer {
    tracing::error!(%error, "an answer is not sent");
    instead(id, format!("the answer cannot be sent: {error}"), Vec::new())
}

fn instead(id: Option<JsonRpcId>, message: String, findings: Vec<Json>) -> WireAnswer {
    let refusal = Refusal { index: None, reason: RefusalReason::Invalid, message, findings };
    let outcome = Err(refusal_to_json_rpc(&refusal));
    WireAnswer::new(JsonRpcResponse { id, outcome }, Standing::Served)
}

/// The answers of a batch, with an error instead of each that does not pass. Errors stay: what is
/// wrong about them is no reason to say something else.
fn mended(responses: Vec<JsonRpcResponse>, verdict: &Verdict) -> Vec<JsonRpcResponse> {
    let mend = |(index, response): (usize, JsonRpcResponse)| match verdict.refusal(Some(index)) {
        Some(refusal) if response.outcome.is_ok() => fallback(response.id, refusal).response,
        _ => response,
    };
    responses.into_iter().enumerate().map(mend).collect()
}

fn no_id() -> Refusal {
    Refusal {
        index: None,
        reason: RefusalReason::NotAMessage,
        message: "the `id` of a request must be a string or an integer".to_owned(),
        findings: Vec::new(),
    }
}

/// What is said about a batch that the gate has let pass.
pub(super) fn no_batches() -> Refusal {
    let message = "this revision has no batches; send one message at a time";
    let finding = json!({
        "instancePath": "",
        "pointer": "",
        "schemaPath": "#/type",
        "keyword": "type",
        "params": { "type": "object" },
        "message": message,
    });
    Refusal {
        index: None,
        reason: RefusalReason::NotAMessage,
        message: message.to_owned(),
        findings: vec![finding.into()],
    }
}

pub(super) fn too_long(length: u64, limit: u64) -> Refusal {
    Refusal {
        index: None,
        reason: RefusalReason::NotAMessage,
        message: TransportError::TooLong { length, limit }.to_string(),
        findings: Vec::new(),
    }
}

pub(super) fn outcome_of(outcome: Result<Json, JsonRpcError>) -> Outcome {
    outcome.map_err(|JsonRpcError { code, message, data }| PeerError::Answered {
        code,
        message,
        data,
    })
}

pub(super) fn invalid_answer(refusal: &Refusal) -> Outcome {
    Err(PeerError::InvalidAnswer {
        message: refusal.message.clone(),
        findings: refusal.findings.clone(),
    })
}

/// What a panic said.
pub(super) fn said(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("nothing that can be shown")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_that_do_not_pass_are_replaced() {
        let response = |id, outcome| JsonRpcResponse { id: Some(JsonRpcId::Integer(id)), outcome };
        let failed = JsonRpcError { code: -32000, message: "no".to_owned(), data: None };
        let responses = vec![
            response(1, Ok(Json::empty_object())),
            response(2, Ok(Json::empty_object())),
            response(3, Err(failed.clone())),
        ];
        let refusal = |index| Refusal { index: Some(index), ..no_batches() };
        let mended = mended(responses, &Verdict { refusals: vec![refusal(1), refusal(2)] });
        assert!(mended[0].outcome.is_ok());
        assert_eq!(mended[1].outcome.as_ref().unwrap_err().code, -32603);
        assert_eq!(mended[1].id, Some(JsonRpcId::Integer(2)));
        assert_eq!(mended[2].outcome.as_ref().unwrap_err(), &failed);
    }
}
