//! Work and memory follow the size of what a peer sends: twice as much of the worst takes at most
//! 2.2 times as much of both, wherever it comes in.
//!
//! Work is counted, not timed: the members and elements of JSON that are visited, and what is
//! allocated.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod conversations;
mod http;
mod json;
mod memory;
mod messages;
mod schemas;

use std::{
    alloc::System,
    sync::{Mutex, PoisonError},
};

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// One measurement at a time: the allocator counts for all threads.
static MEASURING: Mutex<()> = Mutex::new(());

/// What something took.
#[derive(Debug, Clone, Copy)]
struct Work {
    steps: u64,
    allocations: u64,
    bytes: u64,
}

fn measure<R>(run: impl FnOnce() -> R) -> (R, Work) {
    let region = Region::new(ALLOCATOR);
    let before = mcp_json::testing::steps();
    let result = run();
    let stats = region.change();
    let work = Work {
        steps: mcp_json::testing::steps() - before,
        allocations: (stats.allocations + stats.reallocations) as u64,
        bytes: stats.bytes_allocated as u64,
    };
    (result, work)
}

/// The least that something took: other threads only ever add to what is counted.
fn least<R>(run: impl Fn() -> R) -> Work {
    let measured = [measure(&run).1, measure(&run).1, measure(&run).1];
    let least = |count: fn(&Work) -> u64| measured.iter().map(count).min().unwrap_or_default();
    Work {
        steps: least(|work| work.steps),
        allocations: least(|work| work.allocations),
        bytes: least(|work| work.bytes),
    }
}

/// Holds `run` to the law, for what `make` makes of a size and of twice that size.
#[track_caller]
fn law<I, R>(what: &str, size: usize, make: impl Fn(usize) -> I, run: impl Fn(&I) -> R) {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let (small, large) = (make(size), make(2 * size));
    // What is made once and kept, such as a compiled schema, is held to the law by itself.
    run(&small);
    run(&large);
    let (once, twice) = (least(|| run(&small)), least(|| run(&large)));
    let grows = |once: u64, twice: u64, slack: u64| twice * 10 <= once * 22 + slack * 10;
    assert!(
        grows(once.steps, twice.steps, 200)
            && grows(once.allocations, twice.allocations, 200)
            // Buffers grow by doubling, so one may be twice as large as it must be.
            && grows(once.bytes, twice.bytes, 64 * 1024 + once.bytes / 10),
        "{what}, {size} and {}: {once:?} {twice:?}",
        2 * size
    );
}
