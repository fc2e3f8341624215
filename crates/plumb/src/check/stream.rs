//! Checks one stream of lines, on as many threads as there are.

use std::{
    io::{self, Read},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use mcp_json::{Limits, Node, Tape};
use mcp_jsonrpc::Envelope;
use mcp_rules::{Engine, Finding, Findings, Observer, Origin};

use super::{
    chunks::{Chunk, Chunks},
    turns::Turns,
    worker::{Following, Found, Worker},
};
use crate::{
    progress::Progress,
    report::{Excerpt, Located, Renderer, Summary},
};

/// What all streams of a run share.
pub(super) struct Run<'r> {
    pub(super) engine: &'r Engine,
    pub(super) origin: Origin,
    pub(super) jobs: usize,
    pub(super) max_findings: Option<u64>,
    pub(super) wants_excerpts: bool,
    pub(super) progress: &'r Progress,
}

/// Where findings go, in order.
pub(super) struct Output<'r> {
    pub(super) renderer: &'r mut (dyn Renderer + Send),
    pub(super) summary: Summary,
    pub(super) shown: u64,
}

/// Why a stream was not checked to its end.
#[derive(Debug, thiserror::Error)]
pub(super) enum StreamError {
    #[error("could not read {0}")]
    Read(Arc<str>, #[source] io::Error),
    #[error("could not write the report")]
    Write(#[source] io::Error),
}

impl Run<'_> {
    /// Checks everything that comes out of `source`.
    pub(super) fn check(
        &self,
        name: &Arc<str>,
        source: impl Read + Send,
        output: &mut Output<'_>,
    ) -> Result<(), StreamError> {
        let limits = self.engine.settings().limits;
        // A record wraps a message, and may spell its bytes with escapes.
        let max_line = limits.message_bytes.saturating_mul(2).saturating_add(64 * 1024);
        let line_limits = Limits { max_bytes: usize::MAX, max_depth: limits.depth + 1 };
        let mut chunks = Chunks::new(source, max_line);
        let following = Following {
            observer: Observer::new(self.engine, self.origin),
            lines_before: 0,
            max_line,
        };
        let mut first = Worker::default();
        let more = chunks
            .next(&mut first.chunk)
            .map_err(|error| StreamError::Read(name.clone(), error))?;
        let stream = Stream {
            run: self,
            name,
            line_limits,
            chunks: Mutex::new(chunks),
            following: Turns::new(following),
            output: Turns::new(output),
            bytes: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            failure: Mutex::new(None),
        };
        if more {
            stream.work_on_all(first);
        }
        stream.finish()
    }
}

/// One stream while it is being worked on.
struct Stream<'s, 'r, R> {
    run: &'s Run<'s>,
    name: &'s Arc<str>,
    line_limits: Limits,
    chunks: Mutex<Chunks<R>>,
    following: Turns<Following<'s>>,
    output: Turns<&'s mut Output<'r>>,
    bytes: AtomicU64,
    /// Findings beyond the limit of one message.
    dropped: AtomicU64,
    failure: Mutex<Option<StreamError>>,
}

impl<R: Read + Send> Stream<'_, '_, R> {
    /// The first chunk is worked on at once, whether or not more is there yet: what comes through
    /// a pipe is judged as it comes.
    fn work_on_all(&self, first: Worker) {
        thread::scope(|scope| {
            for _ in 1..self.run.jobs {
                scope.spawn(|| {
                    let mut worker = Worker::default();
                    if self.next_chunk(&mut worker.chunk) {
                        self.work(worker);
                    }
                });
            }
            self.work(first);
        });
    }

    /// Works on the chunk at hand and then on one chunk after the other.
    fn work(&self, mut worker: Worker) {
        let _guard = StopOnPanic(self);
        let mut findings = Findings::new(self.run.engine.settings());
        loop {
            let index = worker.chunk.index;
            worker.parse(self.line_limits);
            let Some(first_line) = self.following.take(index, |state| worker.follow(state)) else {
                return;
            };
            let mut located = Vec::new();
            worker.judge(self.run.engine, first_line, &mut findings, |found| {
                located.push(self.locate(found));
            });
            let length = worker.chunk.bytes.len() as u64;
            self.bytes.fetch_add(length, Ordering::Relaxed);
            self.run.progress.advance(length);
            self.dropped.fetch_add(findings.take_dropped(), Ordering::Relaxed);
            match self.output.take(index, |output| self.emit(output, &located)) {
                None => return,
                Some(Err(error)) => return self.fail(StreamError::Write(error)),
                Some(Ok(())) => {}
            }
            if !self.next_chunk(&mut worker.chunk) {
                return;
            }
        }
    }

    fn next_chunk(&self, chunk: &mut Chunk) -> bool {
        let next = self.chunks.lock().unwrap_or_else(PoisonError::into_inner).next(chunk);
        next.unwrap_or_else(|error| {
            // What was read before is still judged: others wait for no turn of ours.
            self.note(StreamError::Read(self.name.clone(), error));
            false
        })
    }

    fn locate(&self, found: Found<'_>) -> Located {
        let Found { finding, text } = found;
        let excerpt = self.run.wants_excerpts.then(|| excerpt(&finding, text));
        Located { file: self.name.clone(), finding, excerpt }
    }

    fn emit(&self, output: &mut Output<'_>, located: &[Located]) -> io::Result<()> {
        for located in located {
            output.summary.add(&located.finding);
            if self.run.max_findings.is_some_and(|max| output.shown >= max) {
                output.summary.dropped += 1;
                continue;
            }
            output.shown += 1;
            self.run.progress.suspend(|| output.renderer.finding(located))?;
        }
        Ok(())
    }

    fn note(&self, error: StreamError) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    fn fail(&self, error: StreamError) {
        self.note(error);
        self.stop();
    }

    fn stop(&self) {
        self.following.stop();
        self.output.stop();
    }

    /// Reports what only the end of the stream shows.
    fn finish(self) -> Result<(), StreamError> {
        let mut following = self.following.into_inner();
        let mut judged = Vec::new();
        following.observer.finish(&mut judged);
        let output = self.output.into_inner();
        output.summary.messages += following.observer.messages();
        output.summary.unjudged += following.observer.unmatched_results();
        output.summary.dropped += following.observer.dropped() + self.dropped.into_inner();
        output.summary.bytes += self.bytes.into_inner();
        if let Some(error) = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        for judged in &judged {
            for finding in &judged.findings {
                let excerpt = self.run.wants_excerpts.then(|| excerpt(finding, &judged.text));
                let located =
                    Located { file: self.name.clone(), finding: finding.clone(), excerpt };
                output.summary.add(finding);
                output.shown += 1;
                output.renderer.finding(&located).map_err(StreamError::Write)?;
            }
        }
        Ok(())
    }
}

/// A worker that panics would leave the others waiting for its turn.
struct StopOnPanic<'s, 't, 'r, R: Read + Send>(&'s Stream<'t, 'r, R>);

impl<R: Read + Send> Drop for StopOnPanic<'_, '_, '_, R> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

fn excerpt(finding: &Finding, text: &[u8]) -> Excerpt {
    Excerpt::new(text, finding.span, title(text, finding))
}

/// Which message it is: `tools/call, id 3` or `result of tools/call, id 3`.
fn title(text: &[u8], finding: &Finding) -> String {
    let mut tape = Tape::new();
    let limits = Limits { max_bytes: usize::MAX, ..Limits::default() };
    let Ok(document) = tape.parse(text, limits) else { return String::new() };
    let root = document.root();
    let message = finding.index.and_then(|index| root.elements().nth(index)).unwrap_or(root);
    let envelope = Envelope::of(message);
    let answer = |word: &str| match finding.method {
        Some(method) => format!("{word} of {method}"),
        None => word.to_owned(),
    };
    let name = match envelope.method.and_then(Node::as_str) {
        Some(method) => method.into_owned(),
        None if envelope.result.is_some() => answer("result"),
        None if envelope.error.is_some() => answer("error"),
        None => String::new(),
    };
    match envelope.readable_id() {
        Some(id) if name.is_empty() => format!("id {id}"),
        Some(id) => format!("{name}, id {id}"),
        None => name,
    }
}
