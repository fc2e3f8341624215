//! How often each contestant asks for memory per message.
//!
//! A program of its own, because counting would slow down those that allocate while they are
//! timed.

#![expect(clippy::print_stdout, reason = "the table is the point")]

use std::alloc::System;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

use plumb_benches::contestants;
use plumb_benches::corpus::{Class, Corpus, known_tools};
use plumb_benches::report;

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
            // Buffers that are kept have their size after one pass.
            contestant.pass(&corpus.messages);
            let region = Region::new(ALLOCATOR);
            contestant.pass(&corpus.messages);
            let change = region.change();
            let times = change.allocations + change.reallocations;
            rows[index].1.push(report::mean(times, corpus.messages.len()));
        }
    }
    let table = report::allocations(&rows);
    println!("{table}");
    if let Some(file) = arguments.results
        && let Err(error) = report::update(&file, "allocations", &table)
    {
        eprintln!("error: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
