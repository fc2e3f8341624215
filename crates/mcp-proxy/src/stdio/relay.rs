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
use crate::{Observation, Tap, Verdict, respond::Replacement, tap::Preparer};

/// Why a direction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The sender closed its stream.
    Closed,
    /// The receiver no longer reads.
    Unread,
}

/// The stream that the client reads.
pub(super) type Output = Box<dyn Write + Send>;

/// The output streams to both sides. Either direction may write to both.
pub(super) struct Outputs {
    to_server: Mutex<Option<ChildStdin>>,
    to_client: Mutex<Output>,
    /// Number of bytes received from the server.
    pub(super) from_server: AtomicU64,
    /// Whether output of the server is dropped: open requests were answered with errors.
    is_silenced: AtomicBool,
    /// Whether the last line for the client is not complete.
    is_mid_line: AtomicBool,
}

impl std::fmt::Debug for Outputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outputs").field("from_server", &self.from_server).finish_non_exhaustive()
    }
}

impl Outputs {
    pub(super) fn new(to_server: ChildStdin, to_client: Output) -> Outputs {
        Outputs {
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

    /// Drops all further output of the server.
    pub(super) fn silence_server(&self) {
        // Wait for a write in progress to finish, unless the client does not read.
        let _whole = self.to_client.try_lock();
        self.is_silenced.store(true, Ordering::Relaxed);
    }

    /// Writes a line to the client on behalf of the server.
    pub(super) fn answer_client(&self, message: &[u8]) {
        // Do not wait for a client that does not read.
        if let Ok(mut stream) = self.to_client.try_lock() {
            let end: &[u8] =
                if self.is_mid_line.swap(false, Ordering::Relaxed) { b"\n" } else { b"" };
            let _ = stream.write_all(&[end, message, b"\n"].concat());
        }
    }

    /// Closes the input of the server.
    pub(super) fn close_to_server(&self) {
        *lock(&self.to_server) = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One direction: from `from` to the other side.
#[derive(Debug)]
pub(super) struct Relay {
    from: Side,
    outputs: Arc<Outputs>,
    tap: Tap,
    splitter: Splitter,
    preparer: Preparer,
}

const BUFFER: usize = 64 << 10;

impl Relay {
    pub(super) fn new(from: Side, outputs: Arc<Outputs>, tap: &Tap, max_line: usize) -> Relay {
        let splitter = Splitter::new(max_line);
        Relay { from, outputs, tap: tap.clone(), splitter, preparer: tap.preparer() }
    }

    /// Copies `input` until it ends or the receiver stops reading.
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
                self.outputs.from_server.fetch_add(count as u64, Ordering::Relaxed);
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

    /// Passes lines to the tap, which never blocks, then forwards the bytes. In this order, so that
    /// the reaction is not recorded before them.
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
        self.outputs.write(self.from.other(), bytes)
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
        let splitter = &mut self.splitter;
        // Lines are slices of one buffer, so most need no allocation.
        let buffer = Bytes::copy_from_slice(bytes);
        let mut held = Vec::new();
        splitter.push(&buffer, |line| held.push(Held::of(line, &buffer)));
        self.pass_held(&held, true)
    }

    fn pass_last_line(&mut self) -> io::Result<()> {
        let mut held = Vec::new();
        self.splitter.finish(|line| held.push(Held::of(line, &Bytes::new())));
        self.pass_held(&held, false)
    }

    /// Judges lines in runs, and forwards those of a run that pass in one write. If a line is held
    /// back, both sides are told before the next is judged.
    fn pass_held(&mut self, mut held: &[Held], ends: bool) -> io::Result<()> {
        let Relay { from, outputs, tap, preparer, .. } = self;
        let from = *from;
        let seen = |text: Bytes| {
            if ends {
                Observation::stdio(from, text)
            } else {
                Observation::unterminated(from, text)
            }
        };
        let mut passing = Vec::new();
        while !held.is_empty() {
            let run = held.iter().take(RUN).map_while(|line| match line {
                Held::Whole(text) => Some(text),
                Held::TooLong { .. } => None,
            });
            let (passed, refused) =
                tap.judge_run(preparer, run.clone().map(|text| seen(text.clone())));
            for text in run.take(passed) {
                passing.extend_from_slice(text);
                if ends {
                    passing.push(b'\n');
                }
            }
            send_passing(from, outputs, &mut passing)?;
            held = held.get(passed..).unwrap_or_default();
            match (held.first(), refused) {
                (Some(Held::Whole(text)), Some(verdict)) => {
                    refuse(from, outputs, tap, &verdict, Replacement::of(text, &verdict))?;
                }
                (Some(Held::TooLong { length, ends: text }), _) => {
                    tap.observe(seen(Bytes::new()).skipping(*length));
                    let refusal = too_long(*length);
                    let replacement = Replacement::of_overlong(text, &refusal);
                    refuse(from, outputs, tap, &Verdict::refusing(refusal), replacement)?;
                }
                (Some(Held::Whole(_)) | None, _) => continue,
            }
            held = held.get(1..).unwrap_or_default();
        }
        Ok(())
    }
}

/// A line that waits for its verdict.
#[derive(Debug)]
enum Held {
    Whole(Bytes),
    TooLong { length: u64, ends: MessageEnds },
}

impl Held {
    /// Makes a line from a slice of `buffer`, if it is one.
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

/// Lines are judged and forwarded in runs of this many: the receiver can process one run while the
/// next is judged, and a run takes a single write.
const RUN: usize = 16;

/// Forwards the lines that passed, in one write.
fn send_passing(from: Side, outputs: &Outputs, passing: &mut Vec<u8>) -> io::Result<()> {
    if passing.is_empty() {
        return Ok(());
    }
    let sent = outputs.write(from.other(), passing);
    passing.clear();
    sent
}

/// Answers a line that was held back, and forwards the parts of it that pass.
fn refuse(
    from: Side,
    outputs: &Outputs,
    tap: &Tap,
    verdict: &Verdict,
    replacement: Replacement,
) -> io::Result<()> {
    let Replacement { to_sender, to_receiver, .. } = replacement;
    // Text on a server's output is not a request, so it gets no answer.
    let is_request =
        verdict.refusals.iter().all(|refusal| refusal.reason != RefusalReason::NotJson);
    if let Some(answer) = to_sender.filter(|_| from == Side::Client || is_request) {
        tap.observe(Observation::stdio(from.other(), answer.clone()).by_proxy());
        send_line(outputs, from, &answer)?;
    }
    if let Some(rest) = to_receiver {
        let seen = Observation::stdio(from, rest.clone());
        // A line that was not kept has no line number to refer to.
        let is_kept = verdict.line > 0;
        tap.observe(if is_kept { seen.replacing(verdict.line) } else { seen.by_proxy() });
        send_line(outputs, from.other(), &rest)?;
    }
    Ok(())
}

fn send_line(outputs: &Outputs, to: Side, message: &[u8]) -> io::Result<()> {
    let mut out = Vec::with_capacity(message.len() + 1);
    out.extend_from_slice(message);
    out.push(b'\n');
    match outputs.write(to, &out) {
        // The other direction notices that itself.
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
