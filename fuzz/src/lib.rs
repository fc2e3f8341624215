//! What several targets need.

use std::{future::Future, sync::OnceLock};

use tokio::runtime::{Builder, Runtime};

/// Runs `future` on a runtime of one thread, made once. Its clock stands still until nothing else is
/// left to do, so that time limits pass at once.
pub fn run<T>(future: impl Future<Output = T>) -> T {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME
        .get_or_init(|| {
            Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .expect("a runtime")
        })
        .block_on(future)
}

/// Cuts `input` into pieces as a network might: its first byte says how long they are.
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
