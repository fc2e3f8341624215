//! Messages that are too long to be kept: who waits for them, or for an answer to them.

use mcp_core::{
    Edges, Inbound, Json, Notification, Peer as _, PeerError, Revision, Side, Ticket,
    TransportError,
};

use super::{Far, LIMIT};
use crate::OpenGate;

const TOO_LONG: TransportError = TransportError::TooLong { length: 5000, limit: 1000 };

fn far(side: Side) -> Far {
    Far::new(side, Revision::LATEST_LEGACY, Box::new(OpenGate))
}

impl Far {
    /// Says `text`, with something long in the place of `…`, so that it is skipped.
    fn say_too_much(&self, ticket: Option<u64>, text: &str) {
        let text = text.replace('…', &"x".repeat(5000));
        let (ticket, edges) = (ticket.map(Ticket), Edges::of(text.as_bytes()));
        self.incoming.send(Inbound::Skipped { ticket, length: 5000, limit: 1000, edges }).unwrap();
    }
}

#[tokio::test]
async fn an_answer_that_is_too_long_fails_its_call_alone() {
    for side in [Side::Client, Side::Server] {
        for answer in [
            r#"{"jsonrpc":"2.0","id":2,"result":{"text":"…"}}"#,
            r#"{"result":{"text":"…"},"jsonrpc":"2.0","id":2}"#,
        ] {
            let mut far = far(side);
            let (first, second) = (far.ask().await, far.ask().await);
            far.say_too_much(None, answer);
            assert_eq!(second.await.unwrap(), Err(PeerError::Transport(TOO_LONG)));
            far.say(None, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
            assert_eq!(first.await.unwrap(), Ok(Json::empty_object()));
            assert_eq!(far.end().await, [""; 0], "nothing is said to an answer");
        }
    }
}

#[tokio::test]
async fn an_answer_that_does_not_tell_to_what_is_one_to_the_only_call() {
    let unclear = r#"{"result":{"text":"…"},"id":1,"_meta":{"text":"…"}}"#;
    let mut far = far(Side::Client);
    let only = far.ask().await;
    far.say_too_much(None, unclear);
    assert_eq!(only.await.unwrap(), Err(PeerError::Transport(TOO_LONG)));

    let (second, third) = (far.ask().await, far.ask().await);
    far.say_too_much(None, unclear);
    for (call, id) in [(second, 2), (third, 3)] {
        far.say(None, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        assert_eq!(call.await.unwrap(), Ok(Json::empty_object()), "it goes on waiting");
    }
}

#[tokio::test]
async fn the_exchange_of_an_answer_tells_to_what_it_is_one() {
    let mut far = far(Side::Client);
    let (first, second) = (far.ask().await, far.ask().await);
    far.say_too_much(Some(2), r#"{"result":{"text":"…"},"id":1,"_meta":{"text":"…"}}"#);
    assert_eq!(second.await.unwrap(), Err(PeerError::Transport(TOO_LONG)));
    assert_eq!(*far.settled.lock().unwrap(), [Ticket(2)]);
    far.say(Some(1), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(first.await.unwrap(), Ok(Json::empty_object()));
}

#[tokio::test]
async fn what_is_no_answer_fails_nobody() {
    for text in [
        "DEBUG …",
        "[…]",
        r#"{"level":"debug","text":"…"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"…"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"data":"…"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{"data":"…"}}"#,
    ] {
        let mut far = far(Side::Client);
        let only = far.ask().await;
        far.say_too_much(None, text);
        far.say(None, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        assert_eq!(only.await.unwrap(), Ok(Json::empty_object()), "{text}");
    }
}

#[tokio::test]
async fn a_request_that_is_too_long_is_answered_under_its_id_if_that_can_be_read() {
    for (text, id) in [
        (r#"{"jsonrpc":"2.0","id":7,"method":"a","params":["…"]}"#, r#""id":7,"#),
        (r#"{"method":"a","params":["…"],"jsonrpc":"2.0","id":"x"}"#, r#""id":"x","#),
        (r#"{"method":"a","params":["…"],"id":7,"b":["…"]}"#, ""),
        ("…", ""),
    ] {
        let mut far = far(Side::Server);
        far.say_too_much(None, text);
        let said = far.hear().await;
        let expected = format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32600,"#);
        assert!(said.starts_with(&expected), "{said}");
        assert!(said.contains("5000 bytes exceeds the limit of 1000"), "{said}");
    }
}

/// In a conversation whose transport has no limit.
#[tokio::test]
async fn a_message_is_too_long_whatever_it_travels_over() {
    let mut far = far(Side::Client);
    let call = far.ask().await;
    let long = "x".repeat(17 << 20);
    far.say(None, &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"text":"{long}"}}}}"#));
    let failed = call.await.unwrap();
    assert!(matches!(failed, Err(PeerError::Transport(TransportError::TooLong { .. }))));
}

#[tokio::test]
async fn a_notification_that_is_too_long_is_not_sent_and_others_are() {
    let far = far(Side::Server);
    let told = |text: String| Notification {
        method: "notifications/message".into(),
        params: Some(Json::of(&[text]).unwrap()),
    };
    let refused = far.peer.notify(told("x".repeat(LIMIT))).await;
    assert!(matches!(refused, Err(PeerError::NotSent { .. })), "{refused:?}");
    assert_eq!(far.peer.notify(told("short".to_owned())).await, Ok(()));
    assert_eq!(far.end().await.len(), 1);
}
