//! Any bytes on a pipe: every line arrives as it is, however the bytes are cut.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::{Inbound, Transport as _};
use mcp_transport::{LineSettings, LineTransport};
use tokio_test::io::Builder;

const LIMIT: usize = 48;

fuzz_target!(|input: &[u8]| {
    let (whole, pieces) = plumb_fuzz::pieces(input);
    let expected: Vec<Line> = whole.split(|byte| *byte == b'\n').filter_map(line).collect();
    assert_eq!(plumb_fuzz::run(receive(&pieces)), expected);
});

#[derive(Debug, PartialEq)]
enum Line {
    Text(Vec<u8>),
    TooLong,
}

/// What should arrive of a line.
fn line(text: &[u8]) -> Option<Line> {
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    match text.len() {
        _ if text.trim_ascii().is_empty() && text.len() <= LIMIT => None,
        ..=LIMIT => Some(Line::Text(text.to_vec())),
        _ => Some(Line::TooLong),
    }
}

async fn receive(pieces: &[&[u8]]) -> Vec<Line> {
    let mut stream = Builder::new();
    for piece in pieces {
        stream.read(piece);
    }
    let mut settings = LineSettings::default();
    settings.max_message = LIMIT;
    let transport = LineTransport::new(stream.build(), tokio::io::sink(), &settings);
    let mut lines = Vec::new();
    while let Some(inbound) = transport.receive().await.expect("nothing fails") {
        lines.push(match inbound {
            Inbound::Message { bytes, .. } => Line::Text(bytes.to_vec()),
            Inbound::TooLong { .. } => Line::TooLong,
            other => panic!("{other:?}"),
        });
    }
    lines
}
