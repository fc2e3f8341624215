use anyhow::Context as _;

/// A fault of the client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    /// Where it shows: `stdio`, `http`, `modern` (over stdio) or `modern-http`.
    pub(crate) shows: &'static str,
    /// The rule that it breaks.
    pub(crate) rule: &'static str,
    pub(crate) text: &'static str,
}

impl Fault {
    pub(crate) fn named(name: &str) -> anyhow::Result<Fault> {
        let fault = Fault::ALL.iter().find(|fault| fault.name == name);
        fault.copied().with_context(|| format!("there is no fault {name:?}; --list shows all"))
    }

    pub(crate) const ALL: &[Fault] = &[
        stdio("initialize-late", "initialize-not-first", "lists tools before `initialize`"),
        stdio(
            "request-early",
            "request-before-initialize-response",
            "lists tools before `initialize` is answered",
        ),
        stdio("initialized-left-out", "initialized-missing", "goes on without `initialized`"),
        stdio("initialized-never", "initialized-never-sent", "stops after `initialize`"),
        stdio("version-ignored", "unknown-version-tolerated", "goes on at any version"),
        stdio("id-reused", "request-id-reused", "takes the same id again"),
        stdio("id-null", "request-id-null", "lists tools with the id null"),
        stdio("id-fraction", "request-id-type", "lists tools with the id 1.5"),
        stdio("no-jsonrpc", "jsonrpc-version-invalid", "leaves out `jsonrpc`"),
        stdio("params-array", "params-not-object", "sends params as an array"),
        stdio("params-wrong", "params-invalid", "calls a tool without its name"),
        stdio("not-json", "stdin-non-json", "writes a line that is not JSON"),
        stdio("two-lines", "stdio-embedded-newline", "spreads a message over two lines"),
        stdio("ping-ignored", "ping-unanswered", "does not answer a ping"),
        stdio("ping-not-empty", "ping-result-not-empty", "answers a ping with something"),
        stdio("ping-id-changed", "response-id-type-mismatch", "answers with ids as strings"),
        stdio("ping-id-invented", "response-unknown-id", "answers with an id of its own"),
        stdio("answers-twice", "response-duplicate", "answers every request twice"),
        stdio(
            "unknown-ignored",
            "server-request-unanswered",
            "does not answer what it does not know",
        ),
        stdio(
            "unknown-accepted",
            "unknown-request-accepted",
            "answers what it does not know with a result",
        ),
        stdio("unknown-code", "unknown-request-code", "refuses what it does not know with -32603"),
        stdio("roots-served", "feature-served-undeclared", "serves roots that it does not declare"),
        stdio(
            "sampling-served",
            "feature-served-undeclared",
            "serves sampling that it does not declare",
        ),
        stdio(
            "elicitation-served",
            "feature-served-undeclared",
            "serves elicitation that it does not declare",
        ),
        stdio(
            "ping-first-ignored",
            "ping-unanswered",
            "answers no ping before `initialize` is answered",
        ),
        stdio(
            "notification-strict",
            "unknown-notification-not-ignored",
            "fails at unknown notifications",
        ),
        stdio("log-strict", "notification-not-tolerated", "fails at log messages"),
        stdio("cancelled-strict", "notification-not-tolerated", "fails at cancellations"),
        stdio("list-changed-strict", "notification-not-tolerated", "fails at list_changed"),
        stdio(
            "progress-strict",
            "notification-not-tolerated",
            "fails at progress that it asked for",
        ),
        stdio("members-strict", "unknown-member-not-ignored", "fails at unknown members"),
        stdio(
            "stderr-strict",
            "stderr-not-tolerated",
            "fails when the server writes to standard error",
        ),
        stdio("reads-once", "valid-answer-not-understood", "takes each read for a message"),
        stdio("short-buffer", "valid-answer-not-understood", "fails at long lines"),
        stdio("batch-unknown", "batch-not-understood", "does not know batches, but 2025-03-26"),
        stdio("first-page", "next-page-not-fetched", "lists the first page only"),
        stdio(
            "capabilities-ignored",
            "capability-tools-undeclared",
            "lists tools that were not declared",
        ),
        stdio("error-panics", "client-died", "panics at an error"),
        stdio("error-hangs", "client-hangs", "waits for ever after an error"),
        stdio("refusal-panics", "client-died", "panics when `initialize` is refused"),
        stdio("invalid-result-panics", "client-died", "panics at a list that is none"),
        stdio("null-result-hangs", "client-hangs", "takes a null result for none"),
        stdio("stray-panics", "client-died", "panics at an answer to nothing"),
        stdio("log-line-panics", "client-died", "panics at a line that is not JSON"),
        stdio("late-answer-panics", "client-died", "panics at the answer to what it has cancelled"),
        stdio("cancels-unknown", "cancel-unknown-request", "cancels another request"),
        stdio("cancels-nothing", "cancel-missing-request-id", "does not say what it cancels"),
        stdio("gone-hangs", "client-hangs", "waits for ever when the server is gone"),
        stdio("kills", "server-killed", "kills the server"),
        stdio("cancels-initialize", "cancel-initialize", "cancels its `initialize`"),
        http("accept-left-out", "http-accept-missing", "accepts JSON only"),
        http("content-type-wrong", "http-request-content-type", "posts text/plain"),
        http(
            "version-header-left-out",
            "protocol-version-header-missing",
            "does not name the version",
        ),
        http("session-left-out", "session-id-missing", "does not name the session"),
        http("session-invented", "session-id-mismatch", "names another session"),
        http("session-kept", "session-reused-after-404", "goes on with a session that has ended"),
        http("session-lost", "session-not-restarted", "stops silently when its session has ended"),
        http("session-left", "session-not-deleted", "does not end its session"),
        http("session-required", "missing-session-not-tolerated", "fails without a session"),
        http("json-refused", "json-answer-not-understood", "reads event streams only"),
        http("data-line-single", "event-stream-not-understood", "reads one line of data only"),
        http("empty-data-strict", "event-stream-not-understood", "fails at events without data"),
        http(
            "content-type-exact",
            "content-type-parameter-not-understood",
            "compares content types as text",
        ),
        http("get-required", "get-refusal-not-tolerated", "fails without a stream of the server"),
        http("not-resumed", "stream-not-resumed", "takes the end of a stream for the end"),
        http("resumed-early", "http-retry-ignored", "does not wait before it resumes"),
        http("server-error-panics", "client-died", "panics at the status 500"),
        http("body-panics", "client-died", "panics at a body that is not JSON"),
        modern("version-refusal-panics", "client-died", "panics when its version is refused"),
        modern("meta-left-out", "request-meta-missing", "leaves out `_meta`"),
        modern("client-info-left-out", "client-info-missing", "does not say who it is"),
        modern(
            "version-insisted",
            "unsupported-version-retried",
            "asks again at a refused version",
        ),
        modern("input-ignored", "input-request-ignored", "does not answer what a tool asks"),
        modern(
            "input-state-lost",
            "mrtr-request-state-mismatch",
            "repeats a call without its state",
        ),
        modern("input-same-id", "mrtr-retry-same-id", "repeats a call with the same id"),
        modern_http(
            "method-header-left-out",
            "mcp-method-header-missing",
            "does not repeat the method",
        ),
        modern_http("name-header-left-out", "mcp-name-header-missing", "does not repeat the name"),
        modern_http("name-header-wrong", "mcp-name-header-mismatch", "repeats another name"),
        modern_http("gets", "http-get-removed", "opens a stream with GET"),
    ];
}

const fn stdio(name: &'static str, rule: &'static str, text: &'static str) -> Fault {
    Fault { name, shows: "stdio", rule, text }
}

const fn http(name: &'static str, rule: &'static str, text: &'static str) -> Fault {
    Fault { name, shows: "http", rule, text }
}

const fn modern(name: &'static str, rule: &'static str, text: &'static str) -> Fault {
    Fault { name, shows: "modern", rule, text }
}

const fn modern_http(name: &'static str, rule: &'static str, text: &'static str) -> Fault {
    Fault { name, shows: "modern-http", rule, text }
}
