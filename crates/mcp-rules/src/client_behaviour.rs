//! Rules about the behaviour of a client under test by a scripted server. As with
//! [`behaviour`](crate::behaviour), a recording alone cannot show that they are violated.

use mcp_core::{Revision, Revisions};

use crate::{Level, behaviour::behaviours};

const ALL: Revisions = Revisions::ALL;
const LEGACY: Revisions = Revisions::LEGACY;
/// The revisions with Streamable HTTP.
const HTTP: Revisions = Revisions::from(Revision::V2025_03_26);
/// The revisions with sessions over HTTP.
const SESSIONS: Revisions = Revisions::between(Revision::V2025_03_26, Revision::V2025_11_25);

behaviours! {
    CLIENT_DIED: "client-died", Level::Error, ALL, "";
    CLIENT_HANGS: "client-hangs", Level::Warning, ALL, "";
    UNKNOWN_VERSION_TOLERATED: "unknown-version-tolerated", Level::Warning, LEGACY,
        "basic/lifecycle#version-negotiation";
    INITIALIZED_NEVER_SENT: "initialized-never-sent", Level::Error, LEGACY,
        "basic/lifecycle#initialization";
    PING_UNANSWERED: "ping-unanswered", Level::Error, LEGACY,
        "basic/utilities/ping#behavior-requirements";
    SERVER_REQUEST_UNANSWERED: "server-request-unanswered", Level::Error, LEGACY,
        "basic#responses";
    UNKNOWN_REQUEST_ACCEPTED: "unknown-request-accepted", Level::Error, LEGACY, "basic#responses";
    UNKNOWN_REQUEST_CODE: "unknown-request-code", Level::Warning, LEGACY, "basic#responses";
    UNKNOWN_NOTIFICATION_NOT_IGNORED: "unknown-notification-not-ignored", Level::Error, ALL,
        "basic#notifications";
    NOTIFICATION_NOT_TOLERATED: "notification-not-tolerated", Level::Error, ALL,
        "basic#notifications";
    UNKNOWN_MEMBER_NOT_IGNORED: "unknown-member-not-ignored", Level::Error, ALL,
        "basic#responses";
    STDERR_NOT_TOLERATED: "stderr-not-tolerated", Level::Warning, ALL, "basic/transports#stdio";
    VALID_ANSWER_NOT_UNDERSTOOD: "valid-answer-not-understood", Level::Error, ALL,
        "basic#responses";
    BATCH_NOT_UNDERSTOOD: "batch-not-understood", Level::Error,
        Revisions::only(Revision::V2025_03_26), "basic#messages";
    NEXT_PAGE_NOT_FETCHED: "next-page-not-fetched", Level::Warning, ALL,
        "server/utilities/pagination#implementation-guidelines";
    SERVER_KILLED: "server-killed", Level::Warning, ALL, "";
    EVENT_STREAM_NOT_UNDERSTOOD: "event-stream-not-understood", Level::Error, HTTP,
        "basic/transports#sending-messages-to-the-server";
    JSON_ANSWER_NOT_UNDERSTOOD: "json-answer-not-understood", Level::Error, HTTP,
        "basic/transports#sending-messages-to-the-server";
    CONTENT_TYPE_PARAMETER_NOT_UNDERSTOOD: "content-type-parameter-not-understood", Level::Error,
        HTTP, "";
    GET_REFUSAL_NOT_TOLERATED: "get-refusal-not-tolerated", Level::Error, SESSIONS,
        "basic/transports#listening-for-messages-from-the-server";
    MISSING_SESSION_NOT_TOLERATED: "missing-session-not-tolerated", Level::Error, SESSIONS,
        "basic/transports#session-management";
    SESSION_NOT_RESTARTED: "session-not-restarted", Level::Warning, SESSIONS,
        "basic/transports#session-management";
    SESSION_NOT_DELETED: "session-not-deleted", Level::Warning, SESSIONS,
        "basic/transports#session-management";
    STREAM_NOT_RESUMED: "stream-not-resumed", Level::Warning, SESSIONS,
        "basic/transports#resumability-and-redelivery";
    INPUT_REQUEST_IGNORED: "input-request-ignored", Level::Warning,
        Revisions::from(Revision::V2026_07_28), "basic/patterns/mrtr#client-requirements";
}
