//! Several proxies in front of one server: what they find, they find together.

use std::net::SocketAddr;

use mcp_proxy::{
    Policy,
    http::GatewaySettings,
    store::{MemoryStore, StoreSettings},
};
use mcp_sdk::{
    Server,
    transport::http::server::{HttpSettings, ServeSettings, serve},
};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::{
    redis_server::RedisServer,
    support::{Outcome, Proxy, parts, post, raw_client},
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

async fn server() -> SocketAddr {
    let server = Server::builder("server", "1")
        .tool("echo", "Repeats", async |echo: Echo, _| Ok(echo.text))
        .build()
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = server.http_service(HttpSettings::default());
    tokio::spawn(serve(listener, service, ServeSettings::default(), std::future::pending()));
    address
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// What a client posts in its session, with a few faults that only the conversation shows.
const CONVERSATION: [&str; 8] = [
    INITIALIZED,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":5}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"resources/list"}"#,
    r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"echo","arguments":{"text":"b"}}}"#,
];

fn session_of(response: &[u8]) -> String {
    let text = String::from_utf8_lossy(response).to_lowercase();
    let header = text.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
    header.unwrap_or_else(|| panic!("{text}")).to_owned()
}

fn in_session(id: &str) -> String {
    format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-11-25\r\n")
}

/// Takes requests to the replicas in turn, as a load balancer does.
struct Balancer<'p> {
    replicas: &'p [Proxy],
    turn: usize,
}

impl Balancer<'_> {
    async fn send(&mut self, request: &[u8]) -> Vec<u8> {
        let replica = &self.replicas[self.turn % self.replicas.len()];
        self.turn += 1;
        let answer = raw_client(replica.address, request).await;
        replica.settled().await;
        answer
    }
}

/// Has a client talk through the replicas, and returns the id of its session.
async fn converse(replicas: &[Proxy]) -> String {
    let mut balancer = Balancer { replicas, turn: 0 };
    let id = session_of(&balancer.send(&post(INITIALIZE, "")).await);
    let headers = in_session(&id);
    for body in CONVERSATION {
        balancer.send(&post(body, &headers)).await;
    }
    let delete =
        format!("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n");
    balancer.send(delete.as_bytes()).await;
    for id in [10, 11] {
        let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        balancer.send(&post(&ping, &headers)).await;
    }
    id
}

/// What differs from run to run, removed.
fn normal(line: &str, id: &str) -> String {
    let mut line: Value = serde_json::from_str(&line.replace(id, "<id>")).unwrap();
    let record = line.as_object_mut().unwrap();
    record.remove("ts");
    if let Some(http) = record.get_mut("http").and_then(Value::as_object_mut) {
        http.remove("exchange");
        if let Some(headers) = http.get_mut("headers").and_then(Value::as_object_mut) {
            headers.remove("date");
        }
    }
    line.to_string()
}

/// All lines that were recorded, and all that was found with the line that it is about.
async fn results(replicas: Vec<Proxy>) -> (Vec<String>, Vec<(String, String)>) {
    let id = converse(&replicas).await;
    let (mut lines, mut found) = (Vec::new(), Vec::new());
    for replica in replicas {
        let outcome = replica.stop().await;
        assert_eq!(outcome.counts.apart, 0);
        lines.extend(outcome.record.lines().map(|line| normal(line, &id)));
        found.extend(found_in(&outcome, &id));
    }
    lines.sort();
    found.sort();
    (lines, found)
}

fn found_in(outcome: &Outcome, id: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = outcome.record.lines().collect();
    let found = outcome.live.iter().map(|finding| {
        let mut finding: Value = serde_json::from_str(&finding.replace(id, "<id>")).unwrap();
        let members = finding.as_object_mut().unwrap();
        // It may be in the recording of another replica.
        members.remove("related");
        let line = members.remove("line").and_then(|line| line.as_u64());
        let line = line.and_then(|line| lines.get(usize::try_from(line).ok()? - 1));
        (finding.to_string(), line.map(|line| normal(line, id)).unwrap_or_default())
    });
    found.collect()
}

async fn check_same(policy: Policy) {
    let upstream = server().await;
    let alone = vec![Proxy::with(upstream, policy.clone(), GatewaySettings::default()).await];
    let (lines, found) = results(alone).await;
    let rules: Vec<&str> = found
        .iter()
        .map(|(finding, _)| &finding[finding.find(r#""rule":""#).unwrap() + 8..])
        .map(|rest| &rest[..rest.find('"').unwrap()])
        .collect();
    for rule in ["tool-arguments-invalid", "request-id-reused", "session-reused-after-404"] {
        assert!(rules.contains(&rule), "{rule} is not in {rules:?}");
    }

    let memory = MemoryStore::new(&StoreSettings::default());
    let mut replicas = Vec::new();
    for _ in 0..3 {
        replicas.push(Proxy::replica(upstream, policy.clone(), memory.clone()).await);
    }
    let shared = results(replicas).await;
    assert_eq!(shared.1, found);
    assert_eq!(shared.0, lines);

    let Some(redis) = RedisServer::start() else { return };
    let mut replicas = Vec::new();
    for _ in 0..3 {
        let store = redis.store(StoreSettings::default());
        replicas.push(Proxy::replica(upstream, policy.clone(), store).await);
    }
    assert_eq!(results(replicas).await, shared);
}

#[tokio::test(flavor = "multi_thread")]
async fn three_replicas_find_what_one_process_finds() {
    check_same(Policy::observe()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_enforcing_replicas_find_what_one_process_finds() {
    check_same(Policy::enforce()).await;
}

/// A session that was opened through the first of some replicas.
async fn opened(replicas: &[Proxy]) -> String {
    let id = session_of(&raw_client(replicas[0].address, &post(INITIALIZE, "")).await);
    raw_client(replicas[0].address, &post(INITIALIZED, &in_session(&id))).await;
    replicas[0].settled().await;
    in_session(&id)
}

const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn without_the_store_an_observing_replica_passes_everything_and_says_so() {
    let Some(mut redis) = RedisServer::start() else { return };
    let upstream = server().await;
    let store = redis.store(StoreSettings::default());
    let replicas = [Proxy::replica(upstream, Policy::observe(), store).await];
    let headers = opened(&replicas).await;
    redis.kill();
    let (status, _) = parts(&raw_client(replicas[0].address, &post(PING, &headers)).await);
    assert_eq!(status, 200);
    // Sessions can be opened, too.
    let answer = raw_client(replicas[0].address, &post(INITIALIZE, "")).await;
    session_of(&answer);
    let [replica] = replicas;
    let outcome = replica.stop().await;
    assert!(outcome.counts.apart >= 2, "{:?}", outcome.counts);
    assert_eq!(outcome.live, Vec::<String>::new());
    assert_eq!(outcome.record.lines().count(), 8, "{}", outcome.record);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_store_an_enforcing_replica_answers_503_until_it_returns() {
    let Some(mut redis) = RedisServer::start() else { return };
    let upstream = server().await;
    let store = redis.store(StoreSettings::default());
    let replicas = [Proxy::replica(upstream, Policy::enforce(), store).await];
    let headers = opened(&replicas).await;
    redis.kill();
    let answer = raw_client(replicas[0].address, &post(PING, &headers)).await;
    let (status, body) = parts(&answer);
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &body["id"], &body["error"]["code"]), (503, &7.into(), &(-32603).into()));
    assert!(String::from_utf8_lossy(&answer).to_lowercase().contains("retry-after: 1\r\n"));
    // What needs no session goes on.
    let discover = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let modern = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n";
    let answer = raw_client(replicas[0].address, &post(discover, modern)).await;
    assert_eq!(parts(&answer).0, 200, "{}", String::from_utf8_lossy(&answer));
    redis.restart();
    // The same request again, with the same id: it was not passed on, so it may come again.
    let ping = post(PING, &headers);
    let mut status = 503;
    while status == 503 {
        status = parts(&raw_client(replicas[0].address, &ping).await).0;
    }
    assert_eq!(status, 200);
    let [replica] = replicas;
    let outcome = replica.stop().await;
    assert_eq!(outcome.live, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_goes_away_takes_nothing_with_it() {
    let Some(redis) = RedisServer::start() else { return };
    let upstream = server().await;
    let mut replicas = Vec::new();
    for _ in 0..3 {
        let store = redis.store(StoreSettings::default());
        replicas.push(Proxy::replica(upstream, Policy::enforce(), store).await);
    }
    let headers = opened(&replicas).await;
    let list = r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#;
    raw_client(replicas[0].address, &post(list, &headers)).await;
    let addresses: Vec<SocketAddr> = replicas.iter().map(|replica| replica.address).collect();
    let load = |from: usize, count: usize| {
        let (addresses, headers) = (addresses.clone(), headers.clone());
        (0..count).map(move |number| {
            let id = from + number;
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            let (to, request) = (addresses[number % addresses.len()], post(&body, &headers));
            tokio::spawn(async move { raw_client(to, &request).await })
        })
    };
    let under_way: Vec<_> = load(1000, 60).collect();
    replicas.remove(0).abandon();
    for answer in under_way {
        let _ = answer.await;
    }
    // The others know what passed it: which tools there are, and which ids were used.
    let call = r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"echo","arguments":{"text":5}}}"#;
    let (_, body) = parts(&raw_client(replicas[0].address, &post(call, &headers)).await);
    assert!(body.contains("tool-arguments-invalid"), "{body}");
    let again = r#"{"jsonrpc":"2.0","id":"l","method":"ping"}"#;
    raw_client(replicas[1].address, &post(again, &headers)).await;
    let mut found = Vec::new();
    for replica in replicas {
        found.extend(replica.stop().await.live);
    }
    assert!(found.iter().any(|finding| finding.contains("request-id-reused")), "{found:?}");
    assert_eq!(found.len(), 2, "{found:?}");
}
