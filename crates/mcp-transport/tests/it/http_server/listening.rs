//! Where the service can stand, and how a server stops.

use std::{sync::Arc, time::Duration};

use axum::{Router, routing::get};
use http::{Method, StatusCode};
use mcp_transport::http::server::{HttpService, HttpSettings, ServeSettings, serve};
use tokio::net::{TcpListener, TcpStream};

use super::{
    Server,
    client::{Ask, open_session},
    soon,
    toy::Toy,
    until,
};

#[tokio::test]
async fn the_service_stands_in_a_router_beside_other_routes() {
    let service = HttpService::new(Arc::new(Toy::default()), HttpSettings::default());
    let router =
        Router::new().route_service("/mcp", service).route("/health", get(|| async { "well" }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task =
        tokio::spawn(serve(listener, router, ServeSettings::default(), std::future::pending()));
    assert_eq!(Ask::post("echo hi").stateless().to_address(address).await.text().await, "hi");
    let stream = Ask::post("stream 2").stateless().to_address(address).await;
    assert_eq!(soon(stream.events()).await.len(), 3);
    let health = Ask::post("").at("/health").method(Method::GET).to_address(address).await;
    assert_eq!(health.text().await, "well");
    let elsewhere = Ask::post("echo hi").at("/other").to_address(address).await;
    assert_eq!(elsewhere.status, StatusCode::NOT_FOUND);
    task.abort();
}

#[tokio::test]
async fn a_server_that_stops_ends_open_streams_and_finishes_what_runs() {
    let mut server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    let mut listening = Ask::get().session(&id).to(&server).await;
    let mut news = Ask::post("listen").stateless().to(&server).await;
    assert!(soon(listening.event()).await.is_some());
    assert!(soon(news.event()).await.is_some());
    let [running, stateless] =
        [Ask::post("hold on").session(&id), Ask::post("hold on").stateless()].map(|ask| {
            let address = server.address;
            tokio::spawn(async move { ask.to_address(address).await.text().await })
        });
    until(|| server.toy.count("hold on") == 2).await;
    server.stop.cancel();
    assert_eq!(soon(listening.event()).await, None);
    assert_eq!(soon(news.event()).await, None);
    until(|| server.toy.has_noted("end")).await;
    assert!(!running.is_finished() && !server.task.is_finished());
    server.toy.gate.add_permits(2);
    assert_eq!(soon(running).await.unwrap(), "on");
    assert_eq!(soon(stateless).await.unwrap(), "on");
    soon(&mut server.task).await.unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn what_does_not_finish_in_time_is_cut_off() {
    let mut serving = ServeSettings::default();
    serving.grace = Duration::from_millis(100);
    let mut server = Server::with(HttpSettings::default(), serving).await;
    let waiting = tokio::spawn({
        let (ask, address) = (Ask::post("never").stateless(), server.address);
        async move { ask.to_address(address).await.status }
    });
    until(|| server.toy.has_noted("never")).await;
    server.stop.cancel();
    soon(&mut server.task).await.unwrap();
    until(|| server.toy.has_noted("over")).await;
    assert!(soon(waiting).await.is_err());
}

#[tokio::test]
async fn a_service_that_is_closed_opens_nothing_more() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    server.service.close();
    until(|| server.toy.has_noted("end")).await;
    assert_eq!(Ask::post("init").to(&server).await.status, StatusCode::SERVICE_UNAVAILABLE);
    let reply = Ask::post("echo hi").session(&id).to(&server).await;
    assert_eq!(reply.status, StatusCode::NOT_FOUND);
}
