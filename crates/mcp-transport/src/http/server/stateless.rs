//! One POST that is a whole conversation.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

use http::{Response, StatusCode, request::Parts};
use mcp_core::{BoxFuture, Standing};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::{
    Application, Glimpse, HttpFault, HttpSettings, ResponseBody,
    exchange::{Exchange, FirstWord},
    media::Accepts,
    posted::Posted,
    reply,
};

/// Serves a request. `ending` is cancelled when what has no end in sight shall be brought to one.
pub(super) async fn serve(
    application: &dyn Application,
    settings: &Arc<HttpSettings>,
    ending: &CancellationToken,
    parts: &Parts,
    (message, accepts, glimpse): (Posted, Accepts, Glimpse),
) -> Result<Response<ResponseBody>, HttpFault> {
    let ending = glimpse.long_lived.then(|| ending.clone());
    let exchange = Exchange::new(message, accepts, glimpse.wants_answer, ending, settings.clone());
    let conversation = application.converse(exchange.clone(), parts);
    let mut held = Held { exchange, conversation: Some(conversation) };
    if !glimpse.wants_answer {
        // Most notifications are taken in at once; the client need not wait for the others.
        held.poll_once().await;
        return Ok(reply::empty(StatusCode::ACCEPTED));
    }
    let word = poll_fn(|context| held.poll_first_word(context)).await;
    Ok(match word.ok_or(HttpFault::Unanswered)? {
        FirstWord::Answer(standing, body) => {
            held.poll_once().await;
            reply::json(status(standing), body)
        }
        FirstWord::Events(stream) => reply::events(stream),
    })
}

const fn status(standing: Standing) -> StatusCode {
    match standing {
        Standing::Served => StatusCode::OK,
        Standing::BadRequest => StatusCode::BAD_REQUEST,
        Standing::UnknownMethod => StatusCode::NOT_FOUND,
    }
}

/// A conversation that is driven by the handler of its POST, as long as that is enough: no task of
/// its own is needed if the answer is all there is to say.
struct Held {
    exchange: Arc<Exchange>,
    /// Until it has come to its end.
    conversation: Option<BoxFuture<'static, ()>>,
}

impl Held {
    async fn poll_once(&mut self) {
        poll_fn(|context| {
            self.poll_conversation(context);
            Poll::Ready(())
        })
        .await;
    }

    fn poll_first_word(&mut self, context: &mut Context<'_>) -> Poll<Option<FirstWord>> {
        self.poll_conversation(context);
        match self.exchange.poll_first_word(context) {
            Poll::Pending if self.conversation.is_none() => Poll::Ready(None),
            word => word,
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

impl Drop for Held {
    /// The conversation goes on without the handler: it has become a stream, or it still has to
    /// learn that the client has gone.
    fn drop(&mut self) {
        let Some(conversation) = self.conversation.take() else { return };
        self.exchange.let_go();
        // What has panicked must not be polled again.
        if !std::thread::panicking()
            && let Ok(runtime) = Handle::try_current()
        {
            let exchange = self.exchange.clone();
            runtime.spawn(async move {
                conversation.await;
                // Nobody is left who could say more.
                exchange.finish();
            });
        }
    }
}
