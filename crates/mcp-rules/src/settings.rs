use std::collections::BTreeMap;

use mcp_json::Limits as JsonLimits;

use mcp_schema::MethodKind;

use crate::{
    ExtraMethods, Layer, Level, Profile, RuleMeta, Setting, Severity, method_names::Naming,
};

/// How strictly to judge: a profile, the user's own levels on top of it, and limits.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Settings {
    /// The named set of settings to start from.
    pub profile: Profile,
    /// Levels by rule name, which override the profile.
    pub rules: BTreeMap<String, Setting>,
    /// Methods accepted besides those of the revision and the profile.
    pub methods: ExtraMethods,
    /// How far to look into payloads.
    pub depth: Depth,
    /// Size limits.
    pub limits: Limits,
    /// The web origins that a server should accept, such as `https://app.example.com`. If empty, no
    /// origin counts as foreign, and `origin-not-rejected` never fires.
    pub allowed_origins: Vec<String>,
}

/// How far to look into payloads: thoroughness against cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "one or the other")]
pub enum Depth {
    /// Everything the rules cover: also URIs, base64, `_meta` keys, tools' schemas and so on.
    #[default]
    Everything,
    /// Only whether payloads match their definitions, as a schema validator would.
    Definitions,
}

/// Size limits. Reaching a limit is reported, never fatal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes per message.
    pub message_bytes: usize,
    /// Nesting of arrays and objects.
    pub depth: usize,
    /// Entries per batch.
    pub batch: usize,
    /// Unanswered requests that one side may have open in a session.
    pub pending: usize,
    /// Entries of one kind (ids, tools, cursors, subscriptions, …) remembered per session.
    pub remembered: usize,
    /// Conversations followed at once in one file.
    pub sessions: usize,
    /// Approximate bytes of memory that the conversations of one file may take together.
    pub session_bytes: usize,
    /// Errors kept per message, and the same number of warnings; the rest are only counted.
    pub findings: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            message_bytes: 16 * 1024 * 1024,
            depth: 128,
            batch: 1000,
            pending: 10_000,
            remembered: 1_000,
            sessions: 10_000,
            session_bytes: 32 * 1024 * 1024,
            findings: 100_000,
        }
    }
}

impl Limits {
    /// The part of the limits that the parser enforces.
    pub fn json(&self) -> JsonLimits {
        JsonLimits { max_bytes: self.message_bytes, max_depth: self.depth }
    }
}

impl Settings {
    /// The level of `rule` under these settings.
    pub fn level(&self, rule: &RuleMeta) -> Level {
        match self.rule(rule) {
            None => rule.level,
            Some(Setting::On(Severity::Error)) => Level::Error,
            Some(Setting::On(Severity::Warning)) => Level::Warning,
            Some(Setting::Off) => Level::OptIn,
        }
    }

    /// The setting of the user or the profile for `rule`; `None` leaves it to the rule itself.
    pub(crate) fn rule(&self, rule: &RuleMeta) -> Option<Setting> {
        if let Some(setting) = self.rules.get(rule.name) {
            return Some(*setting);
        }
        if rule.layer > self.profile.last_layer() {
            return Some(Setting::Off);
        }
        self.profile.rule(rule.name)
    }

    /// Whether a setting for `rule` can have an effect: the profile may leave out its layer.
    pub fn looks_at(&self, rule: &RuleMeta) -> bool {
        !self.stops_before(rule.layer)
    }

    /// Whether any methods are accepted that the revision does not define.
    pub(crate) fn permits_methods(&self) -> bool {
        self.profile.naming() != Naming::Open || !self.methods.is_empty()
    }

    /// Whether a method called `name` is accepted as this kind although the revision has none.
    pub(crate) fn permits_method(&self, name: &str, kind: MethodKind) -> bool {
        let naming = self.profile.naming();
        naming == Naming::Any
            || naming.listed(kind).contains(&name)
            || self.methods.of(kind).contains(name)
    }

    /// Whether names that are neither the revision's nor permitted are refused.
    pub(crate) fn has_closed_names(&self) -> bool {
        matches!(self.profile.naming(), Naming::Closed { .. })
    }

    /// Whether the profile leaves out `layer` altogether.
    pub(crate) fn stops_before(&self, layer: Layer) -> bool {
        layer > self.profile.last_layer()
    }
}
