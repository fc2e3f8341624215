//! Connections are killed at random while messages pass, by the client and by the server. What the
//! connections did not lose themselves must arrive once, whole and in order.
//!
//! Runs some 20,000 messages; `scripts/kills` runs a million.

mod client;
mod fate;
mod server;

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
    client::{Got, HttpClient},
    fate::{Fate, Hand, Plan},
    server::SequenceServer,
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

    fn is_enough(&self) -> bool {
        self.messages.load(Ordering::Relaxed) >= budget()
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

#[test]
fn over_http_nothing_is_lost_doubled_or_reordered_but_by_connections() {
    let place = Place::new();
    // The messages are not those of MCP, so no rule may hold them back.
    for mode in [&[][..], &["--enforce", "--rule", "*=off"]] {
        let server = SequenceServer::start();
        let upstream = format!("http://{}/mcp", server.address);
        let mut args = vec!["proxy", "--listen", "127.0.0.1:0", "--upstream", &upstream];
        args.extend(mode);
        let mut proxy = place.command(&args).spawn().unwrap();
        let mut errors = BufReader::new(proxy.stderr.take().unwrap()).lines();
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
            for client in 0..CLIENTS {
                let (address, tally, whole) = (&address, &tally, &whole);
                scope.spawn(move || {
                    let mut http = HttpClient::new(address);
                    let mut answered = Vec::new();
                    for seq in 0.. {
                        if tally.is_enough() {
                            break;
                        }
                        let plan = Plan::of(client, seq);
                        let got = http.exchange(&plan);
                        check(&plan, &got);
                        tally.add(plan.messages(), plan.fate);
                        if !plan.fate.is_kill() {
                            answered.push(seq);
                        }
                    }
                    whole.lock().unwrap().insert(client, answered);
                });
            }
        });
        stop(&mut proxy);
        let arrived = server.arrived();
        for (client, answered) in whole.into_inner().unwrap() {
            let seqs = &arrived[&client];
            check_arrivals(client, seqs);
            // Those that nobody killed were waited for, so they arrive in their order.
            let of_whole: Vec<u64> =
                seqs.iter().copied().filter(|seq| !Plan::of(client, *seq).fate.is_kill()).collect();
            assert_eq!(of_whole, answered, "client {client}");
        }
        tally.show(&format!("http {mode:?}"));
    }
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
    let server = SequenceServer::start();
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
        while open.len() < WINDOW && !tally.is_enough() {
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

fn stop(proxy: &mut Child) {
    proxy.kill().unwrap();
    proxy.wait().unwrap();
}
