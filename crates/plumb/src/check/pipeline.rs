//! Checks files on several threads: chunks of a large file, and small files, are processed in
//! parallel. Findings are reported in line order, whichever thread found them.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    thread,
};

use mcp_rules::Engine;

use super::{
    excerpts::Excerpts,
    inputs::Skipped,
    output::Output,
    queue::{CheckedFile, End, Queue, Task, Unreadable},
    sequencer::Sequencer,
    worker::{Found, Worker, hand_over},
};
use crate::{progress::Progress, report::Located};

/// The work to do, and its output.
pub(super) struct Pipeline<'p, 'r> {
    engine: &'p Engine,
    wants_excerpts: bool,
    progress: &'p Progress,
    queue: Mutex<Queue<'p>>,
    output: Sequencer<Output<'r>, Checked<'p>>,
    /// Why the report could not be written.
    failure: Mutex<Option<io::Error>>,
}

/// Inputs that could not be read, and files that were skipped.
type Rest = (Vec<Unreadable>, Vec<Skipped>);

/// A chunk with more findings than this does not wait for its turn in memory, since they would add
/// up.
const FEW_FINDINGS: usize = 100;

/// The result of a chunk.
struct Checked<'p> {
    file: Arc<CheckedFile<'p>>,
    located: Vec<Located>,
    begins: bool,
    /// The first line and where it begins, if there is one.
    first: Option<(u64, u64)>,
    bytes: u64,
    end: Option<(End, Totals)>,
}

/// Totals that are known only at the end of a file.
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
            output: Sequencer::new(output),
            failure: Mutex::new(None),
        }
    }

    /// Runs all tasks on this thread and `jobs - 1` others.
    ///
    /// # Errors
    ///
    /// If the report cannot be written.
    pub(super) fn run(self, jobs: usize) -> io::Result<(Output<'r>, Rest)> {
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
        Ok((self.output.into_inner(), queue.into_rest()))
    }

    /// Processes one chunk after the other.
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

    /// Processes a chunk; returns `false` if the work was stopped.
    fn check(&self, task: &Task<'p>, worker: &mut Worker<'p>) -> bool {
        let file = &task.file;
        let mut located = Vec::new();
        let mut excerpts = Excerpts::default();
        let first_line = worker.check(&file.following, |found| {
            located.push(self.locate(task, found, &mut excerpts));
        });
        let Some(first_line) = first_line else { return false };
        file.dropped.fetch_add(worker.take_dropped(), Ordering::Relaxed);
        let index = worker.chunk.index;
        let end = task.end.map(|end| (end, self.finish(task, end, index, &mut located)));
        let (offset, bytes) = (worker.chunk.offset, worker.chunk.bytes.len() as u64);
        self.progress.advance(bytes);
        let has_lines = bytes > 0 || worker.chunk.too_long;
        let may_wait = located.len() <= FEW_FINDINGS;
        let checked = Checked {
            file: Arc::clone(file),
            located,
            begins: index == 0,
            first: has_lines.then_some((first_line, offset)),
            bytes,
            end,
        };
        let emitted = self.output.put(task.number, checked, may_wait, emit);
        match emitted {
            None => false,
            Some(Ok(false)) => true,
            Some(Ok(true)) => {
                self.output.stop();
                false
            }
            Some(Err(error)) => {
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                failure.get_or_insert(error);
                self.output.stop();
                false
            }
        }
    }

    /// Finishes a file, with the findings that only its end reveals. If it broke off, nothing is
    /// reported as missing.
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
            for judged in late {
                let mut excerpts = Excerpts::default();
                hand_over(judged, &mut |found| {
                    located.push(self.locate(task, found, &mut excerpts));
                });
            }
        }
        finished.unwrap_or_default()
    }

    fn locate(&self, task: &Task<'p>, found: Found<'_>, excerpts: &mut Excerpts) -> Located {
        let Found { mut finding, text } = found;
        let file = &task.file;
        let wanted = self.wants_excerpts && !text.is_empty() && !file.sated.contains(&finding);
        let excerpt = wanted.then(|| excerpts.of_message(&finding, text));
        file.lead_back(&mut finding);
        Located { file: file.name.clone(), finding, excerpt, related: None }
    }
}

/// Reports what was found in a chunk; returns whether nothing more needs to be reported.
fn emit(output: &mut Output<'_>, checked: Checked<'_>) -> io::Result<bool> {
    let Checked { file, located, begins, first, bytes, end } = checked;
    output.summary.bytes += bytes;
    if begins {
        output.begin(file.path.as_deref(), file.take_lines());
    }
    if let Some((line, offset)) = first {
        output.mark(line, offset);
    }
    for located in located {
        output.finding(located, &file.sated)?;
    }
    if let Some((end, totals)) = end {
        output.summary.messages += totals.messages;
        output.summary.unjudged += totals.unjudged;
        output.summary.dropped += totals.dropped;
        if end == End::Complete {
            output.complete();
        }
        output.finish(&file.name)?;
    }
    Ok(output.is_settled())
}

/// Stops the others if a worker panics; they would wait for its turn forever.
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
