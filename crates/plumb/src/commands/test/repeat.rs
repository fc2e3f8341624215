//! Commands that reproduce a failure.

use std::ffi::OsStr;

use mcp_core::Revision;
use mcp_probe::{Failure, Phase, Target};
use mcp_rules::{Setting, redact::names_secret};

use super::{curl, exchange};
use crate::{args::TestArgs, commands::server::ChosenServer};

/// Longer snippets are not shown.
const SNIPPET: usize = 6_000;

/// The command line of a test, to be repeated with one probe.
#[derive(Debug, Clone)]
pub(super) struct Repeat {
    options: Vec<String>,
    target: String,
    /// The shell command that starts the server; `None` for a URL.
    command: Option<String>,
    /// The names of headers whose values are left out.
    secrets: Vec<String>,
    is_of_client: bool,
}

impl Repeat {
    /// Collects the options that matter for a single probe. Secrets are left out.
    pub(super) fn new(args: &TestArgs, server: &ChosenServer) -> Repeat {
        let mut options = if args.client {
            vec!["--client".to_owned()]
        } else {
            vec![format!("--seed {}", args.seed)]
        };
        options.extend(args.stdio.then(|| "--stdio".to_owned()));
        let mut option =
            |name: &str, value: &str| options.push(format!("{name} {}", quoted(value)));
        for (name, value) in &args.server.options.environment {
            option("--env", &assignment(name, value));
        }
        for (name, _) in &args.server.options.headers {
            option("--header", &format!("{name}: …"));
        }
        if let Some(cwd) = &args.server.options.cwd {
            option("--cwd", &cwd.to_string_lossy());
        }
        args.tools.iter().for_each(|tool| option("--tool", tool));
        args.skipped_tools.iter().for_each(|tool| option("--skip-tool", tool));
        if let Some(timeout) = &args.timeout {
            option("--timeout", &timeout.as_secs_f64().to_string());
        }
        if let Some(profile) = &args.judging.profile {
            option("--profile", profile);
        }
        for (rules, setting) in &args.judging.rules {
            let level = match setting {
                Setting::Off => "off",
                Setting::On(severity) => severity.as_str(),
            };
            option("--rule", &format!("{}={level}", rules.text));
        }
        args.judging.schemas.iter().for_each(|schema| option("--schema", schema));
        if let Some(config) = &args.judging.config {
            option("--config", &config.to_string_lossy());
        }
        match &args.locked {
            Some(Some(path)) => {
                options.push(format!("--locked={}", quoted(&path.to_string_lossy())));
            }
            Some(None) => options.push("--locked".to_owned()),
            None => {}
        }
        let flags = [
            ("--allow-destructive", args.allow_destructive),
            ("--allow-writes", args.allow_writes && !args.allow_destructive),
            ("--no-config", args.judging.no_config),
        ];
        options.extend(flags.iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| (*flag).into()));
        let command = match &server.target {
            Target::Command(launch) => {
                let words = std::iter::once(&launch.program).chain(&launch.arguments);
                let words: Vec<String> =
                    words.map(|word| quoted(&word.to_string_lossy())).collect();
                Some(words.join(" "))
            }
            _ => None,
        };
        let target = match (&server.name, &command) {
            (Some(name), _) => quoted(name),
            (None, Some(command)) => format!("-- {command}"),
            (None, None) => quoted(&server.target.to_string()),
        };
        let secrets = match &server.target {
            Target::Http { headers, .. } => headers.keys().map(ToString::to_string).collect(),
            _ => Vec::new(),
        };
        Repeat { options, target, command, secrets, is_of_client: args.client }
    }

    /// Whether this is a test of a client.
    pub(super) fn is_of_client(&self) -> bool {
        self.is_of_client
    }

    /// The server as the user gave it.
    pub(super) fn target(&self) -> &str {
        &self.target
    }

    /// The command that runs this probe alone.
    pub(super) fn line(&self, probe: &str, revision: Revision) -> String {
        let options = self.options.join(" ");
        format!(
            "plumb test --only {} --revision {revision} {options} {}",
            quoted(probe),
            self.target
        )
    }

    /// A command that does not need plumb, if it is short enough: the client's lines piped into the
    /// server, or its requests as curl commands.
    pub(super) fn snippet(&self, failure: &Failure, phase: Phase) -> Option<String> {
        // A client cannot be driven by a pipe.
        if self.is_of_client {
            return None;
        }
        let is_short = |snippet: &String| snippet.len() <= SNIPPET;
        let Some(command) = &self.command else {
            return curl::snippet(failure, phase, &self.secrets).filter(is_short);
        };
        let piped = |lines: Vec<String>| {
            let lines: Vec<String> = lines.iter().map(|line| quoted(line)).collect();
            let lines = (!lines.is_empty()).then(|| lines.join(" "))?;
            Some(format!("printf '%s\\n' {lines} | {command}")).filter(is_short)
        };
        exchange::of_client(failure).and_then(piped).or_else(|| {
            // A walk needs every step.
            let call = (phase != Phase::Stateful).then(|| exchange::opening_and_call(failure));
            call.and_then(piped)
        })
    }
}

fn assignment(name: &OsStr, value: &OsStr) -> String {
    let name = name.to_string_lossy();
    let value = if names_secret(&name) { "…".into() } else { value.to_string_lossy() };
    format!("{name}={value}")
}

/// Quotes a word for a shell.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_split_them() {
        assert_eq!(quoted("a-b/c.js"), "a-b/c.js");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
