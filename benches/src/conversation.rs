//! The cost of following a whole conversation, compared with checking single messages.
//!
//! The messages come from one endless conversation. Blocks of it go in turn to the baseline
//! (parsing only), the stateless engine and the engine with a session, each time starting with a
//! different one; the best round of every block counts.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use mcp_core::Revision;
use mcp_json::Tape;
use mcp_rules::{Alone, Engine, Findings, Session, Settings};
use mcp_schema::Schemas;

use crate::corpus::Message;
use crate::corpus::tool_list::Tool;
use crate::measure::count;
use crate::trace::Conversation;

/// Messages that are timed together.
const BLOCK: usize = 100;

/// Length of the conversation that is measured in rounds.
pub const MESSAGES: usize = 100_000;

/// Nanoseconds per message.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    parse: f64,
    stateless: f64,
    session: f64,
}

impl Cost {
    fn row(&self, title: &str) -> String {
        let Cost { parse, stateless, session } = *self;
        format!(
            "| {title} | {parse:.0} | {stateless:.0} | {session:.0} | {:.2} | {:+.0} % |",
            session / parse,
            (session / stateless - 1.0) * 100.0,
        )
    }
}

const HEAD: &str = "| | sonic-rs, parse | plumb, every stateless rule | plumb, all layers with a session | × sonic-rs | added by the session and its rules |\n|---|---:|---:|---:|---:|---:|";

/// State shared by the contestants.
#[derive(Debug)]
struct Bench {
    engine: Engine,
    tape: Tape,
}

impl Bench {
    fn new() -> Bench {
        let engine = Engine::new(Schemas::embedded(), Settings::default());
        Bench { engine, tape: Tape::new() }
    }

    fn stateless(&mut self, block: &[Message]) -> usize {
        let mut findings = Findings::new(self.engine.settings());
        for message in block {
            let limits = self.engine.settings().limits.json();
            let document = self.tape.parse(&message.bytes, limits).expect("the messages are JSON");
            let revision = Revision::V2025_11_25;
            let answers = message.answers.map(str::as_bytes);
            let about = Alone {
                revision,
                from: Some(message.from),
                answers: answers.and_then(|name| mcp_schema::method(revision, name)),
            };
            self.engine.judge_alone(document.root(), about, &mut findings);
        }
        findings.as_slice().len()
    }

    fn follow(&mut self, session: &mut Session, block: &[Message]) -> usize {
        let mut findings = Findings::new(self.engine.settings());
        for message in block {
            let limits = self.engine.settings().limits.json();
            let document = self.tape.parse(&message.bytes, limits).expect("the messages are JSON");
            self.engine.check(session, Some(message.from), document.root(), &mut findings);
        }
        if let Some(finding) = findings.as_slice().first() {
            let rule = finding.rule.name;
            panic!("the conversation breaks {rule}: {}", finding.message);
        }
        0
    }
}

fn parse(block: &[Message]) -> usize {
    let parsed =
        block.iter().map(|message| sonic_rs::from_slice::<sonic_rs::Value>(&message.bytes));
    parsed.flatten().count()
}

fn nanoseconds(work: impl FnOnce() -> usize) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_secs_f64() * 1e9
}

/// The tables, in Markdown.
pub fn measure(tools: &[Tool], rounds: usize, longest: usize) -> String {
    let mut text = String::new();
    let mut add = |line: &str| writeln!(text, "{line}").expect("a String takes everything");
    add("One conversation, nanoseconds per message:\n");
    add(HEAD);
    let messages: Vec<Message> = Conversation::start(tools).take(MESSAGES.min(longest)).collect();
    let cost = in_rounds(&messages, rounds);
    add(&cost.row(&format!("{} messages", messages.len())));
    add("\nThe same conversation continued, cost per message in that range:\n");
    add(HEAD);
    for (title, cost) in going_on(tools, longest) {
        add(&cost.row(&title));
    }
    add("\nMany interleaved conversations, one message of each in turn:\n");
    add(HEAD);
    for sessions in [1, 10, 100, 1_000, 10_000] {
        if sessions * 20 <= longest {
            let plural = if sessions == 1 { "" } else { "s" };
            add(&interleaved(&messages, sessions).row(&format!("{sessions} session{plural}")));
        }
    }
    text
}

/// Runs every block in every round through all three; each round starts a new session.
fn in_rounds(messages: &[Message], rounds: usize) -> Cost {
    let mut bench = Bench::new();
    let mut best = vec![[f64::INFINITY; 3]; messages.len().div_ceil(BLOCK)];
    for round in 0..rounds {
        let mut session = bench.engine.session(None);
        for (block, best) in messages.chunks(BLOCK).zip(&mut best) {
            for turn in 0..3 {
                let took = match (turn + round) % 3 {
                    0 => (0, nanoseconds(|| parse(block))),
                    1 => (1, nanoseconds(|| bench.stateless(block))),
                    _ => (2, nanoseconds(|| bench.follow(&mut session, block))),
                };
                best[took.0] = best[took.0].min(took.1);
            }
        }
    }
    per_message(&best, messages.len())
}

fn per_message(blocks: &[[f64; 3]], messages: usize) -> Cost {
    let sum = |contestant: usize| {
        blocks.iter().map(|block| block[contestant]).sum::<f64>() / count(messages)
    };
    Cost { parse: sum(0), stateless: sum(1), session: sum(2) }
}

/// One pass over a long conversation, in parts each ten times as long as the one before.
fn going_on(tools: &[Tool], longest: usize) -> Vec<(String, Cost)> {
    let mut bench = Bench::new();
    let mut session = bench.engine.session(None);
    let mut conversation = Conversation::start(tools);
    let mut costs = Vec::new();
    let (mut seen, mut until) = (0, 1_000);
    while until <= longest {
        let mut blocks = Vec::new();
        let first = seen;
        while seen < until {
            let block: Vec<Message> = conversation.by_ref().take(BLOCK).collect();
            seen += block.len();
            // Warms the cache, so that the order does not matter.
            black_box(parse(&block));
            blocks.push([
                nanoseconds(|| parse(&block)),
                nanoseconds(|| bench.stateless(&block)),
                nanoseconds(|| bench.follow(&mut session, &block)),
            ]);
        }
        costs.push((format!("{first} to {seen}"), per_message(&blocks, seen - first)));
        until *= 10;
    }
    costs
}

/// Many sessions that take turns, each in another place of the same conversation: the next message is
/// another one, as it would be on a server, for those who look at single messages too.
fn interleaved(messages: &[Message], sessions: usize) -> Cost {
    /// Handshake and tool list; not timed.
    const OPENING: usize = 20;
    /// How far apart in the conversation sessions may be.
    const PLACES: usize = 100;
    let mut bench = Bench::new();
    let mut all: Vec<Session> = (0..sessions).map(|_| bench.engine.session(None)).collect();
    let place = |number: usize| OPENING + number % PLACES;
    for (number, session) in all.iter_mut().enumerate() {
        bench.follow(session, &messages[..place(number)]);
    }
    let each = (100_000 / sessions).clamp(20, messages.len() - OPENING - PLACES);
    let mut blocks = Vec::new();
    for step in 0..each {
        for (block, sessions) in all.chunks_mut(BLOCK).enumerate() {
            let said = |number: usize| {
                let next = place(block * BLOCK + number) + step;
                std::slice::from_ref(&messages[next])
            };
            let numbers = 0..sessions.len();
            blocks.push([
                nanoseconds(|| numbers.clone().map(|number| parse(said(number))).sum()),
                nanoseconds(|| numbers.map(|number| bench.stateless(said(number))).sum()),
                nanoseconds(|| {
                    let turns = sessions.iter_mut().enumerate();
                    turns.map(|(number, session)| bench.follow(session, said(number))).sum()
                }),
            ]);
        }
    }
    per_message(&blocks, each * sessions)
}
