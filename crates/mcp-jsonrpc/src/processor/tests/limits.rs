//! Requests of a peer are limited by the memory they hold, and refused ones get an error.

use super::*;

#[tokio::test]
async fn a_message_with_two_outcomes_is_not_answered() {
    for message in [
        r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":""}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"x","result":{},"error":{"code":1,"message":""}}"#,
        r#"{"jsonrpc":"2.0","id":"7","result":{},"error":{}}"#,
    ] {
        for gate in [Box::new(OpenGate) as Box<dyn Gate>, Box::new(RejectAll(Side::Client))] {
            let remote = Remote::new(Side::Server, Revision::V2025_03_26, gate);
            remote.send(None, message);
            remote.send(None, &format!("[{message}]"));
            assert_eq!(remote.end().await, [""; 0], "{message}");
        }
    }
}

#[tokio::test]
async fn a_batch_beyond_the_limit_is_rejected_as_a_whole() {
    let limit = ProcessorSettings::new(Arc::new(TestClock)).max_batch;
    for (entries, answers) in [(limit - 1, limit - 1), (limit, limit), (limit + 1, 1)] {
        let remote = Remote::new(Side::Server, Revision::V2025_03_26, Box::new(OpenGate));
        // Each is answered with an error that is short, and all together are too long to be sent.
        remote.send(None, &format!("[{}]", vec!["0"; entries].join(",")));
        let sent = remote.end().await.concat();
        let answered = sent.matches("\"error\":").count();
        // What is too long for the wire of these tests is not sent at all.
        assert!(answered == answers || answers > 1 && answered == 0, "{entries}: {answered}");
        assert_eq!(sent.contains("more than the limit of 1000"), answers == 1, "{sent}");
    }
}

#[tokio::test]
async fn our_requests_fail_if_they_are_answered_in_a_batch_beyond_the_limit() {
    let mut remote = Remote::new(Side::Client, Revision::V2025_03_26, Box::new(OpenGate));
    let asked = remote.ask().await;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    remote.send(None, &format!("[{}{answer}]", "0,".repeat(1000)));
    assert!(matches!(asked.await.unwrap(), Err(PeerError::InvalidResponse { .. })));
}

#[tokio::test]
async fn ids_count_as_memory_of_what_is_in_work() {
    let mut remote = Remote::with_settings(
        Side::Server,
        Revision::LATEST_LEGACY,
        Box::new(OpenGate),
        |settings| settings.max_in_flight_bytes = 3 * 700 + 2 * "wait".len(),
    );
    for (name, id) in [("first", "a".repeat(400)), ("second", "b".repeat(300))] {
        remote.send(None, &format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"wait"}}"#));
        assert!(remote.outgoing.try_recv().is_err(), "{name}");
    }
    remote.send(None, r#"{"jsonrpc":"2.0","id":"c","method":"wait"}"#);
    let busy = remote.receive().await;
    assert!(busy.contains(r#""id":"c""#) && busy.contains("error"), "{busy}");
}
