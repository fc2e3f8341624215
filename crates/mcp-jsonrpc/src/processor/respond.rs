//! Responses to the peer's requests.

use std::{any::Any, panic::AssertUnwindSafe, sync::Arc};

use bytes::Bytes;
use futures_util::{FutureExt as _, future::join_all};
use mcp_core::{
    Call, Dispatch, Error, Json, OutboundRole, PeerError, Refusal, RefusalReason, Response,
    ResponseStatus, Revision, Ticket, Transport, TransportError, UncheckedResponse,
};
use serde_json::json;

use super::{
    JsonRpcPeer, JsonRpcProcessor,
    calls::Outcome,
    cancelled::INITIALIZE,
    in_flight::{InFlightGuard, InFlightLimits},
    output_check::OutputCheck,
};
use crate::{
    JsonRpcError, JsonRpcId, JsonRpcRequest, JsonRpcResponse, ToJsonRpc as _, Verdict,
    error_map::{refusal_to_json_rpc, status_of, status_of_refusal},
    outgoing::write_batch,
    transport::{OutgoingMessage, RefusedMessage, SendError},
};

/// A response on the wire, the outcome for the transport, and the output check still to be made.
struct OutgoingResponse {
    response: JsonRpcResponse,
    status: ResponseStatus,
    check: Option<OutputCheck>,
}

impl OutgoingResponse {
    fn new(response: JsonRpcResponse, status: ResponseStatus) -> OutgoingResponse {
        OutgoingResponse { response, status, check: None }
    }
}

impl<T: Transport + 'static> JsonRpcProcessor<T> {
    pub(super) async fn serve(&self, request: JsonRpcRequest, ticket: Option<Ticket>) {
        match self.answer(request, ticket).await {
            Some(answer) => self.send(answer, ticket).await,
            // No response is expected, but the transport may hold the exchange open.
            None => self.finish_exchange(ticket),
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
        let (mut responses, checks): (Vec<_>, Vec<_>) = answers
            .await
            .into_iter()
            .flatten()
            .map(|answer| (answer.response, answer.check))
            .unzip();
        if responses.is_empty() {
            return self.finish_exchange(ticket);
        }
        let mut message = OutgoingMessage::from(write_batch(&responses));
        if let Err(error) = self.link.transport.fits(&message.bytes) {
            responses = replace_all_too_long(responses, &error);
            message = write_batch(&responses).into();
        } else {
            let violations = self.output_violations(&checks, &mut message);
            if !violations.is_empty() {
                for (index, error) in violations {
                    responses[index].outcome = Err(error);
                }
                message = write_batch(&responses).into();
            }
        }
        let turn = self.link.transport.turn().await;
        let verdict = self.link.transport.judge_outgoing(&mut message);
        if !verdict.refusals.is_empty() {
            tracing::error!(
                refusals = verdict.refusals.len(),
                "our responses violate the protocol"
            );
            responses = replace_rejected(responses, &verdict);
            message = write_batch(&responses).into();
        }
        let role = OutboundRole::Response(ResponseStatus::Served);
        match self.link.transport.send_judged(message.bytes, role, ticket, turn).await {
            Ok(()) => {}
            Err(SendError::Transport(error)) if is_too_long(&error) => {
                let responses = replace_all_too_long(responses, &error);
                self.send_unjudged(write_batch(&responses), ResponseStatus::Served, ticket).await;
            }
            Err(error) => tracing::debug!(%error, "could not send the responses to a batch"),
        }
    }

    /// Responds to a rejected message with an error.
    pub(super) async fn refuse(
        &self,
        id: Option<JsonRpcId>,
        refusal: Refusal,
        ticket: Option<Ticket>,
    ) {
        let _unsent = self.link.unsent_refusals.add(size(id.as_ref(), &refusal));
        let answer = self.refusal(id, &refusal);
        self.send(answer, ticket).await;
    }

    /// Like `refuse`, for a message that the gate has not seen: it could not match the response to a
    /// request.
    pub(super) async fn refuse_unseen(
        &self,
        id: Option<JsonRpcId>,
        refusal: Refusal,
        ticket: Option<Ticket>,
    ) {
        let _unsent = self.link.unsent_refusals.add(size(id.as_ref(), &refusal));
        let OutgoingResponse { response, status, .. } = self.refusal(id, &refusal);
        self.send_unjudged(response.to_bytes(), status, ticket).await;
    }

    pub(super) fn accepts_batches(&self) -> bool {
        self.is_bare()
            || self.link.settings.batches
            || self.handler.revision() == Some(Revision::V2025_03_26)
    }

    /// Runs the handler. `None` if the request was cancelled and gets no response.
    async fn answer(
        &self,
        request: JsonRpcRequest,
        ticket: Option<Ticket>,
    ) -> Option<OutgoingResponse> {
        if !self.accepts_id(&request.id) {
            return Some(self.refusal(None, &invalid_id()));
        }
        let id = Some(request.id.clone());
        let Some(guard) = self.begin(id, &request.method, request.params.as_ref(), ticket) else {
            return Some(self.failure(request, Error::Busy));
        };
        let call = Call {
            peer: Arc::new(JsonRpcPeer { link: Arc::clone(&self.link), ticket }),
            cancellation: guard.cancellation.clone(),
        };
        let handled =
            async { self.handler.handle_request(request.to_domain_request(), call).await };
        tokio::select! {
            biased;
            handled = AssertUnwindSafe(handled).catch_unwind() => Some(match handled {
                Ok(answer) => {
                    if request.method == INITIALIZE {
                        self.report_revision();
                    }
                    self.to_wire(answer, request.id)
                }
                Err(panic) => {
                    // Method and message may have come from the peer.
                    tracing::error!("a request handler panicked");
                    tracing::debug!(
                        method = request.method,
                        message = panic_message(&*panic),
                        "the panic message"
                    );
                    self.failure(request, Error::internal("the request handler panicked"))
                }
            }),
            () = guard.cancellation.cancelled() => None,
        }
    }

    /// Registers work and counts its memory until it ends; `None` if a limit is reached.
    pub(super) fn begin(
        &self,
        id: Option<JsonRpcId>,
        method: &str,
        params: Option<&Json>,
        ticket: Option<Ticket>,
    ) -> Option<InFlightGuard<'_>> {
        let settings = &self.link.settings;
        let limits = InFlightLimits {
            requests: settings.max_in_flight,
            bytes: settings.max_in_flight_bytes,
            budget: &settings.in_flight_memory,
        };
        // The id is kept by the request, by the list and for the handler.
        let id_length = id.as_ref().map_or(0, JsonRpcId::text_length);
        let bytes = params.map_or(0, Json::memory) + method.len() + 3 * id_length;
        self.link.in_flight.add(id, ticket, bytes, limits)
    }

    /// Tells the transport the revision that the handshake has negotiated, if any.
    fn report_revision(&self) {
        if let Some(revision) = self.handler.revision() {
            self.link.transport.inner().established(revision);
        }
    }

    fn failure(&self, request: JsonRpcRequest, error: Error) -> OutgoingResponse {
        let id = request.to_domain_request().id;
        let revision = self.handler.revision().unwrap_or(Revision::LATEST_LEGACY);
        self.to_wire(Response { id, revision, outcome: Err(error) }.into(), request.id)
    }

    fn to_wire(&self, answer: UncheckedResponse, id: JsonRpcId) -> OutgoingResponse {
        let UncheckedResponse { response, contract } = answer;
        let revision = response.revision;
        OutgoingResponse {
            status: response.outcome.as_ref().err().map_or(ResponseStatus::Served, status_of),
            response: response.to_json_rpc(id, self.handler.dispatch()),
            check: contract.map(|output| OutputCheck { output, revision }),
        }
    }

    /// The error response to a rejected message. MCP omits an unreadable id; plain JSON-RPC, and the
    /// revisions whose error responses require an id, use null.
    fn refusal(&self, id: Option<JsonRpcId>, refusal: &Refusal) -> OutgoingResponse {
        let uses_null = self.is_bare()
            || self.link.settings.any_id
            || self.handler.revision().is_some_and(|revision| revision < Revision::V2025_11_25);
        let id = id.filter(|id| self.accepts_id(id)).or(uses_null.then_some(JsonRpcId::Null));
        let response = JsonRpcResponse { id, outcome: Err(refusal_to_json_rpc(refusal)) };
        OutgoingResponse::new(response, status_of_refusal(refusal.reason))
    }

    pub(super) fn is_bare(&self) -> bool {
        self.handler.dispatch() == Dispatch::Bare
    }

    /// Plain JSON-RPC allows null and fractional ids, MCP does not.
    fn accepts_id(&self, id: &JsonRpcId) -> bool {
        self.is_bare() || self.link.settings.any_id || id.is_known_to_mcp()
    }

    async fn send(&self, answer: OutgoingResponse, ticket: Option<Ticket>) {
        let (message, response, status) = self.write(answer);
        let role = OutboundRole::Response(status);
        let sent = self.link.transport.send(message, role, ticket, None).await;
        if let Err(error) = sent
            && let Some((bytes, status)) = substitute(response, status, error)
        {
            // Boxed, since it is rare and its future would make that of every request larger.
            Box::pin(self.send_unjudged(bytes, status, ticket)).await;
        }
    }

    /// The message for a response, or for the error to send in its place.
    fn write(
        &self,
        answer: OutgoingResponse,
    ) -> (OutgoingMessage, JsonRpcResponse, ResponseStatus) {
        let OutgoingResponse { mut response, mut status, check } = answer;
        let mut message = OutgoingMessage::from(response.to_bytes());
        if let Err(error) = self.link.transport.fits(&message.bytes) {
            OutgoingResponse { response, status, .. } = too_long_response(response.id, &error);
            message = response.to_bytes().into();
        } else if let Some((_, error)) = self.output_violations(&[check], &mut message).pop() {
            response.outcome = Err(error);
            message = response.to_bytes().into();
        }
        (message, response, status)
    }

    async fn send_unjudged(&self, bytes: Bytes, status: ResponseStatus, ticket: Option<Ticket>) {
        let role = OutboundRole::Response(status);
        if let Err(error) = self.link.transport.send_unjudged(bytes, role, ticket).await {
            tracing::debug!(%error, "could not send a response");
            // The transport may still hold the exchange open.
            self.finish_exchange(ticket);
        }
    }
}

/// What to send, unjudged, in place of a response that could not be sent.
fn substitute(
    response: JsonRpcResponse,
    status: ResponseStatus,
    error: SendError,
) -> Option<(Bytes, ResponseStatus)> {
    let OutgoingResponse { response, status, .. } = match error {
        SendError::Transport(error) if is_too_long(&error) => {
            too_long_response(response.id, &error)
        }
        SendError::Transport(error) => {
            tracing::debug!(%error, "could not send a response");
            return None;
        }
        // An imperfect error response is better than none.
        SendError::Refused(_) if response.outcome.is_err() => {
            OutgoingResponse::new(response, status)
        }
        SendError::Refused(refusal) => {
            tracing::error!(reason = ?refusal.reason, "our response violates the protocol");
            rejected_response(response.id, &refusal)
        }
    };
    Some((response.to_bytes(), status))
}

/// The error to send instead of a response that does not pass the gate.
fn rejected_response(id: Option<JsonRpcId>, refusal: &Refusal) -> OutgoingResponse {
    let message =
        format!("the response violates the protocol and was withheld: {}", refusal.message);
    internal_error(id, message, refusal.findings.clone())
}

/// Whether a response is longer than we, the transport or the peer allow. The caller then needs an
/// error instead.
fn is_too_long(error: &TransportError) -> bool {
    matches!(error, TransportError::TooLong { .. } | TransportError::Status { status: 413, .. })
}

/// Replaces every response of a batch that is too long as a whole: each caller needs an error.
fn replace_all_too_long(
    responses: Vec<JsonRpcResponse>,
    error: &TransportError,
) -> Vec<JsonRpcResponse> {
    responses.into_iter().map(|answer| too_long_response(answer.id, error).response).collect()
}

/// The error to send instead of a response that is too long.
fn too_long_response(id: Option<JsonRpcId>, error: &TransportError) -> OutgoingResponse {
    tracing::error!("cannot send a response: it is too long");
    tracing::debug!(%error, "why the response cannot be sent");
    internal_error(id, format!("the response cannot be sent: {error}"), Vec::new())
}

fn internal_error(id: Option<JsonRpcId>, message: String, findings: Vec<Json>) -> OutgoingResponse {
    let refusal =
        Refusal { index: None, reason: RefusalReason::Invalid, message, findings, facts: None };
    let outcome = Err(refusal_to_json_rpc(&refusal));
    OutgoingResponse::new(JsonRpcResponse { id, outcome }, ResponseStatus::Served)
}

/// The responses of a batch, with an error in place of each result that does not pass. Error
/// responses are kept: an imperfect one is better than another error.
fn replace_rejected(responses: Vec<JsonRpcResponse>, verdict: &Verdict) -> Vec<JsonRpcResponse> {
    let replace = |(index, response): (usize, JsonRpcResponse)| match verdict.refusal(Some(index)) {
        Some(refusal) if response.outcome.is_ok() => {
            rejected_response(response.id, refusal).response
        }
        _ => response,
    };
    responses.into_iter().enumerate().map(replace).collect()
}

fn invalid_id() -> Refusal {
    Refusal {
        index: None,
        reason: RefusalReason::NotAMessage,
        message: "the `id` of a request must be a string or an integer".to_owned(),
        findings: Vec::new(),
        facts: None,
    }
}

/// The refusal of a batch whose entries were not judged.
pub(super) fn batch_too_long(entries: usize, limit: usize) -> Refusal {
    Refusal {
        index: None,
        reason: RefusalReason::NotAMessage,
        message: format!("the batch has {entries} entries, more than the limit of {limit}"),
        findings: Vec::new(),
        facts: None,
    }
}

/// The refusal of a batch that the gate has passed.
pub(super) fn batches_unsupported() -> Refusal {
    let message = "this revision does not support batches; send one message at a time";
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
        facts: None,
    }
}

pub(super) fn too_long(length: u64, limit: u64) -> Refusal {
    Refusal {
        index: None,
        reason: RefusalReason::NotAMessage,
        message: TransportError::TooLong { length, limit }.to_string(),
        findings: Vec::new(),
        facts: None,
    }
}

pub(super) fn outcome_of(outcome: Result<Json, JsonRpcError>) -> Outcome {
    outcome.map_err(|JsonRpcError { code, message, data }| PeerError::ErrorResponse {
        code,
        message,
        data,
    })
}

pub(super) fn invalid_answer(refusal: &Refusal) -> Outcome {
    Err(PeerError::InvalidResponse {
        message: refusal.message.clone(),
        findings: refusal.findings.clone(),
    })
}

/// The message of a panic.
pub(super) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no message)")
}

/// The memory that a refusal takes until it is sent.
fn size(id: Option<&JsonRpcId>, refusal: &Refusal) -> usize {
    let findings: usize = refusal.findings.iter().map(Json::memory).sum();
    id.map_or(0, JsonRpcId::text_length) + refusal.message.len() + findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_results_that_do_not_pass_are_replaced() {
        let response = |id, outcome| JsonRpcResponse { id: Some(JsonRpcId::Integer(id)), outcome };
        let failed = JsonRpcError { code: -32000, message: "no".to_owned(), data: None };
        let responses = vec![
            response(1, Ok(Json::empty_object())),
            response(2, Ok(Json::empty_object())),
            response(3, Err(failed.clone())),
        ];
        let refusal = |index| Refusal { index: Some(index), ..batches_unsupported() };
        let replaced =
            replace_rejected(responses, &Verdict { refusals: vec![refusal(1), refusal(2)] });
        assert!(replaced[0].outcome.is_ok());
        assert_eq!(replaced[1].outcome.as_ref().unwrap_err().code, -32603);
        assert_eq!(replaced[1].id, Some(JsonRpcId::Integer(2)));
        assert_eq!(replaced[2].outcome.as_ref().unwrap_err(), &failed);
    }
}
