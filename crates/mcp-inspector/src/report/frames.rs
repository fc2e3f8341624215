//! The frames of a report, each with its findings and text.

use std::collections::BTreeSet;

use mcp_core::Side;
use mcp_recording::date_time;
use mcp_rules::Finding;

use super::{markup::Markup, problems::link};
use crate::{
    Frame, Kind, Log, Row,
    service::{text_of, with_line},
};

/// Maximum number of frames on the page.
const MOST_FRAMES: usize = 20_000;
/// Longer texts are truncated.
const LONGEST: usize = 32 << 10;
/// Page size in bytes beyond which no more texts are added.
const LARGEST: usize = 64 << 20;
/// Maximum number of marks in a text.
const MOST_MARKS: usize = 200;

/// The frames in the report: those with findings, and the newest.
#[derive(Debug)]
pub(super) struct Chosen(BTreeSet<u64>);

impl Chosen {
    pub(super) fn of(log: &Log) -> Chosen {
        let mut found = BTreeSet::new();
        let mut all = Vec::new();
        log.visit(|frame| {
            all.push(frame.row.number);
            if frame.row.findings > 0 || frame.row.referred.is_some() {
                found.insert(frame.row.number);
            }
        });
        while found.len() > MOST_FRAMES {
            found.pop_first();
        }
        for number in all.into_iter().rev() {
            if found.len() >= MOST_FRAMES {
                break;
            }
            found.insert(number);
        }
        Chosen(found)
    }

    pub(super) fn count(&self) -> u64 {
        self.0.len() as u64
    }

    pub(super) fn has(&self, number: u64) -> bool {
        self.0.contains(&number)
    }

    pub(super) fn write(&self, page: &mut Markup, log: &Log, before: u64) {
        for number in &self.0 {
            if let Some(frame) = log.frame(*number, Frame::clone) {
                write(page, &frame, before);
            }
        }
    }
}

fn write(page: &mut Markup, frame: &Frame, before: u64) {
    let Frame { row, line, findings, .. } = frame;
    page.raw("<details class=\"frame\"");
    if let Some(worst) = row.worst {
        page.raw(&format!(" data-worst=\"{worst}\""));
    }
    page.raw("><summary>");
    write_row(page, row, before);
    page.raw(&format!("</summary><div class=\"inside\" id=\"frame-{}\">\n", row.number + before));
    if let Some(pair) = row.pair {
        page.raw(if row.kind == Kind::Request { "<p>answered by " } else { "<p>answers " });
        link(page, pair + before, "#");
        page.raw("</p>");
    }
    for finding in findings {
        write_finding(page, finding, before);
    }
    if page.len() > LARGEST {
        page.raw("<p class=\"quiet\">Text omitted: the report is too large.</p>");
    } else {
        with_line(line, |line| write_text(page, text_of(line), findings));
    }
    page.raw("</div></details>\n");
}

/// Writes the row of a frame.
fn write_row(page: &mut Markup, row: &Row, before: u64) {
    let arrow = match row.from {
        Some(Side::Client) => "client →",
        Some(Side::Server) => "← server",
        None => "",
    };
    page.element("b", &format!("#{}", row.number + before));
    page.element("span class=\"time\"", &row.at.map(date_time).unwrap_or_default());
    page.element("span class=\"from\"", arrow);
    page.element("span class=\"name\"", &name(row));
    let id = row.id.as_ref().map(|id| format!("id {id}")).unwrap_or_default();
    page.element("span class=\"id\"", &id);
    let took = row.took.map(|took| format!("{took} ms")).unwrap_or_default();
    page.element("span class=\"took\"", &took);
    page.element("span class=\"size\"", &format!("{} B", row.bytes));
    match row.worst {
        Some(worst) => {
            let words =
                format!("{} {worst}{}", row.findings, if row.findings > 1 { "s" } else { "" });
            page.element(&format!("span class=\"verdict {worst}\""), &words);
        }
        None => page.element("span class=\"verdict\"", ""),
    }
}

/// The name of a row.
fn name(row: &Row) -> String {
    let method = row.method.as_deref().unwrap_or_default();
    let target = row.target.as_deref().unwrap_or_default();
    let of = format!("{method} {target}");
    let of = of.trim();
    match row.kind {
        Kind::Request | Kind::Notification => of.to_owned(),
        Kind::Result => format!("result {of}"),
        Kind::Error => format!("error {of}"),
        Kind::Malformed => format!("malformed {of}"),
        Kind::Batch => format!("batch of {}", row.entries.unwrap_or_default()),
        Kind::Text => "not JSON".to_owned(),
        Kind::HttpRequest => row.http.clone().unwrap_or_else(|| "HTTP request".to_owned()),
        Kind::HttpResponse => format!("HTTP {}", row.status.unwrap_or_default()),
        Kind::Event => "event without a message".to_owned(),
        Kind::End => "end of the stream".to_owned(),
        Kind::Stderr => "standard error".to_owned(),
        Kind::Exit => format!("the process {}", row.preview),
        Kind::TooLong => "too long to be kept".to_owned(),
        Kind::Gap => "some frames are missing here".to_owned(),
    }
}

fn write_finding(page: &mut Markup, finding: &Finding, before: u64) {
    let severity = finding.severity.as_str();
    page.raw(&format!("<div class=\"finding {severity}\"><p>"));
    page.element(&format!("strong class=\"{severity}\""), severity);
    page.raw(&format!(" <a href=\"#rule-{}\">", finding.rule.name));
    page.text(finding.rule.name);
    page.raw("</a>");
    if let Some(side) = finding.at_fault {
        page.text(&format!(" by the {}", side.as_str()));
    }
    page.raw("</p>");
    page.raw("<p>");
    page.prose(&finding.message);
    page.raw("</p>");
    if let Some(help) = &finding.help {
        page.raw("<p>Help: ");
        page.prose(help);
        page.raw("</p>");
    }
    if let Some(related) = &finding.related {
        page.raw("<p>");
        page.text(&format!("{}: ", related.reason));
        link(page, related.line + before, "frame #");
        page.raw("</p>");
    }
    let place = finding.pointer.as_ref().map(|pointer| format!("at {pointer}"));
    let span = finding.span.map(|span| format!("bytes {}–{}", span.start, span.end));
    let place: Vec<String> = place.into_iter().chain(span).collect();
    if !place.is_empty() {
        page.element("p class=\"quiet\"", &format!("plumb says: {}", place.join(", ")));
    }
    page.raw("</div>\n");
}

/// The text on the wire, with the places of findings marked.
fn write_text(page: &mut Markup, text: &[u8], findings: &[Finding]) {
    if text.is_empty() {
        return;
    }
    let shown = &text[..text.len().min(LONGEST)];
    let mut spans: Vec<(usize, usize)> = findings
        .iter()
        .filter_map(|finding| finding.span)
        .map(|span| (span.start, span.end))
        .collect();
    spans.sort_unstable_by_key(|(start, end)| (*start, std::cmp::Reverse(*end)));
    spans.truncate(MOST_MARKS);
    page.raw("<pre>");
    let mut at = 0;
    for (start, end) in spans {
        let (start, end) = (start.min(shown.len()), end.min(shown.len()));
        // Skip a span inside one that is already marked, or beyond the part shown.
        if start < at || start >= end {
            continue;
        }
        page.text(&String::from_utf8_lossy(&shown[at..start]));
        page.element("mark", &String::from_utf8_lossy(&shown[start..end]));
        at = end;
    }
    page.text(&String::from_utf8_lossy(&shown[at..]));
    page.raw("</pre>");
    if shown.len() < text.len() {
        let words = format!("The first {} of {} bytes.", shown.len(), text.len());
        page.element("p class=\"quiet\"", &words);
    }
}
