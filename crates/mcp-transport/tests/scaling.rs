//! Decoders allocate in proportion to what a peer sends: even in the worst case, twice the input takes
//! at most 2.2 times the memory and allocations, however it is split.

#![cfg(all(feature = "http", feature = "ws"))]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "it/http_server/toy.rs"]
#[expect(dead_code, reason = "other tests use more of it")]
mod toy;

use std::{
    io::Cursor,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use mcp_core::Transport as _;
use mcp_transport::{
    LineSettings, LineTransport,
    http::{
        server::{HttpService, HttpSettings},
        sse::Decoder,
    },
    ws::{WsServerSettings, accept},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, ReadBuf, duplex},
    runtime::Builder,
};
use tower_service::Service as _;

use toy::Toy;

/// Checks that `run` scales linearly, with input made by `make` for a size and for twice that size.
#[track_caller]
fn law(what: &str, size: usize, make: impl Fn(usize) -> Vec<u8>, run: impl Fn(Bytes)) {
    law_of(what, size, |size| Bytes::from(make(size)), run);
}

/// Like `law`, for input other than bytes.
#[track_caller]
fn law_of<I>(what: &str, size: usize, make: impl Fn(usize) -> I, run: impl Fn(I)) {
    // Allocations of this thread alone; nothing here works on another.
    let measure = |input: I| allocation_counter::measure(|| run(input));
    measure(make(size));
    let (once, twice) = (measure(make(size)), measure(make(2 * size)));
    assert!(
        10 * twice.count_total <= 22 * once.count_total + 2_000
            // Buffers grow by doubling, so one may be twice as large as it must be.
            && 10 * twice.bytes_total <= 23 * once.bytes_total + (1 << 20),
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

/// A request to the service; no socket limits the headers.
fn request(method: &Method, headers: &[(&str, String)], body: &str) -> Request<Full<Bytes>> {
    let request = Request::builder().method(method).uri("/mcp").header("host", "localhost");
    let head = headers.iter().fold(request, |head, (name, value)| head.header(*name, value));
    head.body(Full::new(Bytes::from(body.to_owned()))).unwrap()
}

fn post(headers: &[(&str, String)], body: &str) -> Request<Full<Bytes>> {
    let usual = [
        ("content-type", "application/json".to_owned()),
        ("accept", "application/json, text/event-stream".to_owned()),
    ];
    request(&Method::POST, &[&usual, headers].concat(), body)
}

#[test]
fn http_heads() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let service = HttpService::new(Arc::new(Toy::default()), HttpSettings::default());
    let serve = |request: Request<Full<Bytes>>| {
        let mut service = service.clone();
        runtime.block_on(async {
            let response = service.call(request).await.unwrap();
            response.into_body().collect().await.unwrap();
        });
    };
    let names = [
        "accept",
        "accept-encoding",
        "access-control-request-headers",
        "content-encoding",
        "content-type",
        "last-event-id",
        "mcp-protocol-version",
        "mcp-session-id",
        "origin",
        "x-other",
    ];
    for name in names {
        for method in [Method::POST, Method::GET, Method::DELETE, Method::OPTIONS] {
            for unit in ["a/b;q=0.1,", "http://localhost/", "p1-1", "\""] {
                let make = |n: usize| request(&method, &[(name, unit.repeat(n))], "echo x");
                law_of(&format!("one long {name}, {method}"), 10_000, make, serve);
            }
            let make = |n: usize| request(&method, &vec![(name, "a, b".to_owned()); n], "echo x");
            law_of(&format!("many of {name}, {method}"), 5_000, make, serve);
        }
    }
    let many = |n: usize| {
        let mut request = post(&[("mcp-protocol-version", "2026-07-28".to_owned())], "echo x");
        for number in 0..n {
            let name = format!("x-{number}").parse::<http::HeaderName>().unwrap();
            request.headers_mut().insert(name, http::HeaderValue::from_static("x"));
        }
        request
    };
    law_of("many headers", 5_000, many, serve);
    let query = |n: usize| {
        let mut request = post(&[], "echo x");
        *request.uri_mut() = format!("/mcp?{}", "a=%41&".repeat(n)).parse().unwrap();
        request
    };
    law_of("a long query", 5_000, query, serve);
}

#[test]
fn resumed_streams() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let mut settings = HttpSettings::default();
    (settings.replay_events, settings.replay_bytes) = (1 << 20, 64 << 20);
    let service = HttpService::new(Arc::new(Toy::default()), settings);
    let call = |request| {
        let mut service = service.clone();
        async move { service.call(request).await.unwrap() }
    };
    // A session in which a stream with so many events was lost after the first.
    let broken_off = |events: usize| {
        runtime.block_on(async {
            let opened = call(post(&[], "init 2025-11-25")).await;
            let id = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
            let session = ("mcp-session-id", id);
            let mut body = call(post(std::slice::from_ref(&session), &format!("stream {events}")))
                .await
                .into_body();
            let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
            let first = str::from_utf8(&first).unwrap().lines().next().unwrap();
            let last = first.strip_prefix("id: ").unwrap().to_owned();
            let rest = body.collect().await.unwrap().to_bytes();
            assert!(rest.ends_with(b"data: done\n\n"));
            (session, ("last-event-id", last), events)
        })
    };
    let accept = || ("accept", "text/event-stream".to_owned());
    law_of("missed events", 2_000, broken_off, |(session, last, events)| {
        runtime.block_on(async {
            let resumed = call(request(&Method::GET, &[accept(), session, last], "")).await;
            let text = resumed.into_body().collect().await.unwrap().to_bytes();
            let missed = memchr::memmem::find_iter(&text, b"data: n").count();
            assert_eq!(missed, events);
        });
    });
    // Nothing is missed, however much is kept for other streams.
    law_of("events of others", 2_000, broken_off, |(session, _, _)| {
        runtime.block_on(async {
            for unknown in ["g0-0", "p99-0", "nonsense"] {
                let last = ("last-event-id", unknown.to_owned());
                call(request(&Method::GET, &[accept(), session.clone(), last], "")).await;
            }
        });
    });
}
