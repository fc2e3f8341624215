//! A message is parsed once when it is received, and at most once when it is sent.
//!
//! Client and server run on one thread here, which makes it possible to count the parses of both.

use mcp_json::testing::parses;
use mcp_sdk::{Client, Server, Structured, Validation, core::Revision};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::over::{OVER, Over, connect};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Sum {
    numbers: Vec<i64>,
}

fn server(validation: Validation) -> Server {
    Server::builder("test", "1.0.0")
        .validation(validation)
        .tool("echo", "Gives back its arguments", async |sum: Sum, _| Ok(Structured(sum)))
        .build()
        .unwrap()
}

/// The number of texts that both sides parse for one call.
async fn parses_of_a_call(
    over: Over,
    revision: Revision,
    ours: Validation,
    theirs: Validation,
) -> u64 {
    let client = Client::builder("test", "1.0.0").validation(ours).revision(revision);
    let client = connect(over, server(theirs), client, (1 << 20, 1 << 20)).await;
    // Work that is done only once: listing the tools, opening a stream for notifications.
    client.all_tools().await.unwrap();
    let call = async || {
        let result = client.call_tool("echo", json!({ "numbers": [1, 2, 3] })).await.unwrap();
        assert!(!result.is_error && result.structured_content.is_some());
    };
    call().await;
    let before = parses();
    for _ in 0..10 {
        call().await;
    }
    let parsed = parses() - before;
    assert_eq!(parsed % 10, 0, "{over:?} {revision}: every call costs the same");
    parsed / 10
}

#[tokio::test]
async fn every_message_is_parsed_once_on_each_side() {
    for over in OVER {
        for revision in [Revision::V2025_06_18, Revision::V2025_11_25, Revision::LATEST] {
            for (ours, theirs, expected) in [
                // Each side parses what it receives.
                (Validation::off(), Validation::off(), 2),
                // A client also checks its request, a server its response.
                (Validation::enforce(), Validation::off(), 3),
                (Validation::off(), Validation::enforce(), 3),
                (Validation::off(), Validation::observe(), 3),
                (Validation::enforce(), Validation::enforce(), 4),
            ] {
                let case = format!("{over:?} {revision} {ours:?} {theirs:?}");
                let parsed = parses_of_a_call(over, revision, ours, theirs).await;
                assert_eq!(parsed, expected, "{case}");
            }
        }
    }
}
