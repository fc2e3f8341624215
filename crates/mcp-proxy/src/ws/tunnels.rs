use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use http::{
    HeaderValue, Request, Response, StatusCode,
    header::{CONNECTION, SEC_WEBSOCKET_EXTENSIONS, UPGRADE},
};
use hyper::{body::Incoming, upgrade::OnUpgrade};
use hyper_util::rt::TokioIo;
use mcp_core::BoxFuture;
use mcp_transport::check_source;
use tower_service::Service;

use super::{
    slots::{Slot, Slots, SocketSettings},
    tunnel::{Tunnel, TunnelLimits},
};
use crate::{
    Tap,
    http::{Answer, ProxyBody, Upstream, boxed, full, remove_hop_by_hop},
};

/// Connects WebSocket clients to a WebSocket server, as a `tower` service. Handshakes are forwarded
/// without extensions, since compressed messages could not be judged.
#[derive(Debug, Clone)]
pub struct Tunnels(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    upstream: Upstream,
    tap: Tap,
    settings: SocketSettings,
    slots: Slots,
}

impl Tunnels {
    /// Connects clients to `upstream`.
    pub fn new(upstream: Upstream, tap: Tap, settings: SocketSettings) -> Tunnels {
        let slots = Slots::new(&settings);
        Tunnels(Arc::new(Inner { upstream, tap, settings, slots }))
    }

    /// Ends all connections, and waits until they are closed.
    pub async fn close(&self) {
        self.0.slots.close().await;
    }
}

impl Service<Request<Incoming>> for Tunnels {
    type Response = Response<ProxyBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<ProxyBody>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            Ok(match inner.open(request).await {
                Ok(response) => response,
                Err(answer) => answer.into_response(),
            })
        })
    }
}

impl Inner {
    async fn open(
        self: &Arc<Self>,
        mut request: Request<Incoming>,
    ) -> Result<Response<ProxyBody>, Box<Answer>> {
        let SocketSettings { hosts, origins, open_timeout, .. } = &self.settings;
        check_source(hosts, origins, request.uri(), request.headers())
            .map_err(|foreign| Box::new(Answer::foreign(&foreign)))?;
        let slot = self.slots.take().ok_or_else(|| Box::new(Answer::full()))?;
        let client = hyper::upgrade::on(&mut request);
        let mut request = request.map(|_| full(bytes::Bytes::new()));
        let headers = request.headers_mut();
        remove_hop_by_hop(headers);
        headers.remove(SEC_WEBSOCKET_EXTENSIONS);
        insert_upgrade(headers);
        self.upstream.address(&mut request);
        let sent = self.upstream.send_upgrade(request, *open_timeout).await;
        let mut response = sent.map_err(|failure| {
            tracing::warn!(%failure, "could not open a connection to the server");
            Box::new(Answer::failed(&failure, b""))
        })?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            let (mut head, body) = response.into_parts();
            remove_hop_by_hop(&mut head.headers);
            return Ok(Response::from_parts(head, boxed(body)));
        }
        let server = hyper::upgrade::on(&mut response);
        tokio::spawn(Arc::clone(self).connect(client, server, slot));
        let mut headers = std::mem::take(response.headers_mut());
        remove_hop_by_hop(&mut headers);
        insert_upgrade(&mut headers);
        let mut answer = Response::new(full(bytes::Bytes::new()));
        *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        *answer.headers_mut() = headers;
        Ok(answer)
    }

    async fn connect(self: Arc<Self>, client: OnUpgrade, server: OnUpgrade, mut slot: Slot) {
        let streams = tokio::time::timeout(self.settings.open_timeout, async {
            let (client, server) = tokio::join!(client, server);
            Some((TokioIo::new(client.ok()?), TokioIo::new(server.ok()?)))
        });
        let Ok(Some(streams)) = streams.await else {
            tracing::debug!("a client disconnected before its connection was open");
            return;
        };
        let name = Arc::clone(&slot.name);
        let SocketSettings { max_message, ref room, stall_timeout, ref drain, .. } = self.settings;
        let limits = TunnelLimits { max_message, room: room.clone(), stall_timeout };
        let lane = (self.tap.clone(), name);
        Tunnel::run(streams, lane, limits, slot.should_end(), drain).await;
    }
}

fn insert_upgrade(headers: &mut http::HeaderMap) {
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
}
