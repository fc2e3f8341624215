//! Measures proxies; see `proxying --help`.

#![expect(clippy::print_stdout, reason = "the tables are the point")]

use std::{
    env,
    error::Error,
    fs, io,
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use clap::Parser;
use plumb_proxying_benches::{
    contestant::{Listening, Programs},
    http::{HttpLoad, Session},
    process::Process,
    report::{self, Goal, Table, micros},
    sample::{Sample, summary},
    stdio::StdioLoad,
};

#[derive(Parser)]
#[command(about = "What proxies add to the way between a client and a server, side by side")]
struct Arguments {
    /// A few requests only: shows that everything works
    #[arg(long)]
    quick: bool,
    /// Rounds over every contestant
    #[arg(long, default_value_t = 12)]
    rounds: usize,
    /// The plumb to measure
    #[arg(long)]
    plumb: PathBuf,
    /// The folder with the other bridges
    #[arg(long)]
    peers: Option<PathBuf>,
    /// The Markdown file to which the tables are written
    #[arg(long)]
    results: Option<PathBuf>,
    /// A date to write beside the figures
    #[arg(long)]
    date: Option<String>,
    /// Only tables whose title contains this
    #[arg(long, default_value = "")]
    only: String,
}

const ECHO: &str = "proxying-echo";
const COPY: &str = "proxying-copy";
const HYPER: &str = "proxying-hyper";
const OBSERVING: &str = "plumb, observing";
const ENFORCING: &str = "plumb, enforcing";

/// How much is measured.
#[derive(Clone, Copy)]
struct Scale {
    rounds: usize,
    calls: usize,
    idle: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let scale = if arguments.quick {
        Scale { rounds: 1, calls: 128, idle: 100 }
    } else {
        Scale { rounds: arguments.rounds, calls: 10_000, idle: 10_000 }
    };
    let programs = Programs {
        plumb: arguments.plumb.clone(),
        echo: env::current_exe()?.with_file_name(ECHO),
        copy: env::current_exe()?.with_file_name(COPY),
        hyper: env::current_exe()?.with_file_name(HYPER),
        nginx: nginx(),
        peers: arguments.peers.clone(),
    };
    let scratch = Scratch::new()?;
    let wanted = |title: &str| title.contains(&arguments.only);
    let mut tables = Vec::new();
    for window in [1, 64] {
        let title = format!("stdio, {window} in flight");
        if wanted(&title) {
            tables.push(streams(&programs, title, scale, window)?);
        }
    }
    for (path, what) in [("/mcp", "HTTP JSON"), ("/sse", "HTTP event streams")] {
        for connections in [1, 64] {
            let plural = if connections == 1 { "" } else { "s" };
            let title = format!("{what}, {connections} connection{plural}");
            if wanted(&title) {
                let (_server, address) = programs.server()?;
                let all = programs.before(&address, &scratch.0)?;
                tables.push(http(all, title, path, scale, connections)?);
            }
        }
    }
    for connections in [1, 64] {
        let plural = if connections == 1 { "" } else { "s" };
        let title = format!("HTTP to stdio, {connections} session{plural}");
        if wanted(&title) {
            // The other bridges are slow, and start a process per session.
            let scale = Scale { calls: scale.calls / 10, ..scale };
            tables.push(http(programs.bridges()?, title, "/mcp", scale, connections)?);
        }
    }
    let idle = if wanted("idle") { Some(idle(&programs, scale)?) } else { None };
    let goals = goals(&tables, idle.map(|bytes| (scale.idle, bytes)));
    let mut text = arguments.date.map(|date| format!("Measured {date}.\n\n")).unwrap_or_default();
    text += &report::goals(&goals);
    text += &tables.iter().map(Table::shown).collect::<String>();
    println!("{text}");
    if let Some(path) = arguments.results.filter(|_| !arguments.quick) {
        report::write(&path, &text)?;
    }
    Ok(())
}

/// Rounds over all contestants, one after the other.
fn interleaved<L>(
    title: String,
    loads: &mut [(&'static str, Option<Process>, L)],
    rounds: usize,
    round: impl Fn(&mut L) -> io::Result<Sample>,
) -> io::Result<Table> {
    let worked = |process: &Option<Process>| process.as_ref().map(|it| it.processor_time(ECHO));
    let mut samples: Vec<(Vec<Sample>, Option<Duration>)> =
        loads.iter().map(|_| (Vec::new(), None)).collect();
    for number in 0..=rounds {
        for ((name, process, load), (samples, time)) in loads.iter_mut().zip(&mut samples) {
            let before = worked(process);
            let sample = round(load)
                .map_err(|error| io::Error::other(format!("{title}, {name}: {error}")))?;
            // The first round only warms up, unless there is no other.
            if number == 0 && rounds > 1 {
                continue;
            }
            samples.push(sample);
            // Without a proxy, measure the server process.
            let is_proxy = *name != "nothing";
            if let (Some(before), Some(after), true) = (before, worked(process), is_proxy) {
                *time = Some(time.unwrap_or_default() + after.saturating_sub(before));
            }
        }
    }
    let rows = loads.iter().zip(samples);
    let rows = rows.map(|((name, ..), (samples, time))| (*name, summary(&samples, time))).collect();
    Ok(Table { title, rows })
}

fn streams(programs: &Programs, title: String, scale: Scale, window: usize) -> io::Result<Table> {
    let mut loads = Vec::new();
    for (name, mut command) in programs.on_streams() {
        let mut process = Process::start(&mut command)?;
        let load = StdioLoad::open(&mut process, window)?;
        loads.push((name, Some(process), load));
    }
    interleaved(title, &mut loads, scale.rounds, |load| load.round(scale.calls))
}

fn http(
    all: Vec<(&'static str, Listening)>,
    title: String,
    path: &str,
    scale: Scale,
    connections: usize,
) -> io::Result<Table> {
    let mut loads = Vec::new();
    for (name, Listening { process, address }) in all {
        // One call, to see that it works at all.
        let opened = HttpLoad::open(&address, path, connections)
            .and_then(|mut load| load.round(connections).map(|_| load));
        match opened {
            Ok(load) => loads.push((name, process, load)),
            // A failure of another program is not a failure of this one.
            Err(error) if name.ends_with(')') => eprintln!("{title}: {name} fails: {error}"),
            Err(error) => return Err(io::Error::other(format!("{title}, {name}: {error}"))),
        }
    }
    interleaved(title, &mut loads, scale.rounds, |load| load.round(scale.calls))
}

/// The memory of a proxy with many idle sessions.
fn idle(programs: &Programs, scale: Scale) -> io::Result<u64> {
    let (_server, address) = programs.server()?;
    let folder = Scratch::new()?;
    let all = programs.before(&address, &folder.0)?;
    let plumb = all.into_iter().find(|(name, _)| *name == OBSERVING);
    let (_, plumb) = plumb.ok_or_else(|| io::Error::other("plumb does not run"))?;
    for _ in 0..scale.idle {
        Session::open(&plumb.address, "/mcp")?;
    }
    let process = plumb.process.ok_or_else(|| io::Error::other("plumb does not run"))?;
    process.resident_bytes()
}

fn goals(tables: &[Table], idle: Option<(usize, u64)>) -> Vec<Goal> {
    let mut goals = Vec::new();
    let named = |title: &str| tables.iter().find(|table| table.title == title);
    if let Some(table) = named("stdio, 1 in flight") {
        let added = table.added(OBSERVING).unwrap_or_default();
        goals.push(Goal {
            demand: "stdio: observing adds less than 25 µs to the median".into(),
            measured: micros(added),
            is_met: Some(added < Duration::from_micros(25)),
        });
    }
    for table in tables.iter().filter(|table| table.title.contains("connection")) {
        let title = &table.title;
        let added = table.added(OBSERVING).zip(table.added("nginx"));
        goals.push(Goal {
            demand: format!("{title}: observing adds at most what nginx adds"),
            measured: added.map_or("–".into(), |(ours, nginx)| {
                format!("{} (nginx: {})", micros(ours), micros(nginx))
            }),
            is_met: added.map(|(ours, nginx)| ours <= nginx),
        });
        goals.push(throughput(table, OBSERVING, "nginx", 0.8));
    }
    for table in tables.iter().filter(|table| table.title.contains("session")) {
        goals.push(throughput(table, OBSERVING, "mcp-proxy (npm)", 10.0));
        goals.push(throughput(table, OBSERVING, "supergateway (npm)", 10.0));
    }
    goals.extend(tables.iter().map(|table| throughput(table, ENFORCING, OBSERVING, 0.8)));
    if let Some((count, bytes)) = idle {
        goals.push(Goal {
            demand: format!("{count} idle sessions take less than 200 MB"),
            measured: format!("{} MB", bytes / 1_000_000),
            is_met: Some(bytes < 200_000_000),
        });
    }
    goals
}

fn throughput(table: &Table, one: &str, other: &str, least: f64) -> Goal {
    let ratio = table.ratio(one, other);
    Goal {
        demand: format!(
            "{}: {one} passes at least {least} times the requests of {other}",
            table.title
        ),
        measured: ratio.map_or("–".into(), |ratio| format!("{ratio:.2}")),
        is_met: ratio.map(|ratio| ratio >= least),
    }
}

fn nginx() -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let system = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let mut folders = env::split_paths(&folders).chain(system);
    folders.find_map(|folder| Some(folder.join("nginx")).filter(|path| path.exists()))
}

/// A folder that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> io::Result<Scratch> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("plumb-proxying-{}-{number}", std::process::id());
        let folder = env::temp_dir().join(name);
        fs::create_dir_all(&folder)?;
        Ok(Scratch(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Failing to remove it does not matter.
        let _ = fs::remove_dir_all(&self.0);
    }
}
