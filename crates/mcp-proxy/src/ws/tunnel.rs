use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use mcp_core::{MemoryBudget, Refusal, RefusalReason, Side};
use mcp_json::Limits;
use mcp_jsonrpc::ErrorCode;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadHalf, WriteHalf},
    sync::{Mutex, Notify},
};

use super::frames::{self, Frames, Item, Opcode};
use crate::{
    Observation, OpenRequests, Tap, Verdict,
    bridge::{
        outline::Outline,
        text::{failure, refusal},
    },
    http::CROWDED_OUT,
    respond::Replacement,
    shutdown::{Drain, Phase, STOPPED},
};

/// A pair of WebSocket connections after their handshake.
///
/// When observing, bytes are forwarded as they arrive and parsed afterwards. When enforcing,
/// messages are forwarded after they are judged, each as one frame.
#[derive(Debug)]
pub(super) struct Tunnel<C, S> {
    to_client: Mutex<WriteHalf<C>>,
    to_server: Mutex<WriteHalf<S>>,
    tap: Tap,
    name: Arc<str>,
    limits: TunnelLimits,
    open: OpenRequests,
    /// Notified when an answer has passed.
    answered: Notify,
    /// By `Side as usize`: whether a side has received only part of a message, so that nothing else
    /// can be sent to it.
    is_cut: [AtomicBool; 2],
}

/// Limits of a tunnel.
#[derive(Debug, Clone)]
pub(super) struct TunnelLimits {
    pub(super) max_message: usize,
    /// Memory for all messages that are kept.
    pub(super) room: MemoryBudget,
    pub(super) stall_timeout: Duration,
}

/// How a direction ended.
type Ended = io::Result<()>;

const BUFFER: usize = 16 << 10;
/// "Going away": this side is shutting down.
const GOING_AWAY: u16 = 1001;
const PROTOCOL_ERROR: u16 = 1002;

impl<C, S> Tunnel<C, S>
where
    C: AsyncRead + AsyncWrite + Send + Unpin,
    S: AsyncRead + AsyncWrite + Send + Unpin,
{
    /// Relays between `client` and `server` until both have ended or `stop` completes. If the proxy
    /// is draining then, open requests may still be answered.
    pub(super) async fn run(
        (client, server): (C, S),
        (tap, name): (Tap, Arc<str>),
        limits: TunnelLimits,
        stop: impl Future<Output = ()>,
        drain: &Drain,
    ) {
        let (from_client, to_client) = tokio::io::split(client);
        let (from_server, to_server) = tokio::io::split(server);
        let stall_timeout = limits.stall_timeout;
        let tunnel = Tunnel {
            to_client: Mutex::new(to_client),
            to_server: Mutex::new(to_server),
            tap,
            name,
            limits,
            open: OpenRequests::new(),
            answered: Notify::new(),
            is_cut: Default::default(),
        };
        let passed = async {
            let client = tunnel.pass_all(Side::Client, from_client);
            let server = tunnel.pass_all(Side::Server, from_server);
            tokio::pin!(client, server);
            let (first, rest): (Ended, std::pin::Pin<&mut (dyn Future<Output = Ended> + Send)>) = tokio::select! {
                ended = &mut client => (ended, server),
                ended = &mut server => (ended, client),
            };
            // Data under way may still arrive, but if one direction failed, the connection is over.
            if first.is_ok() {
                let _ = tokio::time::timeout(stall_timeout, rest).await;
            }
        };
        let stopped = async {
            stop.await;
            if drain.phase() == Phase::Draining {
                tokio::select! {
                    () = tunnel.all_answered() => {}
                    () = drain.reached(Phase::Stopping) => {}
                }
            }
        };
        tokio::select! {
            () = passed => {}
            () = stopped => {
                let _ = tokio::time::timeout(GOODBYE, tunnel.fail_open_requests()).await;
                tunnel.say_goodbye(GOING_AWAY, "the proxy is stopping").await;
            }
        }
    }

    async fn all_answered(&self) {
        while !self.open.is_empty() {
            self.answered.notified().await;
        }
    }

    /// Fails the client's open requests.
    async fn fail_open_requests(&self) {
        for id in self.open.take() {
            if self.is_cut(Side::Client) {
                return;
            }
            let answer = failure(Some(id), ErrorCode::InternalError, STOPPED);
            self.tap.observe(self.seen(Side::Server, answer.clone()).by_proxy());
            if self.send(Side::Client, Opcode::TEXT, &answer).await.is_err() {
                return;
            }
        }
    }

    async fn pass_all<R: AsyncRead>(&self, from: Side, mut input: ReadHalf<R>) -> Ended {
        let enforces = Side::BOTH.into_iter().any(|side| self.tap.enforces_on(side));
        let (limit, held) = (self.limits.max_message, self.limits.room.share());
        let frames = Frames::new(limit, held, from == Side::Client);
        let mut frames = if enforces { frames.strict() } else { frames };
        let mut buffer = vec![0; BUFFER];
        let mut items = Vec::new();
        loop {
            let count = input.read(&mut buffer).await?;
            if count == 0 {
                return self.end(from.other()).await;
            }
            let bytes = buffer.get(..count).unwrap_or_default();
            frames.push(bytes, |item| items.push(item));
            if !enforces {
                // Record before writing: the other side may answer while the rest is still being
                // written.
                for item in &items {
                    self.follow(from, item);
                }
                self.write(from.other(), bytes).await?;
                self.set_cut(from.other(), !frames.is_between_messages());
                items.drain(..).for_each(|item| self.observe(from, item));
                frames.settle();
                continue;
            }
            for item in items.drain(..) {
                self.pass(from, item).await?;
            }
            frames.settle();
            if let Some(broken) = frames.broken() {
                self.say_goodbye(PROTOCOL_ERROR, broken.0).await;
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }

    fn seen(&self, from: Side, text: impl Into<bytes::Bytes>) -> Observation {
        Observation::web_socket(from, text).in_session(Some(Arc::clone(&self.name)))
    }

    fn observe(&self, from: Side, item: Item) {
        match item {
            Item::Message { text, .. } => self.tap.observe(self.seen(from, text)),
            Item::TooLong { length, .. } => self.tap.observe(self.seen(from, "").skipping(length)),
            Item::CrowdedOut => self.tap.lose(&self.seen(from, "")),
            Item::Control { .. } => {}
        }
    }

    /// Tracks the client's open requests.
    fn follow(&self, from: Side, item: &Item) {
        let Item::Message { text, .. } = item else { return };
        self.follow_text(from, text);
    }

    fn follow_text(&self, from: Side, text: &[u8]) {
        let limits = Limits { max_bytes: self.limits.max_message, ..Limits::default() };
        let Some(outline) = Outline::at(text, limits) else { return };
        for message in &outline.messages {
            if let Some(located) = &message.id {
                self.open.pass(from, message.kind, &located.id);
            }
        }
        if from == Side::Server {
            self.answered.notify_one();
        }
    }

    /// Forwards an item if it passes; otherwise tells both sides why not.
    async fn pass(&self, from: Side, item: Item) -> io::Result<()> {
        let (opcode, text, verdict) = match item {
            Item::Control { opcode, payload } => {
                return self.send(from.other(), opcode, &payload).await;
            }
            Item::Message { opcode, text } => {
                let seen = self.seen(from, text.clone());
                let verdict = if self.tap.enforces_on(from) {
                    self.tap.judge(seen)
                } else {
                    self.tap.observe(seen);
                    Verdict::default()
                };
                (opcode, text, verdict)
            }
            Item::TooLong { length, ends } => {
                self.tap.observe(self.seen(from, "").skipping(length));
                let refusal = too_long(length);
                let replacement = Replacement::of_overlong(&ends, &refusal);
                return self.refuse(from, &Verdict::refusing(refusal), replacement).await;
            }
            Item::CrowdedOut => {
                self.tap.lose(&self.seen(from, ""));
                (Opcode::TEXT, bytes::Bytes::new(), Verdict::refusing(crowded_out()))
            }
        };
        if verdict.passes() {
            self.follow_text(from, &text);
            return self.send(from.other(), opcode, &text).await;
        }
        self.refuse(from, &verdict, Replacement::of(&text, &verdict)).await
    }

    /// Answers a message that was held back, and forwards the parts of it that pass.
    async fn refuse(
        &self,
        from: Side,
        verdict: &Verdict,
        replacement: Replacement,
    ) -> io::Result<()> {
        let Replacement { to_sender, to_receiver, .. } = replacement;
        // Other text of a server is not a request, so it gets no answer.
        let is_request =
            verdict.refusals.iter().all(|refusal| refusal.reason != RefusalReason::NotJson);
        if let Some(answer) = to_sender.filter(|_| from == Side::Client || is_request) {
            self.send(from, Opcode::TEXT, &answer).await?;
            self.tap.observe(self.seen(from.other(), answer).by_proxy());
        }
        if let Some(rest) = to_receiver {
            let seen = self.seen(from, rest.clone());
            // What was not kept takes no place in the conversation.
            let is_kept = verdict.line > 0;
            self.tap.observe(if is_kept { seen.replacing(verdict.line) } else { seen.by_proxy() });
            self.follow_text(from, &rest);
            self.send(from.other(), Opcode::TEXT, &rest).await?;
        }
        Ok(())
    }

    async fn send(&self, to: Side, opcode: Opcode, payload: &[u8]) -> io::Result<()> {
        self.write(to, &frames::encode(opcode, payload, to == Side::Server)).await?;
        self.set_cut(to, false);
        Ok(())
    }

    fn is_cut(&self, to: Side) -> bool {
        self.is_cut[to as usize].load(Ordering::Relaxed)
    }

    fn set_cut(&self, to: Side, is_cut: bool) {
        self.is_cut[to as usize].store(is_cut, Ordering::Relaxed);
    }

    /// Writes bytes, which count as part of a message until [`Tunnel::set_cut`] is called.
    async fn write(&self, to: Side, bytes: &[u8]) -> io::Result<()> {
        self.set_cut(to, true);
        self.within(async {
            match to {
                Side::Client => write(&mut *self.to_client.lock().await, bytes).await,
                Side::Server => write(&mut *self.to_server.lock().await, bytes).await,
            }
        })
        .await
    }

    /// Closes the stream to a side.
    async fn end(&self, to: Side) -> io::Result<()> {
        self.within(async {
            match to {
                Side::Client => self.to_client.lock().await.shutdown().await,
                Side::Server => self.to_server.lock().await.shutdown().await,
            }
        })
        .await
    }

    async fn within(&self, work: impl Future<Output = io::Result<()>>) -> io::Result<()> {
        tokio::time::timeout(self.limits.stall_timeout, work)
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Sends close frames to both sides, if they read.
    async fn say_goodbye(&self, code: u16, reason: &str) {
        for to in Side::BOTH {
            let frame = frames::close(code, reason, to == Side::Server);
            let goodbye = async {
                if !self.is_cut(to) {
                    self.write(to, &frame).await?;
                }
                self.end(to).await
            };
            let _ = tokio::time::timeout(GOODBYE, goodbye).await;
        }
    }
}

/// Timeout for sending a close frame.
const GOODBYE: Duration = Duration::from_secs(1);

async fn write(to: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes).await?;
    to.flush().await
}

fn too_long(length: u64) -> Refusal {
    let message = format!("a message of {length} bytes is too long to be judged");
    refusal(RefusalReason::NotAMessage, message)
}

fn crowded_out() -> Refusal {
    refusal(RefusalReason::NotAMessage, CROWDED_OUT)
}
