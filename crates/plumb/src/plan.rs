//! What is to be done, once arguments and configuration agree. The command line wins over the
//! file. Everything is checked here, before any input is touched.

use std::{
    io::{self, IsTerminal as _},
    num::NonZero,
    path::PathBuf,
    thread,
};

use mcp_core::{Revision, Side};
use mcp_rules::{Settings, Severity};
use mcp_schema::{Override, Schemas, Source};

use crate::{
    args::{CheckArgs, Format, RevisionChoice},
    config::{Config, ResolvedProfile},
    failure::Failure,
};

/// Everything `check::run` needs to know.
#[derive(Debug)]
pub(crate) struct CheckPlan {
    /// Never empty.
    pub(crate) inputs: Vec<Input>,
    /// `None` lets every session find its revision by itself.
    pub(crate) forced_revision: Option<Revision>,
    /// Who sent the messages of files that do not say.
    pub(crate) from: Option<Side>,
    pub(crate) settings: Settings,
    pub(crate) schemas: Schemas,
    /// How many findings reach the renderer; the others are only counted.
    pub(crate) max_findings: Option<u64>,
    /// Worker threads, at least one.
    pub(crate) jobs: usize,
    /// Whether to show a progress bar on standard error.
    pub(crate) progress: bool,
}

/// Where messages come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    Stdin,
    /// A file, a directory or a glob pattern, as the user typed it.
    Path(PathBuf),
}

/// What `plumb check` is to do, but for the schemas, which have yet to be read.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) check: CheckPlan,
    pub(crate) overrides: Vec<Override>,
    /// Whether a schema that cannot be used is an error rather than a warning.
    pub(crate) overrides_required: bool,
    pub(crate) format: Format,
    /// The least severity that makes the run a failure.
    pub(crate) fail_on: Severity,
    pub(crate) chatter: Chatter,
    /// The file that was read, if any.
    pub(crate) config: Option<PathBuf>,
}

/// How much is said besides findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chatter {
    Quiet,
    Normal,
    Verbose,
}

/// What the plan has to know about where it runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surroundings {
    pub(crate) stdin_is_terminal: bool,
    pub(crate) stderr_is_terminal: bool,
    pub(crate) cores: usize,
}

impl Surroundings {
    /// Those of this process.
    pub(crate) fn of_process() -> Surroundings {
        Surroundings {
            stdin_is_terminal: io::stdin().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
            cores: thread::available_parallelism().map_or(1, NonZero::get),
        }
    }
}

/// The formats that print everything at the end keep every finding until then.
const BUFFERED_FINDINGS: u64 = 5000;

impl Plan {
    /// What `args` and `config` mean together.
    pub(crate) fn new(
        args: &CheckArgs,
        config: Config,
        surroundings: Surroundings,
    ) -> anyhow::Result<Plan> {
        let overrides = overrides(args, &config)?;
        let format = args.format.or(config.format).unwrap_or_default();
        let buffered = matches!(format, Format::Sarif | Format::Junit).then_some(BUFFERED_FINDINGS);
        let revision = args.revision.or(config.revision).unwrap_or_default();
        let chatter = match (args.quiet, args.verbose) {
            (true, _) => Chatter::Quiet,
            (false, true) => Chatter::Verbose,
            (false, false) => Chatter::Normal,
        };
        let check = CheckPlan {
            inputs: inputs(&args.files, surroundings)?,
            forced_revision: match revision {
                RevisionChoice::Auto => None,
                RevisionChoice::Only(revision) => Some(revision),
            },
            from: args.from,
            settings: settings(args, &config)?,
            schemas: Schemas::embedded(),
            max_findings: args.max_findings.or(config.max_findings).or(buffered),
            jobs: args.jobs.map_or(surroundings.cores, usize::from),
            progress: surroundings.stderr_is_terminal && chatter != Chatter::Quiet,
        };
        Ok(Plan {
            check,
            overrides,
            overrides_required: args.schema_required || config.schema_required.unwrap_or(false),
            format,
            fail_on: args.fail_on.or(config.fail_on).unwrap_or(Severity::Error),
            chatter,
            config: config.path,
        })
    }
}

fn inputs(files: &[PathBuf], surroundings: Surroundings) -> anyhow::Result<Vec<Input>> {
    if files.is_empty() {
        if surroundings.stdin_is_terminal {
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

fn settings(args: &CheckArgs, config: &Config) -> anyhow::Result<Settings> {
    let name = args.profile.as_deref().or(config.profile.as_deref());
    let profile = match name {
        Some(name) => config.profiles.resolve(name).map_err(|error| {
            let names: Vec<&str> = config.profiles.names().collect();
            Failure::new(error.to_string()).hint(format!("profiles are {}", names.join(", ")))
        })?,
        None => ResolvedProfile::default(),
    };
    let mut settings = Settings::default();
    settings.profile = profile.base;
    settings.limits = config.limits;
    settings.allowed_origins.clone_from(&config.allowed_origins);
    settings.rules = profile.rules;
    settings.rules.extend(config.rules.clone());
    let typed = args.rules.iter().map(|(rule, setting)| (rule.name.to_owned(), *setting));
    settings.rules.extend(typed);
    Ok(settings)
}

/// Schemas on the command line replace those of the file.
fn overrides(args: &CheckArgs, config: &Config) -> anyhow::Result<Vec<Override>> {
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
        Failure::new(format!("the schema `{text}` cannot be meant"))
            .because(error)
            .hint("write it as PATH, URL or REVISION=PATH")
            .into()
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use mcp_rules::{Profile, Setting};

    use super::*;
    use crate::{
        args::{Args, Command},
        config,
    };

    const PIPED: Surroundings =
        Surroundings { stdin_is_terminal: false, stderr_is_terminal: false, cores: 8 };

    #[track_caller]
    fn plan(words: &str, file: &str) -> anyhow::Result<Plan> {
        let words = ["plumb", "check"].into_iter().chain(words.split_whitespace());
        let Command::Check(args) = Args::try_parse_from(words)?.command else {
            panic!("not check");
        };
        Plan::new(&args, config::parse(file), PIPED)
    }

    #[test]
    fn without_anything_standard_input_is_judged_by_the_specification() {
        let plan = plan("", "").unwrap();
        assert_eq!(plan.check.inputs, [Input::Stdin]);
        assert_eq!(plan.check.forced_revision, None);
        assert_eq!(plan.check.settings.profile, Profile::Spec);
        assert_eq!((plan.check.jobs, plan.check.max_findings), (8, None));
        assert_eq!((plan.format, plan.fail_on), (Format::Human, Severity::Error));
    }

    #[test]
    fn the_command_line_wins_over_the_file() {
        let file = "revision = '2024-11-05'\nformat = 'json'\nfail_on = 'warning'\nmax_findings = 3\n\
                    profile = 'schema'\n[rules]\nmethod-unknown = 'off'\nparams-invalid = 'off'\n";
        let from_file = plan("", file).unwrap();
        assert_eq!(from_file.check.forced_revision, Some(Revision::V2024_11_05));
        assert_eq!(from_file.check.settings.profile, Profile::Schema);
        assert_eq!((from_file.format, from_file.fail_on), (Format::Json, Severity::Warning));
        let words = "--revision auto --format human --fail-on error --max-findings 9 \
                     --profile jsonrpc --rule params-invalid=error";
        let typed = plan(words, file).unwrap();
        assert_eq!(typed.check.forced_revision, None);
        assert_eq!(typed.check.max_findings, Some(9));
        assert_eq!(typed.check.settings.profile, Profile::JsonRpc);
        assert_eq!((typed.format, typed.fail_on), (Format::Human, Severity::Error));
        let rules = &typed.check.settings.rules;
        assert_eq!(rules["method-unknown"], Setting::Off);
        assert_eq!(rules["params-invalid"], Setting::On(Severity::Error));
    }

    #[test]
    fn formats_that_keep_findings_keep_only_so_many() {
        assert_eq!(plan("--format sarif", "").unwrap().check.max_findings, Some(BUFFERED_FINDINGS));
        assert_eq!(plan("--format github", "").unwrap().check.max_findings, None);
    }

    #[test]
    fn a_profile_of_the_file_can_be_chosen() {
        let file = "[profiles.house]\nextends = 'erlmcp'\nrules = { method-unknown = 'error' }";
        let plan = plan("--profile house", file).unwrap();
        assert_eq!(plan.check.settings.profile, Profile::Erlmcp);
        assert_eq!(plan.check.settings.rules["method-unknown"], Setting::On(Severity::Error));
    }

    #[test]
    fn an_unknown_profile_is_refused() {
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
    fn nothing_to_check_on_a_terminal_is_refused() {
        let terminal = Surroundings { stdin_is_terminal: true, ..PIPED };
        let error = Plan::new(&CheckArgs::default(), Config::default(), terminal).unwrap_err();
        assert!(error.to_string().contains("nothing to check"), "{error}");
    }
}
