use std::{collections::BTreeSet, fmt, sync::Arc};

use mcp_core::{Carriage, Contracts, Dispatch, Revision, Side, Unchecked};
use mcp_json::Limits;
use mcp_jsonrpc::{Gate, OpenGate, ProcessorSettings};
use mcp_rules::{Engine, Finding, FindingSink, Profile, SessionGate, Settings, Strictness};
#[cfg(feature = "http")]
use mcp_rules::{HttpEvent, HttpGate, HttpTap};
use mcp_schema::{LoadedOverride, Schemas};

use crate::{contracts::SchemaContracts, stray::StrayGate};

/// How the messages of a conversation are validated: one setting for cost and strictness.
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
    /// Nothing is looked at, not even the arguments of tools.
    pub fn off() -> Validation {
        Validation::new(Strictness::Off, None)
    }

    /// Everything is judged and reported, and everything passes. Arguments and output of tools
    /// must keep the contract all the same.
    pub fn observe() -> Validation {
        Validation::with(Strictness::Observe, Settings::default())
    }

    /// What breaks the protocol does not pass: it is answered with an error that says why, or held
    /// back if it is our own. The default.
    pub fn enforce() -> Validation {
        Validation::with(Strictness::Enforce, Settings::default())
    }

    /// Judges as `settings` say: profile, levels of single rules, limits. Levels that can have no
    /// effect are warned of in the log.
    pub fn with(strictness: Strictness, settings: Settings) -> Validation {
        warn_of_idle(&settings);
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

    /// Judges by these schemas of the protocol: embedded ones, or overrides of them. Where nothing is
    /// looked at, they make no difference. What an override cannot change is warned of in the log.
    /// Overrides from `http:` and `https:` URLs need the feature `schema-http`.
    ///
    /// A conversation keeps the schemas it began with. [`Server::replace_schemas`] gives others to those
    /// that are still to come; a client is one conversation.
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
        // What was said about the schemas so far is not said again.
        let known = ignored_parts(&self.schemas_in_force());
        for (source, part) in ignored_parts(&schemas).difference(&known) {
            tracing::warn!(schema = source, "{part}");
        }
        if let Some(engine) = &self.engine {
            self.engine = Some(Arc::new(Engine::new(schemas, engine.settings().clone())));
        }
        self
    }

    /// The schemas of the protocol that are in force.
    pub(crate) fn schemas_in_force(&self) -> Schemas {
        self.engine.as_ref().map(|engine| engine.schemas().clone()).unwrap_or_default()
    }

    /// For conversations that are JSON-RPC and nothing else: what MCP asks for on top of it would
    /// refuse all of them.
    pub(crate) fn for_json_rpc(self) -> Validation {
        self.changed(|settings| settings.profile = Profile::JsonRpc)
    }

    /// Messages of `bytes` at most, unless that goes without saying.
    pub(crate) fn for_messages_of(self, bytes: usize) -> Validation {
        if self.message_bytes() == bytes {
            return self;
        }
        self.changed(|settings| settings.limits.message_bytes = bytes)
    }

    /// Lets a conversation take what is allowed beyond MCP.
    pub(crate) fn allow(&self, settings: &mut ProcessorSettings) {
        if let Some(engine) = &self.engine {
            let judged_by = engine.settings();
            settings.any_id |= judged_by.profile.takes_any_id();
            settings.batches |= judged_by.lets_batches_in();
        }
    }

    /// How long a message may be.
    pub(crate) fn message_bytes(&self) -> usize {
        let settings = self.engine.as_ref().map(|engine| engine.settings().limits);
        settings.unwrap_or_default().message_bytes
    }

    /// What is read of a message: messages are parsed once, for the rules and everything else.
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

    /// Hands every finding to `sink`, also about arguments and output that break the schemas of a
    /// tool. By default they go to the log (`tracing`), as rule and place, without values of the traffic. Of lines that a server prints where its
    /// messages belong, a client reports the first, tenth, hundredth and so on, with the text: there
    /// may be thousands.
    #[must_use]
    pub fn on_finding(mut self, sink: impl Fn(&Finding) + Send + Sync + 'static) -> Validation {
        self.sink = Some(Arc::new(sink));
        self
    }

    /// The gate of one conversation, in front of `side`; `settled` is the revision if there is no
    /// choice any more.
    pub(crate) fn gate(
        &self,
        side: Side,
        carriage: Carriage,
        settled: Option<Revision>,
    ) -> Box<dyn Gate> {
        let Some(engine) = &self.engine else { return Box::new(OpenGate) };
        let gate = |sink| {
            let gate = SessionGate::new(Arc::clone(engine), self.strictness, carriage.into());
            let mut gate = gate.guarding(side).with_sink(sink);
            if side == Side::Server {
                gate = gate.with_contracts();
            }
            if let Some(revision) = settled {
                gate = gate.settled(revision);
            }
            Box::new(gate) as Box<dyn Gate>
        };
        match side {
            Side::Client => Box::new(StrayGate::new(self.sink(), gate)),
            Side::Server => gate(self.sink()),
        }
    }

    /// Shows HTTP traffic to `tap` as it travels: requests, responses, events and the ends of streams,
    /// with their messages. [`TraceWriter`](crate::TraceWriter) makes a recording of it that `plumb
    /// check` reads. Without validation there is nothing to see.
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

    /// What judges the HTTP side of a conversation in front of `side`, if anything does.
    #[cfg(feature = "http")]
    pub(crate) fn http_gate(&self, side: Side) -> Option<HttpGate> {
        let engine = self.engine.as_ref().filter(|_| self.strictness != Strictness::Off)?;
        let gate = HttpGate::new(Arc::clone(engine), self.strictness);
        let gate = gate.guarding(side).with_sink(self.sink());
        Some(match &self.tap {
            Some(tap) => gate.with_tap(Arc::clone(tap)),
            None => gate,
        })
    }

    /// What holds tools that are called in this way to their schemas.
    pub(crate) fn contracts(&self, dispatch: Dispatch) -> Arc<dyn Contracts> {
        match (&self.engine, self.strictness) {
            (None, _) | (_, Strictness::Off) => Arc::new(Unchecked),
            (Some(engine), Strictness::Observe | Strictness::Enforce) => {
                let contracts = SchemaContracts::reporting_to(Arc::clone(engine), self.sink());
                Arc::new(contracts.dispatched(dispatch))
            }
        }
    }

    fn sink(&self) -> FindingSink {
        self.sink.clone().unwrap_or_else(|| Arc::new(log))
    }
}

impl Default for Validation {
    fn default() -> Self {
        Validation::enforce()
    }
}

/// Says what is wrong and where, but no value of the traffic: the message of a finding may show some.
fn log(finding: &Finding) {
    let schema = finding.schema.as_ref();
    tracing::warn!(
        target: "mcp_sdk::findings",
        rule = finding.rule.name,
        side = finding.at_fault.or(finding.from).map(Side::as_str),
        method = finding.method,
        pointer = finding.pointer,
        instance_path = schema.map(|fault| fault.instance_path.as_str()),
        schema_path = schema.map(|fault| fault.schema_path.as_str()),
        keyword = schema.map(|fault| fault.keyword.as_str()),
        "{}",
        finding.rule.summary()
    );
}

/// What overrides cannot change, with their sources.
fn ignored_parts(schemas: &Schemas) -> BTreeSet<(String, String)> {
    let of_one = |replacement: &LoadedOverride| {
        let source = replacement.source().to_string();
        let parts = replacement.ignored().map(ToString::to_string);
        parts.map(|part| (source.clone(), part)).collect::<Vec<_>>()
    };
    schemas.overrides().flat_map(of_one).collect()
}

/// Settings that can make no difference are probably not what somebody means.
fn warn_of_idle(settings: &Settings) {
    for name in settings.rules.keys() {
        let why = match mcp_rules::rule(name) {
            None => "there is no such rule",
            Some(rule) if !settings.looks_at(rule) => "the profile stops before its layer",
            Some(_) => continue,
        };
        tracing::warn!(rule = name, "a level has no effect: {why}");
    }
}

impl fmt::Debug for Validation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validation").field("strictness", &self.strictness).finish_non_exhaustive()
    }
}
