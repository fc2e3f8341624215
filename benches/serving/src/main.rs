//! Measures echo servers; see `serving help`.

#![expect(clippy::print_stdout, reason = "the tables are the point")]

use std::{error::Error, fmt::Write as _, io, path::PathBuf, time::Duration};

use clap::Parser;
use plumb_serving_benches::{
    http::{self, Connection, Era},
    pinning::Pinned,
    report,
    sample::{Sample, Summary, summary},
    server::{Contestant, Server},
    stdio::StdioLoad,
    ws::WsLoad,
};

#[derive(Parser)]
#[command(about = "Requests per second of echo servers, side by side")]
struct Arguments {
    /// A few requests only: shows that everything works
    #[arg(long)]
    quick: bool,
    /// Rounds over every server
    #[arg(long, default_value_t = 12)]
    rounds: usize,
    /// The Markdown file to which the tables are written
    #[arg(long)]
    results: Option<PathBuf>,
    /// Only tables whose title contains this
    #[arg(long, default_value = "")]
    only: String,
    /// A date to write beside the figures
    #[arg(long)]
    date: Option<String>,
}

/// The file's introduction.
const ABOUT: &str = "# Serving

The same plain client calls an echo tool with a short text, on servers built with plumb's SDK and with
[rmcp](https://crates.io/crates/rmcp), interleaved in one run. `scripts/bench` writes this file; `benches/serving` is the
program. Do not compare figures of different runs or tables. rmcp reads its standard streams with `stdio_pipes`, its
fastest mode, answers with plain JSON where it can, and has no WebSocket. `TCP_NODELAY` is set on the sockets of both
servers; without it, rmcp's answers in sessions take 40 ms.

With one request in flight, the figures mostly show how fast the machine wakes a process. That varies by a factor of five
here, depending on whether the system puts client and server on one core or on two. In the pinned tables the client runs
on core 0 and the server, with all its threads, on core 1. The last column, the server's CPU time per request, varies
least.

The goals for enforcing were at most 10 % of the throughput over HTTP and 20 % on a full pipe; both are missed. No single
function dominates: judging a stateless exchange takes 30,000 instructions besides parsing, an exchange in a session takes
21,000, and no function takes more than a seventh of them. In isolation this takes 2.2 µs; in a server, where the
kernel and the HTTP library compete for the caches, twice as long.

";

/// A server and one round of requests to it.
struct Load {
    server: Server,
    round: Box<dyn FnMut() -> io::Result<Sample>>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let (rounds, scale) = if arguments.quick { (1, 200) } else { (arguments.rounds, 10_000) };
    let everybody = Contestant::all();
    let ours: Vec<Contestant> =
        everybody.iter().filter(|one| one.validation.is_some()).cloned().collect();
    let mut tables = String::new();
    let wanted = |title: &str| title.contains(&arguments.only);
    for window in [1, 32] {
        let title = format!("stdio, {window} in flight");
        if wanted(&title) {
            tables += &stdio(&title, &everybody, rounds, (scale, window))?;
        }
    }
    for window in [1, 32] {
        let title =
            format!("stdio, {window} in flight, pinned: client on core 0, server on core 1");
        if wanted(&title)
            && let Some(_pinned) = Pinned::new()
        {
            let pinned: Vec<Contestant> =
                everybody.iter().map(|one| Contestant { is_pinned: true, ..one.clone() }).collect();
            tables += &stdio(&title, &pinned, rounds, (scale, window))?;
        }
    }
    for window in [1, 32] {
        let title = format!("WebSocket, {window} in flight");
        if !wanted(&title) {
            continue;
        }
        let loads = start(&ours, |one| {
            let (server, address) = one.start_listening("ws")?;
            let mut load = WsLoad::open(&address)?;
            Ok(Load { server, round: Box::new(move || load.round(scale, window)) })
        })?;
        tables += &measured(&title, &ours, loads, rounds)?;
    }
    for (era, what) in [(Era::Session, "sessions"), (Era::Stateless, "stateless")] {
        for width in [1, 16] {
            let plural = if width == 1 { "" } else { "s" };
            let title = format!("HTTP, {what}, {width} connection{plural}");
            if !wanted(&title) {
                continue;
            }
            let loads = start(&everybody, |one| {
                let (server, address) = one.start_listening("http")?;
                let connections: io::Result<Vec<Connection>> =
                    (0..width).map(|_| Connection::open(&address, era)).collect();
                let mut connections = connections?;
                let count = scale / 4 / width;
                Ok(Load { server, round: Box::new(move || http::round(&mut connections, count)) })
            })?;
            tables += &measured(&title, &everybody, loads, rounds)?;
        }
    }
    if wanted("Memory") {
        tables += &memory(&everybody, if arguments.quick { 20 } else { 2_000 })?;
    }
    println!("{tables}");
    if let Some(file) = arguments.results {
        let date = arguments.date.map(|date| format!("Measured {date}.\n\n")).unwrap_or_default();
        std::fs::write(file, format!("{ABOUT}{date}{tables}"))?;
    }
    Ok(())
}

/// `count` calls per round over standard streams, `window` of them in flight.
fn stdio(
    title: &str,
    contestants: &[Contestant],
    rounds: usize,
    (count, window): (usize, usize),
) -> io::Result<String> {
    let loads = start(contestants, |one| {
        let (server, mut load) = StdioLoad::start(one)?;
        Ok(Load { server, round: Box::new(move || load.round(count, window)) })
    })?;
    measured(title, contestants, loads, rounds)
}

fn start(
    contestants: &[Contestant],
    start: impl Fn(&Contestant) -> io::Result<Load>,
) -> io::Result<Vec<Load>> {
    contestants.iter().map(start).collect()
}

/// Rounds take turns, each time starting with a different server. The first round is a warm-up.
fn measured(
    title: &str,
    contestants: &[Contestant],
    mut loads: Vec<Load>,
    rounds: usize,
) -> io::Result<String> {
    let mut samples = vec![Vec::new(); loads.len()];
    let mut worked = vec![Duration::ZERO; loads.len()];
    for round in 0..=rounds {
        for turn in 0..loads.len() {
            let position = (turn + round) % loads.len();
            let Load { server, round: load } = &mut loads[position];
            let before = server.processor_time()?;
            let sample = load()?;
            if round > 0 {
                samples[position].push(sample);
                worked[position] += server.processor_time()?.saturating_sub(before);
            }
        }
    }
    let rows: Vec<(&str, Summary)> = contestants
        .iter()
        .zip(samples.iter().zip(worked))
        .map(|(one, (samples, worked))| (one.name, summary(samples, worked)))
        .collect();
    Ok(report::table(title, &rows))
}

/// Memory of an idle session.
fn memory(contestants: &[Contestant], sessions: u64) -> io::Result<String> {
    let mut table = format!(
        "### Memory per idle HTTP session ({sessions} sessions)\n\n| server | bytes |\n|---|---:|\n"
    );
    for one in contestants {
        let (server, address) = one.start_listening("http")?;
        drop(Connection::open(&address, Era::Session)?);
        let before = server.resident_bytes()?;
        for _ in 0..sessions {
            drop(Connection::open(&address, Era::Session)?);
        }
        let after = server.resident_bytes()?;
        let each = after.saturating_sub(before) / sessions;
        let _ = writeln!(table, "| {} | {each} |", one.name);
    }
    Ok(table)
}
