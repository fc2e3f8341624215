//! Clients over HTTP, a server on standard streams.

use std::{
    ffi::OsString,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc, Once,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_proxy::{
    Policy,
    bridge::children::{Children, ChildrenSettings},
};
use mcp_sdk::{
    CallOptions, Client, ClientBuilder, ClientEvent,
    core::{ElicitResult, Revision},
    transport::http::server::{HttpService, ServeSettings, serve},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

use crate::support::{Outcome, Recording, parts, post, raw_client};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const MODERN: &str = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n";

fn modern_list(id: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{"_meta":{meta}}}}}"#)
}

/// The server as a program. Cargo builds it with the tests, unless only some targets are built.
pub(crate) fn program() -> PathBuf {
    static LOOKED: Once = Once::new();
    let tests = std::env::current_exe().unwrap();
    let mut program = tests.clone();
    program.pop();
    program.set_file_name("examples");
    program.push("tool-server");
    LOOKED.call_once(|| {
        let made = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
        if made(&program).is_none() {
            let mut cargo = Command::new(env!("CARGO"));
            // The variables that cargo sets for tests would cause a complete rebuild.
            for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CARGO_PKG_")) {
                cargo.env_remove(name);
            }
            cargo.env_remove("CARGO_MANIFEST_DIR").env_remove("CARGO_MANIFEST_PATH");
            cargo.args(["build", "--quiet", "--package", "mcp-proxy", "--example", "tool-server"]);
            assert!(cargo.status().unwrap().success());
        }
    });
    program
}

/// A bridge that serves HTTP clients.
pub(crate) struct Bridge {
    pub(crate) address: SocketAddr,
    service: HttpService,
    children: Children,
    serving: JoinHandle<()>,
    recording: Recording,
}

impl Bridge {
    async fn start(policy: Policy) -> Bridge {
        Bridge::with(&[program().into()], policy, ChildrenSettings::default()).await
    }

    pub(crate) async fn of_script(
        script: &str,
        policy: Policy,
        settings: ChildrenSettings,
    ) -> Bridge {
        let command: [OsString; 3] = ["sh".into(), "-c".into(), script.into()];
        Bridge::with(&command, policy, settings).await
    }

    async fn with(command: &[OsString], policy: Policy, settings: ChildrenSettings) -> Bridge {
        let recording = Recording::new(policy);
        let (program, arguments) = command.split_first().unwrap();
        let children = Children::new(program, arguments, &recording.tap, settings);
        let service = children.service();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let never = std::future::pending();
        let serving =
            tokio::spawn(serve(listener, service.clone(), ServeSettings::default(), never));
        Bridge { address, service, children, serving, recording }
    }

    async fn client(&self, builder: ClientBuilder) -> Client {
        builder.connect_http(&format!("http://{}/mcp", self.address)).await.unwrap()
    }

    /// Sends a message; returns status and body.
    pub(crate) async fn post(&self, body: &str, headers: &str) -> (u16, String) {
        parts(&raw_client(self.address, &post(body, headers)).await)
    }

    /// Opens a session, and returns the header that names it.
    pub(crate) async fn open(&self) -> String {
        let answer = raw_client(self.address, &post(INITIALIZE, "")).await;
        let answer = String::from_utf8(answer).unwrap();
        let id = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
        format!("Mcp-Session-Id: {}\r\n", id.trim())
    }

    pub(crate) async fn stop(self) -> Outcome {
        self.service.close();
        self.children.close().await;
        self.serving.abort();
        let _ = self.serving.await;
        self.recording.finish().await
    }
}

fn builder(revision: Revision) -> ClientBuilder {
    Client::builder("client", "1").revision(revision).on_elicitation(async |_| {
        let name = [("name".to_owned(), json!("Ann"))];
        Ok(ElicitResult::accept(name.into_iter().collect()))
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_works_at_every_era_and_the_record_is_clean() {
    for (revision, name) in [(Revision::LATEST_LEGACY, "session-1"), (Revision::LATEST, "shared-1")]
    {
        for policy in [Policy::observe(), Policy::enforce()] {
            let bridge = Bridge::start(policy).await;
            let client = bridge.client(builder(revision)).await;
            assert_eq!(client.revision(), revision);
            assert_eq!(client.all_tools().await.unwrap().len(), 6);
            let echo = client.call_tool("echo", json!({ "text": "a\nb \u{e4}" })).await.unwrap();
            assert_eq!(echo.all_text(), "a\nb \u{e4}");
            let asked = client.call_tool("ask", json!({})).await.unwrap();
            assert!(asked.all_text().contains("Ann"), "{}", asked.all_text());
            let steps = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&steps);
            let options = CallOptions::new().on_progress(move |_| {
                counted.fetch_add(1, Ordering::Relaxed);
            });
            client.call_tool_with("steps", json!({}), &options).await.unwrap();
            assert_eq!(steps.load(Ordering::Relaxed), 2);
            client.close().await;
            let outcome = bridge.stop().await;
            assert_eq!(outcome.live, [""; 0], "{}", outcome.record);
            assert!(outcome.counts.messages >= 8, "{:?}", outcome.counts);
            let named = format!(r#""session":"{name}""#);
            assert!(outcome.record.lines().all(|line| line.contains(&named)), "{}", outcome.record);
            outcome.assert_same();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_with_the_same_ids_get_their_own_answers() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let bridge = Bridge::start(Policy::observe()).await;
        let mut calls = tokio::task::JoinSet::new();
        for number in 0..4 {
            let client = bridge.client(builder(revision)).await;
            calls.spawn(async move {
                for call in 0..20 {
                    let text = format!("{number}-{call}");
                    let echo = client.call_tool("echo", json!({ "text": &text })).await.unwrap();
                    assert_eq!(echo.all_text(), text);
                }
                client.close().await;
            });
        }
        calls.join_all().await;
        let outcome = bridge.stop().await;
        assert_eq!(outcome.live, [""; 0], "{}", outcome.record);
        outcome.assert_same();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn subscriptions_last_and_those_of_a_shared_child_are_told_apart() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let bridge = Bridge::start(Policy::observe()).await;
        let first = bridge.client(builder(revision)).await;
        let second = bridge.client(builder(revision)).await;
        let mut subscription = first.subscribe(&[]).await.unwrap();
        let mut other = second.subscribe(&[]).await.unwrap();
        for _ in 0..2 {
            first.call_tool("touch", json!({})).await.unwrap();
            assert!(matches!(subscription.recv().await.unwrap(), ClientEvent::ToolsChanged));
            if revision == Revision::LATEST {
                // It is the same server.
                assert!(matches!(other.recv().await.unwrap(), ClientEvent::ToolsChanged));
            }
        }
        drop((subscription, other));
        first.close().await;
        second.close().await;
        let outcome = bridge.stop().await;
        assert_eq!(outcome.live, [""; 0], "{}", outcome.record);
        outcome.assert_same();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_exits_is_named_to_every_caller() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let bridge = Bridge::start(Policy::observe()).await;
        let client = bridge.client(builder(revision)).await;
        let begun = Arc::new(tokio::sync::Notify::new());
        let begins = Arc::clone(&begun);
        let options = CallOptions::new().on_progress(move |_| begins.notify_one());
        let (waiting, exiting) =
            tokio::join!(client.call_tool_with("wait", json!({}), &options), async {
                begun.notified().await;
                client.call_tool("exit", json!({})).await
            });
        for error in [waiting.unwrap_err(), exiting.unwrap_err()] {
            assert!(error.to_string().contains("the server exited with status 3"), "{error}");
        }
        // A session ends with its child; without one, the next request starts another.
        let after = client.call_tool("echo", json!({ "text": "again" })).await;
        assert_eq!(after.is_ok(), revision == Revision::LATEST, "{after:?}");
        client.close().await;
        let outcome = bridge.stop().await;
        assert_eq!(outcome.record.contains("shared-2"), revision == Revision::LATEST);
        outcome.assert_same();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_without_sessions_is_not_started_for_ever() {
    let mut settings = ChildrenSettings::default();
    settings.max_starts = 2;
    let bridge = Bridge::of_script("read -r line; exit 4", Policy::observe(), settings).await;
    for expected in ["exited with status 4", "exited with status 4", "exits too often: 2 starts"] {
        let (_, body) = bridge.post(&modern_list("\"x\""), MODERN).await;
        let answer: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("x"), &json!(-32603)));
        assert!(body.contains(expected), "{body}");
    }
    bridge.stop().await.assert_same();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_disconnects_cancels_its_request_without_a_session() {
    let bridge = Bridge::start(Policy::observe()).await;
    let client = bridge.client(builder(Revision::LATEST)).await;
    let begun = Arc::new(tokio::sync::Notify::new());
    let begins = Arc::clone(&begun);
    let options = CallOptions::new().on_progress(move |_| begins.notify_one());
    tokio::select! {
        _ = client.call_tool_with("wait", json!({}), &options) => panic!("it never ends"),
        () = begun.notified() => {}
    }
    client.close().await;
    let outcome = loop {
        // The cancellation was passed on before the children are ended.
        let recorded = bridge.recording.text();
        if recorded.contains("notifications/cancelled") {
            break bridge.stop().await;
        }
        tokio::task::yield_now().await;
    };
    let cancelled = outcome.record.lines().find(|line| line.contains("notifications/cancelled"));
    assert!(cancelled.unwrap().contains(r#""by":"proxy""#), "{cancelled:?}");
    assert_eq!(outcome.live, [""; 0], "{}", outcome.record);
    outcome.assert_same();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_session_gives_way_and_a_busy_one_does_not() {
    let mut settings = ChildrenSettings::default();
    settings.max_children = 1;
    settings.exit_wait = Duration::ZERO;
    let bridge = Bridge::with(&[program().into()], Policy::observe(), settings).await;
    let first = bridge.open().await;
    let second = bridge.open().await;
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    assert_eq!(bridge.post(ping, &first).await.0, 404);
    assert_eq!(bridge.post(ping, &second).await.0, 200);
    let client = bridge.client(builder(Revision::LATEST_LEGACY)).await;
    let begun = Arc::new(tokio::sync::Notify::new());
    let begins = Arc::clone(&begun);
    let options = CallOptions::new().on_progress(move |_| begins.notify_one());
    let (status, body) = tokio::select! {
        _ = client.call_tool_with("wait", json!({}), &options) => panic!("it never ends"),
        answer = async {
            begun.notified().await;
            bridge.post(INITIALIZE, "").await
        } => answer,
    };
    assert_eq!(status, 503, "{body}");
    assert!(body.contains("too many sessions"), "{body}");
    bridge.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_text_of_a_child_is_recorded_and_not_passed() {
    let script = r#"echo starting up; read -r line; echo; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}'; cat >/dev/null"#;
    for policy in [Policy::observe(), Policy::enforce()] {
        let bridge = Bridge::of_script(script, policy, ChildrenSettings::default()).await;
        let (status, body) = bridge.post(INITIALIZE, "").await;
        assert_eq!(status, 200);
        assert!(body.contains("2025-11-25") && !body.contains("starting"), "{body}");
        let outcome = bridge.stop().await;
        assert!(outcome.record.contains("starting up"), "{}", outcome.record);
        assert!(outcome.live.iter().any(|found| found.contains("stdout-non-json")));
        outcome.assert_same();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_breaks_the_protocol_does_not_pass_under_enforcement() {
    let script = r#"while read -r line; do echo '{"jsonrpc":"2.0","id":1,"result":7}'; done"#;
    let bridge = Bridge::of_script(script, Policy::enforce(), ChildrenSettings::default()).await;
    let (status, body) = bridge.post(&modern_list("\"x\""), MODERN).await;
    let answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &answer["id"]), (200, &json!("x")));
    assert_eq!(answer["error"]["code"], -32603, "{body}");
    let bad = modern_list("\"y\"").replace(r#""params":{"#, r#""params":{"cursor":7,"#);
    let (status, body) = bridge.post(&bad, MODERN).await;
    let answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &answer["id"]), (400, &json!("y")), "{body}");
    assert_eq!(answer["error"]["code"], -32602);
    // A session gets no further than its opening.
    let (_, body) = bridge.post(INITIALIZE, "").await;
    assert!(body.contains("-32603"), "{body}");
    let outcome = bridge.stop().await;
    assert_eq!(outcome.counts.rejected, 3, "{}", outcome.record);
    outcome.assert_same();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_answered_here() {
    let bridge = Bridge::start(Policy::observe()).await;
    let session = bridge.open().await;
    for (body, headers, status, code) in [
        ("{", "", 400, -32700),
        ("{}", &*session, 200, -32600),
        ("[]", &*session, 200, -32600),
        ("[1]", MODERN, 400, -32600),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, &*session, 200, -32600),
    ] {
        let (answered, text) = bridge.post(body, headers).await;
        assert_eq!(answered, status, "{body}: {text}");
        assert!(text.contains(&code.to_string()), "{body}: {text}");
    }
    let mismatch = MODERN.replace("tools/list", "tools/call");
    let (status, text) = bridge.post(&modern_list("1"), &mismatch).await;
    assert_eq!(status, 400);
    assert!(text.contains("-32020"), "{text}");
    bridge.stop().await.assert_same();
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_in_one_batch_go_to_their_exchanges() {
    let script = r#"read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}'; read -r line; read -r line; echo '[{"jsonrpc":"2.0","id":3,"result":{}}, {"jsonrpc":"2.0","id":2,"result":{}}]'; cat >/dev/null"#;
    let bridge = Bridge::of_script(script, Policy::observe(), ChildrenSettings::default()).await;
    let session = bridge.open().await;
    let ping = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    let (two, three) = (ping(2), ping(3));
    let (two, three) = tokio::join!(bridge.post(&two, &session), bridge.post(&three, &session));
    assert_eq!(two, (200, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#.to_owned()));
    assert_eq!(three, (200, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#.to_owned()));
    bridge.stop().await.assert_same();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_answered_in_one_exchange() {
    let bridge = Bridge::start(Policy::observe()).await;
    let opening = INITIALIZE.replace("2025-11-25", "2025-03-26");
    let answer = raw_client(bridge.address, &post(&opening, "")).await;
    let answer = String::from_utf8(answer).unwrap();
    let id = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
    let session = format!("Mcp-Session-Id: {}\r\n", id.trim());
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(bridge.post(initialized, &session).await.0, 202);
    let batch =
        r#"[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":"2","method":"ping"}]"#;
    let (status, body) = bridge.post(batch, &session).await;
    assert_eq!(status, 200);
    for id in ["2", "\"2\""] {
        assert!(
            body.contains(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)),
            "{body}"
        );
    }
    bridge.stop().await.assert_same();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_be_started_is_named() {
    let command = ["no-such-server".into()];
    let bridge = Bridge::with(&command, Policy::observe(), ChildrenSettings::default()).await;
    for (body, headers) in [(INITIALIZE, ""), (&*modern_list("1"), MODERN)] {
        let (_, text) = bridge.post(body, headers).await;
        assert!(text.contains("cannot start `no-such-server`"), "{text}");
        assert!(text.contains("-32603") && text.contains(r#""id":1"#), "{text}");
    }
    bridge.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_too_long_is_told_to_its_caller() {
    let script = r#"read -r line; printf '{"jsonrpc":"2.0","id":1,"result":"%02000d"}\n' 0; cat"#;
    let mut settings = ChildrenSettings::default();
    settings.max_message = 1000;
    settings.exit_wait = Duration::ZERO;
    let bridge = Bridge::of_script(script, Policy::observe(), settings).await;
    for (body, headers) in [(INITIALIZE, ""), (&*modern_list("1"), MODERN)] {
        let (_, text) = bridge.post(body, headers).await;
        assert!(text.contains("more than the limit of 1000"), "{text}");
    }
    let outcome = bridge.stop().await;
    assert_eq!(outcome.record.matches(r#""skipped":"#).count(), 2, "{}", outcome.record);
}
