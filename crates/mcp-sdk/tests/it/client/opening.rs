use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp_sdk::{
    ClientError, Validation,
    core::{Revision, Side},
};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{Script, builder, discovered, initialized};

#[tokio::test(start_paused = true)]
async fn a_late_response_to_the_probe_counts() {
    let findings: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&findings);
    let validation = Validation::enforce().on_finding(move |finding| {
        // Ignore what this server lacks.
        if finding.at_fault.or(finding.from) != Some(Side::Server) {
            seen.lock().unwrap().push(format!("{}: {}", finding.rule.name, finding.message));
        }
    });
    for answers_both in [false, true] {
        let (near, script) = Script::new();
        let serving = async {
            let probe = script.expect("server/discover").await;
            let handshake = script.expect("initialize").await;
            sleep(Duration::from_secs(5)).await;
            script.answer(&probe, discovered(json!({ "tools": {} }))).await;
            if answers_both {
                script.answer(&handshake, initialized("2025-11-25", json!({ "tools": {} }))).await;
            } else {
                script.refuse(&handshake, -32601, "unknown method").await;
            }
        };
        let connecting = builder().validation(validation.clone()).connect(near);
        let (client, ()) = tokio::join!(connecting, serving);
        let client = client.unwrap();
        assert_eq!(client.revision(), Revision::LATEST);
        let serving = async {
            let request = script.expect("tools/list").await;
            let list = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "tools": [] });
            script.answer(&request, list).await;
        };
        let (listed, ()) = tokio::join!(client.all_tools(), serving);
        assert_eq!(listed.unwrap().len(), 0);
    }
    assert_eq!(*findings.lock().unwrap(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_slow_server_of_the_handshake_era_is_detected() {
    let (near, script) = Script::new();
    let serving = async {
        let probe = script.expect("server/discover").await;
        let handshake = script.expect("initialize").await;
        script.refuse(&probe, -32601, "what?").await;
        sleep(Duration::from_secs(20)).await;
        script.answer(&handshake, initialized("2025-06-18", json!({}))).await;
        script.expect("notifications/initialized").await;
    };
    let (client, ()) = tokio::join!(builder().connect(near), serving);
    assert_eq!(client.unwrap().revision(), Revision::V2025_06_18);
}

#[tokio::test(start_paused = true)]
async fn after_a_rejected_handshake_the_probe_decides() {
    let (near, script) = Script::new();
    let serving = async {
        let probe = script.expect("server/discover").await;
        let handshake = script.expect("initialize").await;
        script.refuse(&handshake, -32601, "unknown method").await;
        sleep(Duration::from_secs(5)).await;
        script.answer(&probe, discovered(json!({}))).await;
    };
    let (client, ()) = tokio::join!(builder().connect(near), serving);
    assert_eq!(client.unwrap().revision(), Revision::LATEST);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_costs_one_timeout() {
    for (builder, seconds) in [
        (builder(), 60),
        (builder().connect_timeout(Duration::from_secs(8)), 8),
        (builder().revision(Revision::LATEST), 60),
        (builder().revision(Revision::LATEST_LEGACY).timeout(Duration::from_secs(7)), 7),
    ] {
        let (near, _script) = Script::new();
        let begun = Instant::now();
        let error = builder.connect(near).await.unwrap_err();
        assert_eq!(begun.elapsed().as_secs(), seconds, "{error}");
        assert!(error.to_string().contains("no response within"), "{error}");
    }
}

#[tokio::test]
async fn a_required_revision_fails_with_what_the_server_supports() {
    let (near, script) = Script::new();
    let serving = async {
        let probe = script.expect("server/discover").await;
        script.refuse(&probe, -32601, "what?").await;
        let handshake = script.expect("initialize").await;
        script.answer(&handshake, initialized("2025-03-26", json!({}))).await;
    };
    let connecting = builder().revision(Revision::LATEST).connect(near);
    let (refused, ()) = tokio::join!(connecting, serving);
    let error = refused.unwrap_err();
    assert!(matches!(error, ClientError::NoCommonRevision { .. }), "{error}");
    let expected = "the server supports 2025-03-26, and this client requires 2026-07-28";
    assert_eq!(error.to_string(), expected);
}
