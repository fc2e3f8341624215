use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use mcp_core::{Revision, Transport, TransportError};

use super::{
    client, client_with, labelled, next, notification, patiently, request,
    server::{Peer, Request, Server},
};

const REVISION: Revision = Revision::V2025_11_25;

/// The handshake, as a driver does it.
async fn open(client: &impl Transport) {
    client.send(labelled(1, REVISION, "initialize")).await.unwrap();
    patiently(client.receive()).await.unwrap();
    client.finish_exchange(mcp_core::Ticket(1));
    client.established(REVISION);
    client.send(notification("initialized")).await.unwrap();
}

/// Opens sessions, accepts notifications, answers requests.
async fn serve_post(request: &Request, peer: &mut Peer) {
    match request.body.as_str() {
        "initialized" => peer.accept().await,
        _ if request.header("mcp-session-id").is_none() => {
            let headers = ["content-type: application/json", "Mcp-Session-Id: abc"];
            peer.respond("200 OK", &headers, "{}").await;
        }
        body => peer.json(body).await,
    }
}

#[tokio::test]
async fn session_and_revision_follow_the_handshake() {
    let server = Server::start(|request, peer| {
        Box::pin(async move {
            match request.method.as_str() {
                "POST" => serve_post(&request, peer).await,
                "GET" => peer.respond("405 Method Not Allowed", &[], "<p>no</p>").await,
                _ => peer.respond("200 OK", &[], "").await,
            }
        })
    })
    .await;
    let client = client(&server);
    open(&client).await;
    server.after(3).await;
    client.send(request(2, "{}")).await.unwrap();
    assert_eq!(next(&client).await, "2: {}");
    client.close().await;

    let requests = server.requests();
    let methods: Vec<_> = requests.iter().map(|request| request.method.as_str()).collect();
    assert_eq!(methods, ["POST", "POST", "GET", "POST", "DELETE"]);
    assert_eq!(requests[0].header("mcp-session-id"), None);
    assert_eq!(requests[0].header("mcp-protocol-version"), None);
    for request in &requests[1..] {
        assert_eq!(request.header("mcp-session-id"), Some("abc"));
        assert_eq!(request.header("mcp-protocol-version"), Some("2025-11-25"));
    }
    assert_eq!(requests[2].header("accept"), Some("text/event-stream"));
    assert_eq!(requests[2].header("last-event-id"), None);
    assert!(requests.iter().all(|request| request.header("mcp-method").is_none()));
}

#[tokio::test]
async fn the_servers_own_stream_is_opened_again_where_it_ended() {
    let rounds = AtomicUsize::new(0);
    let server = Server::start(move |request, peer| {
        let round = match request.method.as_str() {
            "GET" => rounds.fetch_add(1, Ordering::SeqCst),
            _ => usize::MAX,
        };
        Box::pin(async move {
            match round {
                0 => {
                    peer.stream().await;
                    peer.chunk("id: g1\nretry: 20\ndata: {\"n\":1}\n\n").await;
                    peer.end().await;
                }
                1 => peer.respond("503 Busy", &[], "").await,
                2 => peer.hang_up(),
                3 => {
                    peer.stream().await;
                    peer.chunk("data: {\"n\":2}\n\n").await;
                    peer.gone().await;
                }
                _ => serve_post(&request, peer).await,
            }
        })
    })
    .await;
    let client = client(&server);
    open(&client).await;
    assert_eq!(next(&client).await, r#"-: {"n":1}"#);
    assert_eq!(next(&client).await, r#"-: {"n":2}"#);
    let requests = server.requests();
    let gets: Vec<_> = requests.iter().filter(|request| request.method == "GET").collect();
    let ids: Vec<_> = gets.iter().map(|get| get.header("last-event-id")).collect();
    assert_eq!(ids, [None, Some("g1"), Some("g1"), Some("g1")]);
    let waits: Vec<_> = gets.windows(2).map(|pair| pair[1].at - pair[0].at).collect();
    assert!(waits.iter().all(|wait| *wait >= Duration::from_millis(20)), "{waits:?}");
}

#[tokio::test]
async fn no_stream_is_opened_where_none_is_wanted() {
    for (listen, revision) in [(false, REVISION), (true, Revision::V2026_07_28)] {
        let server = Server::start(|request, peer| {
            Box::pin(async move { serve_post(&request, peer).await })
        })
        .await;
        let client = client_with(&server, |settings| settings.listen = listen);
        client.established(revision);
        client.send(notification("initialized")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_session_that_is_gone_is_used_no_more() {
    let server = Server::start(|request, peer| {
        Box::pin(async move {
            match (request.method.as_str(), request.body.as_str()) {
                ("POST", "late") => {
                    peer.respond("404 Not Found", &["content-type: text/plain"], "who?").await;
                }
                ("POST", _) => serve_post(&request, peer).await,
                _ => peer.respond("404 Not Found", &[], "").await,
            }
        })
    })
    .await;
    let client = client(&server);
    open(&client).await;
    // That the server has no stream does not mean that it has no session.
    server.after(3).await;
    client.send(request(2, "{}")).await.unwrap();
    assert_eq!(next(&client).await, "2: {}");
    assert_eq!(next(&client).await, "2 over");

    client.send(request(3, "late")).await.unwrap();
    assert_eq!(next(&client).await, "3 over: the server no longer knows this session");
    let error = client.send(request(4, "{}")).await.unwrap_err();
    assert_eq!(error, TransportError::SessionExpired);
    let count = server.requests().len();
    client.close().await;
    assert_eq!(server.requests().len(), count, "there is no session to end");

    let renewed = client.renewed();
    open(&renewed).await;
    let error = renewed.send(notification("late")).await.unwrap_err();
    assert_eq!(error, TransportError::SessionExpired);
    let requests = server.requests();
    let opening = requests.iter().skip(count).find(|request| request.method == "POST").unwrap();
    assert_eq!(opening.header("mcp-session-id"), None);
}

#[tokio::test]
async fn a_server_that_does_not_end_the_session_is_not_waited_for() {
    let server = Server::start(|request, peer| {
        Box::pin(async move {
            match request.method.as_str() {
                "POST" => serve_post(&request, peer).await,
                _ => peer.gone().await,
            }
        })
    })
    .await;
    let client = client_with(&server, |settings| {
        settings.close_timeout = Duration::from_millis(20);
    });
    open(&client).await;
    patiently(client.close()).await;
    assert_eq!(next(&client).await, "end");
}

#[tokio::test]
async fn a_later_session_id_does_not_count() {
    let server = Server::start(|request, peer| {
        Box::pin(async move {
            match request.body.as_str() {
                "initialized" | "" => serve_post(&request, peer).await,
                body => {
                    let id = if body == "first" { "one" } else { "two" };
                    let header = format!("mcp-session-id: {id}");
                    let headers = ["content-type: application/json", header.as_str()];
                    peer.respond("200 OK", &headers, "{}").await;
                }
            }
        })
    })
    .await;
    let client = client_with(&server, |settings| settings.listen = false);
    client.send(request(1, "first")).await.unwrap();
    assert_eq!(next(&client).await, "1: {}");
    client.established(REVISION);
    client.send(notification("initialized")).await.unwrap();
    for ticket in 2..5 {
        client.send(request(ticket, "next")).await.unwrap();
    }
    let requests = server.after(5).await;
    assert!(requests[1..].iter().all(|request| request.header("mcp-session-id") == Some("one")));
}

#[tokio::test]
async fn a_second_handshake_opens_its_own_session() {
    let server = Server::start(|request, peer| {
        Box::pin(async move {
            let header = format!("mcp-session-id: {}", request.body);
            let headers = ["content-type: application/json", header.as_str()];
            peer.respond("200 OK", &headers, "{}").await;
        })
    })
    .await;
    let client = client_with(&server, |settings| settings.listen = false);
    for (ticket, id) in [(1, "refused"), (2, "agreed")] {
        let call = labelled(ticket, REVISION, "initialize");
        client.send(mcp_core::Outbound { bytes: id.into(), ..call }).await.unwrap();
        assert_eq!(next(&client).await, format!("{ticket}: {{}}"));
        client.finish_exchange(mcp_core::Ticket(ticket));
    }
    client.established(REVISION);
    client.send(notification("initialized")).await.unwrap();
    let requests = server.requests();
    let ids: Vec<_> = requests.iter().map(|request| request.header("mcp-session-id")).collect();
    assert_eq!(ids, [None, None, Some("agreed")]);
}

#[tokio::test]
async fn a_stream_that_is_gone_with_its_session_tells_so() {
    let rounds = AtomicUsize::new(0);
    let server = Server::start(move |request, peer| {
        let first = request.method == "GET" && rounds.fetch_add(1, Ordering::SeqCst) == 0;
        Box::pin(async move {
            match request.method.as_str() {
                "POST" => serve_post(&request, peer).await,
                "GET" if first => {
                    peer.stream().await;
                    peer.chunk("retry: 1\ndata: {}\n\n").await;
                    peer.end().await;
                }
                _ => peer.respond("404 Not Found", &[], "").await,
            }
        })
    })
    .await;
    let client = client(&server);
    open(&client).await;
    assert_eq!(next(&client).await, "-: {}");
    server.after(4).await;
    patiently(async {
        let mut ticket = 10;
        while client.send(request(ticket, "{}")).await != Err(TransportError::SessionExpired) {
            ticket += 1;
            let _ = client.receive().await;
        }
    })
    .await;
}
