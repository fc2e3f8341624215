//! Requests as bytes: the parts of HTTP that a server can get wrong.

use mcp_transport::{
    Allowed,
    http::server::{HttpSettings, ServeSettings},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{Server, client::open_session, soon};

/// The server's response to these bytes, until it closes the connection.
async fn answer(server: &Server, request: &str) -> String {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    soon(stream.read_to_string(&mut answer)).await.unwrap();
    answer
}

fn post(version: &str, headers: &str, body: &str) -> String {
    format!(
        "POST /mcp HTTP/{version}\r\nContent-Type: application/json\r\nConnection: close\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn a_request_names_one_host() {
    let server = Server::start().await;
    let mut settings = HttpSettings::default();
    settings.hosts = Allowed::anything();
    let open = Server::with(settings, ServeSettings::default()).await;
    for (hosts, status, status_when_open) in [
        ("Host: localhost\r\n", "200", "200"),
        ("Host: evil.example\r\n", "403", "200"),
        ("Host: localhost\r\nHost: localhost\r\n", "400", "400"),
        ("Host: localhost\r\nHost: evil.example\r\n", "400", "400"),
        ("", "400", "200"),
        ("Host:\r\n", "403", "200"),
    ] {
        let request = post("1.1", hosts, "echo hi");
        for (server, status) in [(&server, status), (&open, status_when_open)] {
            let answer = answer(server, &request).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{hosts}: {answer}");
        }
    }
    let request = post("1.1", "Host: localhost\r\n", "echo hi").replace("/mcp", "http://evil/mcp");
    assert!(answer(&server, &request).await.starts_with("HTTP/1.1 403"));
}

#[tokio::test]
async fn coded_bodies_are_refused_with_what_is_taken() {
    let server = Server::start().await;
    for (coding, status) in [("identity", "200"), ("gzip", "415"), ("identity, br", "415")] {
        let headers = format!("Host: localhost\r\nContent-Encoding: {coding}\r\n");
        let answer = answer(&server, &post("1.1", &headers, "echo hi")).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{coding}: {answer}");
        assert_eq!(answer.contains("accept-encoding: identity\r\n"), status == "415", "{answer}");
    }
}

#[tokio::test]
async fn a_body_of_two_types_is_refused() {
    let server = Server::start().await;
    let headers = "Host: localhost\r\nContent-Type: text/plain\r\n";
    let answer = answer(&server, &post("1.1", headers, "echo hi")).await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
}

#[tokio::test]
async fn a_client_that_waits_for_leave_to_send_gets_it() {
    let server = Server::start().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let request = post("1.1", "Host: localhost\r\nExpect: 100-continue\r\n", "echo hi");
    let (head, body) = request.split_at(request.len() - "echo hi".len());
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut leave = [0; 25];
    soon(stream.read_exact(&mut leave)).await.unwrap();
    assert_eq!(&leave, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut rest = String::new();
    soon(stream.read_to_string(&mut rest)).await.unwrap();
    assert!(rest.starts_with("HTTP/1.1 200") && rest.ends_with("hi"), "{rest}");
}

#[tokio::test]
async fn a_client_that_is_refused_need_not_send_its_body() {
    let server = Server::start().await;
    let request = post("1.1", "Host: evil.example\r\nExpect: 100-continue\r\n", "echo hi");
    let answer = answer(&server, &request[..request.len() - "echo hi".len()]).await;
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
}

#[tokio::test]
async fn clients_of_http_1_0_are_served_up_to_the_end_of_the_connection() {
    let server = Server::start().await;
    let answered = answer(&server, &post("1.0", "Host: localhost\r\n", "echo hi")).await;
    assert!(answered.starts_with("HTTP/1.0 200") && answered.ends_with("\r\n\r\nhi"), "{answered}");
    let streamed = answer(&server, &post("1.0", "Host: localhost\r\n", "stream 2")).await;
    assert!(!streamed.to_ascii_lowercase().contains("chunked"), "{streamed}");
    assert!(streamed.ends_with("\r\n\r\ndata: n0\n\ndata: n1\n\ndata: done\n\n"), "{streamed}");
}

#[tokio::test]
async fn a_head_alone_is_no_method_here() {
    let server = Server::start().await;
    let request = "HEAD /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answer = answer(&server, request).await;
    assert!(answer.starts_with("HTTP/1.1 405") && answer.ends_with("\r\n\r\n"), "{answer}");
    assert!(answer.contains("allow: GET, POST, DELETE, OPTIONS\r\n"), "{answer}");
}

/// A proxy in front must not see different requests than the server does.
#[tokio::test]
async fn bodies_whose_end_is_unclear_hide_no_second_request() {
    let server = Server::start().await;
    let id = open_session(&server, "2025-11-25").await;
    let hidden = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Mcp-Session-Id: {id}\r\nContent-Length: 11\r\n\r\ntell hidden"
    );
    for framing in [
        "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
        "Content-Length: 0\r\nContent-Length: 5\r\n",
        "Content-Length: +0\r\n",
        "Content-Length: 0x0\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding : chunked\r\n",
    ] {
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             MCP-Protocol-Version: 2026-07-28\r\n{framing}\r\n{hidden}"
        );
        let answer = answer(&server, &request).await;
        assert!(!answer.contains("202 Accepted"), "{framing}: {answer}");
        assert!(!server.toy.has_noted("tell hidden"), "{framing}");
    }
}
