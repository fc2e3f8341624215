//! A client that sends arbitrary messages, over each of the transports.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Once},
};

use mcp_sdk::{
    Server, Validation,
    core::{Inbound, Outbound, OutboundRole, Revision, Transport},
    transport::{
        ChildCommand, ChildSettings, ChildTransport,
        http::server::{HttpSettings, ServeSettings, serve},
        memory, ws,
    },
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::mpsc};

use super::{
    http::post,
    server::{Seen, server},
};

/// The transports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Memory,
    Child,
    WebSocket,
    HttpSession,
    HttpStateless,
}

impl Kind {
    pub(super) const ALL: [Kind; 5] =
        [Kind::Memory, Kind::Child, Kind::WebSocket, Kind::HttpSession, Kind::HttpStateless];

    pub(super) fn revision(self) -> Revision {
        match self {
            Kind::HttpStateless => Revision::LATEST,
            _ => Revision::LATEST_LEGACY,
        }
    }
}

/// The server's validation, with a name to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Checks {
    Off,
    Enforce,
}

impl Checks {
    pub(super) const ALL: [Checks; 2] = [Checks::Off, Checks::Enforce];

    pub(super) fn validation(self) -> Validation {
        match self {
            Checks::Off => Validation::off(),
            Checks::Enforce => Validation::enforce(),
        }
    }
}

/// One conversation with the server of these tests.
pub(super) struct Wire {
    pub(super) kind: Kind,
    pub(super) revision: Revision,
    pub(super) seen: Seen,
    way: Way,
    received: mpsc::UnboundedReceiver<Value>,
}

enum Way {
    Whole(Arc<dyn Transport>, Option<SocketAddr>),
    Http { to: SocketAddr, session: Option<String>, sender: mpsc::UnboundedSender<Value> },
}

impl Wire {
    /// Opens a conversation, including the handshake if there is one.
    pub(super) async fn open(kind: Kind, checks: Checks) -> Wire {
        Wire::open_at(kind, checks, kind.revision()).await
    }

    pub(super) async fn open_at(kind: Kind, checks: Checks, revision: Revision) -> Wire {
        let seen = Seen::default();
        let mut wire = match kind {
            Kind::HttpSession | Kind::HttpStateless => Wire::http(kind, checks, seen).await,
            _ => {
                let (transport, to) = transport(kind, checks, &seen).await;
                let (sender, received) = mpsc::unbounded_channel();
                tokio::spawn(listen(Arc::clone(&transport), sender));
                Wire { kind, revision, seen, way: Way::Whole(transport, to), received }
            }
        };
        wire.revision = revision;
        if revision != Revision::LATEST {
            wire.handshake().await;
        }
        wire
    }

    async fn http(kind: Kind, checks: Checks, seen: Seen) -> Wire {
        let to = http_server(checks, &seen).await;
        let (sender, received) = mpsc::unbounded_channel();
        let way = Way::Http { to, session: None, sender };
        Wire { kind, revision: kind.revision(), seen, way, received }
    }

    async fn handshake(&mut self) {
        let opening = json!({ "jsonrpc": "2.0", "id": "opening", "method": "initialize", "params": {
            "protocolVersion": self.revision, "capabilities": {},
            "clientInfo": { "name": "hostile", "version": "1" },
        }});
        match &mut self.way {
            Way::Whole(..) => {
                self.send(&opening.to_string()).await;
                assert_eq!(self.next().await["id"], "opening");
            }
            Way::Http { to, session, .. } => {
                let reply = post(*to, &[], &opening.to_string()).await;
                assert_eq!(reply.status, 200, "{reply:?}");
                *session = reply.header("mcp-session-id").map(str::to_owned);
                assert!(session.is_some());
            }
        }
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let initialized = initialized.to_string();
        match &self.way {
            Way::Whole(..) => self.send(&initialized).await,
            // HTTP exchanges are unordered, so this one must end first.
            Way::Http { to, .. } => {
                let reply = post(*to, &self.headers(&initialized), &initialized).await;
                assert_eq!(reply.status, 202, "{reply:?}");
            }
        }
    }

    /// A request in the format of this conversation.
    pub(super) fn request(&self, id: impl Into<Value>, method: &str, params: Value) -> String {
        let mut params = params;
        if self.revision == Revision::LATEST {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "hostile", "version": "1" },
            });
        }
        json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params }).to_string()
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers pass literals")]
    pub(super) fn call(&self, id: impl Into<Value>, tool: &str, arguments: Value) -> String {
        self.request(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Sends one message of any content; over HTTP in its own exchange.
    pub(super) async fn send(&self, text: &str) {
        match &self.way {
            Way::Whole(transport, _) => {
                let bytes = text.to_owned().into();
                let role = OutboundRole::Notification;
                let outbound = Outbound { bytes, role, ticket: None, headers: None, parsed: None };
                transport.send(outbound).await.unwrap();
            }
            Way::Http { to, sender, .. } => {
                let (to, sender, text) = (*to, sender.clone(), text.to_owned());
                let headers = self.headers(&text);
                let exchange = async move {
                    for message in post(to, &headers, &text).await.messages() {
                        // The test may be over.
                        let _ = sender.send(message);
                    }
                };
                tokio::spawn(exchange);
            }
        }
    }

    /// The headers of an HTTP request with this body.
    pub(super) fn headers(&self, text: &str) -> Vec<(&'static str, String)> {
        let Way::Http { session, .. } = &self.way else { return Vec::new() };
        let mut headers = vec![("mcp-protocol-version", self.revision.to_string())];
        if let Some(session) = session {
            headers.push(("mcp-session-id", session.clone()));
        }
        if self.revision == Revision::LATEST {
            let message: Value = serde_json::from_str(text).unwrap_or_default();
            let text_of = |value: &Value| value.as_str().map(str::to_owned);
            headers
                .push(("mcp-method", text_of(&message["method"]).unwrap_or("tools/call".into())));
            headers
                .push(("mcp-name", text_of(&message["params"]["name"]).unwrap_or("echo".into())));
        }
        headers
    }

    /// The server's address.
    pub(super) fn address(&self) -> SocketAddr {
        match &self.way {
            Way::Http { to, .. } | Way::Whole(_, Some(to)) => *to,
            Way::Whole(_, None) => panic!("it does not listen"),
        }
    }

    /// The next message from the server; null if there are no more.
    pub(super) async fn next(&mut self) -> Value {
        let message = self.received.recv().await.unwrap_or(Value::Null);
        match message.as_array() {
            Some(batch) => batch.iter().for_each(assert_findings_can_be_read),
            None => assert_findings_can_be_read(&message),
        }
        message
    }

    pub(super) async fn ask(&mut self, text: &str) -> Value {
        self.send(text).await;
        self.next().await
    }

    /// Checks that the conversation still works.
    pub(super) async fn still_works(&mut self) {
        let answer = self.ask(&self.call("still", "echo", json!({ "text": "here" }))).await;
        assert_eq!(answer["result"]["content"][0]["text"], "here", "{:?}: {answer}", self.kind);
        assert_eq!(answer["id"], "still");
    }
}

/// Checks that `error.data`, or its `errors`, is a list of objects.
fn assert_findings_can_be_read(message: &Value) {
    let Some(data) = message["error"].get("data") else { return };
    let findings = data.as_array().or_else(|| data["errors"].as_array());
    let findings = findings.unwrap_or_else(|| panic!("no list: {message}"));
    assert!(findings.iter().all(|finding| finding["message"].is_string()), "{message}");
}

async fn listen(transport: Arc<dyn Transport>, sender: mpsc::UnboundedSender<Value>) {
    while let Ok(Some(inbound)) = transport.receive().await {
        let Inbound::Message { bytes, .. } = inbound else { continue };
        let message = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        if sender.send(message).is_err() {
            return;
        }
    }
}

/// The client's end of a conversation with a new server.
async fn transport(
    kind: Kind,
    checks: Checks,
    seen: &Seen,
) -> (Arc<dyn Transport>, Option<SocketAddr>) {
    match kind {
        Kind::Memory => {
            let (near, far) = memory::pair(16);
            let server = server(checks.validation(), seen);
            tokio::spawn(async move { server.serve(far).await });
            (Arc::new(near), None)
        }
        Kind::Child => {
            let command = child(checks);
            let child = ChildTransport::spawn(&command, &ChildSettings::default()).unwrap();
            (Arc::new(child), None)
        }
        Kind::WebSocket => {
            let settings = ws::WsServerSettings::default();
            let listener = ws::WsListener::bind("127.0.0.1:0", settings).await.unwrap();
            let to = listener.local_addr();
            let url = format!("ws://{to}/");
            let server = server(checks.validation(), seen);
            tokio::spawn(async move {
                while let Ok(transport) = listener.accept().await {
                    let server = server.clone();
                    tokio::spawn(async move { server.serve(transport).await });
                }
            });
            let settings = ws::WsClientSettings::default();
            (Arc::new(ws::connect(&url, &settings).await.unwrap()), Some(to))
        }
        Kind::HttpSession | Kind::HttpStateless => panic!("HTTP has no single connection"),
    }
}

pub(super) async fn http_server(checks: Checks, seen: &Seen) -> SocketAddr {
    serve_http(&server(checks.validation(), seen)).await
}

pub(super) async fn serve_http(server: &Server) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let to = listener.local_addr().unwrap();
    let service = server.http_service(HttpSettings::default());
    let never = std::future::pending();
    tokio::spawn(serve(listener, service, ServeSettings::default(), never));
    to
}

pub(super) fn child(checks: Checks) -> ChildCommand {
    let command = ChildCommand::new(program());
    if checks == Checks::Off { command.arg("off") } else { command }
}

/// The server as a program. Cargo builds it with the tests, unless only some targets are built.
pub(super) fn program() -> PathBuf {
    static LOOKED: Once = Once::new();
    let tests = std::env::current_exe().unwrap();
    let mut program = tests.clone();
    program.pop();
    program.set_file_name("examples");
    program.push("hostile-server");
    LOOKED.call_once(|| {
        let made = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
        if made(&program) < made(&tests) {
            let mut cargo = Command::new(env!("CARGO"));
            // The variables that cargo sets for tests would cause a complete rebuild.
            for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CARGO_PKG_")) {
                cargo.env_remove(name);
            }
            cargo.env_remove("CARGO_MANIFEST_DIR").env_remove("CARGO_MANIFEST_PATH");
            cargo.args(["build", "--quiet", "--package", "mcp-sdk", "--example", "hostile-server"]);
            if cfg!(feature = "tls") {
                cargo.arg("--all-features");
            }
            assert!(cargo.status().unwrap().success());
        }
    });
    program
}
