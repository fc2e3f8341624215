//! Rules about the behaviour of a server under active testing. A recording alone cannot show that
//! they are violated: only the tester knows what it asked for, and why.

use mcp_core::{Revision, Revisions};

use crate::Level;

const ALL: Revisions = Revisions::ALL;
/// The revisions with sessions over HTTP.
const SESSIONS: Revisions = Revisions::between(Revision::V2025_03_26, Revision::V2025_11_25);
/// The revisions with sessions and a version header.
const VERSION_HEADER: Revisions = Revisions::between(Revision::V2025_06_18, Revision::V2025_11_25);
/// The revisions that name the status of a foreign `Origin`.
const ORIGIN_STATUS: Revisions = Revisions::from(Revision::V2025_11_25);
const MODERN: Revisions = Revisions::from(Revision::V2026_07_28);

/// Defines the rules: name, level, revisions, clause.
macro_rules! behaviours {
    ($($ident:ident: $name:literal, $level:expr, $applies:expr, $clause:literal;)*) => {
        $(
            #[doc = concat!("The rule `", $name, "`.")]
            pub static $ident: $crate::RuleMeta = $crate::RuleMeta {
                name: $name,
                layer: $crate::Layer::Behaviour,
                level: $level,
                applies: $applies,
                enforcement: $crate::Enforcement::BySeverity,
                clause: $clause,
                docs: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/", $name, ".md")),
            };
        )*
        pub(crate) static RULES: &[&$crate::RuleMeta] = &[$(&$ident),*];
    };
}
pub(crate) use behaviours;

behaviours! {
    SERVER_DIED: "server-died", Level::Error, ALL, "";
    SERVER_WEDGED: "server-wedged", Level::Error, ALL, "";
    REQUEST_UNANSWERED: "answer-missing", Level::Error, ALL, "basic#responses";
    OPENING_REFUSED: "opening-refused", Level::Error, ALL, "";
    ID_NOT_ECHOED: "id-not-echoed", Level::Error, ALL, "basic#responses";
    LARGE_ID_NOT_ECHOED: "large-id-not-echoed", Level::Warning, ALL, "basic#responses";
    UNKNOWN_METHOD_ACCEPTED: "unknown-method-accepted", Level::Error, ALL, "basic#responses";
    UNKNOWN_METHOD_CODE: "unknown-method-code", Level::Warning, ALL, "basic#responses";
    MALFORMED_REQUEST_ACCEPTED: "malformed-request-accepted", Level::Error, ALL, "basic#requests";
    WRONG_ENVELOPE_ACCEPTED: "wrong-envelope-accepted", Level::Warning, ALL, "basic#messages";
    UNKNOWN_VERSION_ACCEPTED: "unknown-version-accepted", Level::Error, Revisions::LEGACY,
        "basic/lifecycle#version-negotiation";
    BATCH_REFUSED: "batch-refused", Level::Error, Revisions::only(Revision::V2025_03_26),
        "basic#messages";
    UNKNOWN_TOOL_ACCEPTED: "unknown-tool-accepted", Level::Error, ALL,
        "server/tools#error-handling";
    UNKNOWN_RESOURCE_ACCEPTED: "unknown-resource-accepted", Level::Warning, ALL,
        "server/resources#error-handling";
    UNKNOWN_PROMPT_ACCEPTED: "unknown-prompt-accepted", Level::Warning, ALL,
        "server/prompts#error-handling";
    LISTED_TOOL_UNKNOWN: "listed-tool-unknown", Level::Error, ALL, "server/tools#listing-tools";
    TOOL_SCHEMA_UNRESOLVABLE: "tool-schema-unresolvable", Level::Error, ALL, "server/tools#tool";
    VALID_ARGUMENTS_REFUSED: "valid-arguments-refused", Level::Warning, ALL, "server/tools#tool";
    OPTIONAL_ARGUMENT_REQUIRED: "optional-argument-required", Level::Warning, ALL, "";
    ABSENT_ARGUMENTS_REFUSED: "absent-arguments-refused", Level::Warning, ALL,
        "server/tools#calling-tools";
    INVALID_ARGUMENTS_CODE: "invalid-arguments-code", Level::Warning, ALL,
        "server/tools#error-handling";
    ARGUMENT_NOT_RETURNED: "argument-not-returned", Level::Warning, ALL, "";
    LISTED_PROMPT_UNAVAILABLE: "listed-prompt-unavailable", Level::Warning, ALL,
        "server/prompts#listing-prompts";
    LISTED_RESOURCE_UNREADABLE: "listed-resource-unreadable", Level::Warning, ALL,
        "server/resources#listing-resources";
    RESOURCE_URI_CHANGED: "resource-uri-changed", Level::Warning, ALL,
        "server/resources#reading-resources";
    INTERNALS_LEAKED: "internals-leaked", Level::Warning, ALL, "";
    DECLARED_FEATURE_REFUSED: "declared-feature-refused", Level::Error, ALL, "";
    LIST_UNSTABLE: "list-unstable", Level::Warning, ALL, "";
    INVALID_CURSOR_ACCEPTED: "invalid-cursor-accepted", Level::Warning, ALL,
        "server/utilities/pagination#error-handling";
    LOG_LEVEL_REFUSED: "log-level-refused", Level::Error, Revisions::LEGACY,
        "server/utilities/logging#log-levels";
    INVALID_LOG_LEVEL_ACCEPTED: "invalid-log-level-accepted", Level::Warning, Revisions::LEGACY,
        "server/utilities/logging#error-handling";
    NO_EXIT_AFTER_CLOSE: "no-exit-after-close", Level::Warning, ALL, "";
    INVENTED_SESSION_ACCEPTED: "invented-session-accepted", Level::Warning, SESSIONS,
        "basic/transports#session-management";
    MISSING_SESSION_ACCEPTED: "missing-session-accepted", Level::Warning, SESSIONS,
        "basic/transports#session-management";
    ENDED_SESSION_ACCEPTED: "ended-session-accepted", Level::Error, SESSIONS,
        "basic/transports#session-management";
    FOREIGN_ORIGIN_ACCEPTED: "foreign-origin-accepted", Level::Error, ALL, "";
    BROKEN_BODY_ACCEPTED: "broken-body-accepted", Level::Error, ALL, "";
    HTTP_SERVER_ERROR: "http-server-error", Level::Warning, ALL, "";
    UNSUPPORTED_VERSION_ACCEPTED: "unsupported-version-accepted", Level::Error,
        MODERN, "basic/versioning#protocol-version-negotiation";
    ANSWERS_CROSSED: "answers-crossed", Level::Error, ALL, "basic#responses";
    LOCK_DRIFT: "lock-drift", Level::Error, ALL, "";
    LOCK_RESOURCE_DRIFT: "lock-resource-drift", Level::Warning, ALL, "";
    PING_REFUSED: "ping-refused", Level::Error, Revisions::LEGACY,
        "basic/utilities/ping#behavior-requirements";
    PING_BLOCKED: "ping-blocked", Level::Warning, Revisions::LEGACY,
        "basic/utilities/ping#behavior-requirements";
    PARSE_ERROR_CODE: "parse-error-code", Level::Warning, ALL, "";
    PARSE_ERROR_UNREPORTED: "parse-error-unreported", Level::OptIn, ALL, "";
    BATCH_ANSWERS_SPLIT: "batch-answers-split", Level::Warning,
        Revisions::only(Revision::V2025_03_26), "basic#messages";
    INVALID_PARAMS_CODE: "invalid-params-code", Level::Warning, ALL, "";
    OWN_CURSOR_REFUSED: "own-cursor-refused", Level::Error, ALL,
        "server/utilities/pagination#pagination-flow";
    LIST_ENDLESS: "list-endless", Level::Warning, ALL,
        "server/utilities/pagination#implementation-guidelines";
    LIST_ENTRY_REPEATED: "list-entry-repeated", Level::Warning, ALL,
        "server/utilities/pagination#implementation-guidelines";
    UNKNOWN_RESOURCE_CODE: "unknown-resource-code", Level::Warning, ALL,
        "server/resources#error-handling";
    UNKNOWN_COMPLETION_ACCEPTED: "unknown-completion-accepted", Level::Warning, ALL,
        "server/utilities/completion#error-handling";
    UNSUPPORTED_VERSION_CODE: "unsupported-version-code", Level::Error, MODERN,
        "basic/versioning#protocol-version-negotiation";
    REMOVED_METHOD_SERVED: "removed-method-served", Level::Warning, MODERN, "";
    SUBSCRIPTION_UNACKNOWLEDGED: "subscription-unacknowledged", Level::Error, MODERN,
        "basic/patterns/subscriptions#acknowledgment";
    SUBSCRIPTION_ENDED_AT_ONCE: "subscription-ended-at-once", Level::Warning, MODERN,
        "basic/patterns/subscriptions#graceful-closure";
    CANCELLATION_HITS_OTHERS: "cancellation-hits-others", Level::Error, ALL, "";
    SESSION_ID_REPEATED: "session-id-repeated", Level::Warning, SESSIONS,
        "basic/transports#session-management";
    SESSION_ID_WITHHELD: "session-id-withheld", Level::Error, SESSIONS,
        "basic/transports#session-management";
    VERSION_HEADER_REQUIRED: "version-header-required", Level::OptIn, VERSION_HEADER,
        "basic/transports#protocol-version-header";
    STREAM_LEFT_OPEN: "stream-left-open", Level::Warning,
        Revisions::from(Revision::V2025_03_26), "";
    RESUME_REPEATS_EVENTS: "resume-repeats-events", Level::Warning, SESSIONS,
        "basic/transports#resumability-and-redelivery";
    FOREIGN_ORIGIN_STATUS: "foreign-origin-status", Level::Warning, ORIGIN_STATUS, "";
    EQUIVALENT_HEADER_REFUSED: "equivalent-header-refused", Level::Warning, ALL, "";
    SESSION_ID_PREDICTABLE: "session-id-predictable", Level::Warning, SESSIONS,
        "basic/transports#session-management";
    FOREIGN_FILE_SERVED: "foreign-file-served", Level::Warning, ALL, "";
}
