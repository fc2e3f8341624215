//! Clients that are slow, huge, many, or suddenly gone.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use http::StatusCode;
use mcp_transport::http::server::{HttpService, HttpSettings, ServeSettings};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{
    Server,
    client::{Ask, open_directly, open_session},
    soon,
    toy::Toy,
    until,
};

async fn raw(server: &Server, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

fn head(length: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         MCP-Protocol-Version: 2026-07-28\r\n{length}\r\n\r\n"
    )
}

async fn status_line(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    let mut piece = [0; 1024];
    while !text.contains(&b'\n') {
        let length = soon(stream.read(&mut piece)).await.unwrap();
        if length == 0 {
            break;
        }
        text.extend_from_slice(&piece[..length]);
    }
    String::from_utf8(text).unwrap().lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn half_a_body_leaves_nothing_behind() {
    let server = Server::start().await;
    for _ in 0..20 {
        let stream = raw(&server, &(head("Content-Length: 100") + "echo hal")).await;
        drop(stream);
    }
    let mut stream = raw(&server, &(head("Content-Length: 100") + "echo hal")).await;
    stream.shutdown().await.unwrap();
    let line = status_line(stream).await;
    assert!(line.is_empty() || line.contains("400"), "{line}");
    assert!(server.toy.diary.lock().unwrap().is_empty());
    assert_eq!(Ask::post("echo hi").stateless().to(&server).await.text().await, "hi");
}

#[tokio::test]
async fn a_slow_body_is_not_waited_for() {
    let mut settings = HttpSettings::default();
    settings.body_timeout = Duration::from_millis(100);
    let server = Server::with(settings, ServeSettings::default()).await;
    let stream = raw(&server, &(head("Content-Length: 100") + "echo")).await;
    assert_eq!(status_line(stream).await, "HTTP/1.1 408 Request Timeout");
}

#[tokio::test]
async fn a_slow_head_is_not_waited_for() {
    let mut serving = ServeSettings::default();
    serving.head_timeout = Duration::from_millis(100);
    let server = Server::with(HttpSettings::default(), serving).await;
    let stream = raw(&server, "POST /mcp HTTP/1.1\r\nHost: local").await;
    let line = status_line(stream).await;
    assert!(line.is_empty() || line.contains("408"), "{line}");
}

#[tokio::test]
async fn an_idle_connection_is_closed_and_one_with_a_head_after_its_own_time() {
    let mut serving = ServeSettings::default();
    serving.idle_timeout = Duration::from_millis(100);
    let server = Server::with(HttpSettings::default(), serving).await;
    assert_eq!(status_line(raw(&server, "").await).await, "");
    let mut serving = ServeSettings::default();
    serving.head_timeout = Duration::from_millis(100);
    let server = Server::with(HttpSettings::default(), serving).await;
    // Time for a head does not limit a request that is there, however long it takes.
    let working = tokio::spawn({
        let (ask, address) = (Ask::post("hold on").stateless(), server.address);
        async move { ask.to_address(address).await.text().await }
    });
    assert_eq!(status_line(raw(&server, "POST").await).await, "");
    server.toy.gate.add_permits(1);
    assert_eq!(soon(working).await.unwrap(), "on");
}

#[tokio::test]
async fn too_long_a_body_is_refused_before_it_is_read() {
    let server = Server::start().await;
    let stream = raw(&server, &head("Content-Length: 99999999999")).await;
    assert_eq!(status_line(stream).await, "HTTP/1.1 413 Payload Too Large");
}

#[tokio::test]
async fn who_sends_too_long_a_body_reads_why_and_goes_on() {
    let mut settings = HttpSettings::default();
    settings.max_body = 1000;
    let server = Server::with(settings, ServeSettings::default()).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    for _ in 0..2 {
        let text = head("Content-Length: 3000000") + &"x".repeat(3_000_000);
        soon(stream.write_all(text.as_bytes())).await.unwrap();
        let mut answer = String::new();
        while !answer.ends_with("the limit of 1000 bytes") {
            let mut piece = [0; 1024];
            let length = soon(stream.read(&mut piece)).await.unwrap();
            assert_ne!(length, 0, "{answer}");
            answer.push_str(&String::from_utf8_lossy(&piece[..length]));
        }
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    }
}

#[tokio::test]
async fn too_long_a_body_of_unknown_length_is_refused_on_the_way() {
    let mut settings = HttpSettings::default();
    settings.max_body = 1000;
    let server = Server::with(settings, ServeSettings::default()).await;
    let chunk = format!("200\r\n{}\r\n", "x".repeat(0x200));
    let text = head("Transfer-Encoding: chunked") + &chunk + &chunk;
    assert_eq!(status_line(raw(&server, &text).await).await, "HTTP/1.1 413 Payload Too Large");
}

#[tokio::test]
async fn bodies_that_are_never_finished_take_only_so_much_room() {
    let mut settings = HttpSettings::default();
    settings.max_unfinished = 1000;
    settings.max_body = 1000;
    let server = Server::with(settings, ServeSettings::default()).await;
    let head = head("Transfer-Encoding: chunked\r\nConnection: close");
    let chunks = format!("5\r\necho \r\n190\r\n{0}\r\n190\r\n{0}\r\n", "x".repeat(0x190));
    let unfinished = raw(&server, &(head.clone() + &chunks)).await;
    let finished = head + &chunks + "0\r\n\r\n";
    let mut line = String::new();
    while !line.contains("503") {
        // Until the server has read what the first client sent.
        line = status_line(raw(&server, &finished).await).await;
        assert!(line.contains("200") || line.contains("503"), "{line}");
    }
    // Complete requests are served all the while.
    assert_eq!(Ask::post("echo hi").stateless().to(&server).await.text().await, "hi");
    drop(unfinished);
    soon(async { while !status_line(raw(&server, &finished).await).await.contains("200") {} })
        .await;
}

#[tokio::test]
async fn the_first_piece_of_a_body_takes_room_too() {
    let mut settings = HttpSettings::default();
    settings.max_unfinished = 1000;
    let server = Server::with(settings, ServeSettings::default()).await;
    let piece = head("Content-Length: 2000") + &"x".repeat(600);
    let (one, other) = (raw(&server, &piece).await, raw(&server, &piece).await);
    // There is room for one of them, whichever came first.
    let line = tokio::select! {
        line = status_line(one) => line,
        line = status_line(other) => line,
    };
    assert!(line.contains("503"), "{line}");
    assert_eq!(Ask::post("echo hi").stateless().to(&server).await.text().await, "hi");
}

#[tokio::test]
async fn bodies_in_pieces_are_joined() {
    let server = Server::start().await;
    let text = head("Transfer-Encoding: chunked\r\nConnection: close");
    let mut stream = raw(&server, &(text + "3\r\nech\r\n1\r\no\r\n4\r\n one\r\n0\r\n\r\n")).await;
    let mut text = String::new();
    soon(stream.read_to_string(&mut text)).await.unwrap();
    assert!(text.ends_with("\r\n\r\none"), "{text}");
}

#[tokio::test]
async fn huge_heads_are_refused() {
    let server = Server::start().await;
    let many = "X-Many: y\r\n".repeat(200);
    let long = format!("X-Long: {}\r\n", "y".repeat(1 << 20));
    for headers in [many, long] {
        let text = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        // The server may close before it has read all of it.
        let _ = stream.write_all(text.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = soon(stream.read_to_end(&mut answer)).await;
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    }
}

#[tokio::test]
async fn a_thousand_clients_at_once_are_all_served() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    let mut streams = Vec::new();
    for _ in 0..1000 {
        // One by one: the number of pending connections is limited by the operating system.
        streams.push(soon(TcpStream::connect(server.address)).await.unwrap());
    }
    let requests = streams.into_iter().enumerate().map(|(index, stream)| {
        let ask = Ask::post(&format!("echo {index}"));
        let ask = if index % 2 == 0 { ask.stateless() } else { ask.session(&id) };
        tokio::spawn(async move { ask.over(stream).await.text().await })
    });
    for (index, answer) in soon(join_all(requests)).await.into_iter().enumerate() {
        assert_eq!(answer.unwrap(), index.to_string());
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_disturbs_nobody() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    let _unread = Ask::post("flood 10000").session(&id).to(&server).await;
    let _unread_too = Ask::post("flood 10000").stateless().to(&server).await;
    for ask in [Ask::post("echo hi").session(&id), Ask::post("echo hi").stateless()] {
        assert_eq!(ask.to(&server).await.text().await, "hi");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_loses_its_stream_and_the_work_goes_on() {
    let mut settings = HttpSettings::default();
    settings.replay_bytes = 1 << 20;
    let service = HttpService::new(Arc::new(Toy::default()), settings);
    let id = open_directly(&service, "2025-11-25").await;
    let mut reply = Ask::post("flood 1000").session(&id).directly(&service).await;
    let last = reply.event().await.unwrap().id.unwrap();
    tokio::time::sleep(Duration::from_secs(31)).await;
    let queued = reply.events().await.len();
    assert!(queued < 70, "{queued} events wait for somebody who does not read");
    // Sixteen of them fit into the buffer; the answer is the last.
    let resume = Ask::get().session(&id).with("last-event-id", &last);
    let kept = resume.directly(&service).await.events().await;
    assert!(kept.len() <= 17, "{} events are kept", kept.len());
    assert_eq!(kept.last().unwrap().data, "Ok(())");
}

#[tokio::test]
async fn a_connection_that_takes_nothing_is_closed() {
    let mut settings = HttpSettings::default();
    settings.stall_timeout = Duration::from_secs(3600);
    let mut serving = ServeSettings::default();
    serving.write_timeout = Duration::from_millis(100);
    let server = Server::with(settings, serving).await;
    // No reader at all: hyper's client would read ahead.
    let message = "flood 100000";
    let stream =
        raw(&server, &(head(&format!("Content-Length: {}", message.len())) + message)).await;
    until(|| server.toy.has_noted("over")).await;
    drop(stream);
}

#[tokio::test]
async fn vanishing_clients_leave_sessions_usable() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    for message in ["never", "stream 1000", "drip 3"] {
        for _ in 0..20 {
            let text = format!(
                "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                 Mcp-Session-Id: {id}\r\nContent-Length: {}\r\n\r\n{message}",
                message.len()
            );
            drop(raw(&server, &text).await);
        }
    }
    let reply = Ask::post("echo hi").session(&id).to(&server).await;
    assert_eq!((reply.status, reply.text().await.as_str()), (StatusCode::OK, "hi"));
}

#[tokio::test]
async fn connections_beyond_the_limit_wait() {
    let mut serving = ServeSettings::default();
    serving.max_connections = 2;
    let server = Server::with(HttpSettings::default(), serving).await;
    let first = raw(&server, "POST").await;
    let _second = raw(&server, "POST").await;
    let third = tokio::spawn({
        let (ask, address) = (Ask::post("echo hi").stateless(), server.address);
        async move { ask.to_address(address).await.text().await }
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!third.is_finished());
    drop(first);
    assert_eq!(soon(third).await.unwrap(), "hi");
}
