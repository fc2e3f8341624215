//! Random and hostile bytes pass every pairing, and both ends are compared.

use std::{
    io::{Read as _, Write as _},
    net::SocketAddr,
    os::unix::net::UnixStream,
};

use mcp_core::{Inbound, Outbound, OutboundRole, Transport as _};
use mcp_proxy::{
    Access, Policy, ProxiedServerSettings,
    bridge::remote::{Remote, RemoteSettings, run_over},
};
use mcp_transport::{
    WsListener, WsTransport,
    ws::{self, WsClientSettings, WsServerSettings},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::support::{Proxy, Recording};

/// A small generator, so that every run sends the same.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    /// Bytes of any kind, with those that mean something to framings among them.
    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        const SPECIAL: &[u8] = b"\r\n\0\xff\xc3:,{}[]\" data0\x80\x81\x88\xfe";
        (0..length)
            .map(|_| match self.below(2) {
                0 => SPECIAL[self.below(SPECIAL.len())],
                _ => u8::try_from(self.below(256)).unwrap(),
            })
            .collect()
    }

    /// A valid message with odd spelling.
    pub(crate) fn message(&mut self, index: usize) -> String {
        const PIECES: [&str; 8] =
            ["\\u00e4", "ä", "\\ud800", "\u{2028}", " ", "\\/", "\\n", "\u{10ffff}"];
        let text: String = (0..self.below(40)).map(|_| PIECES[self.below(8)]).collect();
        let number = ["1.0", "1e2", "-0", "0.10", "12345678901234567890"][self.below(5)];
        let gap = ["", " ", "\t"][self.below(3)];
        format!(
            r#"{{{gap}"params":{{"x":{number},{gap}"t":"{text}"}},"id" : "i{index}","jsonrpc":"2.0","method":"a/b"}}"#
        )
    }
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

/// Reads a body of chunks, or until the end of the connection.
async fn read_chunks(stream: &mut TcpStream) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            line.push(stream.read_u8().await.unwrap());
        }
        let size = std::str::from_utf8(&line).unwrap().trim();
        let size = usize::from_str_radix(size, 16).unwrap();
        let mut chunk = vec![0; size + 2];
        stream.read_exact(&mut chunk).await.unwrap();
        body.extend_from_slice(&chunk[..size]);
        if size == 0 {
            return body;
        }
    }
}

async fn write_chunks(stream: &mut TcpStream, body: &[u8], random: &mut Random) {
    let mut rest = body;
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at((1 + random.below(5000)).min(rest.len()));
        let head = format!("{:x}\r\n", chunk.len());
        stream.write_all(&[head.as_bytes(), chunk, b"\r\n"].concat()).await.unwrap();
        rest = after;
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_and_event_streams_over_http() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = listener.local_addr().unwrap();
    let proxy = Proxy::start(upstream, Policy::observe()).await;
    for round in 0..30 {
        let length = random.below(100_000);
        let (request, response) = (random.bytes(length), random.bytes(100_000 - length));
        let kind = ["application/json", "text/event-stream", "text/plain"][round % 3];
        let mut client = TcpStream::connect(proxy.address).await.unwrap();
        let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
        client.write_all(head.as_bytes()).await.unwrap();
        let (mut sending, mut answering) = (Random(random.next() | 1), Random(random.next() | 1));
        let (sent, answer) = (request.clone(), response.clone());
        let serving = async {
            let (mut server, _) = listener.accept().await.unwrap();
            let head = read_head(&mut server).await.to_lowercase();
            assert!(head.contains("transfer-encoding: chunked"), "{head}");
            let got = read_chunks(&mut server).await;
            let head = "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{head}");
            server.write_all(head.as_bytes()).await.unwrap();
            write_chunks(&mut server, &answer, &mut answering).await;
            got
        };
        let asking = async {
            write_chunks(&mut client, &sent, &mut sending).await;
            let head = read_head(&mut client).await;
            assert!(head.starts_with("HTTP/1.1 200"), "{head}");
            read_chunks(&mut client).await
        };
        let (got, answered) = tokio::join!(serving, asking);
        assert!(got == request, "a request was changed in round {round}");
        assert!(answered == response, "a response was changed in round {round}");
    }
    proxy.stop().await.assert_same();
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_sent_after_a_web_socket_handshake() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    let proxy = Proxy::to(&url, Policy::observe(), &ProxiedServerSettings::default()).await;
    for round in 0..20 {
        let (up, down) = (random.bytes(50_000), random.bytes(70_000));
        let mut client = TcpStream::connect(proxy.address).await.unwrap();
        let head = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        client.write_all(head.as_bytes()).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        read_head(&mut server).await;
        let head =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
        server.write_all(head.as_bytes()).await.unwrap();
        read_head(&mut client).await;
        let (sent, answer) = (up.clone(), down.clone());
        let serving = async {
            server.write_all(&answer).await.unwrap();
            server.shutdown().await.unwrap();
            let mut got = Vec::new();
            server.read_to_end(&mut got).await.unwrap();
            got
        };
        let asking = async {
            client.write_all(&sent).await.unwrap();
            client.shutdown().await.unwrap();
            let mut got = Vec::new();
            client.read_to_end(&mut got).await.unwrap();
            got
        };
        let (got, answered) = tokio::join!(serving, asking);
        assert!(got == up, "what the client sent was changed in round {round}");
        assert!(answered == down, "what the server sent was changed in round {round}");
    }
    proxy.stop().await.assert_same();
}

pub(crate) async fn say(socket: &WsTransport, text: &str) {
    let (bytes, role) = (text.to_owned().into(), OutboundRole::Notification);
    socket.send(Outbound { bytes, role, ticket: None, headers: None, parsed: None }).await.unwrap();
}

pub(crate) async fn hear(socket: &WsTransport) -> String {
    match socket.receive().await.unwrap() {
        Some(Inbound::Message { bytes, .. }) => String::from_utf8(bytes.to_vec()).unwrap(),
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn ws_server() -> (WsListener, String) {
    let listener = WsListener::bind("127.0.0.1:0", WsServerSettings::default()).await.unwrap();
    let url = format!("ws://{}/", listener.local_addr());
    (listener, url)
}

pub(crate) async fn open(address: SocketAddr) -> WsTransport {
    ws::connect(&format!("ws://{address}/"), &WsClientSettings::default()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_and_noise_from_standard_streams_to_a_web_socket_and_back() {
    let mut random = Random(7);
    let (listener, url) = ws_server().await;
    let recording = Recording::new(Policy::observe());
    let (mut stream, other) = UnixStream::pair().unwrap();
    let input = other.try_clone().unwrap();
    let remote = Remote::new(&url, 1 << 20, &Access::default()).unwrap();
    let tap = recording.tap.clone();
    let running = tokio::spawn(async move {
        let mut settings = RemoteSettings::default();
        settings.exit_wait = std::time::Duration::ZERO;
        run_over(remote, (input, other), &tap, &settings).await;
    });
    let mut server = None;
    for index in 0..200 {
        let (up, down) = (random.message(index), random.message(1000 + index));
        stream.write_all(format!("{up}\n").as_bytes()).unwrap();
        if server.is_none() {
            server = Some(listener.accept().await.unwrap());
        }
        let server = server.as_ref().unwrap();
        assert_eq!(hear(server).await, up);
        let length = random.below(2000);
        let noise = String::from_utf8_lossy(&random.bytes(length)).replace(['\r', '\n'], "?");
        stream.write_all(format!("?{noise}\n").as_bytes()).unwrap();
        assert_eq!(hear(server).await, format!("?{noise}"));
        say(server, &down).await;
        let mut got = vec![0; down.len() + 1];
        let mut reading = stream.try_clone().unwrap();
        let got = tokio::task::spawn_blocking(move || {
            reading.read_exact(&mut got).unwrap();
            got
        });
        assert_eq!(String::from_utf8(got.await.unwrap()).unwrap(), format!("{down}\n"));
    }
    stream.shutdown(std::net::Shutdown::Both).unwrap();
    running.await.unwrap();
    recording.finish().await.assert_same();
}

/// `cat` sends back what it gets, and the proxy passes it on as requests of the server.
#[tokio::test(flavor = "multi_thread")]
async fn messages_from_a_web_socket_to_standard_streams_and_back() {
    let mut random = Random(11);
    let command = ["cat".into()];
    let proxy =
        Proxy::starting(&command, Policy::observe(), &ProxiedServerSettings::default()).await;
    let client = open(proxy.address).await;
    for index in 0..200 {
        let up = random.message(index);
        say(&client, &up).await;
        assert_eq!(hear(&client).await, up);
    }
    drop(client);
    proxy.stop().await.assert_same();
}

/// The result of request `index`, with a spelling of its own.
pub(crate) fn result(random: &mut Random, index: usize) -> String {
    random.message(index).replace(r#""method":"a/b""#, r#""result" :{}"#)
}

/// Takes one POST, answers it, and returns its body.
async fn take_post(listener: &TcpListener, answer: &str) -> String {
    let (mut server, _) = listener.accept().await.unwrap();
    let head = read_head(&mut server).await.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.trim().parse().unwrap()];
    server.read_exact(&mut body).await.unwrap();
    let kind = "Content-Type: application/json\r\nConnection: close";
    let head = format!("HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {}\r\n\r\n", answer.len());
    server.write_all(&[head.as_bytes(), answer.as_bytes()].concat()).await.unwrap();
    String::from_utf8(body).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_from_standard_streams_to_http_and_back() {
    let mut random = Random(17);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let recording = Recording::new(Policy::observe());
    let (mut stream, other) = UnixStream::pair().unwrap();
    let input = other.try_clone().unwrap();
    let remote = Remote::new(&url, 1 << 20, &Access::default()).unwrap();
    let tap = recording.tap.clone();
    let running = tokio::spawn(async move {
        let mut settings = RemoteSettings::default();
        settings.exit_wait = std::time::Duration::ZERO;
        run_over(remote, (input, other), &tap, &settings).await;
    });
    for index in 0..50 {
        let (up, down) = (random.message(index), result(&mut random, index));
        stream.write_all(format!("{up}\n").as_bytes()).unwrap();
        assert_eq!(take_post(&listener, &down).await, up);
        let mut got = vec![0; down.len() + 1];
        let mut reading = stream.try_clone().unwrap();
        let got = tokio::task::spawn_blocking(move || {
            reading.read_exact(&mut got).unwrap();
            got
        });
        assert_eq!(String::from_utf8(got.await.unwrap()).unwrap(), format!("{down}\n"));
    }
    stream.shutdown(std::net::Shutdown::Both).unwrap();
    running.await.unwrap();
    recording.finish().await.assert_same();
}

/// A server that answers every POST with a fixed answer, and shows the bodies.
#[tokio::test(flavor = "multi_thread")]
async fn messages_from_a_web_socket_to_http_and_back() {
    let mut random = Random(13);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = listener.local_addr().unwrap();
    let proxy = Proxy::start(upstream, Policy::observe()).await;
    let client = open(proxy.address).await;
    for index in 0..50 {
        let up = random.message(index);
        let down = result(&mut random, index);
        say(&client, &up).await;
        assert_eq!(take_post(&listener, &down).await, up);
        assert_eq!(hear(&client).await, down);
    }
    drop(client);
    proxy.stop().await.assert_same();
}
