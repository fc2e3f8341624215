//! Any bytes as an event stream: the same events however it is cut, none beyond the limit.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use mcp_transport::http::sse::{Decoded, Decoder};

const LIMIT: usize = 64;

fuzz_target!(|input: &[u8]| {
    let (whole, pieces) = plumb_fuzz::pieces(input);
    let events = decode(&[whole]);
    assert_eq!(events, decode(&pieces));
    for event in &events {
        if let Decoded::Event(event) = event {
            assert!(event.data.len() <= LIMIT, "{event:?}");
        }
    }
});

fn decode(pieces: &[&[u8]]) -> Vec<Decoded> {
    let mut decoder = Decoder::new(LIMIT);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(Bytes::copy_from_slice(piece));
        while let Some(event) = decoder.next_event() {
            events.push(event);
        }
    }
    events
}
