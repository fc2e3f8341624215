//! Connections are killed at random while messages pass, by the client and by the server, and so are
//! servers that were started. What the connections did not lose themselves must arrive once, whole
//! and in order.
//!
//! Runs some 20,000 messages; `scripts/kills` runs a million.

mod fate;
mod http;
mod server;
mod web_socket;

use std::{
    collections::{BTreeMap, VecDeque},
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use serde_json::Value;

use self::{
    fate::{Fate, Hand, Plan},
    http::HttpClient,
    server::SequenceServer,
    web_socket::WebSocketClient,
};
use super::Place;

/// How many messages pass in each test.
fn budget() -> u64 {
    let asked = std::env::var_os("PLUMB_KILLS").and_then(|text| text.to_str()?.parse::<u64>().ok());
    asked.unwrap_or(20_000) / 2
}

/// Clients that send at the same time.
const CLIENTS: u64 = 8;

/// What came of an exchange.
#[derive(Debug, Default)]
struct Tally {
    exchanges: AtomicU64,
    messages: AtomicU64,
    kills: AtomicU64,
}

impl Tally {
    fn add(&self, messages: u64, fate: Fate) {
        self.exchanges.fetch_add(1, Ordering::Relaxed);
        self.messages.fetch_add(messages, Ordering::Relaxed);
        self.kills.fetch_add(u64::from(fate.is_kill()), Ordering::Relaxed);
    }

    fn messages(&self) -> u64 {
        self.messages.load(Ordering::Relaxed)
    }

    fn show(&self, what: &str) {
        let of = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let (messages, exchanges) = (of(&self.messages), of(&self.exchanges));
        eprintln!(
            "{what}: {messages} messages in {exchanges} exchanges, {} killed",
            of(&self.kills)
        );
        assert!(of(&self.kills) * 20 > exchanges, "too few were killed to show anything");
    }
}

/// Sends a request as planned, and shows what comes of it.
trait Client {
    fn exchange(&mut self, plan: &Plan) -> Got;
}

/// What a client got back.
#[derive(Debug, Default)]
struct Got {
    status: Option<u16>,
    messages: Vec<Value>,
    /// Whether the response came to its end.
    is_whole: bool,
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const AGREED: &str = r#"{"jsonrpc":"2.0","id":"open","result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// The messages are not those of MCP, so no rule may hold them back.
const MODES: [&[&str]; 2] = [&[], &["--enforce", "--rule", "*=off"]];

#[test]
fn over_http_nothing_is_lost_doubled_or_reordered_but_by_connections() {
    for mode in MODES {
        let server = SequenceServer::over_http();
        let upstream = format!("http://{}/mcp", server.address);
        let args = [&["--upstream", &upstream], mode].concat();
        drive(&format!("http {mode:?}"), &args, &server, budget(), |address| {
            HttpClient::new(address)
        });
    }
}

#[test]
fn between_web_sockets_nothing_is_lost_doubled_or_reordered_but_by_connections() {
    for mode in MODES {
        let server = SequenceServer::over_web_socket();
        let upstream = format!("ws://{}/mcp", server.address);
        let args = [&["--upstream", &upstream], mode].concat();
        drive(&format!("ws {mode:?}"), &args, &server, budget(), |address| {
            WebSocketClient::new(address, false)
        });
    }
}

/// Whoever kills a connection here ends a process as well, and starting one takes longer than
/// anything else.
const SHARE_OF_CHILDREN: u64 = 10;

#[test]
fn http_clients_of_children_that_are_killed_lose_nothing_else() {
    for mode in MODES {
        let server = SequenceServer::on_streams();
        let command = server.command();
        let args = [mode, &["--", "bash", "-c", &command]].concat();
        let budget = budget() / SHARE_OF_CHILDREN;
        drive(
            &format!("http to child {mode:?}"),
            &args,
            &server,
            budget,
            HttpClient::with_sessions,
        );
    }
}

#[test]
fn web_socket_clients_of_children_that_are_killed_lose_nothing_else() {
    for mode in MODES {
        let server = SequenceServer::on_streams();
        let command = server.command();
        let args = [mode, &["--", "bash", "-c", &command]].concat();
        let budget = budget() / SHARE_OF_CHILDREN;
        drive(&format!("ws to child {mode:?}"), &args, &server, budget, |address| {
            WebSocketClient::new(address, true)
        });
    }
}

/// Ends with the test, whatever comes of that.
struct Proxy(Child);

impl Drop for Proxy {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Has clients send requests through a proxy with these arguments, and compares what was sent with
/// what has arrived.
fn drive<C: Client>(
    what: &str,
    args: &[&str],
    server: &SequenceServer,
    budget: u64,
    connect: impl Fn(&str) -> C + Sync,
) {
    let place = Place::new();
    let args = [&["proxy", "--listen", "127.0.0.1:0"], args].concat();
    let mut proxy = Proxy(place.command(&args).spawn().unwrap());
    let mut errors = BufReader::new(proxy.0.stderr.take().unwrap()).lines();
    let address = errors
        .find_map(|line| {
            line.unwrap().strip_prefix("plumb: listening on http://").map(str::to_owned)
        })
        .unwrap();
    // Nobody reads what it finds, but it must be able to say it.
    thread::spawn(move || errors.for_each(drop));
    let tally = Tally::default();
    let whole: Mutex<BTreeMap<u64, Vec<u64>>> = Mutex::default();
    thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (address, tally, whole, connect) = (&address, &tally, &whole, &connect);
            scope.spawn(move || {
                let mut client = connect(address);
                let mut answered = Vec::new();
                for seq in 0.. {
                    if tally.messages() >= budget {
                        break;
                    }
                    let plan = Plan::of(number, seq);
                    let got = client.exchange(&plan);
                    check(&plan, &got);
                    tally.add(plan.messages(), plan.fate);
                    if !plan.fate.is_kill() {
                        answered.push(seq);
                    }
                }
                whole.lock().unwrap().insert(number, answered);
            });
        }
    });
    drop(proxy);
    let arrived = server.arrived();
    for (client, answered) in whole.into_inner().unwrap() {
        let seqs = &arrived[&client];
        check_arrivals(client, seqs);
        // Those that nobody killed were waited for, so they arrive in their order.
        let of_whole: Vec<u64> =
            seqs.iter().copied().filter(|seq| !Plan::of(client, *seq).fate.is_kill()).collect();
        assert_eq!(of_whole, answered, "client {client}");
    }
    tally.show(what);
}

/// What a client gets for a plan.
#[track_caller]
fn check(plan: &Plan, got: &Got) {
    let Got { status, messages, is_whole } = got;
    let steps: Vec<&Value> =
        messages.iter().filter(|message| message["method"] == "notifications/progress").collect();
    for (expected, step) in steps.iter().enumerate() {
        assert_eq!(step["params"]["progressToken"], plan.seq, "{plan:?} {got:?}");
        assert_eq!(step["params"]["progress"], expected, "{plan:?} {got:?}");
    }
    let answers: Vec<&Value> =
        messages.iter().filter(|message| message.get("method").is_none()).collect();
    assert!(answers.len() <= 1, "{plan:?} {got:?}");
    assert!(answers.iter().all(|answer| answer["id"] == plan.seq), "{plan:?} {got:?}");
    match plan.fate {
        Fate::Whole => {
            assert_eq!((*status, *is_whole), (Some(200), true), "{plan:?} {got:?}");
            assert_eq!(steps.len() as u64, plan.steps, "{plan:?} {got:?}");
            assert_eq!(answers[0]["result"], plan.result(), "{plan:?}");
        }
        Fate::Killed(Hand::Server, _) => {
            // Whoever waits is told, or the connection shows it.
            assert!(
                answers.iter().all(|answer| answer.get("result").is_none()),
                "{plan:?} {got:?}"
            );
            let is_told = answers.first().is_some_and(|answer| answer["error"]["code"] == -32603);
            assert!(is_told || !is_whole, "{plan:?} {got:?}");
        }
        Fate::Killed(Hand::Client, _) => {}
    }
}

/// Nothing arrives twice, and nothing arrives that was cut off on the way.
#[track_caller]
fn check_arrivals(client: u64, seqs: &[u64]) {
    let mut sorted = seqs.to_vec();
    sorted.sort_unstable();
    let count = sorted.len();
    sorted.dedup();
    assert_eq!(sorted.len(), count, "client {client}: something has arrived twice");
    let cut = seqs.iter().find(|seq| Plan::of(client, **seq).is_cut_in_request());
    assert_eq!(cut, None, "client {client}: half a request has arrived");
}

/// How many requests a client on standard streams has open.
const WINDOW: usize = 16;

#[test]
fn over_the_bridge_every_request_gets_one_answer_and_nothing_is_doubled() {
    let place = Place::new();
    let server = SequenceServer::over_http();
    let upstream = format!("http://{}/mcp", server.address);
    let args = ["proxy", "-q", "--upstream", &upstream];
    let mut proxy = place.command(&args).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = proxy.stdin.take().unwrap();
    let mut lines = BufReader::new(proxy.stdout.take().unwrap()).lines();
    let tally = Arc::new(Tally::default());
    let mut open: BTreeMap<u64, Got> = BTreeMap::new();
    let mut order = VecDeque::new();
    let mut next = 0;
    loop {
        while open.len() < WINDOW && tally.messages() < budget() {
            let plan = Plan::by_server(0, next);
            writeln!(input, "{}", plan.request()).unwrap();
            open.insert(next, Got { status: Some(200), ..Got::default() });
            order.push_back(next);
            next += 1;
        }
        if open.is_empty() {
            break;
        }
        let line = lines.next().expect("the proxy answers everything").unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        let seq = message["id"].as_u64().or(message["params"]["progressToken"].as_u64()).unwrap();
        let is_answer = message.get("method").is_none();
        let got = open.get_mut(&seq).expect("nothing comes after the answer, or twice");
        got.messages.push(message);
        if is_answer {
            let mut got = open.remove(&seq).unwrap();
            got.is_whole = true;
            let plan = Plan::by_server(0, seq);
            check(&plan, &got);
            tally.add(plan.messages(), plan.fate);
        }
    }
    drop(input);
    assert!(lines.next().is_none(), "nothing is left");
    assert!(proxy.wait().unwrap().success());
    let seqs = server.arrived().remove(&0).unwrap();
    let mut sorted = seqs.clone();
    sorted.sort_unstable();
    let all: Vec<u64> = (0..next).collect();
    assert_eq!(sorted, all, "each request arrives once");
    tally.show("bridge");
}
