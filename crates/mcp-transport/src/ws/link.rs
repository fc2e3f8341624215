use std::{
    fmt,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::{Stream, task::AtomicWaker};
use mcp_core::{Inbound, TransportError};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error, Message,
        error::{CapacityError, ProtocolError},
        protocol::{
            CloseFrame,
            frame::{Utf8Bytes, coding::CloseCode},
        },
    },
};
use tokio_util::sync::CancellationToken;

use super::{
    WsSettings, WsTransport,
    metered::{Metered, Traffic},
    partial::PartialMessage,
    slots::{Slot, SlotActivity},
    writer::Writer,
};
use crate::ending::Ending;

/// The cost of a message in the queue besides its bytes.
const OVERHEAD: usize = 32;
/// The cost of a pong besides its payload.
const PONG_HEADER: usize = 6;
/// Nothing more is read while more than this many bytes of pongs wait to be written.
const MAX_PONGS: usize = 16 * 1024;

pub(super) type Socket = WebSocketStream<Metered>;

/// A connection, shared by senders, the receiver and the writer task.
///
/// Reading and writing take turns on the socket; neither holds it while waiting.
pub(super) struct Link {
    /// `None` once the connection is closed.
    socket: Mutex<Option<Socket>>,
    queue: Mutex<Queue>,
    room: Arc<Semaphore>,
    capacity: usize,
    max_message: usize,
    ending: Ending,
    /// The queue is closed.
    pub(super) closing: CancellationToken,
    /// The connection is closed.
    done: CancellationToken,
    pub(super) traffic: Arc<Traffic>,
    /// Someone is waiting to receive, so anything that arrives is noticed.
    receiver_waits: AtomicBool,
    /// The incoming message that is not yet complete; servers only.
    partial: Option<Arc<PartialMessage>>,
    /// Records that the conversation is in use, for the listener.
    activity: Option<Arc<SlotActivity>>,
    /// Bytes of pongs since everything was last written. `tungstenite` would queue any number.
    pongs: AtomicUsize,
    /// Wakes the receiver when pongs were written.
    pongs_written: AtomicWaker,
    /// The writer should write the pongs.
    pub(super) pongs_wait: Notify,
}

#[derive(Debug)]
struct Queue {
    sender: mpsc::UnboundedSender<Queued>,
    is_closed: bool,
    /// The close frame to send at the end.
    close_frame: Option<CloseFrame>,
    failure: Option<TransportError>,
}

/// A queued message, with the space it takes.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) text: Utf8Bytes,
    pub(super) room: OwnedSemaphorePermit,
}

impl Link {
    /// Starts a conversation over an open socket. `partial` limits the messages that arrive; `held` is
    /// dropped when the conversation ends.
    pub(super) fn open(
        mut socket: Socket,
        settings: &WsSettings,
        partial: Option<Arc<PartialMessage>>,
        held: Option<Slot>,
    ) -> WsTransport {
        let capacity =
            settings.queue_bytes.clamp(1, (u32::MAX as usize).min(Semaphore::MAX_PERMITS));
        // The semaphore bounds it, in bytes.
        let (sender, receiver) = mpsc::unbounded_channel();
        let traffic = socket.get_ref().traffic();
        if let Some(partial) = &partial {
            socket.get_mut().count_in(Arc::clone(partial));
        }
        let link = Arc::new(Link {
            socket: Mutex::new(Some(socket)),
            queue: Mutex::new(Queue { sender, is_closed: false, close_frame: None, failure: None }),
            room: Arc::new(Semaphore::new(capacity)),
            capacity,
            max_message: settings.max_message,
            ending: Ending::default(),
            closing: CancellationToken::new(),
            done: CancellationToken::new(),
            traffic,
            receiver_waits: AtomicBool::new(false),
            partial,
            activity: held.as_ref().map(|slot| Arc::clone(slot.activity())),
            pongs: AtomicUsize::new(0),
            pongs_written: AtomicWaker::new(),
            pongs_wait: Notify::new(),
        });
        let writer = Writer::new(Arc::clone(&link), receiver, settings);
        tokio::spawn(run(writer, Arc::clone(&link), held));
        WsTransport { link }
    }

    pub(super) async fn send(&self, bytes: Bytes) -> Result<(), TransportError> {
        if bytes.len() > self.max_message {
            let (length, limit) = (bytes.len() as u64, self.max_message as u64);
            return Err(TransportError::TooLong { length, limit });
        }
        let text = Utf8Bytes::try_from(bytes)
            .map_err(|_| TransportError::Framing("a message to be sent is not UTF-8".into()))?;
        let room = (text.len() + OVERHEAD).min(self.capacity);
        let permits = u32::try_from(room).expect("the capacity fits");
        let Ok(room) = Arc::clone(&self.room).acquire_many_owned(permits).await else {
            return Err(self.why_closed());
        };
        let queue = lock(&self.queue);
        if queue.is_closed || queue.sender.send(Queued { text, room }).is_err() {
            drop(queue);
            return Err(self.why_closed());
        }
        if let Some(activity) = &self.activity {
            activity.sent();
        }
        Ok(())
    }

    pub(super) fn poll_receive(
        &self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Inbound>, TransportError>> {
        if let Poll::Ready(end) = self.ending.poll(context) {
            return Poll::Ready(end);
        }
        loop {
            if !self.has_written_pongs(context) {
                self.receiver_waits.store(false, Ordering::Relaxed);
                return self.ending.poll(context);
            }
            let next = self.poll_socket(context);
            self.receiver_waits.store(next.is_pending(), Ordering::Relaxed);
            match next {
                Poll::Pending => self.check_deadline(context),
                Poll::Ready(Some(Ok(Message::Text(text)))) => {
                    if let Some(partial) = &self.partial {
                        partial.completed();
                    }
                    if let Some(activity) = &self.activity {
                        activity.received();
                    }
                    let bytes = Bytes::from(text);
                    return Poll::Ready(Ok(Some(Inbound::Message { ticket: None, bytes })));
                }
                Poll::Ready(Some(Ok(Message::Ping(payload)))) => {
                    self.pongs.fetch_add(payload.len() + PONG_HEADER, Ordering::Relaxed);
                    self.skip_control(payload.len());
                    continue;
                }
                Poll::Ready(Some(Ok(Message::Pong(payload)))) => {
                    self.skip_control(payload.len());
                    continue;
                }
                Poll::Ready(Some(Ok(Message::Frame(_)))) => continue,
                Poll::Ready(Some(Ok(Message::Binary(_)))) => self.refuse_binary(),
                Poll::Ready(Some(Ok(Message::Close(frame)))) => self.other_side_closes(frame),
                Poll::Ready(Some(Err(error))) => self.break_off(&error),
                Poll::Ready(None) => self.break_off(&Error::ConnectionClosed),
            }
            return self.ending.poll(context);
        }
    }

    /// Whether there is room for another pong. If not, asks the writer to write the waiting ones and
    /// registers to be woken when it has.
    fn has_written_pongs(&self, context: &mut Context<'_>) -> bool {
        let has_room = || self.pongs.load(Ordering::Relaxed) < MAX_PONGS;
        if has_room() {
            return true;
        }
        self.pongs_written.register(context.waker());
        self.pongs_wait.notify_one();
        has_room()
    }

    /// Called when everything is written, including pongs, while the socket is locked.
    pub(super) fn written_everything(&self) {
        self.pongs.store(0, Ordering::Relaxed);
        self.pongs_written.wake();
    }

    fn skip_control(&self, payload: usize) {
        if let Some(partial) = &self.partial {
            partial.skip_control(payload);
        }
    }

    fn check_deadline(&self, context: &mut Context<'_>) {
        let Some(partial) = &self.partial else { return };
        if partial.poll_overdue(context).is_ready() {
            let seconds = partial.time_limit().as_secs();
            let why = format!("a message did not arrive within {seconds} seconds");
            self.end(Some(TransportError::Lost(why)));
            let frame = close_frame(CloseCode::Policy, "the message takes too long");
            self.start_closing(Some(frame));
        }
    }

    /// Reads the next frame; pings are answered along the way.
    pub(super) fn poll_socket(
        &self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Message, Error>>> {
        self.with_socket(|socket| match socket {
            Some(socket) => socket.poll_next(context),
            None => Poll::Ready(None),
        })
    }

    pub(super) fn with_socket<T>(&self, act: impl FnOnce(Option<Pin<&mut Socket>>) -> T) -> T {
        act(lock(&self.socket).as_mut().map(Pin::new))
    }

    /// Rejects further messages and has the writer close the connection.
    pub(super) fn start_closing(&self, close_frame: Option<CloseFrame>) {
        let mut queue = lock(&self.queue);
        if !queue.is_closed {
            queue.is_closed = true;
            queue.close_frame = close_frame;
        }
        drop(queue);
        self.room.close();
        self.closing.cancel();
    }

    pub(super) fn take_close_frame(&self) -> Option<CloseFrame> {
        lock(&self.queue).close_frame.take()
    }

    /// Ends `receive`; an error is also reported to senders.
    pub(super) fn end(&self, error: Option<TransportError>) {
        if let Some(error) = &error {
            lock(&self.queue).failure.get_or_insert_with(|| error.clone());
        }
        self.ending.declare(error);
    }

    /// Completes when the connection is closed.
    pub(super) async fn closed(&self) {
        self.done.cancelled().await;
    }

    /// Drops the connection.
    pub(super) fn finish(&self) {
        lock(&self.socket).take();
        self.end(None);
        self.start_closing(None);
        self.done.cancel();
    }

    pub(super) fn is_receiver_waiting(&self) -> bool {
        self.receiver_waits.load(Ordering::Relaxed)
    }

    fn why_closed(&self) -> TransportError {
        lock(&self.queue).failure.clone().unwrap_or(TransportError::Closed)
    }

    /// Ends this idle conversation to make room for another.
    fn close_for_another(&self) {
        self.end(Some(TransportError::Lost(
            "closed while idle to make room for another client".into(),
        )));
        self.start_closing(Some(close_frame(CloseCode::Again, "there are too many clients")));
    }

    fn refuse_binary(&self) {
        self.end(Some(TransportError::Framing(
            "received a binary message, but messages are text".into(),
        )));
        self.start_closing(Some(close_frame(CloseCode::Unsupported, "messages are text")));
    }

    fn other_side_closes(&self, frame: Option<CloseFrame>) {
        let error = match frame {
            None => Some("the peer closed the connection without a reason".into()),
            Some(frame) if matches!(frame.code, CloseCode::Normal | CloseCode::Away) => None,
            Some(frame) => Some(closed_with(&frame)),
        };
        match error {
            None => {
                let gone = TransportError::Lost("the other side has closed the connection".into());
                lock(&self.queue).failure.get_or_insert(gone);
                self.end(None);
            }
            Some(text) => self.end(Some(TransportError::Lost(text))),
        }
        // The reply to the close frame is already queued.
        self.start_closing(None);
    }

    fn break_off(&self, error: &Error) {
        let (error, frame) = match error {
            Error::Capacity(CapacityError::MessageTooLong { size, max_size }) => {
                let (length, limit) = (*size as u64, *max_size as u64);
                let frame = close_frame(CloseCode::Size, "the message is too long");
                (TransportError::TooLong { length, limit }, Some(frame))
            }
            Error::Capacity(_) => {
                let limit = self.max_message as u64;
                let frame = close_frame(CloseCode::Size, "the message is too long");
                (TransportError::TooLong { length: limit.saturating_add(1), limit }, Some(frame))
            }
            Error::Io(_) if self.partial.as_ref().is_some_and(|partial| partial.is_refused()) => {
                let frame = close_frame(CloseCode::Again, "too many messages are unfinished");
                let why = "the unfinished messages of all clients take too much memory".into();
                (TransportError::Lost(why), Some(frame))
            }
            Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)
            | Error::ConnectionClosed
            | Error::AlreadyClosed => (TransportError::Lost("the peer disconnected".into()), None),
            Error::Utf8(_) => {
                let frame = close_frame(CloseCode::Invalid, "the message is not UTF-8");
                (TransportError::Framing("a text message is not UTF-8".into()), Some(frame))
            }
            Error::Protocol(broken) => {
                let frame = close_frame(CloseCode::Protocol, "the framing is broken");
                (TransportError::Framing(broken.to_string()), Some(frame))
            }
            other => (TransportError::Lost(other.to_string()), None),
        };
        self.end(Some(error));
        self.start_closing(frame);
    }
}

/// Runs the writer until the connection is closed, which frees the slot.
async fn run(writer: Writer, link: Arc<Link>, held: Option<Slot>) {
    let mut running = pin!(writer.run());
    if let Some(slot) = &held {
        tokio::select! {
            biased;
            () = &mut running => return,
            () = slot.activity().evicted() => link.close_for_another(),
        }
    }
    running.await;
}

impl fmt::Debug for Link {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Link").field("traffic", &self.traffic).finish_non_exhaustive()
    }
}

fn close_frame(code: CloseCode, reason: &'static str) -> CloseFrame {
    CloseFrame { code, reason: Utf8Bytes::from_static(reason) }
}

fn closed_with(frame: &CloseFrame) -> String {
    let code = u16::from(frame.code);
    let reason = frame.reason.as_str();
    if reason.is_empty() {
        format!("the peer closed the connection with code {code}")
    } else {
        format!("the peer closed the connection with code {code}: {reason}")
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
