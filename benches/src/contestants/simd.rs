//! `simd-json` to its borrowed value and to its tape.
//!
//! It parses in place and destroys its input, so the time includes the copy that a program needs if
//! it wants to keep or forward the bytes. Its buffers are reused.

use simd_json::Buffers;

use super::Contestant;
use crate::corpus::Message;
use crate::corpus::invalid::NoticedBy;

#[derive(Default)]
pub(super) struct Values(Scratch);

#[derive(Default)]
pub(super) struct Tapes(Scratch);

#[derive(Default)]
struct Scratch {
    input: Vec<u8>,
    buffers: Buffers,
}

impl Scratch {
    fn copy(&mut self, message: &Message) {
        self.input.clear();
        self.input.extend_from_slice(&message.bytes);
    }
}

impl Contestant for Values {
    fn name(&self) -> &'static str {
        "simd-json, copy and parse to borrowed Value"
    }

    fn notices(&self) -> NoticedBy {
        NoticedBy::Parsing
    }

    fn verdict(&mut self, message: &Message) -> bool {
        self.0.copy(message);
        let Scratch { input, buffers } = &mut self.0;
        simd_json::borrowed::to_value_with_buffers(input, buffers).is_ok()
    }
}

impl Contestant for Tapes {
    fn name(&self) -> &'static str {
        "simd-json, copy and parse to tape"
    }

    fn notices(&self) -> NoticedBy {
        NoticedBy::Parsing
    }

    fn verdict(&mut self, message: &Message) -> bool {
        self.0.copy(message);
        let Scratch { input, buffers } = &mut self.0;
        simd_json::to_tape_with_buffers(input, buffers).is_ok()
    }
}

// `Buffers` does not implement `Debug`.
impl std::fmt::Debug for Values {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Values")
    }
}

impl std::fmt::Debug for Tapes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Tapes")
    }
}
