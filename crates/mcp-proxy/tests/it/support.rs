//! A gateway, raw clients and servers.

use std::{
    ffi::OsString,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use mcp_core::SessionStore;
use mcp_proxy::{
    Access, Counts, Policy, ProxiedServer, ProxiedServerSettings, Recorder, Tap, TapSettings,
    Watcher,
};
use mcp_rules::{Engine, LineReader, Observer, RecordingInfo, Settings};
use mcp_schema::Schemas;
use mcp_transport::http::server::{ServeSettings, serve};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// A gateway that records.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    pub(crate) recording: Recording,
    entrance: ProxiedServer,
    serving: JoinHandle<()>,
}

/// A tap that records.
pub(crate) struct Recording {
    pub(crate) tap: Tap,
    found: Arc<Mutex<Vec<String>>>,
    record: PathBuf,
    _folder: TempDir,
}

/// What a proxy has come to.
pub(crate) struct Outcome {
    pub(crate) counts: Counts,
    /// The findings reported live, as JSON.
    pub(crate) live: Vec<String>,
    pub(crate) record: String,
}

impl Proxy {
    pub(crate) async fn start(upstream: SocketAddr, policy: Policy) -> Proxy {
        Proxy::with(upstream, policy, &ProxiedServerSettings::default()).await
    }

    pub(crate) async fn with(
        upstream: SocketAddr,
        policy: Policy,
        settings: &ProxiedServerSettings,
    ) -> Proxy {
        Proxy::to(&format!("http://{upstream}/mcp"), policy, settings).await
    }

    pub(crate) async fn to(url: &str, policy: Policy, settings: &ProxiedServerSettings) -> Proxy {
        Proxy::reaching(url, &Access::default(), policy, settings).await
    }

    pub(crate) async fn reaching(
        url: &str,
        access: &Access,
        policy: Policy,
        settings: &ProxiedServerSettings,
    ) -> Proxy {
        let recording = Recording::new(policy);
        let entrance = ProxiedServer::to_url(url, access, &recording.tap, settings).unwrap();
        Proxy::serving(entrance, recording).await
    }

    /// A replica, which knows of sessions what all others with the same store know.
    pub(crate) async fn replica(
        upstream: SocketAddr,
        policy: Policy,
        store: Box<dyn SessionStore>,
    ) -> Proxy {
        let recording = Recording::sharing(policy, store);
        let (url, settings) = (format!("http://{upstream}/mcp"), ProxiedServerSettings::default());
        let entrance =
            ProxiedServer::to_url(&url, &Access::default(), &recording.tap, &settings).unwrap();
        Proxy::serving(entrance, recording).await
    }

    /// A gateway to a program that is started for its clients.
    pub(crate) async fn starting(
        command: &[OsString],
        policy: Policy,
        settings: &ProxiedServerSettings,
    ) -> Proxy {
        let recording = Recording::new(policy);
        let (program, arguments) = command.split_first().unwrap();
        let entrance = ProxiedServer::to_command(program, arguments, &recording.tap, settings);
        Proxy::serving(entrance, recording).await
    }

    async fn serving(entrance: ProxiedServer, recording: Recording) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut settings = ServeSettings::default();
        settings.keep_header_case = true;
        let never = std::future::pending();
        let serving = tokio::spawn(serve(listener, entrance.clone(), settings, never));
        Proxy { address, recording, entrance, serving }
    }

    /// Waits until everything that has passed is judged.
    pub(crate) async fn settled(&self) {
        while self.recording.tap.is_behind() {
            tokio::task::yield_now().await;
        }
    }

    /// Ends it at once: what is under way breaks off.
    pub(crate) fn abandon(self) {
        self.serving.abort();
    }

    pub(crate) async fn stop(self) -> Outcome {
        self.entrance.close().await;
        self.serving.abort();
        let _ = self.serving.await;
        self.recording.finish().await
    }
}

impl Recording {
    pub(crate) fn new(policy: Policy) -> Recording {
        Recording::of(policy, None, None)
    }

    /// A recording that is also shown to `watcher`.
    pub(crate) fn watched(policy: Policy, watcher: Watcher) -> Recording {
        Recording::of(policy, Some(watcher), None)
    }

    pub(crate) fn sharing(policy: Policy, store: Box<dyn SessionStore>) -> Recording {
        Recording::of(policy, None, Some(store))
    }

    fn of(
        policy: Policy,
        watcher: Option<Watcher>,
        store: Option<Box<dyn SessionStore>>,
    ) -> Recording {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("record.jsonl");
        let found = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&found);
        let tap = Tap::new(
            engine(),
            TapSettings {
                policy,
                recorder: Some(Recorder::create(&record, "").unwrap()),
                watchers: {
                    let own: Watcher = Box::new(move |event| {
                        let findings = event.findings.iter();
                        let texts = findings.map(|finding| serde_json::to_string(finding).unwrap());
                        seen.lock().unwrap().extend(texts);
                    });
                    std::iter::once(own).chain(watcher).collect()
                },
                store,
                ..TapSettings::default()
            },
        );
        Recording { tap, found, record, _folder: folder }
    }

    /// What is recorded so far.
    pub(crate) fn text(&self) -> String {
        std::fs::read_to_string(&self.record).unwrap()
    }

    pub(crate) async fn finish(self) -> Outcome {
        let tap = self.tap.clone();
        let counts = tokio::task::spawn_blocking(move || tap.finish()).await.unwrap();
        let live = self.found.lock().unwrap().clone();
        Outcome { counts, live, record: std::fs::read_to_string(&self.record).unwrap() }
    }
}

impl Outcome {
    /// The recording gives the findings that were reported live.
    #[track_caller]
    pub(crate) fn assert_same(&self) {
        let sorted = |texts: &[String]| {
            let mut texts = texts.to_vec();
            texts.sort();
            texts
        };
        assert_eq!(sorted(&self.live), sorted(&self.recorded()), "{}", self.record);
        assert_eq!(self.counts.lines, self.record.lines().count() as u64);
    }

    /// What is found in the recording.
    pub(crate) fn recorded(&self) -> Vec<String> {
        findings_in(&self.record)
    }
}

/// What is found in a recording.
pub(crate) fn findings_in(record: &str) -> Vec<String> {
    let engine = engine();
    let mut observer = Observer::new(&engine, RecordingInfo::default());
    let mut reader = LineReader::new(&engine.settings().limits);
    let mut found = Vec::new();
    let mut judged = Vec::new();
    for (number, line) in (1..).zip(record.lines()) {
        let ruling =
            reader.read(line.as_bytes(), |read| observer.decide(number, read, |_| Some(false)));
        found.extend(ruling.findings().map(|finding| serde_json::to_string(finding).unwrap()));
    }
    observer.finish(&mut judged);
    let findings = judged.iter().flat_map(|judged| &judged.findings);
    found.extend(findings.map(|finding| serde_json::to_string(finding).unwrap()));
    found
}

pub(crate) fn engine() -> Arc<Engine> {
    Arc::new(Engine::new(Schemas::embedded(), Settings::default()))
}

/// A server that answers every connection with fixed bytes once it has read `expected` bytes, and
/// says what it has read.
pub(crate) async fn raw_server(
    expected: usize,
    answer: Vec<u8>,
) -> (SocketAddr, JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut received = Vec::new();
        let mut part = vec![0; 1 << 16];
        while received.len() < expected {
            match stream.read(&mut part).await.unwrap() {
                0 => break,
                count => received.extend_from_slice(&part[..count]),
            }
        }
        stream.write_all(&answer).await.unwrap();
        stream.shutdown().await.unwrap();
        received
    });
    (address, serving)
}

/// A server that answers each request with the first of `answers` whose needle is in it, and says
/// what it has read.
pub(crate) async fn scripted_server(
    answers: Vec<(&'static str, String)>,
) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let received = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&received);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut text = String::new();
            let mut part = vec![0; 1 << 16];
            while !is_whole(&text) {
                match stream.read(&mut part).await.unwrap() {
                    0 => break,
                    count => text.push_str(std::str::from_utf8(&part[..count]).unwrap()),
                }
            }
            let found = answers.iter().find(|(needle, _)| text.contains(needle));
            let none = "HTTP/1.1 405 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let answer = found.map_or(none, |(_, answer)| answer);
            seen.lock().unwrap().push(text);
            stream.write_all(answer.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
        }
    });
    (address, received)
}

/// Whether a request has come with all of its body.
fn is_whole(text: &str) -> bool {
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().ok())?
    });
    body.len() >= length.unwrap_or(0)
}

/// A response with a JSON body that ends its connection.
pub(crate) fn json_response(headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A response with these messages as events.
pub(crate) fn event_response(messages: &[&str]) -> String {
    let events: Vec<String> =
        messages.iter().map(|message| format!("data: {message}\n\n")).collect();
    let events = events.concat();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{events}"
    )
}

/// Sends bytes and returns everything that comes back until the connection is closed.
pub(crate) async fn raw_client(to: SocketAddr, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(to).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    answer
}

/// A POST of `body` that ends its connection.
pub(crate) fn post(body: &str, headers: &str) -> Vec<u8> {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// The status and the body of a response.
pub(crate) fn parts(response: &[u8]) -> (u16, String) {
    let text = String::from_utf8_lossy(response);
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.to_owned())
}
