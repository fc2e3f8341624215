use mcp_core::{Revision, Side};
use mcp_json::{Node, Span};
use serde_json::{Map, Value};

use crate::{
    Enforcement, Finding, Layer, Related, RuleMeta, SchemaFault, Setting, Settings, Severity,
};

/// A list of findings, in the order found.
///
/// Knows the current message, so that a rule only states what is wrong and where; applies the
/// user's settings, so that rules need not know them; and is bounded, so that a hostile peer cannot
/// exhaust memory with faults.
#[derive(Debug)]
pub struct Findings<'s> {
    settings: &'s Settings,
    list: Vec<Finding>,
    /// How many of `list` are errors.
    errors: usize,
    capacity: usize,
    dropped: u64,
    /// Messages that must not pass a gate although no finding was reported.
    unjudged: Vec<Unjudged>,
    scene: Scene,
}

/// A message, or an entry of a batch, that could not be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unjudged {
    pub(crate) index: Option<usize>,
    pub(crate) rule: &'static RuleMeta,
    pub(crate) code: Option<i64>,
    pub(crate) message: String,
    /// Further members of the error's `data` that the code requires.
    pub(crate) facts: Option<Box<Value>>,
}

/// The message that is being judged.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scene {
    pub(crate) from: Option<Side>,
    pub(crate) revision: Option<Revision>,
    pub(crate) line: Option<u64>,
    pub(crate) index: Option<usize>,
    pub(crate) method: Option<&'static str>,
    /// Where the message starts in the parsed text; spans are reported relative to it.
    pub(crate) base: usize,
    /// The error code a receiver replies with, unless a rule sets its own.
    pub(crate) code: Option<i64>,
    /// Whether a declaration may explain names no revision defines.
    pub(crate) extensible: bool,
}

impl<'s> Findings<'s> {
    /// Creates an empty list that keeps at most `settings.limits.findings` errors and as many
    /// warnings.
    pub fn new(settings: &'s Settings) -> Findings<'s> {
        Findings {
            settings,
            list: Vec::new(),
            errors: 0,
            capacity: settings.limits.findings,
            dropped: 0,
            unjudged: Vec::new(),
            scene: Scene::default(),
        }
    }

    /// The findings so far.
    pub fn as_slice(&self) -> &[Finding] {
        &self.list
    }

    /// Takes the findings so far and leaves the list empty.
    pub fn take(&mut self) -> Vec<Finding> {
        self.errors = 0;
        std::mem::take(&mut self.list)
    }

    /// Returns how many findings were dropped because the list was full, since the last call.
    pub fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }

    /// Takes the unjudged messages without a finding: the rule is off, or the list was full.
    pub(crate) fn take_unjudged(&mut self) -> Vec<Unjudged> {
        std::mem::take(&mut self.unjudged)
    }

    /// The line of the file that the next findings belong to.
    pub fn set_line(&mut self, line: u64) {
        self.scene.line = Some(line);
    }

    pub(crate) fn settings(&self) -> &'s Settings {
        self.settings
    }

    /// The revision of the current message.
    pub(crate) fn revision(&self) -> Revision {
        self.scene.revision.unwrap_or(Revision::LATEST)
    }

    /// Whether a declaration may explain names in the message that no revision defines.
    pub(crate) fn extensible(&self) -> bool {
        self.scene.extensible
    }

    pub(crate) fn scene(&mut self) -> &mut Scene {
        &mut self.scene
    }

    /// Whether `rule` can be reported at all, so that costly checks can be skipped.
    pub(crate) fn wants(&self, rule: &'static RuleMeta) -> bool {
        self.severity(rule, self.scene.revision, None).is_some()
    }

    /// Adds `fault` unless its rule is off or does not apply to the revision.
    #[cold]
    pub(crate) fn report(&mut self, fault: Fault) {
        let revision = fault.revision.or(self.scene.revision);
        let enforcement = fault.rule.enforcement;
        let must_not_pass = fault.ambiguous || enforcement == Enforcement::Unjudged;
        let Some(severity) = self.severity(fault.rule, revision, fault.severity) else {
            if must_not_pass {
                self.keep_unjudged(fault);
            }
            return;
        };
        let may_block = severity == Severity::Error || enforcement == Enforcement::Contract;
        if fault.unjudged {
            if may_block {
                self.keep_unjudged(fault);
            }
            return;
        }
        // Separate limits, so that warnings do not crowd out errors.
        let alike = match severity {
            Severity::Error => self.errors,
            Severity::Warning => self.list.len() - self.errors,
        };
        if alike >= self.capacity {
            self.dropped += 1;
            if must_not_pass || may_block {
                self.keep_unjudged(fault);
            }
            return;
        }
        self.errors += usize::from(severity == Severity::Error);
        let Scene { from, line, index, method, base, code, .. } = self.scene;
        let shift = |span: Span| Span { start: span.start - base, end: span.end - base };
        let elsewhere = fault.line.is_some();
        self.list.push(Finding {
            revision,
            from: fault.from.or(from),
            at_fault: fault.blamed.or(fault.from).or(from),
            line: fault.line.or(line),
            index: index.filter(|_| !elsewhere),
            method,
            span: fault.span.filter(|_| !elsewhere).map(shift),
            pointer: points_into_json(fault.rule.layer).then(String::new),
            related: fault.related,
            code: fault.code.or(code.filter(|_| !elsewhere)),
            schema: fault.schema.map(cut_schema),
            help: fault.help.map(cut),
            ambiguous: fault.ambiguous,
            ..Finding::new(fault.rule, severity, cut(fault.message))
        });
    }

    /// Marks the message, or the entry of a batch, as not judged, whatever the level of the rule.
    pub(crate) fn leave_unjudged(&mut self, fault: Fault) {
        self.keep_unjudged(fault);
    }

    /// Keeps one for each entry, unless it may be left to the side behind a gate.
    fn keep_unjudged(&mut self, fault: Fault) {
        let Scene { index, code, .. } = self.scene;
        let is_contract = |rule: &RuleMeta| rule.enforcement == Enforcement::Contract;
        let says_enough = |last: &Unjudged| {
            last.index == index && (!is_contract(last.rule) || is_contract(fault.rule))
        };
        if !self.unjudged.last().is_some_and(says_enough) {
            let Fault { rule, message, facts, .. } = fault;
            let code = fault.code.or(code);
            self.unjudged.push(Unjudged { index, rule, code, message: cut(message), facts });
        }
    }

    /// The number of findings, to be passed to [`Findings::locate`] later.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Drops the findings from index `first` on that are about the current line, and its unjudged
    /// messages: a peer is not to blame for what someone else sent in its place.
    pub(crate) fn absolve(&mut self, first: usize) {
        let line = self.scene.line;
        let mut index = 0;
        self.list.retain(|finding| {
            index += 1;
            index <= first || finding.line != line
        });
        self.errors =
            self.list.iter().filter(|finding| finding.severity == Severity::Error).count();
        self.unjudged.clear();
    }

    /// Sets the JSON pointers of the findings from index `first` on, all about `message`.
    pub(crate) fn locate(&mut self, first: usize, message: Node<'_>) {
        let base = message.span().start;
        let found = &mut self.list[first..];
        let placed = || found.iter().enumerate().filter_map(|(index, f)| Some((index, f.span?)));
        let (indices, spans): (Vec<usize>, Vec<Span>) = placed()
            .map(|(index, Span { start, end })| {
                (index, Span { start: start + base, end: end + base })
            })
            .unzip();
        for (index, pointer) in indices.into_iter().zip(mcp_json::locate(message, &spans)) {
            found[index].pointer = pointer;
        }
    }

    fn severity(
        &self,
        rule: &'static RuleMeta,
        revision: Option<Revision>,
        case: Option<Severity>,
    ) -> Option<Severity> {
        if revision.is_some_and(|revision| !rule.applies.contains(revision)) {
            return None;
        }
        let revision = revision.unwrap_or(Revision::LATEST);
        match self.settings.rule(rule) {
            Some(Setting::On(severity)) => Some(severity),
            Some(Setting::Off) => None,
            None => case.or(rule.level.severity(revision)),
        }
    }
}

/// The maximum length of a finding's message, in bytes. Peers choose the names in it, and there may
/// be many findings about one name.
const LONGEST_TEXT: usize = 1024;
/// The same for paths.
const LONGEST_PATH: usize = 4096;

fn cut(text: String) -> String {
    cut_to(LONGEST_TEXT, text)
}

/// Truncates a text, and frees the rest of its memory.
fn cut_to(longest: usize, text: String) -> String {
    if text.len() <= longest {
        return text;
    }
    let end = (0..=longest).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", &text[..end])
}

fn cut_schema(fault: SchemaFault) -> SchemaFault {
    let SchemaFault { instance_path, schema_path, keyword, params } = fault;
    let is_small = matches!(&params, Value::Object(members)
        if members.values().map(value_size).sum::<usize>() <= LONGEST_PATH);
    SchemaFault {
        instance_path: cut_to(LONGEST_PATH, instance_path),
        schema_path: cut_to(LONGEST_PATH, schema_path),
        keyword: cut(keyword),
        params: if is_small { params } else { Value::Object(Map::new()) },
    }
}

/// The approximate size in bytes of a value in a violation's params: a scalar, or a list of them.
fn value_size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(value_size).sum(),
        Value::Object(_) => LONGEST_PATH,
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

/// Whether findings of a layer are about a JSON text, rather than about what carries it.
const fn points_into_json(layer: Layer) -> bool {
    matches!(layer, Layer::JsonRpc | Layer::Schema | Layer::Session | Layer::ToolSchema)
}

/// What a rule reports about a message; [`Findings`] adds the rest.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    rule: &'static RuleMeta,
    severity: Option<Severity>,
    /// The revision that is violated, if not the message's own.
    revision: Option<Revision>,
    span: Option<Span>,
    code: Option<i64>,
    schema: Option<SchemaFault>,
    message: String,
    help: Option<String>,
    related: Option<Related>,
    blamed: Option<Side>,
    /// The earlier line that has the fault, if it is noticed late, and who sent it.
    line: Option<u64>,
    from: Option<Side>,
    ambiguous: bool,
    unjudged: bool,
    facts: Option<Box<Value>>,
}

impl Fault {
    // Cold: faults are rare, so their code is kept out of the way of the fast path.
    #[cold]
    pub(crate) fn new(rule: &'static RuleMeta, message: impl Into<String>) -> Fault {
        Fault {
            rule,
            severity: None,
            revision: None,
            span: None,
            code: None,
            schema: None,
            message: message.into(),
            help: None,
            related: None,
            blamed: None,
            line: None,
            from: None,
            ambiguous: false,
            unjudged: false,
            facts: None,
        }
    }

    /// Not a fault, but a check that was abandoned: whether the message violates `rule`. Nothing is
    /// reported, but a gate does not let the message pass.
    pub(crate) fn unjudged(rule: &'static RuleMeta, message: impl Into<String>) -> Fault {
        Fault { unjudged: true, ..Fault::new(rule, message) }
    }

    /// Marks a fault that makes parsers read the message differently.
    pub(crate) fn ambiguous(mut self) -> Fault {
        self.ambiguous = true;
        self
    }

    /// Where in the parsed text.
    pub(crate) fn at(mut self, span: Span) -> Fault {
        self.span = Some(span);
        self
    }

    /// Sets the error code a receiver replies with.
    pub(crate) fn code(mut self, code: i64) -> Fault {
        self.code = Some(code);
        self
    }

    /// Sets further members of the error's `data` that the code requires.
    pub(crate) fn facts(mut self, facts: Value) -> Fault {
        self.facts = Some(Box::new(facts));
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Fault {
        self.help = Some(help.into());
        self
    }

    /// Sets the help, unless there is a more precise one.
    pub(crate) fn or_help(mut self, help: &str) -> Fault {
        self.help.get_or_insert_with(|| help.to_owned());
        self
    }

    pub(crate) fn schema(mut self, schema: SchemaFault) -> Fault {
        self.schema = Some(schema);
        self
    }

    /// Sets another message that explains this one, if its line is known.
    pub(crate) fn related(mut self, line: Option<u64>, reason: &'static str) -> Fault {
        self.related = line.map(|line| Related { line, reason });
        self
    }

    /// Blames a side other than the sender.
    pub(crate) fn blame(mut self, side: Side) -> Fault {
        self.blamed = Some(side);
        self
    }

    /// Attributes the fault to an earlier line.
    pub(crate) fn earlier(mut self, line: Option<u64>, from: Side) -> Fault {
        self.line = line;
        self.from = Some(from);
        self
    }

    /// For a message of one revision that violates a rule of another.
    pub(crate) fn under(mut self, revision: Revision) -> Fault {
        self.revision = Some(revision);
        self
    }

    /// Like [`Fault::under`], unless the fault already has a revision.
    pub(crate) fn under_unless_said(&mut self, revision: Revision) {
        self.revision.get_or_insert(revision);
    }

    /// For rules whose severity depends on the case rather than on the revision alone.
    pub(crate) fn severity(mut self, severity: Severity) -> Fault {
        self.severity = Some(severity);
        self
    }
}
