use std::io::{self, Write};

use mcp_rules::Finding;
use serde::Serialize;

use crate::{
    report::{Located, Renderer, Summary},
    text::{Layout, write_json},
};

/// One finding per line, and nothing else.
pub(super) struct Json<W> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> Json<W> {
    pub(super) fn new(out: W) -> Json<W> {
        Json { out, line: Vec::new() }
    }
}

#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    #[serde(flatten)]
    finding: &'a Finding,
}

impl<W: Write> Renderer for Json<W> {
    fn wants_excerpts(&self) -> bool {
        false
    }

    fn wants_exact_text(&self) -> bool {
        true
    }

    fn finding(&mut self, located: &Located) -> io::Result<()> {
        let line = Line { file: &located.file, finding: &located.finding };
        self.line.clear();
        write_json(&mut self.line, &line, Layout::OneLine)?;
        self.line.push(b'\n');
        self.out.write_all(&self.line)
    }

    fn finish(&mut self, _summary: &Summary) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing;

    #[test]
    fn findings_are_lines_of_json() {
        let text = testing::rendered(Json::new);
        for line in text.lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(value["file"].is_string() && value["rule"].is_string(), "{line}");
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn no_findings_are_no_output() {
        assert_eq!(testing::rendered_empty(Json::new), "");
    }
}
