//! How to repeat a failure.

use std::ffi::OsStr;

use mcp_core::Revision;

use crate::args::TestArgs;

/// The command line of a test, to be repeated with one probe.
#[derive(Debug, Clone)]
pub(super) struct Repeat {
    options: Vec<String>,
    target: String,
    /// The server as a shell would start it; `None` at a URL.
    command: Option<String>,
    url: Option<String>,
    is_of_client: bool,
}

impl Repeat {
    pub(super) fn new(args: &TestArgs) -> Repeat {
        let mut options = if args.client {
            vec!["--client".to_owned()]
        } else {
            vec![format!("--seed {}", args.seed)]
        };
        options.extend(args.stdio.then(|| "--stdio".to_owned()));
        for (name, value) in &args.environment {
            options.push(format!("--env {}", quoted_os(name, value)));
        }
        options
            .extend(args.cwd.iter().map(|cwd| format!("--cwd {}", quoted(&cwd.to_string_lossy()))));
        if args.allow_destructive {
            options.push("--allow-destructive".to_owned());
        } else if args.allow_writes {
            options.push("--allow-writes".to_owned());
        }
        options.extend(args.tools.iter().map(|tool| format!("--tool {}", quoted(tool))));
        let words: Vec<String> =
            args.command.iter().map(|word| quoted(&word.to_string_lossy())).collect();
        let command = (!words.is_empty()).then(|| words.join(" "));
        let target = match (&command, &args.url) {
            (Some(command), _) => format!("-- {command}"),
            (None, Some(url)) => quoted(url),
            (None, None) => String::new(),
        };
        // A client takes no lines.
        let command = command.filter(|_| !args.client);
        Repeat { options, target, command, url: args.url.clone(), is_of_client: args.client }
    }

    /// Whether a client is tested.
    pub(super) fn is_of_client(&self) -> bool {
        self.is_of_client
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

    /// The same without plumb: the client's lines sent to the server, as far as they are short.
    pub(super) fn snippet(&self, lines: &[String]) -> Option<String> {
        let shown: usize = lines.iter().map(String::len).sum();
        if lines.is_empty() || shown > 2_000 {
            return None;
        }
        if let Some(command) = &self.command {
            let lines: Vec<String> = lines.iter().map(|line| quoted(line)).collect();
            return Some(format!("printf '%s\\n' {} | {command}", lines.join(" ")));
        }
        let url = self.url.as_deref().filter(|url| url.starts_with("http"))?;
        let body = quoted(lines.last()?);
        Some(format!(
            "curl -i {} -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -d {body}",
            quoted(url)
        ))
    }
}

fn quoted_os(name: &OsStr, value: &OsStr) -> String {
    quoted(&format!("{}={}", name.to_string_lossy(), value.to_string_lossy()))
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
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
