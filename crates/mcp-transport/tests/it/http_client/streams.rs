use std::time::Duration;

use mcp_core::{Revision, Ticket, Transport};
use tokio::sync::mpsc;

use super::{
    assert_silent, client, client_with, labelled, next, notification, patiently, request,
    server::Server,
};

#[tokio::test]
async fn every_event_with_data_is_a_message() {
    let server = Server::start(|_, peer| {
        Box::pin(async move {
            peer.stream().await;
            peer.chunk("id: 1\ndata:\n\n: ping\n\nevent: message\ndata: {\"a\":\ndata: 1}\n\n")
                .await;
            peer.chunk("data: {\"b\":2}\r\n\r\ndata: half").await;
            peer.end().await;
        })
    })
    .await;
    let client = client(&server);
    client.send(labelled(7, Revision::V2026_07_28, "tools/list")).await.unwrap();
    assert_eq!(next(&client).await, "7: {\"a\":\n1}");
    assert_eq!(next(&client).await, r#"7: {"b":2}"#);
    assert_eq!(
        next(&client).await,
        "7 over: the connection is lost: the stream ended without an answer"
    );
}

#[tokio::test]
async fn slow_bytes_make_whole_messages() {
    let server = Server::start(|_, peer| {
        Box::pin(async move {
            peer.stream().await;
            for byte in "data: {}\n\n".chars() {
                peer.chunk(&byte.to_string()).await;
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            peer.end().await;
        })
    })
    .await;
    let client = client(&server);
    client.send(request(1, "{}")).await.unwrap();
    assert_eq!(next(&client).await, "1: {}");
}

/// Sends a priming event and closes the stream; answers the GET.
async fn closing_server(retry: &'static str) -> Server {
    Server::start(move |request, peer| {
        Box::pin(async move {
            peer.stream().await;
            if request.method == "POST" {
                peer.chunk(&format!("id: e1\n{retry}data:\n\n")).await;
            } else {
                peer.chunk("id: e2\ndata: {\"result\":1}\n\n").await;
            }
            peer.end().await;
        })
    })
    .await
}

#[tokio::test]
async fn a_stream_closed_before_the_answer_is_resumed_after_the_time_the_server_names() {
    let server = closing_server("retry: 500\n").await;
    let client = client(&server);
    client.send(request(1, "{}")).await.unwrap();
    assert_eq!(next(&client).await, r#"1: {"result":1}"#);
    client.finish_exchange(Ticket(1));
    assert_silent(&client).await;
    let requests = server.requests();
    assert_eq!(requests.len(), 2, "it is not resumed once more");
    assert_eq!(requests[1].method, "GET");
    assert_eq!(requests[1].header("last-event-id"), Some("e1"));
    assert_eq!(requests[1].header("accept"), Some("text/event-stream"));
    assert!(requests[1].at - requests[0].at >= Duration::from_millis(500));
}

#[tokio::test]
async fn without_a_named_time_the_default_is_waited() {
    let server = closing_server("").await;
    let client = client_with(&server, |settings| settings.retry = Duration::from_millis(30));
    client.send(request(1, "{}")).await.unwrap();
    assert_eq!(next(&client).await, r#"1: {"result":1}"#);
    let requests = server.requests();
    assert!(requests[1].at - requests[0].at >= Duration::from_millis(30));
}

#[tokio::test]
async fn a_time_nobody_would_wait_ends_the_exchange() {
    let server = closing_server("retry: 99999999999999\n").await;
    let client = client(&server);
    client.send(request(1, "{}")).await.unwrap();
    assert!(next(&client).await.starts_with("1 over: the connection is lost"));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_modern_stream_is_not_resumed() {
    let server = closing_server("retry: 1\n").await;
    let client = client(&server);
    client.send(labelled(1, Revision::V2026_07_28, "tools/call")).await.unwrap();
    assert!(next(&client).await.starts_with("1 over: the connection is lost"));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn the_answer_before_the_end_keeps_the_stream_from_being_resumed() {
    let server = Server::start(|_, peer| {
        Box::pin(async move {
            peer.stream().await;
            peer.chunk("id: 1\nretry: 0\ndata: {}\n\n").await;
            peer.end().await;
        })
    })
    .await;
    let client = client(&server);
    for ticket in 1..=20 {
        client.send(request(ticket, "{}")).await.unwrap();
        // The stream ends long before the message is read.
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert_eq!(next(&client).await, format!("{ticket}: {{}}"));
        client.finish_exchange(Ticket(ticket));
    }
    assert_silent(&client).await;
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.method == "POST"), "{requests:?}");
    assert!(server.connections() < 20, "connections are used again");
}

#[tokio::test]
async fn a_server_that_dies_within_an_event_is_asked_for_it_again() {
    let server = Server::start(|request, peer| {
        Box::pin(async move {
            peer.stream().await;
            if request.method == "POST" {
                peer.chunk("id: 1\nretry: 1\ndata: {\"n\":1}\n\nid: 2\ndata: {\"n\":").await;
                peer.hang_up();
            } else {
                assert_eq!(request.header("last-event-id"), Some("1"));
                peer.chunk("id: 2\ndata: {\"n\":2}\n\n").await;
                peer.gone().await;
            }
        })
    })
    .await;
    let client = client(&server);
    client.send(request(1, "{}")).await.unwrap();
    assert_eq!(next(&client).await, r#"1: {"n":1}"#);
    assert_eq!(next(&client).await, r#"1: {"n":2}"#);
}

#[tokio::test]
async fn a_server_that_dies_without_having_named_an_event_is_lost() {
    let server = Server::start(|_, peer| {
        Box::pin(async move {
            peer.stream().await;
            peer.chunk("data: {\"n\":1}\n\ndata: {\"n\":").await;
            peer.hang_up();
        })
    })
    .await;
    let client = client(&server);
    client.send(request(1, "{}")).await.unwrap();
    assert_eq!(next(&client).await, r#"1: {"n":1}"#);
    assert!(next(&client).await.starts_with("1 over: the connection is lost: "));
}

#[tokio::test]
async fn resuming_is_given_up_when_nothing_comes_of_it() {
    let server = Server::start(|request, peer| {
        Box::pin(async move {
            if request.method == "GET" {
                return peer.respond("503 Busy", &[], "").await;
            }
            peer.stream().await;
            peer.chunk("id: 1\nretry: 1\ndata:\n\n").await;
            peer.end().await;
        })
    })
    .await;
    let client = client_with(&server, |settings| settings.resume_attempts = 3);
    client.send(request(1, "{}")).await.unwrap();
    let over = next(&client).await;
    assert!(over.starts_with("1 over: the connection is lost") && over.contains("503"), "{over}");
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_server_that_cannot_resume_is_asked_once() {
    let server = Server::start(|request, peer| {
        Box::pin(async move {
            if request.method == "GET" {
                return peer.respond("405 Method Not Allowed", &[], "no").await;
            }
            peer.stream().await;
            peer.chunk("id: 1\nretry: 1\ndata:\n\n").await;
            peer.end().await;
        })
    })
    .await;
    let client = client(&server);
    client.send(request(1, "{}")).await.unwrap();
    let over = next(&client).await;
    assert!(over.contains("cannot be resumed: status 405"), "{over}");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_server_may_be_polled_as_long_as_it_says_something() {
    let server = Server::start(|request, peer| {
        Box::pin(async move {
            peer.stream().await;
            let last: u32 = request.header("last-event-id").map_or(0, |id| id.parse().unwrap());
            let data = if last == 20 { "{}" } else { "" };
            peer.chunk(&format!("id: {}\nretry: 1\ndata: {data}\n\n", last + 1)).await;
            peer.end().await;
        })
    })
    .await;
    let client = client_with(&server, |settings| settings.resume_attempts = 1);
    client.send(request(1, "{}")).await.unwrap();
    assert_eq!(next(&client).await, "1: {}");
}

#[tokio::test]
async fn a_huge_event_is_skipped_and_the_next_one_read() {
    let server = Server::start(|_, peer| {
        Box::pin(async move {
            peer.stream().await;
            peer.chunk("id: 1\ndata: ").await;
            for _ in 0..1000 {
                peer.chunk(&"x".repeat(1000)).await;
            }
            peer.chunk("\n\ndata: {}\n\n").await;
            peer.end().await;
        })
    })
    .await;
    let client = client_with(&server, |settings| settings.max_message = 5000);
    client.send(request(1, "{}")).await.unwrap();
    assert_eq!(next(&client).await, "skipped 1000006");
    assert_eq!(next(&client).await, "1: {}");
    assert_eq!(next(&client).await, "1 over: a message of 1000006 bytes exceeds the limit of 5000");
    assert_eq!(server.requests().len(), 1, "what was skipped once would be skipped again");
}

/// Never answers, and reports when the client has hung up.
async fn silent_server(first: &'static str) -> (Server, mpsc::UnboundedReceiver<()>) {
    let (gone, hung_up) = mpsc::unbounded_channel();
    let server = Server::start(move |_, peer| {
        let gone = gone.clone();
        Box::pin(async move {
            peer.raw(first).await;
            peer.gone().await;
            let _ = gone.send(());
        })
    })
    .await;
    (server, hung_up)
}

#[tokio::test]
async fn abandoning_a_request_hangs_up() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    for (first, messages) in [
        ("", 0),
        (head, 0),
        ("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {}\n\n", 1),
        ("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{", 0),
    ] {
        let (server, mut hung_up) = silent_server(first).await;
        let client = client(&server);
        client.send(labelled(1, Revision::V2026_07_28, "tools/call")).await.unwrap();
        for _ in 0..messages {
            assert_eq!(next(&client).await, "1: {}");
        }
        server.after(1).await;
        client.finish_exchange(Ticket(1));
        patiently(hung_up.recv()).await.unwrap();
        assert_silent(&client).await;
    }
}

#[tokio::test]
async fn a_request_abandoned_while_it_waits_to_be_resumed_is_not_resumed() {
    let server = closing_server("retry: 100000\n").await;
    let client = client_with(&server, |settings| settings.max_exchanges = 1);
    client.send(request(1, "{}")).await.unwrap();
    // Lets the client see the end of the stream, which starts the wait.
    assert_silent(&client).await;
    client.finish_exchange(Ticket(1));
    // The only slot is free again, so the exchange is gone.
    patiently(client.send(request(2, "{}"))).await.unwrap();
    let requests = server.after(2).await;
    assert!(requests.iter().all(|request| request.method == "POST"), "{requests:?}");
}

#[tokio::test]
async fn dropping_the_transport_hangs_up() {
    let (server, mut hung_up) = silent_server("").await;
    let client = client(&server);
    client.send(request(1, "{}")).await.unwrap();
    server.after(1).await;
    drop(client);
    patiently(hung_up.recv()).await.unwrap();
}

#[tokio::test]
async fn closing_ends_everything() {
    let (server, mut hung_up) = silent_server("").await;
    let client = client(&server);
    client.send(request(1, "{}")).await.unwrap();
    server.after(1).await;
    let (received, ()) = tokio::join!(next(&client), client.close());
    assert_eq!(received, "end");
    patiently(hung_up.recv()).await.unwrap();
    assert_eq!(next(&client).await, "end");
    for outbound in [request(2, "{}"), notification("{}")] {
        let error = client.send(outbound).await.unwrap_err();
        assert_eq!(error.to_string(), "the conversation has ended");
    }
    assert_eq!(server.requests().len(), 1, "there is no session to end");
}

#[tokio::test]
async fn a_flood_is_not_read_faster_than_it_is_received() {
    let server = Server::start(|_, peer| {
        Box::pin(async move {
            peer.stream().await;
            let event = format!("data: {}\n\n", "x".repeat(100_000));
            for _ in 0..200 {
                peer.chunk(&event).await;
            }
            peer.chunk("data: last\n\n").await;
            peer.end().await;
        })
    })
    .await;
    let client = client_with(&server, |settings| settings.inbox = 2);
    client.send(labelled(1, Revision::V2026_07_28, "tools/call")).await.unwrap();
    for _ in 0..200 {
        assert_eq!(next(&client).await.len(), 100_003);
    }
    assert_eq!(next(&client).await, "1: last");
}
