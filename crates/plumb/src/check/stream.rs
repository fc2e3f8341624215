//! Checks one stream of lines, on as many threads as there are.

use std::{
    io::{self, Read},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use mcp_json::Limits;
use mcp_rules::{Engine, Findings, Observer, Origin};

use super::{
    chunks::{Chunk, Chunks},
    excerpts::Excerpts,
    output::{FileOutput, Sated},
    turns::Turns,
    worker::{Following, Found, Worker},
};
use crate::{progress::Progress, report::Located};

/// What all streams of a run share.
pub(super) struct Run<'r> {
    pub(super) engine: &'r Engine,
    pub(super) origin: Origin,
    pub(super) jobs: usize,
    pub(super) wants_excerpts: bool,
    pub(super) progress: &'r Progress,
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
        output: FileOutput<'_, '_>,
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
            sated: Sated::default(),
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
struct Stream<'s, 'o, 'r, R> {
    run: &'s Run<'s>,
    name: &'s Arc<str>,
    line_limits: Limits,
    chunks: Mutex<Chunks<R>>,
    following: Turns<Following<'s>>,
    output: Turns<FileOutput<'o, 'r>>,
    sated: Sated,
    bytes: AtomicU64,
    /// Findings beyond the limit of one message.
    dropped: AtomicU64,
    failure: Mutex<Option<StreamError>>,
}

impl<R: Read + Send> Stream<'_, '_, '_, R> {
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
            let mut excerpts = Excerpts::default();
            worker.judge(self.run.engine, first_line, &mut findings, |found| {
                located.push(self.locate(found, &mut excerpts));
            });
            let length = worker.chunk.bytes.len() as u64;
            self.bytes.fetch_add(length, Ordering::Relaxed);
            self.run.progress.advance(length);
            self.dropped.fetch_add(findings.take_dropped(), Ordering::Relaxed);
            let offset = worker.chunk.offset;
            let emitted = self.output.take(index, |output| {
                if let Some(lines) = &mut output.lines {
                    lines.mark(first_line, offset);
                }
                self.emit(output, located)
            });
            match emitted {
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

    fn locate(&self, found: Found<'_>, excerpts: &mut Excerpts) -> Located {
        let Found { finding, text } = found;
        let wanted = self.run.wants_excerpts && !text.is_empty() && !self.sated.contains(&finding);
        let excerpt = wanted.then(|| excerpts.of_message(&finding, text));
        Located { file: self.name.clone(), finding, excerpt, related: None }
    }

    fn emit(&self, output: &mut FileOutput<'_, '_>, located: Vec<Located>) -> io::Result<()> {
        located.into_iter().try_for_each(|located| output.finding(located, &self.sated))
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
    fn finish(mut self) -> Result<(), StreamError> {
        let mut late = Vec::new();
        let observer = &mut self.following.get_mut().observer;
        observer.finish(&mut late);
        let (messages, unjudged) = (observer.messages(), observer.unmatched_results());
        let dropped = observer.dropped() + self.dropped.load(Ordering::Relaxed);
        let mut located = Vec::new();
        for judged in &late {
            let mut excerpts = Excerpts::default();
            for finding in &judged.findings {
                let finding = finding.clone();
                located.push(self.locate(Found { finding, text: &judged.text }, &mut excerpts));
            }
        }
        let mut output = self.output.into_inner();
        let summary = output.summary();
        summary.messages += messages;
        summary.unjudged += unjudged;
        summary.dropped += dropped;
        summary.bytes += self.bytes.into_inner();
        let failure = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Without its end, the stream does not show what only the end shows.
        if failure.is_none() {
            for located in located {
                output.finding(located, &self.sated).map_err(StreamError::Write)?;
            }
            output.complete();
        }
        if !matches!(failure, Some(StreamError::Write(_))) {
            output.finish(self.name).map_err(StreamError::Write)?;
        }
        failure.map_or(Ok(()), Err)
    }
}

/// A worker that panics would leave the others waiting for its turn.
struct StopOnPanic<'s, 't, 'o, 'r, R: Read + Send>(&'s Stream<'t, 'o, 'r, R>);

impl<R: Read + Send> Drop for StopOnPanic<'_, '_, '_, '_, R> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}
