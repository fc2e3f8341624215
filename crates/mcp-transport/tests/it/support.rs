use std::{future::Future, time::Duration};

use bytes::Bytes;
use mcp_core::{Inbound, Outbound, OutboundRole, Transport, TransportError};

/// A test that hangs fails.
pub(crate) async fn within_a_minute<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), work).await.expect("it hangs")
}

pub(crate) fn message(text: impl Into<String>) -> Outbound {
    Outbound {
        bytes: Bytes::from(text.into()),
        role: OutboundRole::Notification,
        ticket: None,
        headers: None,
        parsed: None,
    }
}

/// Describes what is received next.
pub(crate) async fn next(transport: &dyn Transport) -> Result<Option<String>, TransportError> {
    Ok(match within_a_minute(transport.receive()).await? {
        Some(Inbound::Message { bytes, ticket: None }) => {
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }
        Some(Inbound::TooLong { length, .. }) => Some(format!("skipped {length}")),
        Some(other) => panic!("{other:?}"),
        None => None,
    })
}

/// Everything received until a proper end.
pub(crate) async fn rest(transport: &dyn Transport) -> Vec<String> {
    let mut found = Vec::new();
    while let Some(text) = next(transport).await.expect("a good end") {
        found.push(text);
    }
    found
}

/// Sends until that fails.
pub(crate) async fn send_until_error(transport: &dyn Transport, text: &str) -> TransportError {
    within_a_minute(async {
        loop {
            if let Err(error) = transport.send(message(text)).await {
                return error;
            }
        }
    })
    .await
}
