use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use mcp_core::{Outbound, Revision, Ticket, Transport, TransportError};
use mcp_transport::http::client::HttpTransport;

use super::{
    assert_silent, client, client_with, labelled, next, notification, request, server::Server,
};

/// Everything received after a request to a server that sends this response and hangs up.
async fn received(response: &'static str, count: usize) -> Vec<String> {
    let server = Server::start(move |_, peer| {
        Box::pin(async move {
            peer.raw(response).await;
            peer.hang_up();
        })
    })
    .await;
    let client = client_with(&server, |settings| settings.max_message = 1000);
    client.send(request(1, "{}")).await.unwrap();
    let mut found = Vec::new();
    for _ in 0..count {
        found.push(next(&client).await);
    }
    assert_silent(&client).await;
    found
}

#[tokio::test]
async fn a_json_body_is_the_answer() {
    let server =
        Server::start(|request, peer| Box::pin(async move { peer.json(&request.body).await }))
            .await;
    let client = client(&server);
    for ticket in 1..=3 {
        client.send(request(ticket, r#"{"a":1}"#)).await.unwrap();
        assert_eq!(next(&client).await, format!(r#"{ticket}: {{"a":1}}"#));
        assert_eq!(next(&client).await, format!("{ticket} over"));
    }
    let requests = server.requests();
    assert_eq!(server.connections(), 1, "the connection is used again");
    assert_eq!(requests[0].method, "POST");
    assert_eq!(requests[0].target, "/mcp?key=secret");
    assert_eq!(requests[0].header("accept"), Some("application/json, text/event-stream"));
    assert_eq!(requests[0].header("content-type"), Some("application/json"));
    assert_eq!(requests[0].header("accept-encoding"), None);
}

#[tokio::test]
async fn a_settled_exchange_is_not_reported_over() {
    let server = Server::start(|_, peer| Box::pin(async move { peer.json("{}").await })).await;
    let client = client(&server);
    client.send(request(1, "{}")).await.unwrap();
    assert_eq!(next(&client).await, "1: {}");
    client.finish_exchange(Ticket(1));
    assert_silent(&client).await;
    client.send(request(1, "{}")).await.unwrap();
    assert_eq!(next(&client).await, "1: {}");
}

#[tokio::test]
async fn a_request_that_is_only_accepted_is_over_without_answer() {
    let accepted = "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(received(accepted, 1).await, ["1 over"]);
    assert_eq!(received("HTTP/1.1 204 No Content\r\n\r\n", 1).await, ["1 over"]);
}

#[tokio::test]
async fn a_json_body_with_an_error_status_is_passed_up() {
    let response = "HTTP/1.1 400 Bad Request\r\ncontent-type: Application/JSON;charset=utf-8\r\n\
        content-length: 11\r\n\r\n{\"error\":1}";
    assert_eq!(
        received(response, 2).await,
        [r#"1 refused: {"error":1}"#, r#"1 over: refused with HTTP status 400: {"error":1}"#]
    );
}

#[tokio::test]
async fn a_page_is_shown_and_is_no_message() {
    let response =
        "HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\n\r\n<title>Bad</title>\n";
    let over = "1 over: refused with HTTP status 502: a web page, \"Bad\"";
    assert_eq!(received(response, 1).await, [over]);
    let response = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<h1>Hello</h1>";
    let over = "1 over: the framing is broken: status 200 with content type `text/html`";
    assert_eq!(received(response, 1).await, [over]);
}

#[tokio::test]
async fn a_long_page_is_cut() {
    let server = Server::start(|_, peer| {
        Box::pin(async move { peer.respond("500 Oops", &[], &"ä".repeat(100_000)).await })
    })
    .await;
    let client = client(&server);
    client.send(request(1, "{}")).await.unwrap();
    let over = format!("1 over: refused with HTTP status 500: {}", "ä".repeat(500));
    assert_eq!(next(&client).await, over);
}

#[tokio::test]
async fn a_redirect_is_reported_and_not_followed() {
    let response = "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/evil\r\n\
        content-length: 0\r\n\r\n";
    let over = "1 over: refused with HTTP status 307: \
        redirects to http://127.0.0.1:1/evil, which is not followed";
    assert_eq!(received(response, 1).await, [over]);
}

#[tokio::test]
async fn half_a_body_is_no_answer() {
    let response =
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{\"a\":";
    let found = received(response, 1).await;
    assert!(found[0].starts_with("1 over: the connection is lost"), "{found:?}");
    let found = received("HTTP/1.1 200 OK\r\ncontent-ty", 1).await;
    assert!(found[0].starts_with("1 over: the connection is lost"), "{found:?}");
    let found = received("220 smtp.example.com ESMTP\r\n", 1).await;
    assert!(found[0].starts_with("1 over: the connection is lost"), "{found:?}");
    let found = received("", 1).await;
    assert!(found[0].starts_with("1 over: the connection is lost"), "{found:?}");
}

#[tokio::test]
async fn an_empty_body_is_no_answer() {
    let response = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 0\r\n\r\n";
    let over = "1 over: the framing is broken: the response has no body";
    assert_eq!(received(response, 1).await, [over]);
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_not_read() {
    let response =
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999999999999\r\n\r\n";
    let over = "1 over: a message of 999999999999 bytes exceeds the limit of 1000";
    assert_eq!(received(response, 2).await, ["skipped 999999999999", over]);

    let server = Server::start(|_, peer| {
        Box::pin(async move {
            peer.raw("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n").await;
            peer.raw("transfer-encoding: chunked\r\n\r\n").await;
            while !peer.is_gone() {
                peer.chunk(&"x".repeat(400)).await;
            }
        })
    })
    .await;
    let client = client_with(&server, |settings| settings.max_message = 1000);
    client.send(request(1, "{}")).await.unwrap();
    assert!(next(&client).await.starts_with("skipped "));
    assert!(next(&client).await.ends_with("exceeds the limit of 1000"));
}

#[tokio::test]
async fn a_head_beyond_the_limit_is_not_kept() {
    let server = Server::start(|_, peer| {
        Box::pin(async move {
            peer.raw("HTTP/1.1 200 OK\r\n").await;
            while !peer.is_gone() {
                peer.raw(&format!("x-a: {}\r\n", "x".repeat(5000))).await;
            }
        })
    })
    .await;
    let client = client(&server);
    client.send(request(1, "{}")).await.unwrap();
    assert!(next(&client).await.starts_with("1 over: the connection is lost"));
}

#[tokio::test]
async fn a_compressed_body_is_not_taken_for_a_message() {
    let response = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n\
        content-length: 3\r\n\r\nabc";
    let over = "1 over: the framing is broken: \
        the response has the content coding `gzip`, which was not requested";
    assert_eq!(received(response, 1).await, [over]);
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_an_error_of_the_exchange() {
    // Bound, so that nothing else gets the port, but not listening.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}/", socket.local_addr().unwrap());
    let client = HttpTransport::new(&url, super::HttpSettings::default()).unwrap();
    client.send(request(1, "{}")).await.unwrap();
    assert!(next(&client).await.starts_with("1 over: could not connect: "));
    let error = client.send(notification("{}")).await.unwrap_err();
    assert!(matches!(error, TransportError::Connect(_)), "{error}");
}

#[tokio::test]
async fn sending_a_notification_completes_when_the_server_has_accepted_it() {
    let accepted = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&accepted);
    let server = Server::start(move |_, peer| {
        let set = Arc::clone(&set);
        Box::pin(async move {
            tokio::time::sleep(std::time::Duration::from_millis(30)).await;
            set.store(true, Ordering::SeqCst);
            peer.accept().await;
        })
    })
    .await;
    let client = client(&server);
    client.send(notification("{}")).await.unwrap();
    assert!(accepted.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_notification_that_is_refused_is_an_error_of_sending() {
    let server = Server::start(|_, peer| {
        Box::pin(async move { peer.respond("403 Forbidden", &[], "no").await })
    })
    .await;
    let client = client(&server);
    let error = client.send(notification("{}")).await.unwrap_err();
    assert_eq!(error, TransportError::Status { status: 403, body: "no".to_owned() });
}

#[tokio::test]
async fn a_notification_that_is_never_accepted_does_not_wait_for_ever() {
    let server = Server::start(|_, peer| Box::pin(async move { peer.gone().await })).await;
    let client = client_with(&server, |settings| {
        settings.accept_timeout = std::time::Duration::from_millis(50);
    });
    let error = client.send(notification("{}")).await.unwrap_err();
    assert_eq!(error, TransportError::Stalled { seconds: 0 });
}

#[tokio::test]
async fn a_request_that_is_never_answered_ends_at_the_limit() {
    let server = Server::start(|_, peer| Box::pin(async move { peer.gone().await })).await;
    let client = client_with(&server, |settings| {
        settings.answer_timeout = Some(std::time::Duration::from_millis(50));
    });
    client.send(request(1, "{}")).await.unwrap();
    let ended = next(&client).await;
    assert!(ended.contains("the peer has not begun to answer within 0 seconds"), "{ended}");
}

#[tokio::test]
async fn requests_need_a_ticket_of_their_own() {
    let server = Server::start(|_, peer| Box::pin(async move { peer.gone().await })).await;
    let client = client(&server);
    let without = Outbound { ticket: None, ..request(0, "{}") };
    assert!(matches!(client.send(without).await, Err(TransportError::Framing(_))));
    client.send(request(1, "{}")).await.unwrap();
    assert!(matches!(client.send(request(1, "{}")).await, Err(TransportError::Framing(_))));
}

#[tokio::test]
async fn a_modern_404_says_nothing_about_sessions() {
    let server = Server::start(|_, peer| {
        Box::pin(async move {
            let headers = ["content-type: application/json", "mcp-session-id: stray"];
            peer.respond("404 Not Found", &headers, "{}").await;
        })
    })
    .await;
    let client = client(&server);
    for ticket in 1..3 {
        client.send(labelled(ticket, Revision::V2026_07_28, "tools/call")).await.unwrap();
        assert_eq!(next(&client).await, format!("{ticket} refused: {{}}"));
        assert_eq!(
            next(&client).await,
            format!("{ticket} over: refused with HTTP status 404: {{}}")
        );
    }
    assert!(server.requests().iter().all(|request| request.header("mcp-session-id").is_none()));
}

#[tokio::test]
async fn a_message_that_is_too_long_is_not_sent() {
    let server = Server::start(|_, peer| Box::pin(async move { peer.json("{}").await })).await;
    let client = client_with(&server, |settings| settings.max_message = 10);
    let refused = client.send(request(1, "[1,2,3,4,5]")).await;
    assert_eq!(refused, Err(TransportError::TooLong { length: 11, limit: 10 }));
    assert_eq!(server.requests().len(), 0);
    client.send(request(2, "[1,2,3,4]")).await.unwrap();
    assert_eq!(next(&client).await, "2: {}");
}
