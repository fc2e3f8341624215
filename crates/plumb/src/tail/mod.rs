//! Shows the messages of a recording as it is written.

mod growing;

use std::io::{self, Write};

use mcp_recording::{LineHandler, TailLine};
use mcp_rules::{Finding, Followed};

pub(crate) use self::growing::{Growing, Growth};
use crate::live::{LiveEntry, LiveView};

/// Prints a line for each message, followed by its findings.
#[derive(Debug)]
pub(crate) struct Printed<W> {
    pub(crate) view: LiveView,
    pub(crate) out: W,
}

impl<W: Write> LineHandler for Printed<W> {
    fn line(&mut self, number: u64, shown: TailLine<'_>) -> io::Result<()> {
        let TailLine { line, followed, findings, .. } = shown;
        let passing = match line {
            None => LiveEntry { name: "too long".to_owned(), ..LiveEntry::default() },
            Some(line) if line.text().trim_ascii().is_empty() && findings.is_empty() => {
                return Ok(());
            }
            Some(line) => LiveEntry::of(line, followed.and_then(answered_method)),
        };
        self.out.write_all(self.view.show(&passing, number, &findings).as_bytes())?;
        self.out.flush()
    }

    fn end(&mut self, findings: Vec<Finding>) -> io::Result<()> {
        for finding in &findings {
            self.out.write_all(self.view.finding(0, finding).as_bytes())?;
        }
        self.out.flush()
    }
}

fn answered_method(followed: &Followed) -> Option<&'static str> {
    let Followed::One(context) = followed else { return None };
    Some(context.answers.as_ref()?.method?.name)
}
