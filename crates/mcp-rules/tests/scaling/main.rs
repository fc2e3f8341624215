//! Work and memory follow the size of what a peer sends: twice as much of the worst takes at most
//! 2.2 times as much of both, wherever it comes in.
//!
//! Work is counted, not timed: the members and elements of JSON that are visited, and what is
//! allocated.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod allocations;
mod conversations;
mod http;
mod json;
mod memory;
mod messages;
mod schemas;

/// What something took. Steps and allocations are counted for this thread alone.
#[derive(Debug, Clone, Copy)]
struct Work {
    steps: u64,
    allocations: u64,
    bytes: u64,
}

fn measure<R>(run: impl FnOnce() -> R) -> Work {
    let before = mcp_json::testing::steps();
    let allocated = allocation_counter::measure(|| drop(run()));
    Work {
        steps: mcp_json::testing::steps() - before,
        allocations: allocated.count_total,
        bytes: allocated.bytes_total,
    }
}

/// The bytes that `run` has allocated and not freed.
fn kept(run: impl FnOnce()) -> i64 {
    allocation_counter::measure(run).bytes_current
}

/// Holds `run` to the law, for what `make` makes of a size and of twice that size.
#[track_caller]
fn law<I, R>(what: &str, size: usize, make: impl Fn(usize) -> I, run: impl Fn(&I) -> R) {
    let (small, large) = (make(size), make(2 * size));
    // What is made once and kept, such as a compiled schema, is held to the law by itself.
    run(&small);
    run(&large);
    let (once, twice) = (measure(|| run(&small)), measure(|| run(&large)));
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
