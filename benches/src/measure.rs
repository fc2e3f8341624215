//! Timing, side by side.
//!
//! The messages are split into blocks that fit into the cache, like a message that was just read
//! from a peer. A round goes through the blocks, and on each block through all contestants, each
//! time starting with a different one, so that other load on the machine affects all of them alike.
//! For each contestant, the fastest and the median round of every block are kept; their sums over
//! all blocks are the figures.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::contestants::Contestant;
use crate::corpus::{Corpus, Message};

/// A block ends with the message that reaches this many bytes.
const BLOCK_BYTES: usize = 64 * 1024;

/// A contestant's time per message of a corpus, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// In the best round of every block.
    pub best: f64,
    /// In the median round of every block.
    pub median: f64,
}

/// Times all contestants on one corpus; the timings are in the same order.
pub fn time(
    corpus: &Corpus,
    contestants: &mut [Box<dyn Contestant>],
    rounds: usize,
) -> Vec<Timing> {
    let blocks = blocks(&corpus.messages);
    let mut samples = vec![vec![Vec::with_capacity(rounds); blocks.len()]; contestants.len()];
    for round in 0..rounds {
        for (number, block) in blocks.iter().enumerate() {
            for turn in 0..contestants.len() {
                let contestant = (turn + round) % contestants.len();
                let took = pass(block, contestants[contestant].as_mut());
                samples[contestant][number].push(took);
            }
        }
    }
    let messages = count(corpus.messages.len());
    let timing = |blocks: Vec<Vec<Duration>>| {
        let (mut best, mut median) = (0.0, 0.0);
        for mut samples in blocks {
            samples.sort_unstable();
            best += nanoseconds(samples[0]);
            median += nanoseconds(samples[samples.len() / 2]);
        }
        Timing { best: best / messages, median: median / messages }
    };
    samples.into_iter().map(timing).collect()
}

fn pass(block: &[Message], contestant: &mut dyn Contestant) -> Duration {
    // The previous contestant may have evicted the messages from the cache.
    let touched: u64 =
        block.iter().flat_map(|message| &message.bytes).map(|&byte| u64::from(byte)).sum();
    black_box(touched);
    let start = Instant::now();
    let right = contestant.pass(block);
    let took = start.elapsed();
    assert_eq!(right, block.len(), "{} changed its mind", contestant.name());
    took
}

fn blocks(messages: &[Message]) -> Vec<&[Message]> {
    let mut bytes = 0;
    let mut ends_block = |message: &Message| {
        bytes += message.bytes.len();
        let ends = bytes >= BLOCK_BYTES;
        if ends {
            bytes = 0;
        }
        ends
    };
    messages.split_inclusive(|message| ends_block(message)).collect()
}

fn nanoseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e9
}

/// Counts here are far below the range where floats lose precision.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
pub(crate) fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use mcp_core::Side;

    use super::{BLOCK_BYTES, Message, blocks};

    #[test]
    fn blocks_hold_every_message_once() {
        let message =
            |length| Message { bytes: vec![b' '; length], from: Side::Client, answers: None };
        let messages = [message(BLOCK_BYTES - 1), message(1), message(BLOCK_BYTES + 1), message(5)];
        let sizes: Vec<usize> = blocks(&messages).iter().map(|block| block.len()).collect();
        assert_eq!(sizes, [2, 1, 1]);
    }
}
