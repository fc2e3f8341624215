use mcp_core::{Revision, Side};
use mcp_json::{Node, Span};

use crate::{Finding, Layer, Related, RuleMeta, SchemaFault, Setting, Settings, Severity};

/// What was found, in the order it was found.
///
/// Knows the message at hand, so that a rule says only what is wrong and where; applies the
/// user's settings, so that a rule need not know them; and is bounded, so that a hostile peer
/// cannot fill the memory with its own faults.
#[derive(Debug)]
pub struct Findings<'s> {
    settings: &'s Settings,
    list: Vec<Finding>,
    /// How many of `list` are errors.
    errors: usize,
    capacity: usize,
    dropped: u64,
    scene: Scene,
}

/// The message that is being judged.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scene {
    pub(crate) from: Option<Side>,
    pub(crate) revision: Option<Revision>,
    pub(crate) line: Option<u64>,
    pub(crate) index: Option<usize>,
    pub(crate) method: Option<&'static str>,
    /// Where the message begins in the parsed text; spans are reported relative to it.
    pub(crate) base: usize,
    /// What a receiver answers with, where a rule does not say it itself.
    pub(crate) code: Option<i64>,
    /// Whether something declared may explain names no revision knows.
    pub(crate) extensible: bool,
}

impl<'s> Findings<'s> {
    /// An empty list that keeps at most `settings.limits.findings` errors and as many warnings.
    pub fn new(settings: &'s Settings) -> Findings<'s> {
        Findings {
            settings,
            list: Vec::new(),
            errors: 0,
            capacity: settings.limits.findings,
            dropped: 0,
            scene: Scene::default(),
        }
    }

    /// What was found so far.
    pub fn as_slice(&self) -> &[Finding] {
        &self.list
    }

    /// Takes what was found so far and leaves the list empty.
    pub fn take(&mut self) -> Vec<Finding> {
        self.errors = 0;
        std::mem::take(&mut self.list)
    }

    /// How many findings were not kept because the list was full, since this was last asked.
    pub fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }

    /// The line of the file that the next findings belong to.
    pub fn set_line(&mut self, line: u64) {
        self.scene.line = Some(line);
    }

    pub(crate) fn settings(&self) -> &'s Settings {
        self.settings
    }

    /// The revision of the message at hand.
    pub(crate) fn revision(&self) -> Revision {
        self.scene.revision.unwrap_or(Revision::LATEST)
    }

    /// Whether something declared may explain names in the message that no revision knows.
    pub(crate) fn extensible(&self) -> bool {
        self.scene.extensible
    }

    pub(crate) fn scene(&mut self) -> &mut Scene {
        &mut self.scene
    }

    /// Whether `rule` can be reported at all; lets costly checks be skipped.
    pub(crate) fn wants(&self, rule: &'static RuleMeta) -> bool {
        self.severity(rule, self.scene.revision, None).is_some()
    }

    /// Adds `fault` unless its rule is off or does not hold for the revision at hand.
    pub(crate) fn report(&mut self, fault: Fault) {
        let revision = fault.revision.or(self.scene.revision);
        let Some(severity) = self.severity(fault.rule, revision, fault.severity) else {
            return;
        };
        // However many warnings there are, they do not crowd out what decides the verdict.
        let alike = match severity {
            Severity::Error => self.errors,
            Severity::Warning => self.list.len() - self.errors,
        };
        if alike >= self.capacity {
            self.dropped += 1;
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
            pointer: speaks_of_json(fault.rule.layer).then(String::new),
            related: fault.related,
            code: fault.code.or(code.filter(|_| !elsewhere)),
            schema: fault.schema,
            help: fault.help,
            ..Finding::new(fault.rule, severity, fault.message)
        });
    }

    /// How many there are, to be handed to [`Findings::locate`] later.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Writes the JSON pointers of the findings from number `first` on, all about `message`.
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

/// Whether what a layer finds is in a JSON text, rather than in what carries it.
const fn speaks_of_json(layer: Layer) -> bool {
    matches!(layer, Layer::JsonRpc | Layer::Schema | Layer::Session | Layer::ToolSchema)
}

/// What a rule says about a message; [`Findings`] knows the rest.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    rule: &'static RuleMeta,
    severity: Option<Severity>,
    /// The revision that is broken, if it is not the message's own.
    revision: Option<Revision>,
    span: Option<Span>,
    code: Option<i64>,
    schema: Option<SchemaFault>,
    message: String,
    help: Option<String>,
    related: Option<Related>,
    blamed: Option<Side>,
    /// Another line than the one at hand, where the fault is noticed late, and who sent that.
    line: Option<u64>,
    from: Option<Side>,
}

impl Fault {
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
        }
    }

    /// Where in the parsed text.
    pub(crate) fn at(mut self, span: Span) -> Fault {
        self.span = Some(span);
        self
    }

    /// What a receiver answers with.
    pub(crate) fn code(mut self, code: i64) -> Fault {
        self.code = Some(code);
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Fault {
        self.help = Some(help.into());
        self
    }

    /// What to do if nothing more precise is known.
    pub(crate) fn or_help(mut self, help: &str) -> Fault {
        self.help.get_or_insert_with(|| help.to_owned());
        self
    }

    pub(crate) fn schema(mut self, schema: SchemaFault) -> Fault {
        self.schema = Some(schema);
        self
    }

    /// Another message that explains this one; nothing if its line is not known.
    pub(crate) fn related(mut self, line: Option<u64>, reason: &'static str) -> Fault {
        self.related = line.map(|line| Related { line, reason });
        self
    }

    /// For a fault that is not the sender's.
    pub(crate) fn blame(mut self, side: Side) -> Fault {
        self.blamed = Some(side);
        self
    }

    /// For a fault of an earlier line, noticed only now.
    pub(crate) fn earlier(mut self, line: Option<u64>, from: Side) -> Fault {
        self.line = line;
        self.from = Some(from);
        self
    }

    /// For a message of one revision that breaks a rule of another.
    pub(crate) fn under(mut self, revision: Revision) -> Fault {
        self.revision = Some(revision);
        self
    }

    /// The same, unless the fault itself says which.
    pub(crate) fn under_unless_said(&mut self, revision: Revision) {
        self.revision.get_or_insert(revision);
    }

    /// For rules whose severity depends on the case rather than on the revision alone.
    pub(crate) fn severity(mut self, severity: Severity) -> Fault {
        self.severity = Some(severity);
        self
    }
}
