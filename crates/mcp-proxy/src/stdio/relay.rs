use std::{
    io::{self, ErrorKind, Read, Write},
    process::ChildStdin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use mcp_core::{Refusal, RefusalReason, Side};

use super::{
    splitter::{Line, Splitter},
    streams::Stream,
};
use crate::{Observation, Tap, respond::Replacement};

/// Why a direction has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The sender has closed its stream.
    Closed,
    /// Nobody reads what it sends.
    Unread,
}

/// The streams that lead to the two sides. Both directions may write to both.
#[derive(Debug)]
pub(super) struct Lanes {
    to_server: Mutex<Option<ChildStdin>>,
    to_client: Mutex<Stream>,
    /// How many bytes have come from the server.
    pub(super) from_server: AtomicU64,
}

impl Lanes {
    pub(super) fn new(to_server: ChildStdin, to_client: Stream) -> Lanes {
        Lanes {
            to_server: Mutex::new(Some(to_server)),
            to_client: Mutex::new(to_client),
            from_server: AtomicU64::new(0),
        }
    }

    fn write(&self, to: Side, bytes: &[u8]) -> io::Result<()> {
        match to {
            Side::Server => match &mut *lock(&self.to_server) {
                Some(stream) => stream.write_all(bytes),
                None => Err(ErrorKind::BrokenPipe.into()),
            },
            Side::Client => lock(&self.to_client).write_all(bytes),
        }
    }

    /// Tells the server that nothing more comes.
    pub(super) fn close_to_server(&self) {
        *lock(&self.to_server) = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One direction: what `from` sends to the other side.
#[derive(Debug)]
pub(super) struct Relay {
    from: Side,
    lanes: Arc<Lanes>,
    tap: Tap,
    splitter: Splitter,
}

const BUFFER: usize = 64 << 10;

impl Relay {
    pub(super) fn new(from: Side, lanes: Arc<Lanes>, tap: &Tap, max_line: usize) -> Relay {
        Relay { from, lanes, tap: tap.clone(), splitter: Splitter::new(max_line) }
    }

    /// Copies everything from `input` until it ends or nobody reads it any more.
    pub(super) fn run(mut self, mut input: impl Read) -> End {
        let enforced = self.tap.enforces_on(self.from);
        let mut buffer = vec![0; BUFFER];
        loop {
            let count = match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let bytes = buffer.get(..count).unwrap_or_default();
            if self.from == Side::Server {
                self.lanes.from_server.fetch_add(count as u64, Ordering::Relaxed);
            }
            let passed = if enforced { self.pass_lines(bytes) } else { self.pass(bytes) };
            if passed.is_err() {
                return End::Unread;
            }
        }
        if !enforced {
            self.observe_last_line();
        } else if self.pass_last_line().is_err() {
            return End::Unread;
        }
        End::Closed
    }

    /// Shows lines to the tap, which does not wait for anything, and forwards the bytes. In this
    /// order: what they lead to must not be recorded before them.
    fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Relay { from, tap, splitter, .. } = self;
        splitter.push(bytes, |line| {
            tap.observe(match line {
                Line::Whole(text) => Observation::stdio(*from, text.to_owned()),
                Line::TooLong { length } => {
                    Observation::stdio(*from, Bytes::new()).skipping(length)
                }
            });
        });
        self.lanes.write(self.from.other(), bytes)
    }

    fn observe_last_line(&mut self) {
        let Relay { from, tap, splitter, .. } = self;
        splitter.finish(|line| {
            tap.observe(match line {
                Line::Whole(text) => Observation::unterminated(*from, text.to_owned()),
                Line::TooLong { length } => {
                    Observation::unterminated(*from, Bytes::new()).skipping(length)
                }
            });
        });
    }

    /// Forwards the lines that end in `bytes` and may pass.
    fn pass_lines(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut passed = Ok(());
        let Relay { from, lanes, tap, splitter } = self;
        splitter.push(bytes, |line| {
            if passed.is_ok() {
                passed = pass_line(*from, lanes, tap, line, true);
            }
        });
        passed
    }

    fn pass_last_line(&mut self) -> io::Result<()> {
        let mut passed = Ok(());
        let Relay { from, lanes, tap, splitter } = self;
        splitter.finish(|line| passed = pass_line(*from, lanes, tap, line, false));
        passed
    }
}

/// Judges a line and forwards it, or tells both sides why not.
fn pass_line(from: Side, lanes: &Lanes, tap: &Tap, line: Line<'_>, ends: bool) -> io::Result<()> {
    let seen = |text: &[u8]| {
        let text = text.to_owned();
        if ends { Observation::stdio(from, text) } else { Observation::unterminated(from, text) }
    };
    let (text, refusals) = match line {
        Line::Whole(text) => (text, tap.judge(seen(text))),
        Line::TooLong { length } => {
            tap.observe(seen(b"").skipping(length));
            (&b""[..], vec![too_long(length)])
        }
    };
    if refusals.is_empty() {
        let mut out = Vec::with_capacity(text.len() + 1);
        out.extend_from_slice(text);
        if ends {
            out.push(b'\n');
        }
        return lanes.write(from.other(), &out);
    }
    let Replacement { to_sender, to_receiver } = Replacement::of(text, &refusals);
    // Text on a server's output is no request: nobody waits for an answer.
    let is_request = refusals.iter().all(|refusal| refusal.reason != RefusalReason::NotJson);
    if let Some(answer) = to_sender.filter(|_| from == Side::Client || is_request) {
        tap.observe(Observation::stdio(from.other(), answer.clone()).by_proxy());
        send_line(lanes, from, &answer)?;
    }
    if let Some(answer) = to_receiver {
        send_line(lanes, from.other(), &answer)?;
    }
    Ok(())
}

fn send_line(lanes: &Lanes, to: Side, message: &[u8]) -> io::Result<()> {
    let mut out = Vec::with_capacity(message.len() + 1);
    out.extend_from_slice(message);
    out.push(b'\n');
    match lanes.write(to, &out) {
        // The other direction notices that by itself.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

fn too_long(length: u64) -> Refusal {
    Refusal {
        index: None,
        reason: RefusalReason::NotAMessage,
        message: format!("a line of {length} bytes is too long to be judged"),
        facts: None,
        findings: Vec::new(),
    }
}
