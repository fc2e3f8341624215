//! Recordings that are read from files.

use std::io;

use mcp_recording::{LineHandler, TailLine};
use mcp_rules::Finding;

use super::Log;

impl LineHandler for Log {
    fn line(&mut self, number: u64, shown: TailLine<'_>) -> io::Result<()> {
        match shown.line {
            Some(line) => {
                let messages = shown.followed.map(|followed| line.identities(followed));
                self.append(number, line, &messages.unwrap_or_default(), |_| {});
            }
            None => self.append_too_long(number),
        }
        self.add_findings(shown.findings);
        Ok(())
    }

    fn end(&mut self, findings: Vec<Finding>) -> io::Result<()> {
        self.add_findings(findings);
        Ok(())
    }
}
