//! What is started, and how it finds the server.

use std::{
    ffi::{OsStr, OsString},
    fmt,
};

use crate::Launch;

/// Has the command of the scripted server, for a shell.
const SERVER_VARIABLE: &str = "PLUMB_SERVER";
/// Has the URL of the scripted server.
const URL_VARIABLE: &str = "PLUMB_URL";
const SERVER: &str = "{server}";
const URL: &str = "{url}";

/// The client under test.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "built by the command line, member by member")]
pub struct ClientUnderTest {
    /// How it is started, with placeholders.
    pub launch: Launch,
    /// How it meets the server.
    pub meeting: Meeting,
    /// The command of a server that calls [`relay`](super::relay) with the two words after it.
    pub server: Vec<OsString>,
}

/// How a client meets the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "these are the ways there are")]
pub enum Meeting {
    /// It starts a command, or connects to a URL: whichever it was given, or takes from the
    /// environment.
    Either,
    /// It speaks over its own standard streams.
    Streams,
}

impl ClientUnderTest {
    /// The launch with the way to a server put in: in the place of `{server}` and `{url}`, and in
    /// variables.
    pub(crate) fn led_to(&self, command: &[OsString], url: &str) -> Launch {
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

    /// Whether an argument says how to reach the server.
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

/// A word as a shell reads it.
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
            meeting: Meeting::Either,
            server: Vec::new(),
        };
        assert!(client.has_placeholder());
        let launch = client.led_to(&["a b".into(), "c".into()], "http://h");
        let expected = ["a b", "c", "--server='a b' c", "http://h/x", "{other}"];
        assert_eq!(launch.arguments, expected.map(OsString::from));
        assert!(launch.environment.contains(&("PLUMB_URL".into(), "http://h".into())));
        assert!(launch.environment.contains(&("PLUMB_SERVER".into(), "'a b' c".into())));
    }
}
