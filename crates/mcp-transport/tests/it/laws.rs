//! Properties of every transport between two of our own ends.

use std::sync::Arc;

use mcp_core::{Transport, TransportError};
use mcp_transport::{LineSettings, LineTransport, memory};

use crate::support::{message, next, rest, within_a_minute};

type Pair = (Arc<dyn Transport>, Arc<dyn Transport>);

fn in_memory() -> Pair {
    let (left, right) = memory::pair(16);
    (Arc::new(left), Arc::new(right))
}

fn lines() -> Pair {
    let (left, right) = tokio::io::duplex(1000);
    let (left_input, left_output) = tokio::io::split(left);
    let (right_input, right_output) = tokio::io::split(right);
    let settings = LineSettings::default();
    (
        Arc::new(LineTransport::new(left_input, left_output, &settings)),
        Arc::new(LineTransport::new(right_input, right_output, &settings)),
    )
}

#[cfg(unix)]
fn pipes() -> Pair {
    use tokio::net::unix::pipe::pipe;

    let (left_output, right_input) = pipe().unwrap();
    let (right_output, left_input) = pipe().unwrap();
    let settings = LineSettings::default();
    (
        Arc::new(LineTransport::new(left_input, left_output, &settings)),
        Arc::new(LineTransport::new(right_input, right_output, &settings)),
    )
}

#[cfg(feature = "ws")]
async fn web_sockets() -> Pair {
    let (client, server) = crate::ws::pair().await;
    (Arc::new(client), Arc::new(server))
}

/// Each property for each transport.
macro_rules! laws {
    ($($transport:ident: $pair:expr;)*) => { $(
        mod $transport {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn a_flood_arrives_whole_and_in_order() {
                super::a_flood_arrives_whole_and_in_order($pair).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn concurrent_senders_do_not_mix() {
                super::concurrent_senders_do_not_mix($pair).await;
            }

            #[tokio::test]
            async fn a_close_delivers_what_was_sent_and_ends_both_sides() {
                super::a_close_delivers_what_was_sent_and_ends_both_sides($pair).await;
            }

            #[tokio::test]
            async fn an_abandoned_receive_loses_nothing() {
                super::an_abandoned_receive_loses_nothing($pair).await;
            }

            #[tokio::test]
            async fn a_sender_waits_for_a_peer_that_does_not_read() {
                super::a_sender_waits_for_a_peer_that_does_not_read($pair).await;
            }

            #[tokio::test]
            async fn a_dropped_end_ends_the_other() {
                super::a_dropped_end_ends_the_other($pair).await;
            }
        }
    )* };
}

laws! {
    for_memory: super::in_memory();
    for_lines: super::lines();
}

#[cfg(unix)]
laws! {
    for_pipes: super::pipes();
}

#[cfg(feature = "ws")]
laws! {
    for_web_sockets: super::web_sockets().await;
}

async fn a_flood_arrives_whole_and_in_order((left, right): Pair) {
    const COUNT: usize = 100_000;
    let sender = tokio::spawn(async move {
        for number in 0..COUNT {
            left.send(message(format!(r#"{{"number":{number}}}"#))).await.unwrap();
        }
        left.close().await;
    });
    within_a_minute(async {
        for number in 0..COUNT {
            let found = next(right.as_ref()).await.unwrap();
            assert_eq!(found, Some(format!(r#"{{"number":{number}}}"#)));
        }
        assert_eq!(next(right.as_ref()).await, Ok(None));
    })
    .await;
    sender.await.unwrap();
}

async fn concurrent_senders_do_not_mix((left, right): Pair) {
    let senders: Vec<_> = (0..8)
        .map(|sender| {
            let left = Arc::clone(&left);
            tokio::spawn(async move {
                for number in 0..500 {
                    let filler = "x".repeat((number * 37 + sender * 1000) % 20_000);
                    left.send(message(format!("{sender} {number} {filler}"))).await.unwrap();
                }
            })
        })
        .collect();
    let mut expected = [0; 8];
    for _ in 0..8 * 500 {
        let found = next(right.as_ref()).await.unwrap().unwrap();
        let words: Vec<&str> = found.split(' ').collect();
        let [sender, number, filler] = words[..] else { panic!("{found}") };
        let sender: usize = sender.parse().unwrap();
        let number: usize = number.parse().unwrap();
        assert_eq!(number, expected[sender], "sender {sender}");
        assert_eq!(filler, "x".repeat((number * 37 + sender * 1000) % 20_000));
        expected[sender] += 1;
    }
    for sender in senders {
        sender.await.unwrap();
    }
}

async fn a_close_delivers_what_was_sent_and_ends_both_sides((left, right): Pair) {
    right.send(message("from the right")).await.unwrap();
    assert_eq!(next(left.as_ref()).await, Ok(Some("from the right".into())));
    for number in 0..10 {
        left.send(message(number.to_string())).await.unwrap();
    }
    let waiting = tokio::spawn({
        let left = Arc::clone(&left);
        async move { next(left.as_ref()).await }
    });
    tokio::task::yield_now().await;
    within_a_minute(left.close()).await;
    assert_eq!(waiting.await.unwrap(), Ok(None));
    assert_eq!(left.send(message("late")).await, Err(TransportError::Closed));
    let expected: Vec<String> = (0..10).map(|number| number.to_string()).collect();
    assert_eq!(rest(right.as_ref()).await, expected);
    assert_eq!(next(right.as_ref()).await, Ok(None), "the end stays the end");
    within_a_minute(right.close()).await;
    within_a_minute(left.close()).await;
}

async fn an_abandoned_receive_loses_nothing((left, right): Pair) {
    tokio::spawn(async move {
        for number in 0..200 {
            left.send(message(format!("{number} {}", "x".repeat(700)))).await.unwrap();
        }
        left.close().await;
    });
    let mut count = 0;
    loop {
        // Polled once and dropped: it may or may not have read something.
        if let Some(found) = futures_util::FutureExt::now_or_never(right.receive()) {
            if found.unwrap().is_none() {
                break;
            }
            count += 1;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(count, 200);
}

async fn a_sender_waits_for_a_peer_that_does_not_read((left, right): Pair) {
    let text = "x".repeat(300_000);
    let mut sent = 0;
    while futures_util::FutureExt::now_or_never(left.send(message(text.clone()))).is_some() {
        sent += 1;
        assert!(sent < 100, "nothing holds the sender back");
        tokio::task::yield_now().await;
    }
    for _ in 0..sent {
        assert_eq!(next(right.as_ref()).await.unwrap().unwrap().len(), text.len());
    }
    within_a_minute(left.send(message("after all"))).await.unwrap();
    assert_eq!(next(right.as_ref()).await, Ok(Some("after all".into())));
}

async fn a_dropped_end_ends_the_other((left, right): Pair) {
    left.send(message("last words")).await.unwrap();
    drop(left);
    assert_eq!(next(right.as_ref()).await, Ok(Some("last words".into())));
    assert_eq!(next(right.as_ref()).await, Ok(None));
    let error = crate::support::send_until_error(right.as_ref(), "x").await;
    assert!(matches!(error, TransportError::Lost(_)), "{error:?}");
}
