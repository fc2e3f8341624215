//! Checks files on as many threads as there are: chunks of one file side by side, and so are small
//! files. Findings leave in the order of the lines that showed them, whatever thread found them.

use std::{
    io,
    sync::{Mutex, PoisonError, atomic::Ordering},
    thread,
};

use mcp_rules::Engine;

use super::{
    excerpts::Excerpts,
    output::Output,
    queue::{End, Queue, Task, Unreadable},
    turns::Turns,
    worker::{Found, Worker, hand_over},
};
use crate::{progress::Progress, report::Located};

/// Everything that is worked on, and where it goes.
pub(super) struct Pipeline<'p, 'r> {
    engine: &'p Engine,
    wants_excerpts: bool,
    progress: &'p Progress,
    queue: Mutex<Queue<'p>>,
    output: Turns<Output<'r>>,
    /// Why the report could not be written.
    failure: Mutex<Option<io::Error>>,
}

/// What only the end of a file shows.
#[derive(Default)]
struct Totals {
    messages: u64,
    unjudged: u64,
    dropped: u64,
}

impl<'p, 'r> Pipeline<'p, 'r> {
    pub(super) fn new(
        engine: &'p Engine,
        queue: Queue<'p>,
        output: Output<'r>,
        wants_excerpts: bool,
        progress: &'p Progress,
    ) -> Pipeline<'p, 'r> {
        Pipeline {
            engine,
            wants_excerpts,
            progress,
            queue: Mutex::new(queue),
            output: Turns::new(output),
            failure: Mutex::new(None),
        }
    }

    /// Works everything off on this thread and `jobs - 1` others.
    ///
    /// # Errors
    ///
    /// If the report cannot be written.
    pub(super) fn run(self, jobs: usize) -> io::Result<(Output<'r>, Vec<Unreadable>)> {
        thread::scope(|scope| {
            for _ in 1..jobs {
                scope.spawn(|| self.work());
            }
            self.work();
        });
        if let Some(error) = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let queue = self.queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((self.output.into_inner(), queue.into_failures()))
    }

    /// Works on one chunk after the other.
    fn work(&self) {
        let mut worker = Worker::new(self.engine);
        while let Some(task) = self.next(&mut worker) {
            let _guard = StopOnPanic { pipeline: self, task: &task };
            if !self.check(&task, &mut worker) {
                return;
            }
        }
    }

    fn next(&self, worker: &mut Worker<'p>) -> Option<Task<'p>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).next(&mut worker.chunk)
    }

    /// Does what is to be done with a chunk; `false` if the work was stopped.
    fn check(&self, task: &Task<'p>, worker: &mut Worker<'p>) -> bool {
        let file = &task.file;
        let mut located = Vec::new();
        let mut excerpts = Excerpts::default();
        let first_line = worker.check(&file.following, |found| {
            located.push(self.locate(task, found, &mut excerpts));
        });
        let Some(first_line) = first_line else { return false };
        file.dropped.fetch_add(worker.take_dropped(), Ordering::Relaxed);
        let mut totals = Totals::default();
        if let Some(end) = task.end {
            totals = self.finish(task, end, worker.chunk.index, &mut located);
        }
        let (offset, bytes) = (worker.chunk.offset, worker.chunk.bytes.len() as u64);
        self.progress.advance(bytes);
        let begins = worker.chunk.index == 0;
        let has_lines = bytes > 0 || worker.chunk.too_long;
        let emitted = self.output.take(task.number, |output| {
            output.summary.bytes += bytes;
            if begins {
                output.begin(file.path.as_deref(), file.take_lines());
            }
            if has_lines {
                output.mark(first_line, offset);
            }
            for located in located {
                output.finding(located, &file.sated)?;
            }
            if let Some(end) = task.end {
                output.summary.messages += totals.messages;
                output.summary.unjudged += totals.unjudged;
                output.summary.dropped += totals.dropped;
                if end == End::Complete {
                    output.complete();
                }
                output.finish(&file.name)?;
            }
            Ok(())
        });
        match emitted {
            None => false,
            Some(Ok(())) => true,
            Some(Err(error)) => {
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                failure.get_or_insert(error);
                self.output.stop();
                false
            }
        }
    }

    /// The end of a file: what only that shows. Without it nothing is said of what is missing.
    fn finish(&self, task: &Task<'p>, end: End, index: u64, located: &mut Vec<Located>) -> Totals {
        let mut late = Vec::new();
        let finished = task.file.following.take(index + 1, |following| {
            let observer = &mut following.observer;
            observer.finish(&mut late);
            Totals {
                messages: observer.messages(),
                unjudged: observer.unmatched_results(),
                dropped: observer.dropped() + task.file.dropped.load(Ordering::Relaxed),
            }
        });
        if end == End::Complete {
            for judged in &late {
                let mut excerpts = Excerpts::default();
                hand_over(judged, &mut |found| {
                    located.push(self.locate(task, found, &mut excerpts));
                });
            }
        }
        finished.unwrap_or_default()
    }

    fn locate(&self, task: &Task<'p>, found: Found<'_>, excerpts: &mut Excerpts) -> Located {
        let Found { finding, text } = found;
        let file = &task.file;
        let wanted = self.wants_excerpts && !text.is_empty() && !file.sated.contains(&finding);
        let excerpt = wanted.then(|| excerpts.of_message(&finding, text));
        Located { file: file.name.clone(), finding, excerpt, related: None }
    }
}

/// A worker that panics would leave the others waiting for its turn.
struct StopOnPanic<'s, 'p, 'r> {
    pipeline: &'s Pipeline<'p, 'r>,
    task: &'s Task<'p>,
}

impl Drop for StopOnPanic<'_, '_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.task.file.following.stop();
            self.pipeline.output.stop();
        }
    }
}
