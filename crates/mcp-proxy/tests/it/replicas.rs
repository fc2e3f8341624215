//! Several proxies in front of one server: what they find, they find together.

use std::net::SocketAddr;

use mcp_core::SessionStore;
use mcp_proxy::{
    Policy, ProxiedServerSettings,
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
    let alone =
        vec![Proxy::with(upstream, policy.clone(), &ProxiedServerSettings::default()).await];
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
        replicas.push(Proxy::replica(upstream, policy.clone(), Box::new(memory.clone())).await);
    }
    let shared = results(replicas).await;
    assert_eq!(shared.1, found);
    assert_eq!(shared.0, lines);

    let Some(redis) = RedisServer::start() else { return };
    let mut replicas = Vec::new();
    for _ in 0..3 {
        let store = Box::new(redis.store(StoreSettings::default()));
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
    let store = Box::new(redis.store(StoreSettings::default()));
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
    let store = Box::new(redis.store(StoreSettings::default()));
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
        let store = Box::new(redis.store(StoreSettings::default()));
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

fn numbered(id: u64, filler: usize) -> String {
    let filler = "x".repeat(filler);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","params":{{"_meta":{{"f":"{filler}"}}}}}}"#
    )
}

/// Two replicas, which have talked through the first; the second has not seen the session.
async fn pair(policy: Policy, make: impl Fn() -> Box<dyn SessionStore>) -> [Proxy; 2] {
    let upstream = server().await;
    let first = Proxy::replica(upstream, policy.clone(), make()).await;
    [first, Proxy::replica(upstream, policy, make()).await]
}

/// The second replica knows that the client has used an id, although only the first has seen it.
async fn assert_knows(replicas: [Proxy; 2], headers: &str, id: u64) {
    raw_client(replicas[1].address, &post(&numbered(id, 0), headers)).await;
    replicas[1].settled().await;
    let [first, second] = replicas;
    assert_eq!(first.stop().await.live, Vec::<String>::new());
    let found = second.stop().await.live;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("request-id-reused"), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_takes_the_place_of_a_long_log() {
    let Some(redis) = RedisServer::start() else { return };
    let settings = StoreSettings::default();
    let replicas = pair(Policy::enforce(), || Box::new(redis.store(settings.clone()))).await;
    let headers = opened(&replicas).await;
    for id in 10..30 {
        raw_client(replicas[0].address, &post(&numbered(id, 8 << 10), &headers)).await;
    }
    // The state may just have taken the place of the whole log, and there is no key for an empty one.
    let keys = redis.ask(&["KEYS", "*:head"]);
    let head = keys.trim();
    let log = head.replace(":head", ":log");
    let length: u64 = redis.ask(&["LLEN", &log]).trim().parse().unwrap();
    assert!(length < 30, "{length} entries for more than 40 lines");
    let stored: u64 = redis.ask(&["HGET", head, "bytes"]).trim().parse().unwrap();
    assert!(stored < 20 * (8 << 10), "{stored} bytes");
    assert_knows(replicas, &headers, 10).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_without_room_is_replaced_by_the_state_after_it() {
    let mut settings = StoreSettings::default();
    settings.session_bytes = 48 << 10;
    let memory = MemoryStore::new(&settings);
    let replicas = pair(Policy::enforce(), || Box::new(memory.clone())).await;
    let headers = opened(&replicas).await;
    let long = post(&numbered(10, 64 << 10), &headers);
    assert_eq!(parts(&raw_client(replicas[0].address, &long).await).0, 200);
    assert_knows(replicas, &headers, 10).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_of_another_build_is_left_alone() {
    let Some(redis) = RedisServer::start() else { return };
    let settings = StoreSettings::default();
    let replicas = pair(Policy::observe(), || Box::new(redis.store(settings.clone()))).await;
    let headers = opened(&replicas).await;
    let used = post(&numbered(10, 0), &headers);
    raw_client(replicas[0].address, &used).await;
    replicas[0].settled().await;
    let head = redis.ask(&["KEYS", "*:head"]);
    let log = head.trim().replace(":head", ":log");
    let length = redis.ask(&["LLEN", &log]);
    redis.ask(&["HSET", head.trim(), "state", "9999 of the future", "base", length.trim()]);
    redis.ask(&["DEL", &log]);
    // Of the session nothing is known here, so nothing is held against the client.
    raw_client(replicas[1].address, &used).await;
    replicas[1].settled().await;
    assert_eq!(redis.ask(&["HGET", head.trim(), "state"]).trim(), "9999 of the future");
    assert_eq!(redis.ask(&["LLEN", &log]).trim(), "2");
    let [first, second] = replicas;
    first.stop().await;
    let outcome = second.stop().await;
    assert_eq!((outcome.counts.apart, outcome.live), (0, Vec::new()));
}

/// How many calls of scripts a server has served, and how many bytes it has received.
fn served(redis: &RedisServer) -> (u64, u64) {
    let figure = |section: &str, name: &str, end: char| {
        let text = redis.ask(&["INFO", section]);
        let rest = &text[text.find(name).unwrap() + name.len()..];
        rest[..rest.find(end).unwrap()].trim().parse::<u64>().unwrap()
    };
    let calls = figure("commandstats", "cmdstat_evalsha:calls=", ',');
    (calls, figure("stats", "total_net_input_bytes:", '\n'))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_costs_one_round_trip_and_hardly_more_than_its_line() {
    let Some(redis) = RedisServer::start() else { return };
    let settings = StoreSettings::default();
    let replicas = pair(Policy::enforce(), || Box::new(redis.store(settings.clone()))).await;
    let headers = opened(&replicas).await;
    let (calls, bytes) = served(&redis);
    for id in 10..20 {
        raw_client(replicas[0].address, &post(&numbered(id, 0), &headers)).await;
    }
    let (calls_after, bytes_after) = served(&redis);
    // Ten requests and ten responses.
    assert_eq!(calls_after - calls, 20);
    let [first, second] = replicas;
    let record = first.stop().await.record;
    let lines: usize = record.lines().rev().take(20).map(str::len).sum();
    let besides = (bytes_after - bytes) - lines as u64;
    assert!(besides < 20 * 300, "{besides} bytes besides {lines} of lines");
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_that_write_at_once_agree_on_the_order() {
    let Some(redis) = RedisServer::start() else { return };
    let settings = StoreSettings::default();
    let replicas = pair(Policy::enforce(), || Box::new(redis.store(settings.clone()))).await;
    let headers = opened(&replicas).await;
    let at_once: Vec<_> = (10..50)
        .map(|id| {
            let to = replicas[usize::try_from(id % 2).unwrap()].address;
            // Every id is used twice, once through each replica.
            let request = post(&numbered(id / 2, 0), &headers);
            tokio::spawn(async move { raw_client(to, &request).await })
        })
        .collect();
    for answer in at_once {
        answer.await.unwrap();
    }
    let mut reused = 0;
    for replica in replicas {
        let outcome = replica.stop().await;
        assert_eq!(outcome.counts.apart, 0);
        reused += outcome.live.iter().filter(|found| found.contains("request-id-")).count();
    }
    assert_eq!(reused, 20, "of two requests with one id, one is at fault");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_cannot_fill_the_store_with_sessions_that_do_not_exist() {
    let Some(redis) = RedisServer::start() else { return };
    let settings = StoreSettings::default();
    for policy in [Policy::observe(), Policy::enforce()] {
        let [first, second] = pair(policy, || Box::new(redis.store(settings.clone()))).await;
        for id in 0..5 {
            let headers = in_session(&format!("made-up-{id}"));
            let answer = raw_client(first.address, &post(PING, &headers)).await;
            assert_eq!(parts(&answer).0, 404);
        }
        first.settled().await;
        assert_eq!(redis.ask(&["DBSIZE"]).trim(), "0");
        let outcome = first.stop().await;
        assert_eq!((outcome.counts.lines, outcome.counts.apart), (10, 0));
        second.stop().await;
    }
}
