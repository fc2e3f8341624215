//! Turns arguments and configuration into a validated plan, before any input is read. The command
//! line takes precedence over the file.

use std::{
    io::{self, IsTerminal as _},
    num::NonZero,
    path::PathBuf,
    thread,
};

use mcp_core::{Revision, Side};
use mcp_rules::Settings;
use mcp_schema::{Override, Schemas, Source};

use crate::{
    args::{CheckArgs, FailOn, Format, JudgingArgs, MaxFindings, RevisionChoice},
    config::{Config, ResolvedProfile},
    failure::Failure,
    levels::Levels,
};

/// Everything `check::run` needs to know.
#[derive(Debug)]
pub(crate) struct CheckPlan {
    /// Never empty.
    pub(crate) inputs: Vec<Input>,
    /// `None` if every session determines its own revision.
    pub(crate) forced_revision: Option<Revision>,
    /// The sender of messages in files that do not say.
    pub(crate) from: Option<Side>,
    /// Whether every recording starts at the beginning of its sessions.
    pub(crate) from_start: bool,
    pub(crate) settings: Settings,
    pub(crate) schemas: Schemas,
    pub(crate) shown: Shown,
    /// Worker threads, at least one.
    pub(crate) jobs: usize,
    /// Whether to show a progress bar on standard error.
    pub(crate) progress: bool,
}

/// The findings that reach the renderer; the others are only counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    All,
    First(u64),
    /// The first of each kind in each file.
    OfEachKind(u64),
}

/// Where messages come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    Stdin,
    /// A file, a directory or a glob pattern, as the user typed it.
    Path(PathBuf),
}

/// What `plumb check` should do, except for the schemas, which have not been loaded yet.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) check: CheckPlan,
    pub(crate) overrides: Vec<Override>,
    /// Explanations of settings that have no effect, one sentence each.
    pub(crate) without_effect: Vec<String>,
    /// Whether a schema that cannot be used is an error rather than a warning.
    pub(crate) overrides_required: bool,
    pub(crate) format: Format,
    pub(crate) fail_on: FailOn,
    pub(crate) baseline: BaselinePlan,
    pub(crate) verbosity: Verbosity,
    /// The file that was read, if any.
    pub(crate) config: Option<PathBuf>,
}

/// What to do about known findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BaselinePlan {
    None,
    Use(PathBuf),
    Write(PathBuf),
}

/// How much to print besides findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

/// Facts about the process that the plan depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Environment {
    pub(crate) stdin_is_terminal: bool,
    pub(crate) stderr_is_terminal: bool,
    pub(crate) cores: usize,
}

impl Environment {
    /// Reads the facts of this process.
    pub(crate) fn of_process() -> Environment {
        Environment {
            stdin_is_terminal: io::stdin().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
            cores: thread::available_parallelism().map_or(1, NonZero::get),
        }
    }
}

/// Limit for formats that print at the end and so keep every finding in memory.
const BUFFERED_FINDINGS: u64 = 5000;
/// Default limit of similar findings to show.
const ALIKE_FINDINGS: u64 = 10;

impl Plan {
    /// Combines `args` and `config`.
    pub(crate) fn new(
        args: &CheckArgs,
        config: Config,
        environment: Environment,
    ) -> anyhow::Result<Plan> {
        let judging = JudgingPlan::new(&args.judging, &config)?;
        let format = args.format.or(config.format).unwrap_or_default();
        let verbosity = match (args.quiet, args.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        };
        let check = CheckPlan {
            inputs: inputs(&args.files, environment)?,
            forced_revision: judging.forced_revision,
            from: args.from,
            from_start: args.from_start || config.from_start.unwrap_or(false),
            settings: judging.settings,
            schemas: Schemas::embedded(),
            shown: shown(args.max_findings.or(config.max_findings), format),
            jobs: args.jobs.map_or(environment.cores, usize::from),
            progress: environment.stderr_is_terminal && verbosity != Verbosity::Quiet,
        };
        Ok(Plan {
            check,
            overrides: judging.overrides,
            without_effect: judging.without_effect,
            overrides_required: judging.overrides_required,
            format,
            baseline: baseline(args, &config),
            fail_on: args.fail_on.or(config.fail_on).unwrap_or_default(),
            verbosity,
            config: config.path,
        })
    }
}

/// The settings that traffic is judged by, except for the schemas, which are not loaded yet.
#[derive(Debug)]
pub(crate) struct JudgingPlan {
    /// `None` if every session determines its own revision.
    pub(crate) forced_revision: Option<Revision>,
    pub(crate) settings: Settings,
    /// Explanations of settings that have no effect, one sentence each.
    pub(crate) without_effect: Vec<String>,
    pub(crate) overrides: Vec<Override>,
    /// Whether a schema that cannot be used is an error rather than a warning.
    pub(crate) overrides_required: bool,
}

impl JudgingPlan {
    /// Combines `args` and `config`.
    pub(crate) fn new(args: &JudgingArgs, config: &Config) -> anyhow::Result<JudgingPlan> {
        let profile = profile(args, config)?;
        let forced_revision = match args.revision.or(config.revision) {
            Some(RevisionChoice::Only(revision)) => Some(revision),
            Some(RevisionChoice::Auto) => None,
            None => profile.base.revision(),
        };
        let (settings, without_effect) = settings(args, config, profile, forced_revision);
        Ok(JudgingPlan {
            forced_revision,
            settings,
            without_effect,
            overrides: overrides(args, config)?,
            overrides_required: args.schema_required || config.schema_required.unwrap_or(false),
        })
    }
}

fn inputs(files: &[PathBuf], environment: Environment) -> anyhow::Result<Vec<Input>> {
    if files.is_empty() {
        if environment.stdin_is_terminal {
            return Err(Failure::new("nothing to check: name files, or pipe messages in")
                .hint("try `plumb check trace.jsonl`, or `plumb check --help` for more")
                .into());
        }
        return Ok(vec![Input::Stdin]);
    }
    let inputs: Vec<Input> = (files.iter())
        .map(|path| if path.as_os_str() == "-" { Input::Stdin } else { Input::Path(path.clone()) })
        .collect();
    if inputs.iter().filter(|input| **input == Input::Stdin).count() > 1 {
        return Err(Failure::new("standard input (`-`) can only be read once").into());
    }
    Ok(inputs)
}

/// When writing a baseline, everything is shown, and there may be none yet.
fn baseline(args: &CheckArgs, config: &Config) -> BaselinePlan {
    if let Some(path) = &args.write_baseline {
        return BaselinePlan::Write(path.clone());
    }
    let of_file = (config.baseline.as_ref())
        .filter(|_| !args.no_baseline)
        .map(|path| config.directory().join(path));
    args.baseline.clone().or(of_file).map_or(BaselinePlan::None, BaselinePlan::Use)
}

fn shown(limit: Option<MaxFindings>, format: Format) -> Shown {
    match (limit, format) {
        (Some(MaxFindings::All), _) | (None, Format::Json | Format::Github) => Shown::All,
        (Some(MaxFindings::First(most)), _) => Shown::First(most),
        (None, Format::Sarif | Format::Junit) => Shown::First(BUFFERED_FINDINGS),
        (None, Format::Human) => Shown::OfEachKind(ALIKE_FINDINGS),
    }
}

fn profile(args: &JudgingArgs, config: &Config) -> Result<ResolvedProfile, Failure> {
    match args.profile.as_deref().or(config.profile.as_deref()) {
        Some(name) => config.profiles.named(name),
        None => Ok(ResolvedProfile::default()),
    }
}

/// The settings, and explanations of levels that have no effect.
fn settings(
    args: &JudgingArgs,
    config: &Config,
    profile: ResolvedProfile,
    forced: Option<Revision>,
) -> (Settings, Vec<String>) {
    let mut settings = Settings::default();
    settings.profile = profile.base;
    settings.methods = profile.methods;
    settings.limits = config.limits;
    settings.allowed_origins.clone_from(&config.allowed_origins);
    settings.rules = profile.rules;
    settings.rules.extend(config.levels.by_rule());
    let typed: Levels = args.rules.iter().cloned().collect();
    settings.rules.extend(typed.by_rule());
    let said = profile.levels.iter().chain([&config.levels, &typed]);
    let without_effect = said.flat_map(|levels| levels.without_effect(&settings, forced)).collect();
    (settings, without_effect)
}

/// Schemas on the command line replace those of the file.
fn overrides(args: &JudgingArgs, config: &Config) -> anyhow::Result<Vec<Override>> {
    if !args.schemas.is_empty() {
        return args.schemas.iter().map(|text| parse_override(text)).collect();
    }
    let relative_to_file = |text: &String| {
        let mut given = parse_override(text)?;
        if let Source::File(path) = &mut given.source {
            *path = config.directory().join(&path);
        }
        Ok(given)
    };
    config.schemas.iter().map(relative_to_file).collect()
}

fn parse_override(text: &str) -> anyhow::Result<Override> {
    text.parse().map_err(|error: mcp_schema::SourceError| {
        Failure::new(format!("`{text}` is not a schema"))
            .because(error)
            .hint("write it as PATH, URL or REVISION=PATH")
            .into()
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use mcp_rules::{Profile, Setting, Severity};

    use super::*;
    use crate::{
        args::{Args, Command},
        config,
    };

    const PIPED: Environment =
        Environment { stdin_is_terminal: false, stderr_is_terminal: false, cores: 8 };

    #[track_caller]
    fn plan(words: &str, file: &str) -> anyhow::Result<Plan> {
        let words = ["plumb", "check"].into_iter().chain(words.split_whitespace());
        let Command::Check(args) = Args::try_parse_from(words)?.command else {
            panic!("not check");
        };
        Plan::new(&args, config::parse(file), PIPED)
    }

    #[test]
    fn by_default_standard_input_is_checked_against_the_specification() {
        let plan = plan("", "").unwrap();
        assert_eq!(plan.check.inputs, [Input::Stdin]);
        assert_eq!(plan.check.forced_revision, None);
        assert_eq!(plan.check.settings.profile, Profile::Spec);
        assert_eq!((plan.check.jobs, plan.check.shown), (8, Shown::OfEachKind(ALIKE_FINDINGS)));
        assert_eq!((plan.format, plan.fail_on), (Format::Human, FailOn::At(Severity::Error)));
    }

    #[test]
    fn the_command_line_wins_over_the_file() {
        let file = "revision = '2024-11-05'\nformat = 'json'\nfail_on = 'warning'\nmax_findings = 3\n\
                    profile = 'schema'\n[rules]\nmethod-unknown = 'off'\nparams-invalid = 'off'\n";
        let from_file = plan("", file).unwrap();
        assert_eq!(from_file.check.forced_revision, Some(Revision::V2024_11_05));
        assert_eq!(from_file.check.settings.profile, Profile::Schema);
        assert_eq!(
            (from_file.format, from_file.fail_on),
            (Format::Json, FailOn::At(Severity::Warning))
        );
        let words = "--revision auto --format human --fail-on error --max-findings 9 \
                     --profile jsonrpc --rule params-invalid=error";
        let typed = plan(words, file).unwrap();
        assert_eq!(typed.check.forced_revision, None);
        assert_eq!(from_file.check.shown, Shown::First(3));
        assert_eq!(typed.check.shown, Shown::First(9));
        assert_eq!(typed.check.settings.profile, Profile::JsonRpc);
        assert_eq!((typed.format, typed.fail_on), (Format::Human, FailOn::At(Severity::Error)));
        let rules = &typed.check.settings.rules;
        assert_eq!(rules["method-unknown"], Setting::Off);
        assert_eq!(rules["params-invalid"], Setting::On(Severity::Error));
    }

    #[test]
    fn every_format_has_a_suitable_limit() {
        let shown = |words| plan(words, "").unwrap().check.shown;
        assert_eq!(shown("--format sarif"), Shown::First(BUFFERED_FINDINGS));
        assert_eq!(shown("--format github"), Shown::All);
        assert_eq!(shown("--format json --max-findings 2"), Shown::First(2));
        assert_eq!(shown("--max-findings all"), Shown::All);
        assert_eq!(shown("--format junit --max-findings all"), Shown::All);
        assert_eq!(plan("", "max_findings = 'all'").unwrap().check.shown, Shown::All);
    }

    #[test]
    fn the_baseline_comes_from_either() {
        let file = "baseline = 'known.json'";
        let baseline = |words, file| plan(words, file).unwrap().baseline;
        let used = |name: &str| BaselinePlan::Use(name.into());
        assert_eq!(baseline("", ""), BaselinePlan::None);
        assert_eq!(baseline("", file), used("known.json"));
        assert_eq!(baseline("--baseline mine.json", file), used("mine.json"));
        assert_eq!(baseline("--no-baseline", file), BaselinePlan::None);
        let written = BaselinePlan::Write("new.json".into());
        assert_eq!(baseline("--write-baseline new.json", file), written);
        assert!(plan("--write-baseline new.json --baseline old.json", "").is_err());
    }

    #[test]
    fn a_profile_of_the_file_can_be_chosen() {
        let file = "[profiles.house]\nextends = 'erlmcp'\nrules = { method-unknown = 'error' }";
        let plan = plan("--profile house", file).unwrap();
        assert_eq!(plan.check.settings.profile, Profile::Erlmcp);
        assert_eq!(plan.check.settings.rules["method-unknown"], Setting::On(Severity::Error));
    }

    #[test]
    fn patterns_on_the_command_line_win_over_names_in_the_file() {
        let file = "[rules]\n'batch-*' = 'warning'\nbatch-empty = 'error'\n'layer:json' = 'off'";
        let rules = |words| plan(words, file).unwrap().check.settings.rules;
        assert_eq!(rules("")["batch-mixed"], Setting::On(Severity::Warning));
        assert_eq!(rules("")["batch-empty"], Setting::On(Severity::Error));
        assert_eq!(rules("")["json-duplicate-key"], Setting::Off);
        assert_eq!(rules("--rule batch-*=off")["batch-empty"], Setting::Off);
    }

    #[test]
    fn an_unknown_profile_is_rejected() {
        let error = plan("--profile schmea", "").unwrap_err().to_string();
        assert_eq!(error, "there is no profile `schmea`; did you mean `schema`?");
    }

    #[test]
    fn standard_input_is_read_once() {
        let mixed = plan("a.jsonl - b.jsonl", "").unwrap();
        assert_eq!(mixed.check.inputs[1], Input::Stdin);
        assert!(plan("- -", "").is_err());
    }

    #[test]
    fn nothing_to_check_on_a_terminal_is_an_error() {
        let terminal = Environment { stdin_is_terminal: true, ..PIPED };
        let error = Plan::new(&CheckArgs::default(), Config::default(), terminal).unwrap_err();
        assert!(error.to_string().contains("nothing to check"), "{error}");
    }
}
