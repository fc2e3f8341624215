//! A client on standard streams, a server over HTTP.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{Shutdown, SocketAddr},
    os::unix::net::UnixStream,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_proxy::{
    Access, Policy,
    bridge::remote::{Remote, RemoteSettings, run_over},
};
use mcp_sdk::{
    CallOptions, Client, ClientEvent, NoArguments, Server,
    core::{ElicitForm, ElicitRequest, ElicitResult, Mcp, Progress, Revision},
    transport::{
        LineSettings, LineTransport,
        http::server::{HttpService, HttpSettings, ServeSettings, serve},
    },
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle};

use crate::support::{Outcome, Recording};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
const WAIT: &str =
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait","arguments":{}}}"#;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    /// What to repeat.
    #[schemars(extend("x-mcp-header" = "Text"))]
    text: String,
}

/// A server that tells when its tool `wait` was begun and abandoned.
struct Upstream {
    address: SocketAddr,
    service: HttpService,
    mcp: Mcp,
    began: Arc<Notify>,
    abandoned: Arc<Notify>,
}

struct OnDrop(Arc<Notify>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl Upstream {
    async fn start() -> Upstream {
        let (began, abandoned) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let signals = (Arc::clone(&began), Arc::clone(&abandoned));
        let server = Server::builder("server", "1")
            .tool("echo", "Repeats", async |echo: Echo, _| Ok(echo.text))
            .tool("ask", "Asks the user", async |_: NoArguments, context| {
                let form = ElicitForm::new().required("name", ElicitForm::string());
                let answer = context.elicit("who", &ElicitRequest::form("Who?", form)).await?;
                Ok(serde_json::to_string(&answer.content)?)
            })
            .tool("steps", "Shows progress", async |_: NoArguments, context| {
                for step in [1.0, 2.0] {
                    context.progress(Progress::new(step).total(2.0)).await;
                }
                Ok("done")
            })
            .tool("wait", "Never ends", move |_: NoArguments, _| {
                let (began, abandoned) = signals.clone();
                async move {
                    let _guard = OnDrop(abandoned);
                    began.notify_one();
                    std::future::pending::<()>().await;
                    Ok("done")
                }
            })
            .build()
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = server.http_service(HttpSettings::default());
        let serving =
            serve(listener, service.clone(), ServeSettings::default(), std::future::pending());
        tokio::spawn(serving);
        Upstream { address, service, mcp: server.mcp().clone(), began, abandoned }
    }
}

/// A bridge, with its client's end of the streams.
pub(crate) struct Bridge {
    pub(crate) stream: UnixStream,
    running: JoinHandle<()>,
    recording: Recording,
}

impl Bridge {
    pub(crate) fn start(upstream: SocketAddr, policy: Policy, settings: RemoteSettings) -> Bridge {
        let url = format!("http://{upstream}/mcp");
        let remote = Remote::new(&url, settings.max_line, &Access::default()).unwrap();
        Bridge::to(remote, policy, settings)
    }

    fn to(remote: Remote, policy: Policy, settings: RemoteSettings) -> Bridge {
        let recording = Recording::new(policy);
        let (stream, other) = UnixStream::pair().unwrap();
        let input = other.try_clone().unwrap();
        let tap = recording.tap.clone();
        let running = tokio::spawn(async move {
            run_over(remote, (input, other), &tap, &settings).await;
        });
        Bridge { stream, running, recording }
    }

    /// Waits until the bridge has ended by itself.
    async fn end(self) -> Outcome {
        self.running.await.unwrap();
        self.recording.finish().await
    }

    async fn say(&self, line: &str) {
        let mut stream = self.stream.try_clone().unwrap();
        let line = format!("{line}\n");
        tokio::task::spawn_blocking(move || stream.write_all(line.as_bytes()).unwrap())
            .await
            .unwrap();
    }

    /// The next line, which must come.
    async fn hear(&self) -> Value {
        let stream = self.stream.try_clone().unwrap();
        tokio::task::spawn_blocking(move || {
            // Byte by byte, since the next call has another buffer.
            let mut line = String::new();
            BufReader::with_capacity(1, stream).read_line(&mut line).unwrap();
            serde_json::from_str(&line).unwrap()
        })
        .await
        .unwrap()
    }

    fn leave(&self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }
}

fn error_of(answer: &Value) -> (i64, &str) {
    let error = &answer["error"];
    (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_works_at_every_era_and_the_record_is_clean() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        for policy in [Policy::observe(), Policy::enforce()] {
            let upstream = Upstream::start().await;
            let bridge = Bridge::start(upstream.address, policy, RemoteSettings::default());
            let stream = bridge.stream.try_clone().unwrap();
            stream.set_nonblocking(true).unwrap();
            let stream = tokio::net::UnixStream::from_std(stream).unwrap();
            let (input, output) = stream.into_split();
            let transport = LineTransport::new(input, output, &LineSettings::default());
            let client = Client::builder("client", "1")
                .revision(revision)
                .on_elicitation(async |_| {
                    let name = [("name".to_owned(), json!("Ann"))];
                    Ok(ElicitResult::accept(name.into_iter().collect()))
                })
                .connect(transport)
                .await
                .unwrap();
            assert_eq!(client.revision(), revision);
            assert_eq!(client.all_tools().await.unwrap().len(), 4);
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
            let mut subscription = client.subscribe(&[]).await.unwrap();
            upstream.mcp.tools().announce();
            assert!(matches!(subscription.recv().await.unwrap(), ClientEvent::ToolsChanged));
            drop(subscription);
            client.close().await;
            bridge.leave();
            let outcome = bridge.end().await;
            assert_eq!(outcome.live, [""; 0], "{}", outcome.record);
            assert!(outcome.counts.messages >= 8, "{:?}", outcome.counts);
            outcome.assert_same();
            assert_eq!(upstream.service.sessions(), 0, "the session was not ended");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_answered_recorded_and_judged() {
    let upstream = Upstream::start().await;
    let mut settings = RemoteSettings::default();
    settings.max_line = 500;
    let bridge = Bridge::start(upstream.address, Policy::observe(), settings);
    bridge.say(INITIALIZE).await;
    assert_eq!(bridge.hear().await["result"]["protocolVersion"], "2025-11-25");
    bridge.say(INITIALIZED).await;
    bridge.say("hello\r\n\n {").await;
    assert_eq!(error_of(&bridge.hear().await).0, -32700);
    assert_eq!(error_of(&bridge.hear().await).0, -32700);
    bridge.say(&format!("\"{}\"", "x".repeat(600))).await;
    let answer = bridge.hear().await;
    assert_eq!(error_of(&answer), (-32600, "a line of 602 bytes is too long"));
    bridge.say("{\"jsonrpc\":\"2.0\",\t\"id\":3,\"method\":\"no/such\"}").await;
    let answer = bridge.hear().await;
    assert_eq!((&answer["id"], error_of(&answer).0), (&json!(3), -32601));
    bridge.leave();
    let outcome = bridge.end().await;
    assert_eq!(outcome.record.matches(r#""by":"proxy""#).count(), 1, "{}", outcome.record);
    assert!(outcome.record.contains(r#""skipped":602"#), "{}", outcome.record);
    for rule in ["stdin-non-json", "stdio-blank-line", "message-size-limit"] {
        assert!(outcome.live.iter().any(|found| found.contains(rule)), "{:?}", outcome.live);
    }
    outcome.assert_same();
}

#[tokio::test(flavor = "multi_thread")]
async fn every_caller_is_told_that_the_server_cannot_be_reached() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let bridge = Bridge::start(gone, Policy::enforce(), RemoteSettings::default());
    bridge.say(&format!("{INITIALIZE}\n{PING}")).await;
    for _ in 0..2 {
        let answer = bridge.hear().await;
        let (code, message) = error_of(&answer);
        assert_eq!(code, -32603);
        assert!(message.starts_with("the server cannot be reached: "), "{message}");
    }
    bridge.leave();
    bridge.end().await.assert_same();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_session_is_told_and_another_can_be_opened() {
    let upstream = Upstream::start().await;
    let bridge = Bridge::start(upstream.address, Policy::observe(), RemoteSettings::default());
    bridge.say(INITIALIZE).await;
    bridge.hear().await;
    bridge.say(INITIALIZED).await;
    bridge.say(PING).await;
    assert_eq!(bridge.hear().await["result"], json!({}));
    // All sessions end, and no new one is opened.
    upstream.service.close();
    for _ in 0..2 {
        bridge.say(PING).await;
        let answer = bridge.hear().await;
        assert_eq!((&answer["id"], error_of(&answer).0), (&json!(2), -32603));
        assert!(error_of(&answer).1.contains("no longer knows this session"), "{answer}");
    }
    bridge.say(INITIALIZE).await;
    let answer = bridge.hear().await;
    assert!(error_of(&answer).1.contains("shutting down"), "{answer}");
    bridge.leave();
    bridge.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_request_is_cancelled_at_the_server() {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
    let modern = WAIT.replace(r#""arguments""#, &format!(r#"{meta},"arguments""#));
    for (opening, ask) in [(Some(INITIALIZE), WAIT), (None, &*modern)] {
        let upstream = Upstream::start().await;
        let mut settings = RemoteSettings::default();
        settings.exit_wait = Duration::from_secs(3600);
        let bridge = Bridge::start(upstream.address, Policy::observe(), settings);
        if let Some(opening) = opening {
            bridge.say(opening).await;
            bridge.hear().await;
            bridge.say(INITIALIZED).await;
        }
        bridge.say(ask).await;
        upstream.began.notified().await;
        bridge
            .say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#)
            .await;
        upstream.abandoned.notified().await;
        // Nothing is waited for any more.
        bridge.leave();
        let outcome = bridge.end().await;
        assert!(!outcome.record.contains(r#""from":"server","ts"#) || opening.is_some());
        assert!(!outcome.record.contains("-32603"), "{}", outcome.record);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_over_the_limit_and_those_left_behind_get_an_error() {
    let upstream = Upstream::start().await;
    let mut settings = RemoteSettings::default();
    (settings.max_waiting, settings.exit_wait) = (1, Duration::ZERO);
    let bridge = Bridge::start(upstream.address, Policy::observe(), settings);
    bridge.say(INITIALIZE).await;
    bridge.hear().await;
    bridge.say(INITIALIZED).await;
    bridge.say(WAIT).await;
    upstream.began.notified().await;
    bridge.say(PING).await;
    let answer = bridge.hear().await;
    assert_eq!(answer["id"], 2);
    assert_eq!(error_of(&answer), (-32603, "more than 1 requests are waiting"));
    bridge.leave();
    let answer = bridge.hear().await;
    assert_eq!((&answer["id"], error_of(&answer)), (&json!(7), (-32603, "the client has left")));
    bridge.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_request_never_reaches_the_server_under_enforcement() {
    let upstream = Upstream::start().await;
    let bridge = Bridge::start(upstream.address, Policy::enforce(), RemoteSettings::default());
    bridge.say(INITIALIZE).await;
    bridge.hear().await;
    bridge.say(INITIALIZED).await;
    bridge.say(r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":7}}"#).await;
    let answer = bridge.hear().await;
    assert_eq!((&answer["id"], error_of(&answer).0), (&json!(5), -32602));
    assert_eq!(answer["error"]["data"][0]["rule"], "params-invalid");
    bridge.leave();
    let outcome = bridge.end().await;
    assert_eq!(outcome.counts.rejected, 1);
    outcome.assert_same();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_says_nothing_is_given_up_on() {
    // Its connections are established, but nobody reads from them.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap());
    let timeout = Duration::from_millis(200);
    let remote = Remote::answering(&url, 1 << 20, timeout, &Access::default()).unwrap();
    let bridge = Bridge::to(remote, Policy::observe(), RemoteSettings::default());
    bridge.say(INITIALIZE).await;
    let answer = bridge.hear().await;
    assert_eq!((&answer["id"], error_of(&answer).0), (&json!(1), -32603), "{answer}");
    assert!(error_of(&answer).1.contains("has not begun to answer"), "{answer}");
    bridge.leave();
    bridge.end().await;
}
