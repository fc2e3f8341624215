use std::{
    fmt::Write as _,
    io::{self, Write},
};

use crate::{
    render::tally,
    report::{Located, Renderer, Summary},
    text::visible,
};

/// Workflow commands that GitHub turns into annotations.
pub(super) struct Github<W>(W);

impl<W: Write> Github<W> {
    pub(super) fn new(out: W) -> Github<W> {
        Github(out)
    }
}

impl<W: Write> Renderer for Github<W> {
    fn wants_excerpts(&self) -> bool {
        false
    }

    fn finding(&mut self, located: &Located) -> io::Result<()> {
        let finding = &located.finding;
        let mut line = format!("::{} file={}", finding.severity.as_str(), property(&located.file));
        if let Some(number) = finding.line {
            let _ = write!(line, ",line={number}");
        }
        let _ = write!(line, ",title={}", finding.rule.name);
        if let Some(side) = finding.at_fault {
            let _ = write!(line, " by the {side}");
        }
        let _ = write!(line, "::{}", data(&finding.message));
        if let Some(pointer) = finding.pointer.as_ref().filter(|pointer| !pointer.is_empty()) {
            let _ = write!(line, " (at {})", data(pointer));
        }
        if let Some(related) = &finding.related {
            let _ = write!(line, "%0Aline {}: {}", related.line, data(related.reason));
        }
        if let Some(help) = &finding.help {
            let _ = write!(line, "%0A{}", data(help));
        }
        line.push('\n');
        self.0.write_all(line.as_bytes())
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        writeln!(self.0, "{}", tally::sentence(summary))?;
        self.0.flush()
    }
}

/// The text after `::`, which ends with the line.
fn data(text: &str) -> String {
    let escaped = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    visible(&escaped).into_owned()
}

/// The value of a property, which also ends at `,` and `:`.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing;

    #[test]
    fn findings_are_workflow_commands() {
        insta::assert_snapshot!(testing::rendered(Github::new));
    }

    #[test]
    fn text_cannot_end_a_command_or_begin_another() {
        assert_eq!(property("a,b:c%\n"), "a%2Cb%3Ac%25%0A");
        assert_eq!(data("100%\r\n::error::x"), "100%25%0D%0A::error::x");
    }
}
