//! Without a fault nothing is found.

use mcp_core::Revision;
use mcp_probe::{Phase, Settings};

use crate::server::{Wire, findings, test};

async fn assert_spotless(wire: Wire) {
    // Random walks have tests of their own.
    let phases = vec![Phase::Protocol, Phase::Tools];
    let settings = Settings { revisions: Revision::ALL.to_vec(), phases, ..Settings::default() };
    let report = test(None, wire, settings).await.unwrap();
    assert_eq!(report.found.offers.len(), Revision::ALL.len(), "{:?}", report.found.refused);
    assert_eq!(findings(&report), []);
    assert_eq!(report.restarts, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_is_spotless_over_stdio() {
    assert_spotless(Wire::Stdio).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_is_spotless_over_http() {
    assert_spotless(Wire::Http).await;
}
