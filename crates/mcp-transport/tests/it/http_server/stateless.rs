//! Exchanges that are conversations of their own.

use std::{sync::Arc, time::Duration};

use http::StatusCode;
use mcp_transport::http::server::{HttpService, HttpSettings};

use super::{
    Server,
    client::{Ask, data},
    soon,
    toy::Toy,
    until,
};

#[tokio::test]
async fn an_answer_alone_is_json_and_its_status_tells_what_became_of_the_request() {
    let server = Server::start().await;
    for (message, status) in [
        ("echo hi", StatusCode::OK),
        ("bad", StatusCode::BAD_REQUEST),
        ("unknown", StatusCode::NOT_FOUND),
    ] {
        let reply = Ask::post(message).stateless().to(&server).await;
        assert_eq!(reply.status, status);
        assert_eq!(reply.header("content-type"), Some("application/json"));
        assert_eq!(reply.header("mcp-session-id"), None);
    }
    until(|| server.toy.count("end") == 3).await;
}

#[tokio::test]
async fn what_comes_before_the_answer_makes_a_stream_without_ids() {
    let server = Server::start().await;
    let reply = Ask::post("stream 200").stateless().to(&server).await;
    assert_eq!(reply.status, StatusCode::OK);
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    assert_eq!(reply.header("x-accel-buffering"), Some("no"));
    let events = soon(reply.events()).await;
    assert_eq!(events.len(), 201);
    assert_eq!(data(&events)[199..], ["n199", "done"]);
    assert!(events.iter().all(|event| event.id.is_none() && event.retry.is_none()));
    until(|| server.toy.has_noted("end")).await;
    assert!(!server.toy.has_noted("over"));
}

#[tokio::test]
async fn clients_that_take_only_events_get_the_answer_as_one() {
    let server = Server::start().await;
    let ask = Ask::post("echo hi").stateless().with("accept", "text/event-stream");
    assert_eq!(data(&soon(ask.to(&server).await.events()).await), ["hi"]);
}

#[tokio::test]
async fn notifications_are_accepted() {
    let server = Server::start().await;
    let reply = Ask::post("tell something").stateless().to(&server).await;
    assert_eq!(reply.status, StatusCode::ACCEPTED);
    assert_eq!(reply.text().await, "");
    until(|| server.toy.has_noted("tell something")).await;
    until(|| server.toy.has_noted("end")).await;
}

#[tokio::test]
async fn hanging_up_before_the_response_ends_the_exchange() {
    let server = Server::start().await;
    let waiting = tokio::spawn({
        let (ask, address) = (Ask::post("never").stateless(), server.address);
        async move { ask.to_address(address).await }
    });
    until(|| server.toy.has_noted("never")).await;
    waiting.abort();
    until(|| server.toy.has_noted("over") && server.toy.has_noted("end")).await;
}

#[tokio::test]
async fn hanging_up_a_stream_ends_the_exchange() {
    let server = Server::start().await;
    let mut reply = Ask::post("listen").stateless().to(&server).await;
    assert_eq!(soon(reply.event()).await.unwrap().data, "news");
    drop(reply);
    until(|| server.toy.has_noted("over") && server.toy.has_noted("end")).await;
}

#[tokio::test]
async fn a_conversation_without_an_answer_is_an_error_of_the_server() {
    let server = Server::start().await;
    for word in ["leave", "settle", "close"] {
        let reply = Ask::post(word).stateless().to(&server).await;
        assert_eq!(reply.status, StatusCode::INTERNAL_SERVER_ERROR, "{word}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_holds_the_sender_up_and_loses_the_stream() {
    let toy = Arc::new(Toy::default());
    let service = HttpService::new(toy.clone(), HttpSettings::default());
    let reply = Ask::post("flood 1000").stateless().directly(&service).await;
    tokio::time::sleep(Duration::from_secs(29)).await;
    assert!(!toy.has_noted("over"));
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(toy.has_noted("over"));
    let told = reply.events().await.len();
    assert!(told < 100, "{told} events were kept for nobody");
}
