//! Counts each contestant's allocations per message.
//!
//! A separate program, because counting would slow down contestants that allocate while they are
//! timed.

#![expect(clippy::print_stdout, reason = "the table is the point")]

use std::alloc::System;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

use mcp_json::Tape;
use mcp_rules::{Engine, Settings};
use mcp_schema::Schemas;
use plumb_benches::corpus::tool_list::Tool;
use plumb_benches::corpus::{Class, Corpus, known_tools};
use plumb_benches::trace::Conversation;
use plumb_benches::{contestants, report};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[derive(Parser)]
#[command(about = "Allocations per message: plumb and its peers")]
struct Arguments {
    /// The Markdown file whose table is replaced
    #[arg(long)]
    results: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let tools = known_tools();
    let mut rows: Vec<(&'static str, Vec<f64>)> = Vec::new();
    for class in Class::ALL {
        let corpus = Corpus::generate(class, &tools);
        let contestants = contestants::all(class.checks_arguments().then_some(&tools));
        for (index, mut contestant) in contestants.into_iter().enumerate() {
            if rows.len() == index {
                rows.push((contestant.name(), Vec::new()));
            }
            // Reused buffers reach their final size in the first pass.
            contestant.pass(&corpus.messages);
            let region = Region::new(ALLOCATOR);
            contestant.pass(&corpus.messages);
            let change = region.change();
            let times = change.allocations + change.reallocations;
            rows[index].1.push(report::mean(times, corpus.messages.len()));
        }
    }
    let sections =
        [("allocations", report::allocations(&rows)), ("memory", session_memory(&tools))];
    for (section, table) in sections {
        println!("{table}");
        if let Some(file) = &arguments.results
            && let Err(error) = report::update(file, section, &table)
        {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Memory kept by a session, by how far its conversation has progressed.
fn session_memory(tools: &[Tool]) -> String {
    let engine = Engine::new(Schemas::embedded(), Settings::default());
    let mut tape = Tape::new();
    let mut text = "| memory of a session after | bytes |\n|---|---:|\n".to_owned();
    // A pass before, so that what sessions share already exists.
    for counted in [false, true] {
        for (messages, title) in [
            (3, "the handshake, idle, no tools"),
            (5, "the list of tools"),
            (10_000, "10,000 messages"),
        ] {
            let conversation: Vec<_> = Conversation::start(tools).take(messages).collect();
            for message in &conversation {
                let parsed = tape.parse(&message.bytes, engine.settings().limits.json());
                parsed.expect("the messages are JSON");
            }
            let region = Region::new(ALLOCATOR);
            let mut session = Box::new(engine.session(None));
            for message in &conversation {
                let parsed = tape.parse(&message.bytes, engine.settings().limits.json());
                let root = parsed.as_ref().expect("the messages are JSON").root();
                engine.follow(&mut session, Some(message.from), root);
            }
            let change = region.change();
            let kept = change.bytes_allocated.saturating_sub(change.bytes_deallocated);
            if counted {
                text.push_str(&format!("| {title} | {kept} |\n"));
            }
            drop(session);
        }
    }
    text
}
