//! Reports of differences, human-readable and as JSON.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use mcp_core::Side;
use serde_json::{Value, json};

use super::{
    Difference, Place as At,
    compare::{Change, Place},
    rewrites::Rewritten,
};
use crate::{
    style::Palette,
    text::{Layout, counted, grouped, visible, without_middle, write_json},
};

/// Maximum columns of a value.
const VALUE: usize = 48;

/// Receives differences one by one.
pub(crate) trait DiffReport {
    /// Reports a difference.
    fn difference(&mut self, difference: &Difference) -> io::Result<()>;
    /// Ends the report.
    fn finish(&mut self, totals: &Totals) -> io::Result<()>;
}

/// How many differences there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    messages: (usize, usize),
    too_long: u64,
    lost: u64,
    added: u64,
    changed: u64,
    moved: u64,
    rewritten: u64,
}

impl Totals {
    pub(super) fn new(left: usize, right: usize, too_long: u64) -> Totals {
        Totals { messages: (left, right), too_long, ..Totals::default() }
    }

    pub(super) fn count(&mut self, difference: &Difference) {
        *match difference {
            Difference::Lost(_) => &mut self.lost,
            Difference::Added(_) => &mut self.added,
            Difference::Moved(..) => &mut self.moved,
            Difference::Changed(..) => &mut self.changed,
            Difference::Rewritten(..) => &mut self.rewritten,
        } += 1;
    }

    /// Whether nothing differs.
    pub(crate) fn are_same(&self) -> bool {
        self.lost + self.added + self.changed + self.moved + self.rewritten == 0
    }

    /// The totals in one sentence.
    pub(crate) fn sentence(&self) -> String {
        let (left, right) = self.messages;
        let kinds = [
            (self.lost, "lost"),
            (self.added, "added"),
            (self.changed, "changed"),
            (self.moved, "moved"),
        ];
        let mut parts: Vec<String> = kinds
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{} {word}", grouped(count)))
            .collect();
        if self.rewritten > 0 {
            parts.push("ids rewritten".to_owned());
        }
        let what = if parts.is_empty() { "no difference".to_owned() } else { parts.join(", ") };
        let of = format!("in {} and {} messages", grouped(left as u64), grouped(right as u64));
        let mut sentence = format!("{what} {of}");
        if self.too_long > 0 {
            let lines = counted(self.too_long, "line");
            let _ = write!(sentence, "; {lines} too long to be compared");
        }
        sentence
    }
}

/// The human-readable report.
pub(crate) struct HumanDiff<W> {
    pub(crate) out: W,
    pub(crate) palette: Palette,
    /// The file names as the user gave them.
    pub(crate) names: (String, String),
}

impl<W: Write> DiffReport for HumanDiff<W> {
    fn difference(&mut self, difference: &Difference) -> io::Result<()> {
        let Palette { error, warning, good, .. } = self.palette;
        let (left, right) = &self.names;
        let text = match difference {
            Difference::Lost(at) => self.line(error, "lost", at, &[(left, at.line)]),
            Difference::Added(at) => self.line(good, "added", at, &[(right, at.line)]),
            Difference::Moved(at, to) => {
                self.line(warning, "moved", at, &[(left, at.line), (right, to.line)])
            }
            Difference::Changed(at, to, changes) => {
                let places = [(left, at.line), (right, to.line)];
                let mut text = self.line(warning, "changed", at, &places);
                for change in &changes.list {
                    let _ = writeln!(text, "         {}", self.change(change));
                }
                if changes.has_more {
                    text.push_str("         and more\n");
                }
                text
            }
            Difference::Rewritten(what, side, replacements) => {
                let noun = match what {
                    Rewritten::Ids => "id",
                    Rewritten::ProgressTokens => "progress token",
                };
                let shown: Vec<String> = (replacements.examples.iter())
                    .map(|(old, new)| format!("{} → {}", value(old), value(new)))
                    .collect();
                let more = if replacements.count() > shown.len() { ", …" } else { "" };
                let whose = side.map_or(String::new(), |side| format!(" of the {side}"));
                let count = counted(replacements.count() as u64, noun);
                let shown = shown.join(", ");
                format!(
                    "{warning}{:<8}{warning:#} {count}{whose}, consistently: {shown}{more}\n",
                    "rewrote"
                )
            }
        };
        self.out.write_all(text.as_bytes())
    }

    fn finish(&mut self, totals: &Totals) -> io::Result<()> {
        let space = if totals.are_same() { "" } else { "\n" };
        writeln!(self.out, "{space}{}", totals.sentence())?;
        self.out.flush()
    }
}

impl<W> HumanDiff<W> {
    fn line(
        &self,
        style: anstyle::Style,
        word: &str,
        at: &At,
        places: &[(&String, u64)],
    ) -> String {
        let Palette { bold, dim, .. } = self.palette;
        let arrow = match at.from {
            Some(Side::Client) => "→ ",
            Some(Side::Server) => "← ",
            None => "",
        };
        let title = visible(&at.title);
        let places: Vec<String> =
            places.iter().map(|(name, line)| format!("{}:{line}", visible(name))).collect();
        let places = places.join(", ");
        format!("{style}{word:<8}{style:#} {arrow}{bold}{title}{bold:#} {dim}({places}){dim:#}\n")
    }

    fn change(&self, change: &Change) -> String {
        let Palette { accent, .. } = self.palette;
        let place = match &change.place {
            Place::Pointer(pointer) if pointer.is_empty() => "the message".to_owned(),
            Place::Pointer(pointer) => visible(pointer).into_owned(),
            Place::Header(name) => format!("header {}", visible(name)),
            Place::Status => "status".to_owned(),
            Place::Text => "text".to_owned(),
        };
        let place = format!("{accent}{place}{accent:#}");
        match (&change.left, &change.right) {
            (Some(left), Some(right)) => format!("{place}: {} → {}", value(left), value(right)),
            (Some(left), None) => format!("{place}: {} is gone", value(left)),
            (None, Some(right)) => format!("{place}: {} is new", value(right)),
            (None, None) => place,
        }
    }
}

fn value(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw);
    let text = visible(&text);
    without_middle(&text, VALUE).into_owned()
}

/// One JSON object per difference.
pub(crate) struct JsonDiff<W> {
    pub(crate) out: W,
}

impl<W: Write> DiffReport for JsonDiff<W> {
    fn difference(&mut self, difference: &Difference) -> io::Result<()> {
        let value = match difference {
            Difference::Lost(at) => described("lost", Some(at), None),
            Difference::Added(at) => described("added", None, Some(at)),
            Difference::Moved(at, to) => described("moved", Some(at), Some(to)),
            Difference::Changed(at, to, changes) => {
                let mut value = described("changed", Some(at), Some(to));
                value["changes"] = changes.list.iter().map(json_change).collect();
                value["more"] = changes.has_more.into();
                value
            }
            Difference::Rewritten(what, side, replacements) => {
                let what = match what {
                    Rewritten::Ids => "ids",
                    Rewritten::ProgressTokens => "progressTokens",
                };
                let examples: Vec<Value> = (replacements.examples.iter())
                    .map(|(old, new)| json!([json_value(old), json_value(new)]))
                    .collect();
                json!({
                    "kind": "rewritten",
                    "what": what,
                    "from": side.map(Side::as_str),
                    "count": replacements.count(),
                    "examples": examples,
                })
            }
        };
        write_json(&mut self.out, &value, Layout::OneLine)?;
        self.out.write_all(b"\n")
    }

    fn finish(&mut self, _: &Totals) -> io::Result<()> {
        self.out.flush()
    }
}

fn described(kind: &str, left: Option<&At>, right: Option<&At>) -> Value {
    let at = left.or(right);
    json!({
        "kind": kind,
        "from": at.and_then(|at| at.from).map(Side::as_str),
        "message": at.map(|at| &at.title),
        "a": left.map(|at| at.line),
        "b": right.map(|at| at.line),
    })
}

fn json_change(change: &Change) -> Value {
    let is_json = matches!(change.place, Place::Pointer(_));
    let show = |raw: &Option<Vec<u8>>| match raw {
        Some(raw) if is_json => json_value(raw),
        Some(raw) => String::from_utf8_lossy(raw).into(),
        None => Value::Null,
    };
    let (name, place) = match &change.place {
        Place::Pointer(pointer) => ("pointer", pointer.as_str()),
        Place::Header(header) => ("header", header.as_str()),
        Place::Status => ("part", "status"),
        Place::Text => ("part", "text"),
    };
    let mut value = json!({ name: place });
    // Distinguish an absent value from null.
    if change.left.is_some() {
        value["a"] = show(&change.left);
    }
    if change.right.is_some() {
        value["b"] = show(&change.right);
    }
    value
}

/// The value, or its beginning as a string if it is long.
fn json_value(raw: &[u8]) -> Value {
    serde_json::from_slice(raw).unwrap_or_else(|_| String::from_utf8_lossy(raw).into())
}
