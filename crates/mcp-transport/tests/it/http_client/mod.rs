//! The HTTP client with a server whose every byte is determined by the test.

mod answers;
mod headers;
mod load;
mod server;
mod session;
mod streams;
#[cfg(feature = "tls")]
mod tls;

use std::{future::Future, time::Duration};

use bytes::Bytes;
use mcp_core::{Inbound, MessageHeaders, Outbound, OutboundRole, Revision, Ticket, Transport};
use mcp_transport::http::client::{HttpSettings, HttpTransport};

use self::server::Server;

/// Long enough for any machine; only a failing test waits for it.
const PATIENCE: Duration = Duration::from_secs(20);

fn client(server: &Server) -> HttpTransport {
    client_with(server, |_| {})
}

fn client_with(server: &Server, change: impl FnOnce(&mut HttpSettings)) -> HttpTransport {
    let mut settings = HttpSettings::default();
    change(&mut settings);
    HttpTransport::new(&server.url, settings).unwrap()
}

fn request(ticket: u64, text: &str) -> Outbound {
    Outbound {
        bytes: Bytes::copy_from_slice(text.as_bytes()),
        role: OutboundRole::Request,
        ticket: Some(Ticket(ticket)),
        headers: None,
        parsed: None,
    }
}

fn labelled(ticket: u64, revision: Revision, method: &str) -> Outbound {
    let headers = MessageHeaders {
        revision: Some(revision),
        method: Some(method.to_owned()),
        ..MessageHeaders::default()
    };
    Outbound { headers: Some(Box::new(headers)), ..request(ticket, "{}") }
}

fn notification(text: &str) -> Outbound {
    Outbound { role: OutboundRole::Notification, ticket: None, ..request(0, text) }
}

async fn patiently<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("it takes too long")
}

/// The next event received, as text.
async fn next(transport: &HttpTransport) -> String {
    match patiently(transport.receive()).await {
        Ok(None) => "end".to_owned(),
        Ok(Some(Inbound::ErrorBody { ticket, bytes, .. })) => {
            format!("{} refused: {}", ticket.0, String::from_utf8_lossy(&bytes))
        }
        Ok(Some(Inbound::Message { ticket, bytes })) => {
            let ticket = ticket.map_or("-".to_owned(), |ticket| ticket.0.to_string());
            format!("{ticket}: {}", String::from_utf8_lossy(&bytes))
        }
        Ok(Some(Inbound::TooLong { length, .. })) => format!("skipped {length}"),
        Ok(Some(Inbound::ExchangeEnded { ticket, error: None })) => format!("{} over", ticket.0),
        Ok(Some(Inbound::ExchangeEnded { ticket, error: Some(error) })) => {
            format!("{} over: {error}", ticket.0)
        }
        Ok(Some(other)) => format!("{other:?}"),
        Err(error) => format!("error: {error}"),
    }
}

/// Asserts that nothing arrives for a short while. On a slow machine this can only pass wrongly.
async fn assert_silent(transport: &HttpTransport) {
    let short = Duration::from_millis(50);
    if let Ok(received) = tokio::time::timeout(short, transport.receive()).await {
        panic!("{received:?}");
    }
}
