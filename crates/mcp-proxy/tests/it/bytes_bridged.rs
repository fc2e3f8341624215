//! Messages with odd spelling, and hostile bytes between them, pass from one transport to another:
//! the bytes of each message are compared at both ends, and nothing else arrives.

use mcp_proxy::{Policy, ProxiedServerSettings};
use mcp_transport::{WsListener, WsTransport};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

use crate::{
    bytes_random::{self as ends, Random, result, ws_server},
    support::{Proxy, parts, post, raw_client},
};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const AGREED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
const ROUNDS: usize = 50;

/// The end that is compared with what clients send.
enum Server {
    /// The streams of a child, which is connected with us.
    Child(Box<BufReader<TcpStream>>),
    WebSocket(Box<WsTransport>),
}

/// Where servers come from.
enum Servers {
    Children(TcpListener),
    WebSockets(WsListener),
}

impl Servers {
    /// A proxy to a program whose standard streams are connected with us.
    async fn children() -> (Servers, Proxy) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = format!(
            "exec 3<>/dev/tcp/127.0.0.1/{port} 4<&0; {{ cat <&4; kill $$; }} >&3 2>&3 & exec cat <&3"
        );
        let command = ["bash".into(), "-c".into(), script.into()];
        let settings = ProxiedServerSettings::default();
        let proxy = Proxy::starting(&command, Policy::observe(), &settings).await;
        (Servers::Children(listener), proxy)
    }

    async fn web_sockets() -> (Servers, Proxy) {
        let (listener, url) = ws_server().await;
        let proxy = Proxy::to(&url, Policy::observe(), &ProxiedServerSettings::default()).await;
        (Servers::WebSockets(listener), proxy)
    }

    async fn accept(&self) -> Server {
        match self {
            Servers::Children(listener) => {
                Server::Child(Box::new(BufReader::new(listener.accept().await.unwrap().0)))
            }
            Servers::WebSockets(listener) => {
                Server::WebSocket(Box::new(listener.accept().await.unwrap()))
            }
        }
    }
}

impl Server {
    async fn hear(&mut self) -> String {
        match self {
            Server::Child(stream) => {
                let mut line = String::new();
                stream.read_line(&mut line).await.unwrap();
                line.strip_suffix('\n').unwrap().to_owned()
            }
            Server::WebSocket(socket) => ends::hear(socket).await,
        }
    }

    async fn say(&mut self, text: &str) {
        match self {
            Server::Child(stream) => {
                stream.write_all(format!("{text}\n").as_bytes()).await.unwrap();
            }
            Server::WebSocket(socket) => ends::say(socket, text).await,
        }
    }

    /// Sends what is no message.
    async fn babble(&mut self, random: &mut Random) {
        let length = random.below(5000);
        match self {
            Server::Child(stream) => {
                // None of its lines may be JSON by chance.
                for line in random.bytes(length).split(|byte| *byte == b'\n') {
                    stream.write_all(&[b"?", line, b"\n"].concat()).await.unwrap();
                }
            }
            Server::WebSocket(socket) => {
                let noise = String::from_utf8_lossy(&random.bytes(length)).into_owned();
                ends::say(socket, &format!("?{noise}")).await;
            }
        }
    }
}

/// HTTP clients with a session.
async fn check_http((servers, proxy): (Servers, Proxy), mut random: Random) {
    let to = proxy.address;
    let opening = post(INITIALIZE, "");
    let (opened, mut server) = tokio::join!(raw_client(to, &opening), async {
        let mut server = servers.accept().await;
        assert_eq!(server.hear().await, INITIALIZE);
        server.say(AGREED).await;
        server
    });
    let opened = String::from_utf8(opened).unwrap();
    let session = opened.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
    let session = format!("Mcp-Session-Id: {}\r\n", session.trim());
    for index in 0..ROUNDS {
        let (up, down) = (random.message(index), result(&mut random, index));
        let length = random.below(5000);
        let noise = [b"?", &*random.bytes(length)].concat();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{session}\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: {}\r\n\r\n",
            noise.len()
        );
        let hostile = [head.as_bytes(), &*noise].concat();
        let (status, refused) = parts(&raw_client(to, &hostile).await);
        assert_eq!(status, 400, "{refused}");
        assert!(refused.contains("-32700"), "{refused}");
        let request = post(&up, &session);
        let (answer, ()) = tokio::join!(raw_client(to, &request), async {
            assert_eq!(server.hear().await, up);
            server.babble(&mut random).await;
            server.say(&down).await;
        });
        let (status, body) = parts(&answer);
        assert_eq!((status, body), (200, down), "round {index}");
    }
    drop(server);
    proxy.stop().await.assert_same();
}

#[tokio::test(flavor = "multi_thread")]
async fn from_http_to_standard_streams_and_back() {
    check_http(Servers::children().await, Random(19)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn from_http_to_a_web_socket_and_back() {
    check_http(Servers::web_sockets().await, Random(23)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn from_a_web_socket_to_standard_streams_and_back() {
    let (servers, proxy) = Servers::children().await;
    let mut random = Random(29);
    let client = ends::open(proxy.address).await;
    let mut server = None;
    for index in 0..ROUNDS {
        let (up, down) = (random.message(index), result(&mut random, index));
        let length = random.below(5000);
        let noise = String::from_utf8_lossy(&random.bytes(length)).into_owned();
        let noise = format!("?{noise}");
        ends::say(&client, &noise).await;
        let line = noise.strip_suffix('\r').unwrap_or(&noise);
        let is_line = !line.contains(['\n', '\r']);
        if !is_line {
            let refused = ends::hear(&client).await;
            assert!(refused.contains("-32700"), "{refused}");
        }
        ends::say(&client, &up).await;
        if server.is_none() {
            server = Some(servers.accept().await);
        }
        let server = server.as_mut().unwrap();
        if is_line {
            assert_eq!(server.hear().await, line);
        }
        assert_eq!(server.hear().await, up);
        server.babble(&mut random).await;
        server.say(&down).await;
        assert_eq!(ends::hear(&client).await, down, "round {index}");
    }
    drop((client, server));
    proxy.stop().await.assert_same();
}
