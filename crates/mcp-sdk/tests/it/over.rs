//! A client and a server over every transport.

use mcp_sdk::{
    Client, ClientBuilder, Server,
    transport::{
        LineSettings, LineTransport, WsListener, http::server::HttpSettings, memory,
        ws::WsServerSettings,
    },
};
use tokio::{io::DuplexStream, net::TcpListener};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    Memory,
    /// The same as standard streams.
    Lines,
    Http,
    WebSocket,
}

pub(crate) const OVER: [Over; 4] = [Over::Memory, Over::Lines, Over::Http, Over::WebSocket];

/// Connects a client to a server. `limits` are the message size limits of the server and the client.
pub(crate) async fn connect(
    over: Over,
    server: Server,
    client: ClientBuilder,
    limits: (usize, usize),
) -> Client {
    let forever = std::future::pending();
    let connected = match over {
        Over::Memory => {
            let (near, far) = memory::pair(16);
            tokio::spawn(async move { server.serve(far).await });
            client.connect(near).await
        }
        Over::Lines => {
            let (near, far) = tokio::io::duplex(1 << 16);
            let lines = |stream: DuplexStream, limit| {
                let (input, output) = tokio::io::split(stream);
                let mut settings = LineSettings::default();
                settings.max_message = limit;
                LineTransport::new(input, output, &settings)
            };
            let far = lines(far, limits.0);
            tokio::spawn(async move { server.serve(far).await });
            client.connect(lines(near, limits.1)).await
        }
        Over::Http => {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}/mcp", listener.local_addr().unwrap());
            tokio::spawn(async move {
                server.serve_http_on(listener, HttpSettings::default(), forever).await;
            });
            client.connect_http(&url).await
        }
        Over::WebSocket => {
            let mut settings = WsServerSettings::default();
            settings.connection.max_message = limits.0;
            let listener = WsListener::bind("127.0.0.1:0", settings).await.unwrap();
            let url = format!("ws://{}/", listener.local_addr());
            tokio::spawn(async move { server.serve_ws_on(listener, forever).await });
            client.connect_ws(&url).await
        }
    };
    connected.unwrap()
}
