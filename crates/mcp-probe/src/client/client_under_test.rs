//! The client under test, and how it connects to the server.

use std::{
    ffi::{OsStr, OsString},
    fmt,
};

use crate::Launch;

/// Environment variable with the command of the scripted server, for a shell.
const SERVER_VARIABLE: &str = "PLUMB_SERVER";
/// Environment variable with the URL of the scripted server.
const URL_VARIABLE: &str = "PLUMB_URL";
const SERVER: &str = "{server}";
const URL: &str = "{url}";

/// The client under test.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "built by the command line, member by member")]
pub struct ClientUnderTest {
    /// How to start it, with placeholders.
    pub launch: Launch,
    /// How it connects to the server.
    pub connect_via: ConnectVia,
    /// The command of a program that calls [`relay`](super::relay) with the two arguments appended
    /// to it.
    pub server: Vec<OsString>,
}

/// How a client connects to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "these are the ways there are")]
pub enum ConnectVia {
    /// It starts a command or connects to a URL, given in its arguments or environment.
    CommandOrUrl,
    /// It communicates over its own standard streams.
    OwnStreams,
}

impl ClientUnderTest {
    /// Fills in the command and the URL of a server: in place of `{server}` and `{url}`, and as
    /// variables.
    pub(crate) fn launch_for(&self, command: &[OsString], url: &str) -> Launch {
        let line = command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let mut launch = self.launch.clone();
        launch.arguments.clear();
        for argument in &self.launch.arguments {
            if argument == SERVER {
                launch.arguments.extend(command.iter().cloned());
                continue;
            }
            launch.arguments.push(match argument.to_str() {
                Some(text) => text.replace(SERVER, &line).replace(URL, url).into(),
                None => argument.clone(),
            });
        }
        launch.environment.push((SERVER_VARIABLE.into(), line.into()));
        launch.environment.push((URL_VARIABLE.into(), url.into()));
        launch
    }

    /// Whether an argument has a placeholder for the server.
    pub fn has_placeholder(&self) -> bool {
        let has = |argument: &OsString| {
            argument.to_str().is_some_and(|text| text.contains(SERVER) || text.contains(URL))
        };
        self.launch.arguments.iter().any(has)
    }
}

impl fmt::Display for ClientUnderTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.launch.program.to_string_lossy())?;
        self.launch
            .arguments
            .iter()
            .try_for_each(|argument| write!(f, " {}", argument.to_string_lossy()))
    }
}

/// Quotes a word for a shell.
fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_become_words_or_a_line() {
        let client = ClientUnderTest {
            launch: Launch {
                program: "client".into(),
                arguments: ["{server}", "--server={server}", "{url}/x", "{other}"]
                    .map(Into::into)
                    .to_vec(),
                ..Launch::default()
            },
            connect_via: ConnectVia::CommandOrUrl,
            server: Vec::new(),
        };
        assert!(client.has_placeholder());
        let launch = client.launch_for(&["a b".into(), "c".into()], "http://h");
        let expected = ["a b", "c", "--server='a b' c", "http://h/x", "{other}"];
        assert_eq!(launch.arguments, expected.map(OsString::from));
        assert!(launch.environment.contains(&("PLUMB_URL".into(), "http://h".into())));
        assert!(launch.environment.contains(&("PLUMB_SERVER".into(), "'a b' c".into())));
    }
}
