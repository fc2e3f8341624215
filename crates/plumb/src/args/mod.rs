//! What the user typed. Parsing does no IO; [`plan`](crate::plan) interprets it.

mod choices;
mod examples;
mod inspect;
mod lock;
mod mock;
mod proxy;
mod recordings;
mod replay;
mod server;
mod test;
mod upstream;
mod values;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};
use mcp_core::{Revision, Side};
use mcp_rules::{Layer, Setting};

pub(crate) use self::choices::{
    Color, Enforced, FailOn, Format, LogFormat, LogLevel, MaxFindings, ReportFormat,
    RevisionChoice, RulesFormat, SchemaFormat, TestFormat,
};
pub(crate) use self::inspect::InspectArgs;
pub(crate) use self::lock::{LOCK_FILE, LockArgs};
pub(crate) use self::mock::MockArgs;
pub(crate) use self::recordings::{DiffArgs, DiffFormat, RedactArgs, TailArgs, WrapArgs};
pub(crate) use self::replay::ReplayArgs;
pub(crate) use self::server::{ServerArgs, ServerOptions};
pub(crate) use self::test::{TestArgs, TestServerArgs};
use self::values::{
    fail_on, layer, max_findings, profile_name, revision, revision_choice, rule_name, rule_setting,
    side,
};
pub(crate) use self::{
    proxy::ProxyArgs,
    upstream::{HeaderFromEnvironment, UpstreamArg},
};
use crate::selector::Selector;

/// Checks Model Context Protocol traffic against the specification and shows exactly where it
/// breaks.
#[derive(Debug, Parser)]
#[command(name = "plumb", version, after_help = examples::PLUMB, disable_help_subcommand = true)]
#[command(subcommand_required = true, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Validate recorded traffic
    #[command(after_help = examples::CHECK)]
    Check(Box<CheckArgs>),
    /// Test a server: ask it everything, and show what it gets wrong
    #[command(after_help = test::TEST)]
    Test(Box<TestArgs>),
    /// Be the server that a client under test starts
    #[command(hide = true)]
    TestServer(TestServerArgs),
    /// Pin what a server offers in a file, or compare with it
    #[command(after_help = lock::LOCK)]
    Lock(Box<LockArgs>),
    /// Pass traffic between a client and a server, and show what is wrong with it
    #[command(after_help = examples::PROXY)]
    Proxy(Box<ProxyArgs>),
    /// See a conversation and what is wrong with it in a browser
    #[command(after_help = inspect::INSPECT)]
    Inspect(InspectArgs),
    /// Show the methods and definitions of a revision
    #[command(after_help = examples::SCHEMA)]
    Schema(SchemaArgs),
    /// List the rules
    #[command(after_help = examples::RULES)]
    Rules(RulesArgs),
    /// Explain what a rule checks, why it matters and how to fix it
    #[command(after_help = examples::EXPLAIN)]
    Explain(ExplainArgs),
    /// Put the proxy into the configuration of a client, or take it out again
    #[command(after_help = recordings::WRAP)]
    Wrap(WrapArgs),
    /// Show the messages of a recording while it is written
    #[command(after_help = recordings::TAIL)]
    Tail(TailArgs),
    /// Compare two recordings of the same conversation, from both sides of a middlebox
    #[command(after_help = recordings::DIFF)]
    Diff(DiffArgs),
    /// Mask the secrets in a recording, so that it can be shared
    #[command(after_help = recordings::REDACT)]
    Redact(RedactArgs),
    /// Serve a recording: the recorded answers to the recorded requests, without the server
    #[command(after_help = mock::MOCK)]
    Mock(MockArgs),
    /// Send the client's side of a recording to a server again, and show what differs
    #[command(after_help = replay::REPLAY)]
    Replay(Box<ReplayArgs>),
    /// Write a completion script for a shell to standard output
    #[command(after_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
}

#[derive(Debug, Default, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a command-line flag")]
pub(crate) struct CheckArgs {
    /// Traces, NDJSON, HAR captures, directories or glob patterns; `-` is standard input
    #[arg(value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
    /// Who sent the messages, for files that do not say
    #[arg(long, value_name = "SIDE", value_parser = side(), help_heading = RULES)]
    pub(crate) from: Option<Side>,
    /// Assume that recordings begin where their sessions begin, even if the traffic does not show
    /// it
    #[arg(long, help_heading = RULES)]
    pub(crate) from_start: bool,
    /// Output format: for people, one finding per line, code scanning, test reports, workflow runs
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT)]
    pub(crate) format: Option<Format>,
    /// Show the first N findings, or `all`, and count the rest [default: depends on the format]
    #[arg(long, value_name = "N", value_parser = max_findings, help_heading = OUTPUT)]
    pub(crate) max_findings: Option<MaxFindings>,
    /// The lowest severity that makes the exit code 1 [default: error]
    #[arg(long, value_name = "SEVERITY", value_parser = fail_on(), help_heading = OUTPUT)]
    pub(crate) fail_on: Option<FailOn>,
    /// Hide the findings listed in this file, and report which of them are gone
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) baseline: Option<PathBuf>,
    /// Ignore the baseline in plumb.toml
    #[arg(long, conflicts_with = "baseline", help_heading = OUTPUT)]
    pub(crate) no_baseline: bool,
    /// Write a baseline of everything found, and do not fail on it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["baseline", "no_baseline"], help_heading = OUTPUT)]
    pub(crate) write_baseline: Option<PathBuf>,
    /// Print the schemas and configuration in use, and the number of files
    #[arg(short, long, help_heading = OUTPUT)]
    pub(crate) verbose: bool,
    /// Print only findings and warnings about schemas: no summary, progress bar or notes
    #[arg(short, long, conflicts_with = "verbose", help_heading = OUTPUT)]
    pub(crate) quiet: bool,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
}

/// What traffic is judged by.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct JudgingArgs {
    /// Check against the revision the peers agree on, or against this one [default: auto]
    #[arg(long, value_name = "REVISION", value_parser = revision_choice(), help_heading = RULES)]
    pub(crate) revision: Option<RevisionChoice>,
    /// A named set of settings, built in or from plumb.toml [default: spec]
    #[arg(long, value_name = "NAME", value_parser = profile_name(), help_heading = RULES)]
    pub(crate) profile: Option<String>,
    /// Set a rule, a pattern of rules or `layer:NAME` to error, warn or off; may be repeated
    #[arg(long = "rule", value_name = "RULE=LEVEL", value_parser = rule_setting, help_heading = RULES)]
    pub(crate) rules: Vec<(Selector, Setting)>,
    /// Use an official-format schema from a file or URL instead of the embedded one; may be repeated
    #[arg(long = "schema", value_name = "[REVISION=]PATH|URL", help_heading = RULES)]
    pub(crate) schemas: Vec<String>,
    /// Fail if a schema given with --schema cannot be used, instead of falling back
    #[arg(long, help_heading = RULES)]
    pub(crate) schema_required: bool,
    /// Read this file instead of the plumb.toml here or in a parent directory
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Read no plumb.toml
    #[arg(long, conflicts_with = "config")]
    pub(crate) no_config: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SchemaArgs {
    /// A definition such as `Tool`, or a method such as `tools/call`; lists both if left out
    #[arg(value_name = "DEFINITION|METHOD")]
    pub(crate) name: Option<String>,
    /// Which revision
    #[arg(long, value_name = "REVISION", value_parser = revision(), default_value = Revision::LATEST.as_str())]
    pub(crate) revision: Revision,
    /// human for reading, json for programs (with everything a definition refers to)
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: SchemaFormat,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RulesArgs {
    /// How to print them
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: RulesFormat,
    /// Only rules that apply to this revision
    #[arg(long, value_name = "REVISION", value_parser = revision())]
    pub(crate) revision: Option<Revision>,
    /// Only rules in this layer
    #[arg(long, value_name = "LAYER", value_parser = layer())]
    pub(crate) layer: Option<Layer>,
    /// Only rules this profile includes, with its levels
    #[arg(long, value_name = "NAME", value_parser = profile_name())]
    pub(crate) profile: Option<String>,
    /// Take profiles from this file instead of the plumb.toml here or in a parent directory
    #[arg(long, value_name = "FILE", requires = "profile")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExplainArgs {
    /// Names of rules, or findings as `check --format json` prints them; `-` is standard input
    #[arg(value_name = "RULE", required = true, value_parser = rule_name(), hide_possible_values = true)]
    pub(crate) rules: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

const RULES: &str = "What to check against";
const OUTPUT: &str = "Output";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use mcp_rules::Severity;

    use super::*;
    use crate::levels::Levels;

    fn check_args(words: &[&str]) -> Result<CheckArgs, clap::Error> {
        let words = ["plumb", "check"].into_iter().chain(words.iter().copied());
        Ok(match Args::try_parse_from(words)?.command {
            Command::Check(args) => *args,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn the_command_is_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn rules_are_set_by_name() {
        let args = check_args(&["--rule", "params-invalid=warn", "--rule=method-unknown=off"]);
        let levels = args.unwrap().judging.rules.into_iter().collect::<Levels>().by_rule();
        let expected =
            [("method-unknown", Setting::Off), ("params-invalid", Setting::On(Severity::Warning))];
        assert_eq!(levels, expected.map(|(name, setting)| (name.to_owned(), setting)).into());
    }

    #[test]
    fn an_unknown_rule_suggests_a_near_one() {
        let error = check_args(&["--rule", "param-invalid=off"]).unwrap_err();
        assert!(error.to_string().contains("did you mean `params-invalid`?"), "{error}");
        let error = check_args(&["--rule", "params-invalid"]).unwrap_err();
        assert!(error.to_string().contains("params-invalid=off"), "{error}");
        let error = check_args(&["--rule", "params-invalid=fatal"]).unwrap_err();
        assert!(error.to_string().contains("`fatal`"), "{error}");
    }

    #[test]
    fn sizes_have_units() {
        for (text, expected) in [
            ("4096", Ok(4096)),
            ("64k", Ok(64 << 10)),
            ("100M", Ok(100 << 20)),
            ("2GiB", Ok(2 << 30)),
        ] {
            assert_eq!(values::size(text), expected, "{text}");
        }
        for wrong in ["", "M", "1T", "-1M", "1.5M", "4095", "99999999999999G"] {
            assert!(values::size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn revisions_and_sides_are_checked_while_parsing() {
        let args = check_args(&["--revision", "2025-06-18", "--from", "server"]).unwrap();
        assert_eq!(args.judging.revision, Some(RevisionChoice::Only(Revision::V2025_06_18)));
        assert_eq!(args.from, Some(Side::Server));
        assert!(check_args(&["--revision", "2025-06-19"]).is_err());
        assert!(check_args(&["--from", "nobody"]).is_err());
        assert!(check_args(&["--jobs", "0"]).is_err());
    }
}
