//! Measures verdicts, writes traces, times the command; see `plumb-benches help`.

#![expect(clippy::print_stdout, reason = "the tables are the point")]

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

use plumb_benches::agreement::{self, WrongVerdict};
use plumb_benches::command::Recording;
use plumb_benches::corpus::{Class, Corpus, known_tools};
use plumb_benches::report::{self, ClassReport};
use plumb_benches::{command, contestants, conversation, machine, measure, trace};

#[derive(Parser)]
#[command(about = "What plumb costs, beside its peers")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Bytes to verdict: plumb and its peers, interleaved in one run
    Verdict(Verdict),
    /// Whole conversations: what the session and its rules add, and how that grows
    Session(Conversations),
    /// Write a recorded trace for `plumb check`
    Trace(Trace),
    /// The command itself: a trace checked, its memory, its start-up
    Command(Command),
}

#[derive(Args)]
struct Verdict {
    /// A few rounds only: shows that everything works and all verdicts are right
    #[arg(long)]
    quick: bool,
    /// Rounds over every class
    #[arg(long, default_value_t = 100, conflicts_with = "quick")]
    rounds: usize,
    /// The Markdown file whose tables are replaced
    #[arg(long)]
    results: Option<PathBuf>,
    /// A date to write beside the figures
    #[arg(long)]
    date: Option<String>,
}

#[derive(Args)]
struct Conversations {
    /// Short conversations and few rounds: shows that everything works
    #[arg(long)]
    quick: bool,
    /// The Markdown file whose tables are replaced
    #[arg(long)]
    results: Option<PathBuf>,
}

#[derive(Args)]
struct Trace {
    /// The file to write
    #[arg(long, required_unless_present = "folder")]
    write: Option<PathBuf>,
    /// What kind of sessions it shall have
    #[arg(long, value_enum, default_value_t = Sessions::Mixed)]
    sessions: Sessions,
    /// How long it shall be at least, such as 20M or 1G
    #[arg(long, default_value = "1G", value_parser = parsed_size)]
    bytes: u64,
    /// The folder to write short sessions to, each in a file of its own
    #[arg(long, conflicts_with_all = ["write", "sessions", "bytes"])]
    folder: Option<PathBuf>,
    /// How many files
    #[arg(long, default_value_t = 3_000, requires = "folder")]
    files: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Sessions {
    /// Long sessions over stdio, with some messages as large as a file
    Mixed,
    /// Short sessions over stdio, with small messages
    Stdio,
    /// Short sessions over HTTP, with small messages and many headers
    Http,
}

#[derive(Args)]
struct Command {
    /// The program
    #[arg(long)]
    plumb: PathBuf,
    /// A trace to check, or a folder of them, as `trace` writes it, after a title: `HTTP=file`
    #[arg(long = "recording", required = true)]
    recordings: Vec<String>,
    /// How often to check it; the fastest counts
    #[arg(long, default_value_t = 3)]
    checks: usize,
    /// How often to start the program; the median counts
    #[arg(long, default_value_t = 200)]
    starts: usize,
    /// The Markdown file whose table is replaced
    #[arg(long)]
    results: Option<PathBuf>,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Verdict(options) => verdict(&options),
        Task::Session(options) => session(&options),
        Task::Trace(options) => trace(&options),
        Task::Command(options) => command(&options),
    };
    let Err(error) = done else {
        return ExitCode::SUCCESS;
    };
    eprintln!("error: {error}");
    for cause in std::iter::successors(error.source(), |&cause| cause.source()) {
        eprintln!("  because: {cause}");
    }
    ExitCode::FAILURE
}

fn verdict(options: &Verdict) -> Result<(), Box<dyn Error>> {
    let rounds = if options.quick { 2 } else { options.rounds };
    let mut reports = Vec::new();
    for class in Class::ALL {
        reports.push(measured(class, rounds)?);
    }
    let about = machine::description(options.date.as_deref());
    let tables = format!("{about}- rounds: {rounds}\n\n{}", report::verdict(&reports));
    println!("{tables}");
    if let Some(file) = &options.results {
        report::update(file, "verdict", &tables)?;
    }
    Ok(())
}

fn measured(class: Class, rounds: usize) -> Result<ClassReport, WrongVerdict> {
    let tools = known_tools();
    let corpus = Corpus::generate(class, &tools);
    let mut contestants = contestants::all(class.checks_arguments().then_some(&tools));
    let compared = agreement::check(&corpus, &mut contestants)?;
    eprintln!(
        "{}: {} verdicts on valid and {} on broken messages are right",
        class.title(),
        compared.valid,
        compared.broken,
    );
    let timings = measure::time(&corpus, &mut contestants, rounds);
    let names = contestants.iter().map(|contestant| contestant.name());
    Ok(ClassReport {
        class,
        messages: corpus.messages.len(),
        mean_bytes: corpus.mean_bytes(),
        timings: names.zip(timings).collect(),
    })
}

fn session(options: &Conversations) -> Result<(), Box<dyn Error>> {
    let (rounds, longest) = if options.quick { (1, 2_000) } else { (10, 1_000_000) };
    let tables = conversation::measure(&known_tools(), rounds, longest);
    println!("{tables}");
    if let Some(file) = &options.results {
        report::update(file, "session", &tables)?;
    }
    Ok(())
}

fn trace(options: &Trace) -> Result<(), Box<dyn Error>> {
    let kind = match options.sessions {
        Sessions::Mixed => trace::Kind::Mixed,
        Sessions::Stdio => trace::Kind::Stdio,
        Sessions::Http => trace::Kind::Http,
    };
    let (path, written) = match (&options.folder, &options.write) {
        (Some(folder), _) => (folder, trace::write_folder(folder, options.files)?),
        (None, Some(file)) => {
            let mut out = BufWriter::with_capacity(1 << 20, File::create(file)?);
            let written = trace::write(&mut out, kind, options.bytes)?;
            out.flush()?;
            (file, written)
        }
        (None, None) => return Err("there is nothing to write to".into()),
    };
    let trace::Written { bytes, lines, sessions } = written;
    eprintln!("{}: {bytes} bytes, {lines} lines, {sessions} sessions", path.display());
    Ok(())
}

fn command(options: &Command) -> Result<(), Box<dyn Error>> {
    let Command { plumb, recordings, checks, starts, results } = options;
    let recordings: Vec<Recording<'_>> = recordings
        .iter()
        .map(|text| text.split_once('=').ok_or_else(|| format!("`{text}` has no title")))
        .map(|found| found.map(|(title, path)| Recording { title, path: Path::new(path) }))
        .collect::<Result<_, _>>()?;
    let table = command::measure(plumb, &recordings, *checks, *starts)?.to_markdown();
    println!("{table}");
    if let Some(file) = results {
        report::update(file, "command", &table)?;
    }
    Ok(())
}

/// Parses a number followed by `K`, `M` or `G`, in powers of a thousand.
fn parsed_size(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(digits) if text.ends_with('K') => (digits, 1_000),
        Some(digits) if text.ends_with('M') => (digits, 1_000_000),
        Some(digits) => (digits, 1_000_000_000),
        None => (text, 1),
    };
    let number: u64 = digits.parse().map_err(|error| format!("{error}"))?;
    number.checked_mul(factor).ok_or_else(|| "that is too much".to_owned())
}
