use std::{collections::BTreeSet, fmt, sync::Arc};

use mcp_core::{Contracts, Dispatch, Framing, Revision, Side, Unchecked};
use mcp_json::Limits;
use mcp_jsonrpc::{Gate, OpenGate, ProcessorSettings};
use mcp_rules::{Engine, Finding, FindingSink, Profile, SessionGate, Settings, Strictness};
#[cfg(feature = "http")]
use mcp_rules::{HttpEvent, HttpGate, HttpTap};
use mcp_schema::{LoadedOverride, Schemas};

use crate::{
    contracts::SchemaContracts,
    masked::{agreed, masked},
    stray::{StrayGate, StrayLines},
};

/// The kind of conversation that the first HTTP request begins.
#[cfg(feature = "http")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HttpBeginning {
    /// A session, over many exchanges.
    Session,
    /// A conversation that ends with the exchange.
    Exchange,
    /// None: it is rejected.
    Rejected,
}

/// How the messages of a conversation are validated: one setting for strictness and cost.
///
/// ```
/// use mcp_sdk::Validation;
///
/// let quiet = Validation::off();
/// let watching = Validation::observe().on_finding(|finding| {
///     eprintln!("{}: {}", finding.rule.name, finding.message);
/// });
/// # let _ = (quiet, watching);
/// ```
#[derive(Clone)]
pub struct Validation {
    strictness: Strictness,
    engine: Option<Arc<Engine>>,
    sink: Option<FindingSink>,
    #[cfg(feature = "http")]
    tap: Option<HttpTap>,
}

impl Validation {
    /// No validation, not even of tool arguments.
    pub fn off() -> Validation {
        Validation::new(Strictness::Off, None)
    }

    /// Checks and reports everything, and lets everything pass. Tool arguments and output must still
    /// match their schemas.
    pub fn observe() -> Validation {
        Validation::with(Strictness::Observe, Settings::default())
    }

    /// Blocks messages that violate the protocol: the peer's are answered with an error, our own are
    /// not sent. The default.
    pub fn enforce() -> Validation {
        Validation::with(Strictness::Enforce, Settings::default())
    }

    /// Validates with these settings: profile, levels of individual rules, limits. Levels that have
    /// no effect are logged as warnings.
    pub fn with(strictness: Strictness, settings: Settings) -> Validation {
        warn_about_ineffective_levels(&settings);
        let engine = Engine::new(Schemas::embedded(), settings);
        Validation::new(strictness, Some(Arc::new(engine)))
    }

    fn new(strictness: Strictness, engine: Option<Arc<Engine>>) -> Validation {
        Validation {
            strictness,
            engine,
            sink: None,
            #[cfg(feature = "http")]
            tap: None,
        }
    }

    /// Validates against these protocol schemas: the embedded ones, or overrides of them. They have
    /// no effect if validation is off. Parts of an override that have no effect are logged as
    /// warnings. Overrides from `http:` and `https:` URLs need the feature `schema-http`.
    ///
    /// A conversation keeps the schemas it started with. [`Server::replace_schemas`] changes them for
    /// later conversations; a client is one conversation.
    ///
    /// [`Server::replace_schemas`]: crate::Server::replace_schemas
    ///
    /// ```no_run
    /// use mcp_sdk::{Validation, schema::{Override, Schemas, SourceLimits}};
    ///
    /// let given: Override = "2025-11-25=file:///etc/mcp/schema.json".parse()?;
    /// let schemas = Schemas::embedded().with_override(given.load(&SourceLimits::default())?);
    /// let validation = Validation::enforce().schemas(schemas);
    /// # let _ = validation;
    /// # Ok::<(), mcp_sdk::schema::SourceError>(())
    /// ```
    #[must_use]
    pub fn schemas(mut self, schemas: Schemas) -> Validation {
        // Do not repeat earlier warnings.
        let known = ignored_parts(&self.schemas_in_force());
        for (source, part) in ignored_parts(&schemas).difference(&known) {
            tracing::warn!(schema = source, "{part}");
        }
        if let Some(engine) = &self.engine {
            self.engine = Some(Arc::new(Engine::new(schemas, engine.settings().clone())));
        }
        self
    }

    /// The protocol schemas in use.
    pub(crate) fn schemas_in_force(&self) -> Schemas {
        self.engine.as_ref().map(|engine| engine.schemas().clone()).unwrap_or_default()
    }

    /// For plain JSON-RPC, every message of which would violate the rules of MCP.
    pub(crate) fn for_json_rpc(self) -> Validation {
        self.changed(|settings| settings.profile = Profile::JsonRpc)
    }

    /// Limits messages to `bytes`.
    pub(crate) fn for_messages_of(self, bytes: usize) -> Validation {
        if self.message_bytes() == bytes {
            return self;
        }
        self.changed(|settings| settings.limits.message_bytes = bytes)
    }

    /// Makes a conversation accept what the settings allow beyond MCP.
    pub(crate) fn allow(&self, settings: &mut ProcessorSettings) {
        if let Some(engine) = &self.engine {
            let rules = engine.settings();
            settings.any_id |= rules.profile.takes_any_id();
            settings.batches |= rules.lets_batches_in();
            settings.max_batch = rules.limits.batch;
        }
    }

    /// The maximum length of a message.
    pub(crate) fn message_bytes(&self) -> usize {
        let settings = self.engine.as_ref().map(|engine| engine.settings().limits);
        settings.unwrap_or_default().message_bytes
    }

    /// The limits for parsing a message, which is parsed once for the rules and everything else.
    pub(crate) fn limits(&self, max_bytes: usize) -> Limits {
        let limits = self.engine.as_ref().map(|engine| engine.settings().limits.json());
        Limits { max_bytes, ..limits.unwrap_or_default() }
    }

    fn changed(mut self, change: impl FnOnce(&mut Settings)) -> Validation {
        if let Some(engine) = &self.engine {
            let mut settings = engine.settings().clone();
            change(&mut settings);
            self.engine = Some(Arc::new(Engine::new(engine.schemas().clone(), settings)));
        }
        self
    }

    /// Calls `sink` with every finding, including those about tool arguments and output that violate
    /// their schema. By default findings go to the log (`tracing`), with rule and position but
    /// without values from the traffic. Of the stray lines that a server prints among its messages,
    /// a client reports only the first, tenth, hundredth and so on, with their text: there may be
    /// thousands.
    #[must_use]
    pub fn on_finding(mut self, sink: impl Fn(&Finding) + Send + Sync + 'static) -> Validation {
        self.sink = Some(Arc::new(sink));
        self
    }

    /// The gate of one conversation, in front of `side`; `settled` is the revision if it is already
    /// known.
    pub(crate) fn gate(
        &self,
        side: Side,
        framing: Framing,
        settled: Option<Revision>,
    ) -> Box<dyn Gate> {
        let Some(engine) = &self.engine else { return Box::new(OpenGate) };
        let gate = |sink| self.session_gate(engine, side, framing, settled, sink);
        match side {
            Side::Client => {
                let lines = StrayLines::default();
                let gate = gate(lines.throttled(self.sink()));
                Box::new(StrayGate::new(Box::new(gate), lines))
            }
            Side::Server => Box::new(gate(self.sink())),
        }
    }

    fn session_gate(
        &self,
        engine: &Arc<Engine>,
        side: Side,
        framing: Framing,
        settled: Option<Revision>,
        sink: FindingSink,
    ) -> SessionGate {
        let gate = SessionGate::new(Arc::clone(engine), self.strictness, framing.into());
        let mut gate = gate.guarding(side).with_sink(sink);
        if side == Side::Server {
            gate = gate.with_contracts();
        }
        if let Some(revision) = settled {
            gate = gate.settled(revision);
        }
        gate
    }

    /// Calls `tap` with every HTTP request, response, event and end of a stream, including their
    /// messages. [`TraceWriter`](crate::TraceWriter) records them for `plumb check`. Nothing is
    /// reported if validation is off.
    ///
    /// ```
    /// use std::sync::Mutex;
    /// use mcp_sdk::{TraceEntry, TraceWriter, Validation};
    ///
    /// let trace = Mutex::new(TraceWriter::new(Vec::new()));
    /// let validation = Validation::observe().on_http(move |event| {
    ///     let _ = trace.lock().unwrap().write(&TraceEntry::http(*event));
    /// });
    /// # let _ = validation;
    /// ```
    #[cfg(feature = "http")]
    #[must_use]
    pub fn on_http(mut self, tap: impl Fn(&HttpEvent<'_>) + Send + Sync + 'static) -> Validation {
        self.tap = Some(Arc::new(tap));
        self
    }

    /// The gate of one conversation over HTTP in front of `side`, unless validation is off; see
    /// [`Validation::gate`] for `settled`.
    #[cfg(feature = "http")]
    pub(crate) fn http_gate(
        &self,
        side: Side,
        settled: Option<Revision>,
        begins: HttpBeginning,
        sink: FindingSink,
    ) -> Option<HttpGate> {
        let engine = self.engine.as_ref().filter(|_| self.strictness != Strictness::Off)?;
        let messages = self.session_gate(engine, side, Framing::HttpExchanges, settled, sink);
        let gate = match begins {
            HttpBeginning::Session => HttpGate::new(messages),
            HttpBeginning::Exchange => HttpGate::new(messages).for_one_exchange(),
            HttpBeginning::Rejected => HttpGate::new(messages.joining()).for_one_exchange(),
        };
        Some(match &self.tap {
            Some(tap) => gate.with_tap(Arc::clone(tap)),
            None => gate,
        })
    }

    /// The contracts for tools called with this dispatch.
    pub(crate) fn contracts(&self, dispatch: Dispatch) -> Arc<dyn Contracts> {
        match (&self.engine, self.strictness) {
            (None, _) | (_, Strictness::Off) => Arc::new(Unchecked),
            (Some(engine), Strictness::Observe | Strictness::Enforce) => {
                let contracts = SchemaContracts::reporting_to(Arc::clone(engine), self.sink());
                Arc::new(contracts.dispatched(dispatch))
            }
        }
    }

    /// Where findings are reported.
    pub(crate) fn sink(&self) -> FindingSink {
        self.sink.clone().unwrap_or_else(|| Arc::new(log))
    }
}

impl Default for Validation {
    fn default() -> Self {
        Validation::enforce()
    }
}

/// Logs rule and position, but not the message of the finding, which may contain values from the
/// traffic, nor names that a peer has chosen.
fn log(finding: &Finding) {
    let schema = finding.schema.as_ref();
    let agreed = agreed(finding);
    tracing::warn!(
        target: "mcp_sdk::findings",
        rule = finding.rule.name,
        side = finding.at_fault.or(finding.from).map(Side::as_str),
        method = finding.method,
        pointer = finding.pointer.as_deref().map(|pointer| masked(pointer, &agreed)),
        instance_path = schema.map(|fault| masked(&fault.instance_path, &agreed)),
        schema_path = schema.map(|fault| masked(&fault.schema_path, &agreed)),
        keyword = schema.map(|fault| fault.keyword.as_str()),
        "{}",
        finding.rule.summary()
    );
}

/// The parts of overrides that have no effect, with their sources.
fn ignored_parts(schemas: &Schemas) -> BTreeSet<(String, String)> {
    let of_one = |replacement: &LoadedOverride| {
        let source = replacement.source().to_string();
        let parts = replacement.ignored().map(ToString::to_string);
        parts.map(|part| (source.clone(), part)).collect::<Vec<_>>()
    };
    schemas.overrides().flat_map(of_one).collect()
}

/// Settings without effect are probably mistakes.
fn warn_about_ineffective_levels(settings: &Settings) {
    for name in settings.rules.keys() {
        let why = match mcp_rules::rule(name) {
            None => "the rule does not exist",
            Some(rule) if !settings.looks_at(rule) => "the profile does not run its layer",
            Some(_) => continue,
        };
        tracing::warn!(rule = name, "the level of a rule has no effect: {why}");
    }
}

impl fmt::Debug for Validation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validation").field("strictness", &self.strictness).finish_non_exhaustive()
    }
}
