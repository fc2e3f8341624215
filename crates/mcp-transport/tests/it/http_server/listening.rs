//! Ways to run the service, and how a server stops.

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

#[tokio::test]
async fn idle_connections_give_way_to_new_ones() {
    let mut serving = ServeSettings::default();
    serving.max_connections = 4;
    let server = Server::with(HttpSettings::default(), serving).await;
    let working = tokio::spawn({
        let (ask, address) = (Ask::post("hold on").stateless(), server.address);
        async move { ask.to_address(address).await.text().await }
    });
    until(|| server.toy.has_noted("hold on")).await;
    let mut idle = Vec::new();
    for _ in 0..3 {
        idle.push(TcpStream::connect(server.address).await.unwrap());
    }
    // All places are taken, but only one of them for a reason.
    for _ in 0..3 {
        let reply = Ask::post("echo hi").stateless().to(&server).await;
        assert_eq!(reply.text().await, "hi");
    }
    server.toy.gate.add_permits(1);
    assert_eq!(soon(working).await.unwrap(), "on");
}

/// A server that says where it listens and serves until its input ends.
#[cfg(unix)]
#[tokio::test]
#[ignore = "other tests start it"]
#[expect(clippy::print_stdout, reason = "says where it listens")]
async fn server_with_few_files() {
    let server = Server::start().await;
    println!("\nlistens {}", server.address);
    let mut input = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut tokio::io::stdin(), &mut input).await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn idle_connections_give_way_when_no_more_files_may_be_opened() {
    use tokio::io::AsyncBufReadExt as _;

    let tests = std::env::current_exe().unwrap();
    let name = "http_server::listening::server_with_few_files";
    let mut child = tokio::process::Command::new("sh")
        .args(["-c", "ulimit -n 64; exec \"$0\" --exact \"$1\" --ignored --nocapture"])
        .arg(tests)
        .arg(name)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = tokio::io::BufReader::new(child.stdout.take().unwrap()).lines();
    let address = loop {
        let line = soon(lines.next_line()).await.unwrap().expect("it says where it listens");
        if let Some(address) = line.strip_prefix("listens ") {
            break address.parse().unwrap();
        }
    };
    let mut idle = Vec::new();
    for _ in 0..100 {
        idle.push(TcpStream::connect(address).await.unwrap());
    }
    for _ in 0..10 {
        let reply = soon(Ask::post("echo hi").stateless().to_address(address)).await;
        assert_eq!(reply.text().await, "hi");
    }
}
