use std::{
    io::{self, BufWriter, Write as _},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use mcp_proxy::{
    Recorder, Tap, TapSettings,
    replay::{Player, ReplaySettings, ReplaySummary, Target},
    shutdown,
};
use mcp_rules::{Engine, Layer, RecordingInfo};

use super::{Outcome, notes::Notes, proxy::record_name};
use crate::{
    args::{Color, DiffFormat, ReplayArgs},
    config::Config,
    diff::{DiffError, Differ, HumanDiff, JsonDiff, Recording, RecordingError, Scope, Terms},
    failure::Failure,
    plan::{JudgingPlan, Verbosity},
    replay::{self, FindingTally, HumanReplay, JsonReplay, PlayError, ReplayReport},
    style::Palette,
    text::shown_path,
};

/// The exit code of an interrupted program, as in shells.
const INTERRUPTED: u8 = 130;

/// Runs `plumb replay`.
pub(crate) fn replay(args: &ReplayArgs, color: Color) -> anyhow::Result<Outcome> {
    let config = Config::chosen(&args.judging)?;
    let plan = JudgingPlan::new(&args.judging, &config)?;
    let notes = Notes::new(Palette::of_stderr(color), Verbosity::Normal);
    let schemas = notes.load(&plan.overrides, plan.overrides_required)?;
    notes.without_effect(&plan.without_effect);
    let mut info = RecordingInfo::default();
    info.revision = plan.forced_revision;
    let limit = plan.settings.limits.message_bytes;
    let engine = Arc::new(Engine::new(schemas, plan.settings));

    let differ = Differ::new(terms(args));
    // Read it before sending anything: if it cannot be compared, nothing should have been sent.
    let recorded = differ.read(&args.trace).map_err(|error| unusable(args, error))?;
    if !recorded.has_client() {
        let failure = Failure::new(format!("{} cannot be replayed", shown_path(&args.trace)));
        return Err(failure.hint("it has no message with `\"from\":\"client\"`").into());
    }
    let target = target(args, limit)?;
    let new = NewRecording::create(args)?;
    let now = Arc::new(Mutex::new(FindingTally::default()));
    let seen = Arc::clone(&now);
    let tap = Tap::new(
        Arc::clone(&engine),
        TapSettings {
            revision: plan.forced_revision,
            recorder: Some(new.recorder),
            watchers: vec![Box::new(move |event| {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                event.findings.iter().for_each(|finding| seen.add(finding));
            })],
            ..TapSettings::default()
        },
    );
    let mut settings = ReplaySettings::default();
    settings.timeout = Duration::from_secs(args.timeout.into());
    settings.max_message = limit;
    settings.keep_pauses = args.keep_pauses;
    let replayed = run(args, Player::new(target, tap.clone(), settings), &engine, info)?;
    let counts = tap.finish();
    if counts.record_failed || counts.lost > 0 {
        return Err(Failure::new("the new conversation could not be recorded as a whole")
            .hint("free some disk space, or choose another place with --record")
            .into());
    }
    let Some((then, played)) = replayed else { return Ok(Outcome::Exit(INTERRUPTED)) };
    let now = now.lock().unwrap_or_else(PoisonError::into_inner);
    let again = differ.read(&new.path).map_err(|error| unusable(args, error))?;
    let names = (args.trace.to_string_lossy().into_owned(), new.name);
    let mut report = report(args, names, color);
    let outcome = compare(args, &differ, (recorded, again), (&then, &now), &played, &mut *report);
    if args.record.is_some() {
        let _ = writeln!(io::stderr(), "plumb: recorded in {}", shown_path(&new.path));
    }
    outcome
}

type Replayed = Option<(FindingTally, ReplaySummary)>;

/// Sends the recording; `None` if the user interrupts it.
fn run(
    args: &ReplayArgs,
    mut player: Player,
    engine: &Engine,
    info: RecordingInfo,
) -> anyhow::Result<Replayed> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let outcome = tokio::select! {
            // Listen for signals before the server is started.
            biased;
            () = shutdown::requested() => None,
            outcome = replay::play(&args.trace, &mut player, engine, info) => Some(outcome),
        };
        let done = player.finish().await;
        match outcome {
            None => Ok(None),
            Some(Ok(then)) => Ok(Some((then, done))),
            Some(Err(PlayError::Replay(error))) => Err(Failure::new("could not start the server")
                .because(error)
                .hint("give the command that starts it after `--`, or its URL")
                .into()),
            Some(Err(error)) => {
                let name = shown_path(&args.trace);
                Err(Failure::new(format!("{name} cannot be replayed")).because(error).into())
            }
        }
    })
}

fn compare(
    args: &ReplayArgs,
    differ: &Differ,
    (recorded, again): (Recording, Recording),
    (then, now): (&FindingTally, &FindingTally),
    played: &ReplaySummary,
    report: &mut dyn ReplayReport,
) -> anyhow::Result<Outcome> {
    // If the transports differ, the transport layer cannot be compared.
    let same_carrier = args.url.is_none() && !recorded.has_http();
    let totals = differ.compare(recorded, again, report).map_err(|error| match error {
        DiffError::Recording(_, error) => unusable(args, error),
        DiffError::Write(error) => error.into(),
    })?;
    let layers = [Layer::Trace, Layer::Http, Layer::Framing];
    let except = if same_carrier { &layers[..2] } else { &layers[..] };
    let shifts = then.shifts(now, except);
    for shift in &shifts {
        report.shift(shift)?;
    }
    report.end(played, &totals)?;
    let is_whole = played.unsent == 0 && played.unanswered == 0 && played.ended.is_none();
    let is_same = totals.are_same() && shifts.is_empty() && is_whole;
    Ok(if is_same { Outcome::Clean } else { Outcome::Findings })
}

fn terms(args: &ReplayArgs) -> Terms {
    let terms = Terms {
        scope: Scope::Server { answers_only: args.answers_only },
        ignored: args.ignored.clone(),
        ignores_times: false,
    };
    if args.strict { terms } else { terms.ignoring_volatile() }
}

fn target(args: &ReplayArgs, limit: usize) -> anyhow::Result<Target> {
    if let Some(url) = &args.url {
        return Target::url(url, limit).map_err(|error| {
            Failure::new("the URL of the server cannot be used")
                .because(error)
                .hint("write it like http://127.0.0.1:3000/mcp, or give a command after `--`")
                .into()
        });
    }
    let command = args.command.split_first();
    let (program, arguments) = command.ok_or_else(|| {
        Failure::new("no server to send to").hint("give its URL, or a command after `--`")
    })?;
    Ok(Target::command(program, arguments, limit))
}

fn report(args: &ReplayArgs, names: (String, String), color: Color) -> Box<dyn ReplayReport> {
    let out = BufWriter::new(io::stdout().lock());
    match args.format {
        DiffFormat::Human => {
            let differences = HumanDiff { out, palette: Palette::of_stdout(color), names };
            Box::new(HumanReplay { differences, has_shown: false })
        }
        DiffFormat::Json => Box::new(JsonReplay { differences: JsonDiff { out } }),
    }
}

fn unusable(args: &ReplayArgs, error: RecordingError) -> anyhow::Error {
    let name = shown_path(&args.trace);
    Failure::new(format!("{name} cannot be compared with a replay")).because(error).into()
}

/// The recording of the new conversation.
struct NewRecording {
    recorder: Recorder,
    path: PathBuf,
    /// The name used in the report.
    name: String,
    /// Removed at the end.
    _temporary: Option<tempfile::NamedTempFile>,
}

impl NewRecording {
    fn create(args: &ReplayArgs) -> anyhow::Result<NewRecording> {
        let temporary = match args.record {
            Some(_) => None,
            None => Some(tempfile::NamedTempFile::with_prefix("plumb-replay-")?),
        };
        let place = match (&args.record, &temporary) {
            (Some(path), _) => path.clone(),
            (None, Some(file)) => file.path().to_owned(),
            (None, None) => PathBuf::new(),
        };
        let recorder = Recorder::create(&place, &record_name()).map_err(|error| {
            Failure::new(format!("could not record to {}", shown_path(&place)))
                .because(error)
                .hint("choose a file or directory that you can write to")
        })?;
        let path = recorder.path().to_owned();
        let name = match args.record {
            Some(_) => path.to_string_lossy().into_owned(),
            None => "replay".to_owned(),
        };
        Ok(NewRecording { recorder, path, name, _temporary: temporary })
    }
}
