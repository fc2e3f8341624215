//! Messages over the size limit, and the requests they belong to.

use mcp_core::{
    Inbound, Json, MessageEnds, Notification, Peer as _, PeerError, Revision, Side, Ticket,
    TransportError,
};

use super::{LIMIT, Remote};
use crate::OpenGate;

const TOO_LONG: TransportError = TransportError::TooLong { length: 5000, limit: 1000 };

fn remote(side: Side) -> Remote {
    Remote::new(side, Revision::LATEST_LEGACY, Box::new(OpenGate))
}

impl Remote {
    /// Sends `text`, with `…` replaced by a long string, which makes it exceed the limit.
    fn send_too_much(&self, ticket: Option<u64>, text: &str) {
        let text = text.replace('…', &"x".repeat(5000));
        let (ticket, ends) = (ticket.map(Ticket), MessageEnds::of(text.as_bytes()));
        self.incoming.send(Inbound::TooLong { ticket, length: 5000, limit: 1000, ends }).unwrap();
    }
}

#[tokio::test]
async fn a_response_that_is_too_long_fails_only_its_request() {
    for side in [Side::Client, Side::Server] {
        for answer in [
            r#"{"jsonrpc":"2.0","id":2,"result":{"text":"…"}}"#,
            r#"{"result":{"text":"…"},"jsonrpc":"2.0","id":2}"#,
        ] {
            let mut remote = remote(side);
            let (first, second) = (remote.ask().await, remote.ask().await);
            remote.send_too_much(None, answer);
            assert_eq!(second.await.unwrap(), Err(PeerError::Transport(TOO_LONG)));
            remote.send(None, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
            assert_eq!(first.await.unwrap(), Ok(Json::empty_object()));
            assert_eq!(remote.end().await, [""; 0], "a response gets no response");
        }
    }
}

#[tokio::test]
async fn a_response_without_an_id_belongs_to_the_only_request() {
    let unclear = r#"{"result":{"text":"…"},"id":1,"_meta":{"text":"…"}}"#;
    let mut remote = remote(Side::Client);
    let only = remote.ask().await;
    remote.send_too_much(None, unclear);
    assert_eq!(only.await.unwrap(), Err(PeerError::Transport(TOO_LONG)));

    let (second, third) = (remote.ask().await, remote.ask().await);
    remote.send_too_much(None, unclear);
    for (call, id) in [(second, 2), (third, 3)] {
        remote.send(None, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        assert_eq!(call.await.unwrap(), Ok(Json::empty_object()), "it is still pending");
    }
}

#[tokio::test]
async fn the_exchange_of_a_response_identifies_its_request() {
    let mut remote = remote(Side::Client);
    let (first, second) = (remote.ask().await, remote.ask().await);
    remote.send_too_much(Some(2), r#"{"result":{"text":"…"},"id":1,"_meta":{"text":"…"}}"#);
    assert_eq!(second.await.unwrap(), Err(PeerError::Transport(TOO_LONG)));
    assert_eq!(*remote.finished.lock().unwrap(), [Ticket(2)]);
    remote.send(Some(1), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(first.await.unwrap(), Ok(Json::empty_object()));
}

#[tokio::test]
async fn a_message_that_is_not_a_response_fails_no_request() {
    for text in [
        "DEBUG …",
        "[…]",
        r#"{"level":"debug","text":"…"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"…"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"data":"…"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{"data":"…"}}"#,
    ] {
        let mut remote = remote(Side::Client);
        let only = remote.ask().await;
        remote.send_too_much(None, text);
        remote.send(None, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        assert_eq!(only.await.unwrap(), Ok(Json::empty_object()), "{text}");
    }
}

#[tokio::test]
async fn a_request_that_is_too_long_gets_an_error_with_its_id_if_readable() {
    for (text, id) in [
        (r#"{"jsonrpc":"2.0","id":7,"method":"a","params":["…"]}"#, r#""id":7,"#),
        (r#"{"method":"a","params":["…"],"jsonrpc":"2.0","id":"x"}"#, r#""id":"x","#),
        (r#"{"method":"a","params":["…"],"id":7,"b":["…"]}"#, ""),
        ("…", ""),
    ] {
        let mut remote = remote(Side::Server);
        remote.send_too_much(None, text);
        let response = remote.receive().await;
        let expected = format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32600,"#);
        assert!(response.starts_with(&expected), "{response}");
        assert!(response.contains("5000 bytes exceeds the limit of 1000"), "{response}");
    }
}

/// The transport of this conversation has no limit.
#[tokio::test]
async fn the_limit_applies_to_every_transport() {
    let mut remote = remote(Side::Client);
    let call = remote.ask().await;
    let long = "x".repeat(17 << 20);
    remote.send(None, &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"text":"{long}"}}}}"#));
    let failed = call.await.unwrap();
    assert!(matches!(failed, Err(PeerError::Transport(TransportError::TooLong { .. }))));
}

#[tokio::test]
async fn only_the_notification_that_is_too_long_is_not_sent() {
    let remote = remote(Side::Server);
    let notification = |text: String| Notification {
        method: "notifications/message".into(),
        params: Some(Json::of(&[text]).unwrap()),
    };
    let refused = remote.peer.notify(notification("x".repeat(LIMIT))).await;
    assert!(matches!(refused, Err(PeerError::NotSent { .. })), "{refused:?}");
    assert_eq!(remote.peer.notify(notification("short".to_owned())).await, Ok(()));
    assert_eq!(remote.end().await.len(), 1);
}
