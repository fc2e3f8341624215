use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use mcp_core::{Transport, TransportError};
use mcp_transport::{LineSettings, LineTransport};
use proptest::prelude::{Strategy, any, prop, prop_assert_eq, proptest};
use tokio::io::{
    AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf, duplex,
};

use crate::support::{message, next, rest, send_until_error, within_a_minute};

type Lines = LineTransport<tokio::io::ReadHalf<DuplexStream>, tokio::io::WriteHalf<DuplexStream>>;

fn settings() -> LineSettings {
    let mut settings = LineSettings::default();
    settings.max_message = 1000;
    settings.queue_bytes = 4000;
    settings.stall_timeout = Duration::from_secs(30);
    settings
}

fn with_raw_peer() -> (Lines, DuplexStream) {
    let (ours, theirs) = duplex(64);
    let (input, output) = tokio::io::split(ours);
    (LineTransport::new(input, output, &settings()), theirs)
}

#[tokio::test]
async fn half_a_message_is_not_handed_out_before_the_other_half() {
    let (transport, mut peer) = with_raw_peer();
    peer.write_all(b"{\"half\":").await.unwrap();
    {
        let mut receiving = transport.receive();
        for _ in 0..10 {
            assert!(
                poll_fn(|context| Poll::Ready(receiving.as_mut().poll(context))).await.is_pending()
            );
        }
        peer.write_all(b"1}\nnext").await.unwrap();
    }
    assert_eq!(next(&transport).await, Ok(Some("{\"half\":1}".into())));
}

#[tokio::test]
async fn text_cut_off_by_the_end_is_handed_out() {
    let (transport, mut peer) = with_raw_peer();
    peer.write_all(b"{}\n{\"cut\":").await.unwrap();
    drop(peer);
    assert_eq!(rest(&transport).await, ["{}", "{\"cut\":"]);
}

#[tokio::test]
async fn a_sender_that_gives_one_byte_at_a_time_is_understood() {
    let (transport, mut peer) = with_raw_peer();
    let slow = tokio::spawn(async move {
        for byte in b"{\"slow\":true}\r\n\r\n[1]\n" {
            peer.write_all(&[*byte]).await.unwrap();
            tokio::task::yield_now().await;
        }
    });
    assert_eq!(rest(&transport).await, ["{\"slow\":true}", "[1]"]);
    slow.await.unwrap();
}

#[tokio::test]
async fn a_line_over_the_limit_is_skipped_and_the_next_one_arrives() {
    let (transport, mut peer) = with_raw_peer();
    tokio::spawn(async move {
        for _ in 0..20_000 {
            peer.write_all(&[b'x'; 50]).await.unwrap();
        }
        peer.write_all(b"\n{}\n").await.unwrap();
    });
    assert_eq!(rest(&transport).await, ["skipped 1000000", "{}"]);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_never_reads_ends_the_conversation() {
    let (transport, peer) = with_raw_peer();
    let error = send_until_error(&transport, &"x".repeat(500)).await;
    assert_eq!(error, TransportError::Stalled { seconds: 30 });
    assert_eq!(next(&transport).await, Err(TransportError::Stalled { seconds: 30 }));
    within_a_minute(transport.close()).await;
    drop(peer);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_reads_slowly_is_waited_for() {
    let (transport, mut peer) = with_raw_peer();
    let reader = tokio::spawn(async move {
        let mut found = Vec::new();
        let mut part = [0; 16];
        while let Ok(count @ 1..) = peer.read(&mut part).await {
            found.extend_from_slice(&part[..count]);
            tokio::time::sleep(Duration::from_secs(20)).await;
        }
        found
    });
    transport.send(message("y".repeat(900))).await.unwrap();
    transport.close().await;
    assert_eq!(reader.await.unwrap().len(), 901);
}

#[tokio::test]
async fn a_peer_that_dies_in_the_middle_of_our_message_is_lost() {
    let (transport, mut peer) = with_raw_peer();
    transport.send(message("x".repeat(900))).await.unwrap();
    peer.read_exact(&mut [0; 100]).await.unwrap();
    drop(peer);
    let error = send_until_error(&transport, "{}").await;
    assert!(matches!(error, TransportError::Lost(_)), "{error:?}");
    assert_eq!(next(&transport).await, Ok(None));
    within_a_minute(transport.close()).await;
}

#[tokio::test]
async fn newlines_in_a_message_do_not_split_it() {
    let (transport, mut peer) = with_raw_peer();
    transport.send(message("{\n\"a\":\r\n1}")).await.unwrap();
    transport.close().await;
    let mut found = String::new();
    peer.read_to_string(&mut found).await.unwrap();
    assert_eq!(found, "{ \"a\":  1}\n");
}

#[tokio::test]
async fn a_dropped_transport_still_delivers() {
    let (transport, mut peer) = with_raw_peer();
    transport.send(message("x".repeat(900))).await.unwrap();
    drop(transport);
    let mut found = Vec::new();
    within_a_minute(peer.read_to_end(&mut found)).await.unwrap();
    assert_eq!(found.len(), 901);
}

/// Accepts everything at once, but is slow to flush.
#[derive(Default)]
struct SlowToFlush {
    unflushed: bool,
}

impl AsyncWrite for SlowToFlush {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        self.unflushed = true;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        if std::mem::take(&mut self.unflushed) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.poll_flush(context)
    }
}

#[tokio::test]
async fn what_waits_to_be_flushed_gives_its_room_back() {
    let transport = LineTransport::new(tokio::io::empty(), SlowToFlush::default(), &settings());
    for length in (0..4000).step_by(100) {
        within_a_minute(transport.send(message("x".repeat(length)))).await.unwrap();
        tokio::task::yield_now().await;
    }
    within_a_minute(transport.close()).await;
}

/// Returns its parts one read at a time, and is pending now and then.
struct Parts {
    parts: Vec<Vec<u8>>,
    hesitates: bool,
}

impl AsyncRead for Parts {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        self.hesitates = !self.hesitates;
        if self.hesitates {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some(part) = self.parts.first_mut() {
            let count = part.len().min(buffer.remaining());
            buffer.put_slice(&part.drain(..count).collect::<Vec<_>>());
            if part.is_empty() {
                self.parts.remove(0);
            }
        }
        Poll::Ready(Ok(()))
    }
}

fn read_in_parts(parts: Vec<Vec<u8>>, limit: usize) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let mut settings = settings();
        settings.max_message = limit;
        let parts = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let input = Parts { parts, hesitates: false };
        rest(&LineTransport::new(input, tokio::io::sink(), &settings)).await
    })
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same_lines(
        parts in prop::collection::vec(
            prop::collection::vec(
                any::<prop::sample::Index>().prop_map(|index| *index.get(b"\n\r ax")),
                0..12,
            ),
            0..12,
        ),
        limit in 0_usize..8,
    ) {
        let whole = read_in_parts(vec![parts.concat()], limit);
        let single = read_in_parts(parts.concat().iter().map(|byte| vec![*byte]).collect(), limit);
        prop_assert_eq!(&read_in_parts(parts, limit), &whole);
        prop_assert_eq!(&single, &whole);
    }
}
