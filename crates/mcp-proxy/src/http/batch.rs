//! Answers to a batch of which only a part was forwarded.

use bytes::Bytes;
use http::{Response, StatusCode};
use mcp_core::Side;
use mcp_json::{Limits, Span, Tape};
use mcp_jsonrpc::ErrorCode;

use super::{
    answer::Answer,
    body::{ProxyBody, ReadError, after, read_whole},
    connections::ResponseBody,
    encoding::Encoding,
    events::event_with,
    exchange::{Exchange, response_part},
    gateway::{describe, give, give_unjudged, is_event_stream, pass_events_back, text_of},
    headers::remove_hop_by_hop,
};
use crate::{respond::Replacement, splice::with_parts, tap::SentHeaders};

/// Forwards the answer to a part of a batch, merged with `errors`, a batch of errors for the rest.
pub(super) async fn pass_back(
    exchange: Exchange,
    response: Response<ResponseBody>,
    errors: Bytes,
) -> Response<ProxyBody> {
    let (mut head, body) = response.into_parts();
    let exchange = exchange.named_by(&head.headers);
    let (shown, encoding) = (SentHeaders::of(&head.headers), Encoding::of(&head.headers));
    remove_hop_by_hop(&mut head.headers);
    if is_event_stream(&head.headers) {
        let seen = exchange.clone();
        let passed = pass_events_back(exchange, (head, shown), body, &Bytes::new()).await;
        if !is_event_stream(passed.headers()) {
            return passed;
        }
        seen.observe_own_event(errors.clone());
        return passed.map(|body| after(event_with(errors), body));
    }
    let lacking = |message| {
        let status = StatusCode::BAD_GATEWAY;
        give(&exchange, Answer::error(status, ErrorCode::InternalError, message))
    };
    let whole = match read_whole(body, exchange.limit(), exchange.room()).await {
        Ok(whole) => whole,
        Err(ReadError::NoRoom) => {
            exchange.lose(Side::Server, response_part(head.status, shown));
            return give(&exchange, Answer::crowded_out());
        }
        Err(ReadError::TooLong | ReadError::Broken) => {
            return lacking("the server's response is too long or incomplete");
        }
    };
    let text = match text_of(encoding, &whole.text, exchange.limit()) {
        Ok(text) => text,
        Err(message) => return lacking(message),
    };
    let status = head.status;
    let Ok(verdict) = exchange.judge_response(status, shown, Some(text.clone())).await else {
        return give_unjudged(&exchange, Answer::unavailable(Side::Server, &text));
    };
    if !status.is_success() {
        // The response is about the whole exchange.
        return Response::from_parts(head, whole.into_body());
    }
    let body =
        if verdict.passes() { Some(text) } else { Replacement::of(&text, &verdict).to_receiver };
    let combined = body.map_or(errors.clone(), |body| combine(&body, errors));
    let mut answer = Answer::json(StatusCode::OK, combined);
    if status == StatusCode::OK {
        let kind = std::mem::replace(&mut answer.headers, head.headers);
        answer.headers.extend(kind);
        describe(&mut answer.headers, &answer.body);
    }
    let Answer { status, headers, body } = &answer;
    // Not recorded as a replacement of the server's response, since it answers more requests.
    exchange.observe_answer(*status, headers, body.clone());
    answer.into_response()
}

/// Merges the server's answers and the errors into one batch.
fn combine(answered: &Bytes, errors: Bytes) -> Bytes {
    let mut tape = Tape::new();
    let Ok(document) = tape.parse(answered, Limits::default()) else { return errors };
    let root = document.root();
    let inner = errors.slice(1..errors.len().saturating_sub(1).max(1));
    let Span { start, end } = root.span();
    let parts = match root.elements().last() {
        Some(last) => {
            let at = Span { start: last.span().end, end: last.span().end };
            vec![(at, [b",", &*inner].concat().into())]
        }
        // An empty array.
        None if root.is_array() => return errors,
        None => vec![
            (Span { start, end: start }, Bytes::from_static(b"[")),
            (Span { start: end, end }, [b",", &*inner, b"]"].concat().into()),
        ],
    };
    with_parts(answered, parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_and_errors_are_one_batch() {
        let errors = || Bytes::from("[{\"a\":1}]");
        let combined = |answered: &'static str| combine(&answered.into(), errors());
        assert_eq!(combined("[{} , {}\n]"), "[{} , {},{\"a\":1}\n]");
        assert_eq!(combined(" {} "), " [{},{\"a\":1}] ");
        assert_eq!(combined("[]"), errors());
        assert_eq!(combined(""), errors());
    }
}
