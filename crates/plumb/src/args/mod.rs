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

/// Check Model Context Protocol traffic against the specification and show exactly where it breaks.
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
    /// Test a server or a client by talking to it, and report what it gets wrong
    #[command(after_help = test::TEST)]
    Test(Box<TestArgs>),
    /// Run as the server that a client under test starts
    #[command(hide = true)]
    TestServer(TestServerArgs),
    /// Record what a server offers in a lock file, or compare it with one
    #[command(after_help = lock::LOCK)]
    Lock(Box<LockArgs>),
    /// Relay traffic between a client and a server, and report what is wrong with it
    #[command(after_help = examples::PROXY)]
    Proxy(Box<ProxyArgs>),
    /// Open a browser page that shows a conversation and what is wrong with it
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
    /// Add the proxy to the configuration of a client, or remove it again
    #[command(after_help = recordings::WRAP)]
    Wrap(WrapArgs),
    /// Follow a recording as it is written, and show its messages
    #[command(after_help = recordings::TAIL)]
    Tail(TailArgs),
    /// Compare recordings of one conversation from both sides of a middlebox
    #[command(after_help = recordings::DIFF)]
    Diff(DiffArgs),
    /// Mask the secrets in a recording before sharing it
    #[command(after_help = recordings::REDACT)]
    Redact(RedactArgs),
    /// Serve the recorded answers to recorded requests, without the server
    #[command(after_help = mock::MOCK)]
    Mock(MockArgs),
    /// Send the client's side of a recording to a server, and compare the answers
    #[command(after_help = replay::REPLAY)]
    Replay(Box<ReplayArgs>),
    /// Print a completion script for a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
}

#[derive(Debug, Default, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a command-line flag")]
pub(crate) struct CheckArgs {
    /// Recordings, NDJSON files, HAR captures, directories or glob patterns; `-` for standard input
    #[arg(value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
    /// The side that sent the messages, for files that do not say
    #[arg(long, value_name = "SIDE", value_parser = side(), help_heading = RULES)]
    pub(crate) from: Option<Side>,
    /// Assume that every recording starts at the beginning of its sessions, even if the traffic
    /// does not show it
    #[arg(long, help_heading = RULES)]
    pub(crate) from_start: bool,
    /// Output format: human, JSON Lines, SARIF for code scanning, test reports in XML, or GitHub
    /// annotations
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT)]
    pub(crate) format: Option<Format>,
    /// Maximum number of findings to show, or `all`; the rest are counted [default: depends on the
    /// format]
    #[arg(long, value_name = "N", value_parser = max_findings, help_heading = OUTPUT)]
    pub(crate) max_findings: Option<MaxFindings>,
    /// Lowest severity that sets exit code 1 [default: error]
    #[arg(long, value_name = "SEVERITY", value_parser = fail_on(), help_heading = OUTPUT)]
    pub(crate) fail_on: Option<FailOn>,
    /// Hide the findings listed in this file, and report those that no longer occur
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) baseline: Option<PathBuf>,
    /// Ignore the baseline in plumb.toml
    #[arg(long, conflicts_with = "baseline", help_heading = OUTPUT)]
    pub(crate) no_baseline: bool,
    /// Write all findings to this baseline file, and exit with 0
    #[arg(long, value_name = "FILE", conflicts_with_all = ["baseline", "no_baseline"], help_heading = OUTPUT)]
    pub(crate) write_baseline: Option<PathBuf>,
    /// Also print the schemas and configuration in use, and the number of files
    #[arg(short, long, help_heading = OUTPUT)]
    pub(crate) verbose: bool,
    /// Print only findings and schema warnings: no summary, progress bar or notes
    #[arg(short, long, conflicts_with = "verbose", help_heading = OUTPUT)]
    pub(crate) quiet: bool,
    /// Number of worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
}

/// The settings that traffic is judged by.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct JudgingArgs {
    /// Protocol revision to check against; `auto` is the one that the peers agree on [default:
    /// auto]
    #[arg(long, value_name = "REVISION", value_parser = revision_choice(), help_heading = RULES)]
    pub(crate) revision: Option<RevisionChoice>,
    /// Profile to start from, built in or from plumb.toml [default: spec]
    #[arg(long, value_name = "NAME", value_parser = profile_name(), help_heading = RULES)]
    pub(crate) profile: Option<String>,
    /// Set a rule, a pattern such as `capability-*`, or `layer:NAME` to error, warn or off; may be
    /// repeated
    #[arg(long = "rule", value_name = "RULE=LEVEL", value_parser = rule_setting, help_heading = RULES)]
    pub(crate) rules: Vec<(Selector, Setting)>,
    /// Use a schema in the official format from a file or URL instead of the embedded one; may be
    /// repeated
    #[arg(long = "schema", value_name = "[REVISION=]PATH|URL", help_heading = RULES)]
    pub(crate) schemas: Vec<String>,
    /// Fail if a schema given with --schema cannot be used, instead of falling back to the embedded
    /// one
    #[arg(long, help_heading = RULES)]
    pub(crate) schema_required: bool,
    /// Configuration file [default: plumb.toml in this directory or the nearest parent]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Ignore plumb.toml
    #[arg(long, conflicts_with = "config")]
    pub(crate) no_config: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SchemaArgs {
    /// A definition such as `Tool` or a method such as `tools/call` [default: list all of them]
    #[arg(value_name = "DEFINITION|METHOD")]
    pub(crate) name: Option<String>,
    /// Protocol revision
    #[arg(long, value_name = "REVISION", value_parser = revision(), default_value = Revision::LATEST.as_str())]
    pub(crate) revision: Revision,
    /// Output format; json includes every definition that is referred to
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: SchemaFormat,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RulesArgs {
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: RulesFormat,
    /// Show only rules that apply to this revision
    #[arg(long, value_name = "REVISION", value_parser = revision())]
    pub(crate) revision: Option<Revision>,
    /// Show only rules in this layer
    #[arg(long, value_name = "LAYER", value_parser = layer())]
    pub(crate) layer: Option<Layer>,
    /// Show only rules that this profile includes, at its levels
    #[arg(long, value_name = "NAME", value_parser = profile_name())]
    pub(crate) profile: Option<String>,
    /// Configuration file to take profiles from [default: plumb.toml in this directory or the
    /// nearest parent]
    #[arg(long, value_name = "FILE", requires = "profile")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExplainArgs {
    /// Rule names, or findings as printed by `plumb check --format json`; `-` for standard input
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
