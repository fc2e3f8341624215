//! Any bytes behind a WebSocket handshake: no panic, an end, and no message beyond the limit.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::{Inbound, Transport as _};
use mcp_transport::ws::{WsServerSettings, accept};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

const LIMIT: usize = 64;
const HANDSHAKE: &[u8] =
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

fuzz_target!(|input: &[u8]| plumb_fuzz::run(receive(input)));

async fn receive(input: &[u8]) {
    let (_, pieces) = plumb_fuzz::pieces(input);
    let (mut client, server) = duplex(4096);
    let mut settings = WsServerSettings::default();
    settings.connection.max_message = LIMIT;
    let accepted = tokio::spawn(async move { accept(server, &settings).await });
    client.write_all(HANDSHAKE).await.expect("the server reads");
    let transport = accepted.await.expect("no panic").expect("a good handshake");
    let (mut from_server, mut to_server) = tokio::io::split(client);
    let received = async {
        // An error ends the conversation as well.
        while let Ok(Some(inbound)) = transport.receive().await {
            if let Inbound::Message { bytes, .. } = inbound {
                assert!(bytes.len() <= LIMIT);
            }
        }
        transport.close().await;
    };
    let sent = async {
        for piece in pieces {
            if to_server.write_all(piece).await.is_err() {
                break;
            }
        }
        let _ = to_server.shutdown().await;
    };
    let drained = async {
        let mut answers = Vec::new();
        let _ = from_server.read_to_end(&mut answers).await;
    };
    // The server's end is what counts; what it has not read by then is lost.
    tokio::select! {
        () = received => {}
        ((), ()) = async { tokio::join!(sent, drained) } => {}
    }
}
