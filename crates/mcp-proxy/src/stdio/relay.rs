use std::{
    io::{self, ErrorKind, Read, Write},
    process::ChildStdin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use mcp_core::{MessageEnds, Refusal, RefusalReason, Side};

use super::splitter::{Line, Splitter};
use crate::{Observation, Tap, Verdict, respond::Replacement};

/// Why a direction has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The sender has closed its stream.
    Closed,
    /// Nobody reads what it sends.
    Unread,
}

/// Where the client reads.
pub(super) type Output = Box<dyn Write + Send>;

/// The streams that lead to the two sides. Both directions may write to both.
pub(super) struct Lanes {
    to_server: Mutex<Option<ChildStdin>>,
    to_client: Mutex<Output>,
    /// How many bytes have come from the server.
    pub(super) from_server: AtomicU64,
    /// Whether nothing of the server is passed on any more: whoever waited was told.
    is_silenced: AtomicBool,
    /// Whether the last line for the client is not complete.
    is_mid_line: AtomicBool,
}

impl std::fmt::Debug for Lanes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lanes").field("from_server", &self.from_server).finish_non_exhaustive()
    }
}

impl Lanes {
    pub(super) fn new(to_server: ChildStdin, to_client: Output) -> Lanes {
        Lanes {
            to_server: Mutex::new(Some(to_server)),
            to_client: Mutex::new(to_client),
            from_server: AtomicU64::new(0),
            is_silenced: AtomicBool::new(false),
            is_mid_line: AtomicBool::new(false),
        }
    }

    fn write(&self, to: Side, bytes: &[u8]) -> io::Result<()> {
        match to {
            Side::Server => match &mut *lock(&self.to_server) {
                Some(stream) => stream.write_all(bytes),
                None => Err(ErrorKind::BrokenPipe.into()),
            },
            Side::Client => {
                let mut stream = lock(&self.to_client);
                if self.is_silenced.load(Ordering::Relaxed) {
                    return Ok(());
                }
                if let Some(last) = bytes.last() {
                    self.is_mid_line.store(*last != b'\n', Ordering::Relaxed);
                }
                stream.write_all(bytes)
            }
        }
    }

    /// Passes nothing of the server on any more.
    pub(super) fn silence_server(&self) {
        // What is being written is written to its end, unless nobody reads it.
        let _whole = self.to_client.try_lock();
        self.is_silenced.store(true, Ordering::Relaxed);
    }

    /// Writes a line to the client in the server's place.
    pub(super) fn answer_client(&self, message: &[u8]) {
        // A client that does not read must not keep us.
        if let Ok(mut stream) = self.to_client.try_lock() {
            let end: &[u8] =
                if self.is_mid_line.swap(false, Ordering::Relaxed) { b"\n" } else { b"" };
            let _ = stream.write_all(&[end, message, b"\n"].concat());
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
                Line::TooLong { length, .. } => {
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
                Line::TooLong { length, .. } => {
                    Observation::unterminated(*from, Bytes::new()).skipping(length)
                }
            });
        });
    }

    /// Forwards the lines that end in `bytes` and may pass.
    fn pass_lines(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Relay { from, lanes, tap, splitter } = self;
        // Lines are parts of one buffer: most need no memory of their own.
        let buffer = Bytes::copy_from_slice(bytes);
        let mut held = Vec::new();
        splitter.push(&buffer, |line| held.push(Held::of(line, &buffer)));
        pass_held(*from, lanes, tap, &held, true)
    }

    fn pass_last_line(&mut self) -> io::Result<()> {
        let Relay { from, lanes, tap, splitter } = self;
        let mut held = Vec::new();
        splitter.finish(|line| held.push(Held::of(line, &Bytes::new())));
        pass_held(*from, lanes, tap, &held, false)
    }
}

/// A line that waits for its verdict.
#[derive(Debug)]
enum Held {
    Whole(Bytes),
    TooLong { length: u64, ends: MessageEnds },
}

impl Held {
    /// A line that may be in a buffer.
    fn of(line: Line<'_>, buffer: &Bytes) -> Held {
        match line {
            Line::Whole(text) if buffer.as_ptr_range().contains(&text.as_ptr()) => {
                Held::Whole(buffer.slice_ref(text))
            }
            Line::Whole(text) => Held::Whole(Bytes::copy_from_slice(text)),
            Line::TooLong { length, ends } => Held::TooLong { length, ends: ends.clone() },
        }
    }
}

/// Judges lines, and forwards those that pass in as few pieces as possible. Both sides are told why
/// one does not, before the next is judged.
fn pass_held(
    from: Side,
    lanes: &Lanes,
    tap: &Tap,
    mut held: &[Held],
    ends: bool,
) -> io::Result<()> {
    let seen = |text: Bytes| {
        if ends { Observation::stdio(from, text) } else { Observation::unterminated(from, text) }
    };
    let mut passing = Vec::new();
    while !held.is_empty() {
        let whole = held.iter().map_while(|line| match line {
            Held::Whole(text) => Some(text),
            Held::TooLong { .. } => None,
        });
        let (passed, refused) = tap.judge_run(whole.clone().map(|text| seen(text.clone())));
        for text in whole.take(passed) {
            passing.extend_from_slice(text);
            if ends {
                passing.push(b'\n');
            }
        }
        let Some((first, rest)) = held.get(passed..).and_then(<[Held]>::split_first) else { break };
        held = rest;
        send_passing(from, lanes, &mut passing)?;
        match (first, refused) {
            (Held::Whole(text), Some(verdict)) => {
                refuse(from, lanes, tap, &verdict, Replacement::of(text, &verdict))?;
            }
            (Held::TooLong { length, ends }, _) => {
                tap.observe(seen(Bytes::new()).skipping(*length));
                let refusal = too_long(*length);
                let replacement = Replacement::of_overlong(ends, &refusal);
                refuse(from, lanes, tap, &Verdict::refusing(refusal), replacement)?;
            }
            // What was not judged does not pass.
            (Held::Whole(_), None) => {}
        }
    }
    send_passing(from, lanes, &mut passing)
}

/// Forwards the lines that have been found to be sound, in one piece.
fn send_passing(from: Side, lanes: &Lanes, passing: &mut Vec<u8>) -> io::Result<()> {
    if passing.is_empty() {
        return Ok(());
    }
    let sent = lanes.write(from.other(), passing);
    passing.clear();
    sent
}

/// Tells both sides why a line does not pass, or what of it does.
fn refuse(
    from: Side,
    lanes: &Lanes,
    tap: &Tap,
    verdict: &Verdict,
    replacement: Replacement,
) -> io::Result<()> {
    let Replacement { to_sender, to_receiver, .. } = replacement;
    // Text on a server's output is no request: nobody waits for an answer.
    let is_request =
        verdict.refusals.iter().all(|refusal| refusal.reason != RefusalReason::NotJson);
    if let Some(answer) = to_sender.filter(|_| from == Side::Client || is_request) {
        tap.observe(Observation::stdio(from.other(), answer.clone()).by_proxy());
        send_line(lanes, from, &answer)?;
    }
    if let Some(rest) = to_receiver {
        let seen = Observation::stdio(from, rest.clone());
        // What was not kept takes no place in the conversation.
        let is_kept = verdict.line > 0;
        tap.observe(if is_kept { seen.replacing(verdict.line) } else { seen.by_proxy() });
        send_line(lanes, from.other(), &rest)?;
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
