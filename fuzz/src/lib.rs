//! Helpers for several targets.

use std::{future::Future, sync::OnceLock, time::Duration};

use tokio::runtime::{Builder, Handle, Runtime};

/// Runs `future` on a runtime of one thread, made once. Its clock stands still until nothing else is
/// left to do, so that time limits pass at once.
///
/// # Panics
///
/// If anything that it has started is still running a day later.
pub fn run<T>(future: impl Future<Output = T>) -> T {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime")
    });
    runtime.block_on(async {
        let outcome = future.await;
        // Tasks only get their turn while this future waits.
        let left = || Handle::current().metrics().num_alive_tasks();
        for wait in [Duration::ZERO, Duration::from_secs(60), Duration::from_secs(86_400)] {
            if left() == 0 {
                break;
            }
            tokio::time::sleep(wait).await;
        }
        assert_eq!(left(), 0, "tasks are left behind");
        outcome
    })
}

/// Splits `input` into pieces as a network might; its first byte is their length.
pub fn pieces(input: &[u8]) -> (&[u8], Vec<&[u8]>) {
    let Some((first, rest)) = input.split_first() else {
        return (&[], Vec::new());
    };
    let mut pieces = Vec::new();
    let (mut left, mut length) = (rest, usize::from(first % 16) + 1);
    while !left.is_empty() {
        let (piece, behind) = left.split_at(length.min(left.len()));
        pieces.push(piece);
        left = behind;
        length = length * usize::from(first / 16 % 4 + 1) % 61 + 1;
    }
    (rest, pieces)
}
