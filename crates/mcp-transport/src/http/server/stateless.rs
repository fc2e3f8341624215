//! A single POST that is a whole conversation.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

use http::{Response, StatusCode, request::Parts};
use mcp_core::{BoxFuture, ResponseStatus};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::{
    Application, HttpFault, HttpSettings, RequestInfo, ResponseBody,
    exchange::{ResponseStart, StatelessExchange},
    media::Accepts,
    reply,
};
use crate::http::{arrived::Arrived, watch::HttpWatch};

/// Serves a request. `ending` is cancelled when long-lived requests should end.
pub(super) async fn serve(
    application: &dyn Application,
    settings: &Arc<HttpSettings>,
    ending: &CancellationToken,
    parts: &Parts,
    watch: Option<Arc<dyn HttpWatch>>,
    (message, accepts, info): (Arrived, Accepts, RequestInfo),
) -> Result<Response<ResponseBody>, HttpFault> {
    let ending = info.long_lived.then(|| ending.clone());
    let exchange =
        StatelessExchange::new(message, accepts, info.expects_response, ending, settings.clone());
    let conversation = application.converse(exchange.clone(), parts, watch);
    let mut conversation = InlineConversation { exchange, conversation: Some(conversation) };
    if !info.expects_response {
        // Most notifications are processed at once; the client need not wait for the others.
        conversation.poll_once().await;
        return Ok(reply::empty(StatusCode::ACCEPTED));
    }
    let start = poll_fn(|context| conversation.poll_response_start(context)).await;
    Ok(match start.ok_or(HttpFault::Unanswered)? {
        ResponseStart::Answer(status, body, parsed) => {
            conversation.poll_once().await;
            reply::message(status_code(status), body, parsed)
        }
        ResponseStart::Events(stream) => reply::events(stream),
    })
}

const fn status_code(status: ResponseStatus) -> StatusCode {
    match status {
        ResponseStatus::Served => StatusCode::OK,
        ResponseStatus::BadRequest => StatusCode::BAD_REQUEST,
        ResponseStatus::UnknownMethod => StatusCode::NOT_FOUND,
    }
}

/// A conversation that is polled by the handler of its POST as long as that is enough: it needs no
/// task of its own if the answer is the only message.
struct InlineConversation {
    exchange: Arc<StatelessExchange>,
    /// `None` once it has ended.
    conversation: Option<BoxFuture<'static, ()>>,
}

impl InlineConversation {
    async fn poll_once(&mut self) {
        poll_fn(|context| {
            self.poll_conversation(context);
            Poll::Ready(())
        })
        .await;
    }

    fn poll_response_start(&mut self, context: &mut Context<'_>) -> Poll<Option<ResponseStart>> {
        self.poll_conversation(context);
        match self.exchange.poll_response_start(context) {
            Poll::Pending if self.conversation.is_none() => Poll::Ready(None),
            start => start,
        }
    }

    fn poll_conversation(&mut self, context: &mut Context<'_>) {
        if let Some(conversation) = &mut self.conversation
            && conversation.as_mut().poll(context).is_ready()
        {
            self.conversation = None;
        }
    }
}

impl Drop for InlineConversation {
    /// The conversation continues without the handler: it has become a stream, or it still has to
    /// notice that the client is gone.
    fn drop(&mut self) {
        let Some(conversation) = self.conversation.take() else { return };
        self.exchange.let_go();
        // A future that has panicked must not be polled again.
        if !std::thread::panicking()
            && let Ok(runtime) = Handle::try_current()
        {
            let exchange = self.exchange.clone();
            runtime.spawn(async move {
                conversation.await;
                // Nothing more can be sent.
                exchange.finish();
            });
        }
    }
}
