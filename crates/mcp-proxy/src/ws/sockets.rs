use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response, header::CONTENT_TYPE};
use hyper::{body::Incoming, upgrade::OnUpgrade};
use hyper_util::rt::TokioIo;
use mcp_core::BoxFuture;
use mcp_transport::ws::{self, WsServerSettings};
use tower_service::Service;

use super::slots::{Slot, Slots, SocketSettings};
use crate::{
    Tap,
    bridge::{
        conversation_tap::{ConversationTap, Wire},
        remote::{Remote, RemoteSettings, run_socket},
    },
    http::{Answer, ProxyBody, full},
};

/// Connects WebSocket clients to a server that uses another transport, as a `tower` service.
#[derive(Debug, Clone)]
pub struct Sockets(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    remote: Remote,
    tap: Tap,
    accepting: WsServerSettings,
    settings: SocketSettings,
    talking: RemoteSettings,
    slots: Slots,
}

impl Sockets {
    /// Connects each client to `remote`, with its own conversation.
    pub fn new(
        remote: Remote,
        tap: Tap,
        settings: SocketSettings,
        talking: RemoteSettings,
    ) -> Sockets {
        let mut accepting = WsServerSettings::default();
        accepting.connection.max_message = settings.max_message;
        accepting.connection.stall_timeout = settings.stall_timeout;
        accepting.hosts = settings.hosts.clone();
        accepting.origins = settings.origins.clone();
        let slots = Slots::new(&settings);
        Sockets(Arc::new(Inner { remote, tap, accepting, settings, talking, slots }))
    }

    /// Ends all connections, and waits until they are closed.
    pub async fn close(&self) {
        self.0.slots.close().await;
    }
}

impl Service<Request<Incoming>> for Sockets {
    type Response = Response<ProxyBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<ProxyBody>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        Box::pin(std::future::ready(Ok(self.0.open(request))))
    }
}

impl Inner {
    fn open(self: &Arc<Self>, mut request: Request<Incoming>) -> Response<ProxyBody> {
        let upgrade = hyper::upgrade::on(&mut request);
        let answer = ws::answer(&request.map(|_| ()), &self.accepting);
        let response = match answer {
            Ok(response) => response,
            Err(refused) => {
                let mut response = refused.map(|text| full(text.unwrap_or_default().into()));
                let plain = http::HeaderValue::from_static("text/plain; charset=utf-8");
                response.headers_mut().insert(CONTENT_TYPE, plain);
                return response;
            }
        };
        let Some(slot) = self.slots.take() else { return Answer::full().into_response() };
        tokio::spawn(Arc::clone(self).converse(upgrade, slot));
        response.map(|()| full(Bytes::new()))
    }

    async fn converse(self: Arc<Self>, upgrade: OnUpgrade, mut slot: Slot) {
        let Ok(Ok(stream)) = tokio::time::timeout(self.settings.open_timeout, upgrade).await else {
            tracing::debug!("a client disconnected before its connection was open");
            return;
        };
        let socket = ws::conversation(TokioIo::new(stream), &self.accepting).await;
        let wire = if self.remote.has_lines() { Wire::Lines } else { Wire::WebSocket };
        let tap = ConversationTap::new(self.tap.clone(), Some(Arc::clone(&slot.name)), wire);
        let remote = self.remote.clone();
        run_socket(remote, socket, tap, &self.talking, slot.should_end()).await;
    }
}
