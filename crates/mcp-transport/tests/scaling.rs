//! What decoders allocate follows the size of what a peer sends: twice as much of the worst takes
//! at most 2.2 times as much memory and as many allocations, however it is cut into pieces.

#![cfg(all(feature = "http", feature = "ws"))]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    alloc::System,
    io::Cursor,
    pin::Pin,
    sync::{Mutex, PoisonError},
    task::{Context, Poll},
};

use bytes::Bytes;
use mcp_core::Transport as _;
use mcp_transport::{
    LineSettings, LineTransport,
    http::sse::Decoder,
    ws::{WsServerSettings, accept},
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, Stats, StatsAlloc};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, ReadBuf, duplex},
    runtime::Builder,
};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// One measurement at a time: the allocator counts for all threads.
static MEASURING: Mutex<()> = Mutex::new(());

/// Holds `run` to the law, for what `make` makes of a size and of twice that size.
#[track_caller]
fn law(what: &str, size: usize, make: impl Fn(usize) -> Vec<u8>, run: impl Fn(Bytes)) {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let measure = |input: Vec<u8>| -> Stats {
        let input = Bytes::from(input);
        let region = Region::new(ALLOCATOR);
        run(input);
        region.change()
    };
    measure(make(size));
    let (once, twice) = (measure(make(size)), measure(make(2 * size)));
    let count = |stats: Stats| stats.allocations + stats.reallocations;
    assert!(
        10 * count(twice) <= 22 * count(once) + 2_000
            // Buffers grow by doubling, so one may be twice as large as it must be.
            && 10 * twice.bytes_allocated <= 23 * once.bytes_allocated + (1 << 20),
        "{what}, {size} and {}: {once:?} {twice:?}",
        2 * size
    );
}

#[test]
fn event_streams() {
    const LIMIT: usize = 1 << 20;
    let decode = |piece: usize| {
        move |input: Bytes| {
            let mut decoder = Decoder::new(LIMIT);
            for start in (0..input.len()).step_by(piece) {
                decoder.push(input.slice(start..input.len().min(start + piece)));
                while decoder.next_event().is_some() {}
            }
        }
    };
    let cases: [(&str, &str); 7] = [
        ("events", "data: x\n\n"),
        ("data of one event", "data: x\n"),
        ("empty lines of data", "data\n"),
        ("ids", "id: 1\n"),
        ("comments", ": x\r"),
        ("unknown fields", "other: x\r\n"),
        ("a line without an end", "x"),
    ];
    for (what, unit) in cases {
        for piece in [1, 7, 4096] {
            law(what, 20_000, |n| unit.repeat(n).into_bytes(), decode(piece));
        }
    }
    // Beyond the limit nothing is kept.
    law("data beyond the limit", 2 * LIMIT, |n| b"data: x\n".repeat(n / 8), decode(4096));
}

/// Reads at most so many bytes at a time.
struct Trickle {
    input: Cursor<Bytes>,
    piece: usize,
}

impl AsyncRead for Trickle {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let mut piece = [0; 16_384];
        let length = self.piece.min(piece.len()).min(buffer.remaining());
        let mut piece = ReadBuf::new(&mut piece[..length]);
        let polled = Pin::new(&mut self.input).poll_read(context, &mut piece);
        buffer.put_slice(piece.filled());
        polled
    }
}

#[test]
fn lines() {
    let receive = |piece: usize| {
        move |input: Bytes| {
            let runtime = Builder::new_current_thread().enable_time().build().unwrap();
            runtime.block_on(async {
                let reader = Trickle { input: Cursor::new(input), piece };
                let mut settings = LineSettings::default();
                settings.max_message = 1 << 20;
                let transport = LineTransport::new(reader, tokio::io::sink(), &settings);
                while transport.receive().await.unwrap().is_some() {}
            });
        }
    };
    for (what, unit) in [("lines", "{\n"), ("blank lines", "\r\n"), ("one line", "x")] {
        for piece in [1, 4096] {
            law(what, 20_000, |n| unit.repeat(n).into_bytes(), receive(piece));
        }
    }
    law("a line beyond the limit", 2 << 20, |n| b"x".repeat(n), receive(16_384));
}

/// A client's frame with a mask of zeros, of at most 125 bytes.
fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    [&[kind, 0x80 | length, 0, 0, 0, 0], payload].concat()
}

#[test]
fn websocket_frames() {
    const HANDSHAKE: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n\
        Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let receive = |input: Bytes| {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (mut client, server) = duplex(64 * 1024);
            client.write_all(HANDSHAKE).await.unwrap();
            let transport = accept(server, &WsServerSettings::default()).await.unwrap();
            let (mut from_server, mut to_server) = tokio::io::split(client);
            let sending = async {
                let _ = to_server.write_all(&input).await;
                let _ = to_server.shutdown().await;
            };
            let reading =
                async { while matches!(from_server.read(&mut [0; 4096]).await, Ok(1..)) {} };
            let receiving = async move { while let Ok(Some(_)) = transport.receive().await {} };
            tokio::join!(sending, reading, receiving);
        });
    };
    law("messages", 5_000, |n| frame(0x81, b"{}").repeat(n), receive);
    law("pings", 5_000, |n| frame(0x89, b"p").repeat(n), receive);
    law(
        "fragments of one message",
        5_000,
        |n| [frame(0x01, b"["), frame(0x00, b" ").repeat(n), frame(0x80, b"]")].concat(),
        receive,
    );
    law(
        "empty fragments",
        5_000,
        |n| [frame(0x01, b""), frame(0x00, b"").repeat(n)].concat(),
        receive,
    );
}
