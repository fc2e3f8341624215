//! One failure: what is wrong and where, the exchange, and how to reproduce it.

use std::fmt::Write as _;

use mcp_probe::{Failure, ProbeResult};
use mcp_rules::Severity;

use super::{super::exchange, Escaped, Tested};
use crate::{
    render::specification_url,
    text::{counted, without_middle},
};

/// Bytes of a message to show around a fault.
const AROUND: usize = 300;
/// Maximum columns of any other message.
const MESSAGE: usize = 2_000;
/// Maximum columns of the faulty part.
const FAULT: usize = 1_200;

/// A failure to show.
pub(super) struct Shown<'t> {
    pub(super) server: &'t Tested,
    pub(super) result: &'t ProbeResult,
    pub(super) failure: &'t Failure,
}

impl Shown<'_> {
    /// Writes it; `places` are the probes that found it, the first of which is shown.
    pub(super) fn write(&self, page: &mut String, places: &[String]) {
        let finding = &self.failure.finding;
        let class = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let _ = writeln!(
            page,
            "<article class=\"{class}\">\n<h3><span class=\"badge\">{}</span> <code>{}</code></h3>\n<p class=\"message\">{}</p>",
            finding.severity.as_str(),
            finding.rule.name,
            Escaped(&finding.message)
        );
        let _ =
            writeln!(page, "<p class=\"dim\">found by <code>{}</code></p>", Escaped(&places[0]));
        if places.len() > 1 {
            let _ = writeln!(
                page,
                "<details><summary>and by {}</summary><p class=\"dim\">{}</p></details>",
                counted(places.len() as u64 - 1, "other check"),
                Escaped(&places[1..].join(", "))
            );
        }
        self.bytes(page);
        if let Some(help) = &finding.help {
            let _ = writeln!(page, "<h4>Expected</h4>\n<p>{}</p>", Escaped(help));
        }
        if let Some(url) = specification_url(finding.rule, finding.revision) {
            let url = Escaped(&url);
            let _ =
                writeln!(page, "<p class=\"dim\">specification: <a href=\"{url}\">{url}</a></p>");
        }
        self.exchange(page);
        if let Some(stderr) = &self.failure.stderr {
            let said: Vec<&str> = stderr.trim_end().lines().rev().take(20).collect();
            let said: Vec<&str> = said.into_iter().rev().collect();
            let said = Escaped(&said.join("\n")).to_string();
            let _ = writeln!(page, "<h4>Standard error</h4>\n<pre>{said}</pre>");
        }
        self.repeat(page);
        page.push_str("</article>\n");
    }

    /// The message that is at fault, with the place marked.
    fn bytes(&self, page: &mut String) {
        let finding = &self.failure.finding;
        let Some(said) = finding.line.and_then(|line| exchange::said(self.failure, line)) else {
            return;
        };
        let from = said.from;
        let Some(span) = finding.span else { return };
        let text = said.text.as_bytes();
        let end = span.end.min(text.len());
        let start = span.start.min(end);
        let (first, last) = (start.saturating_sub(AROUND), (end + AROUND).min(text.len()));
        let shown = |range: std::ops::Range<usize>| {
            String::from_utf8_lossy(text.get(range).unwrap_or_default()).into_owned()
        };
        let at = finding.pointer.as_deref().filter(|pointer| !pointer.is_empty());
        let at = at.map(|pointer| format!(" at <code>{}</code>", Escaped(pointer)));
        let _ = writeln!(
            page,
            "<h4>In the message of the {from}{}</h4>\n<pre class=\"bytes\">{}{}<mark>{}</mark>{}{}</pre>",
            at.unwrap_or_default(),
            if first > 0 { "…" } else { "" },
            Escaped(&shown(first..start)),
            Escaped(&without_middle(&shown(start..end), FAULT)),
            Escaped(&shown(end..last)),
            if last < text.len() { "…" } else { "" },
        );
    }

    fn exchange(&self, page: &mut String) {
        let exchange = exchange::of(self.failure, self.result.phase);
        if exchange.is_empty() {
            return;
        }
        page.push_str("<h4>Exchange</h4>\n<ol class=\"exchange\">\n");
        for said in &exchange {
            let text = without_middle(&said.text, MESSAGE);
            let is_it = Some(said.line) == self.failure.finding.line;
            let _ = writeln!(
                page,
                "<li class=\"{}{}\"><span class=\"who\">{} {}</span><code>{}</code></li>",
                said.from,
                if is_it { " at-fault" } else { "" },
                said.arrow(),
                said.from,
                Escaped(&text)
            );
        }
        page.push_str("</ol>\n");
    }

    fn repeat(&self, page: &mut String) {
        let repeat = &self.server.repeat;
        let line = repeat.line(&self.result.name, self.result.revision);
        let _ = writeln!(page, "<h4>Reproduce</h4>\n<pre>{}</pre>", Escaped(&line));
        if let Some(snippet) = repeat.snippet(self.failure, self.result.phase) {
            let _ = writeln!(
                page,
                "<details><summary>without plumb</summary><pre>{}</pre></details>",
                Escaped(&snippet)
            );
        }
        let rule = self.failure.finding.rule.name;
        let _ = writeln!(
            page,
            "<p class=\"dim\"><code>plumb explain {rule}</code> explains the rule.</p>"
        );
    }
}
