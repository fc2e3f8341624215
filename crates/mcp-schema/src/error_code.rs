//! What an error code means in a revision.
//!
//! JSON-RPC reserves −32768…−32000 and leaves −32099…−32000 to servers. Up to 2025-11-25 MCP used
//! single codes in that range; 2026-07-28 splits it: −32019…−32000 is for what implementations
//! already use, −32099…−32020 belongs to the protocol alone.

use std::ops::RangeInclusive;

use mcp_core::{Revision, Revisions};

/// The range that JSON-RPC 2.0 reserves.
const RESERVED: RangeInclusive<i64> = -32768..=-32000;
/// The range that JSON-RPC 2.0 leaves to servers.
const SERVER: RangeInclusive<i64> = -32099..=-32000;
/// The part of [`SERVER`] that 2026-07-28 tolerates for existing implementations.
const LEGACY: RangeInclusive<i64> = -32019..=-32000;

const REVISIONS_BEFORE_SPLIT: Revisions = Revisions::up_to(Revision::V2025_11_25);
const REVISIONS_SINCE_SPLIT: Revisions = Revisions::from(Revision::V2026_07_28);

/// A code with a defined meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DefinedCode {
    /// The number on the wire.
    pub code: i64,
    /// Upper-case name, as the specification spells it where it gives one.
    pub name: &'static str,
    /// Its meaning, in a few words.
    pub meaning: &'static str,
    /// The revisions in which it may be used.
    pub revisions: Revisions,
    /// Whether the code is JSON-RPC's own, not MCP's.
    pub standard: bool,
    /// Name of the definition of `error.data`, if the code specifies one.
    pub data: Option<&'static str>,
}

/// Every code that some revision defines, from −32700 up.
pub const DEFINED_CODES: &[DefinedCode] = &[
    standard(-32700, "PARSE_ERROR", "invalid JSON"),
    standard(-32603, "INTERNAL_ERROR", "internal error"),
    standard(-32602, "INVALID_PARAMS", "invalid params"),
    standard(-32601, "METHOD_NOT_FOUND", "unknown method or undeclared capability"),
    standard(-32600, "INVALID_REQUEST", "not a valid request"),
    DefinedCode {
        code: -32042,
        name: "URL_ELICITATION_REQUIRED",
        meaning: "the user has to visit a URL first",
        revisions: Revisions::only(Revision::V2025_11_25),
        standard: false,
        data: Some("UrlElicitationRequiredErrorData"),
    },
    DefinedCode {
        code: -32022,
        name: "UNSUPPORTED_PROTOCOL_VERSION",
        meaning: "the server does not support the version of the request",
        revisions: REVISIONS_SINCE_SPLIT,
        standard: false,
        data: Some("UnsupportedProtocolVersionErrorData"),
    },
    DefinedCode {
        code: -32021,
        name: "MISSING_REQUIRED_CLIENT_CAPABILITY",
        meaning: "the client did not declare a capability that the request needs",
        revisions: REVISIONS_SINCE_SPLIT,
        standard: false,
        data: Some("MissingRequiredClientCapabilityErrorData"),
    },
    DefinedCode {
        code: -32020,
        name: "HEADER_MISMATCH",
        meaning: "an HTTP header contradicts the body",
        revisions: REVISIONS_SINCE_SPLIT,
        standard: false,
        data: None,
    },
    DefinedCode {
        code: -32002,
        name: "RESOURCE_NOT_FOUND",
        meaning: "no such resource",
        revisions: REVISIONS_BEFORE_SPLIT,
        standard: false,
        data: None,
    },
];

const fn standard(code: i64, name: &'static str, meaning: &'static str) -> DefinedCode {
    DefinedCode { code, name, meaning, revisions: Revisions::ALL, standard: true, data: None }
}

/// The entry for `code` in `revision`, if that revision defines it.
pub fn defined_code(revision: Revision, code: i64) -> Option<&'static DefinedCode> {
    DEFINED_CODES
        .iter()
        .find(|defined| defined.code == code && defined.revisions.contains(revision))
}

/// What a revision says about an error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorCodeClass {
    /// One of the five codes of JSON-RPC 2.0.
    Standard(&'static DefinedCode),
    /// A code defined by this revision of MCP.
    McpDefined(&'static DefinedCode),
    /// −32099…−32000 before 2026-07-28: free for servers.
    ServerRange,
    /// −32019…−32000 from 2026-07-28 on: tolerated in existing implementations, not for new code.
    LegacyRange,
    /// From 2026-07-28 on: a code of an earlier revision that must no longer be sent.
    Retired(&'static DefinedCode),
    /// −32099…−32020 from 2026-07-28 on, undefined: only the protocol may add codes here.
    ProtocolUndefined,
    /// −32768…−32100, undefined: reserved by JSON-RPC.
    ReservedUndefined,
    /// Outside the range that JSON-RPC reserves: the application's own.
    Application,
    /// In a range that the current policy accepts although the revision does not.
    Permitted,
    /// Outside the ranges of a closed policy.
    NotPermitted,
}

impl ErrorCodeClass {
    /// Whether a peer may send the code without violating a rule (tolerated codes included).
    pub const fn is_acceptable(self) -> bool {
        !matches!(
            self,
            ErrorCodeClass::Retired(_)
                | ErrorCodeClass::NotPermitted
                | ErrorCodeClass::ProtocolUndefined
                | ErrorCodeClass::ReservedUndefined
        )
    }
}

/// Classifies `code` in `revision`.
///
/// ```
/// use mcp_core::Revision;
/// use mcp_schema::{ErrorCodeClass, classify_error_code};
///
/// let class = classify_error_code(Revision::V2025_06_18, -32050);
/// assert_eq!(class, ErrorCodeClass::ServerRange);
/// let class = classify_error_code(Revision::V2026_07_28, -32050);
/// assert_eq!(class, ErrorCodeClass::ProtocolUndefined);
/// ```
pub fn classify_error_code(revision: Revision, code: i64) -> ErrorCodeClass {
    if let Some(defined) = defined_code(revision, code) {
        return if defined.standard {
            ErrorCodeClass::Standard(defined)
        } else {
            ErrorCodeClass::McpDefined(defined)
        };
    }
    if !RESERVED.contains(&code) {
        return ErrorCodeClass::Application;
    }
    if !SERVER.contains(&code) {
        return ErrorCodeClass::ReservedUndefined;
    }
    if REVISIONS_BEFORE_SPLIT.contains(revision) {
        return ErrorCodeClass::ServerRange;
    }
    if let Some(retired) = DEFINED_CODES.iter().find(|defined| defined.code == code) {
        return ErrorCodeClass::Retired(retired);
    }
    if LEGACY.contains(&code) {
        ErrorCodeClass::LegacyRange
    } else {
        ErrorCodeClass::ProtocolUndefined
    }
}

/// The codes accepted in addition to, or instead of, those of the revision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErrorCodePolicy {
    permitted: &'static [RangeInclusive<i64>],
    /// Whether codes outside these ranges are rejected, regardless of the revision.
    closed: bool,
}

impl ErrorCodePolicy {
    /// The specification alone.
    pub const SPEC: ErrorCodePolicy = ErrorCodePolicy { permitted: &[], closed: false };

    /// Base JSON-RPC 2.0: servers may use their whole range.
    pub const JSON_RPC: ErrorCodePolicy =
        ErrorCodePolicy { permitted: &[-32099..=-32000], closed: false };

    /// The ranges of the profile `erlmcp`, and no others.
    pub const ERLMCP: ErrorCodePolicy = ErrorCodePolicy {
        permitted: &[-32700..=-32600, -32113..=-32000, 1001..=1089],
        closed: true,
    };

    /// The specification, plus everything inside `ranges`.
    pub const fn permitting(ranges: &'static [RangeInclusive<i64>]) -> ErrorCodePolicy {
        ErrorCodePolicy { permitted: ranges, closed: false }
    }

    /// Like [`classify_error_code`], but a code that the revision objects to is
    /// [`Permitted`](ErrorCodeClass::Permitted) if it lies in one of the policy's ranges.
    pub fn classify(self, revision: Revision, code: i64) -> ErrorCodeClass {
        let class = classify_error_code(revision, code);
        let settled = class.is_acceptable() && class != ErrorCodeClass::LegacyRange;
        let permitted = self.permitted.iter().any(|range| range.contains(&code));
        match (permitted, settled) {
            (false, _) if self.closed => ErrorCodeClass::NotPermitted,
            (true, false) => ErrorCodeClass::Permitted,
            _ => class,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(revision: Revision, code: i64, expected: &str) {
        let class = match classify_error_code(revision, code) {
            ErrorCodeClass::Standard(defined) | ErrorCodeClass::McpDefined(defined) => {
                defined.name.to_owned()
            }
            ErrorCodeClass::Retired(defined) => format!("retired {}", defined.name),
            other => format!("{other:?}"),
        };
        assert_eq!(class, expected, "{revision} {code}");
    }

    #[test]
    fn the_five_standard_codes_hold_everywhere() {
        for revision in Revision::ALL {
            check(revision, -32700, "PARSE_ERROR");
            check(revision, -32600, "INVALID_REQUEST");
            check(revision, -32601, "METHOD_NOT_FOUND");
            check(revision, -32602, "INVALID_PARAMS");
            check(revision, -32603, "INTERNAL_ERROR");
            check(revision, -32604, "ReservedUndefined");
            check(revision, -32768, "ReservedUndefined");
            check(revision, -32769, "Application");
            check(revision, -1, "Application");
            check(revision, i64::MIN, "Application");
        }
    }

    #[test]
    fn the_server_range_is_free_until_it_is_split() {
        let before = Revision::V2025_11_25;
        check(before, -32000, "ServerRange");
        check(before, -32022, "ServerRange");
        check(before, -32099, "ServerRange");
        check(before, -32100, "ReservedUndefined");
        check(before, -32002, "RESOURCE_NOT_FOUND");
        check(before, -32042, "URL_ELICITATION_REQUIRED");
        check(Revision::V2025_06_18, -32042, "ServerRange");

        let after = Revision::V2026_07_28;
        check(after, -32000, "LegacyRange");
        check(after, -32019, "LegacyRange");
        check(after, -32020, "HEADER_MISMATCH");
        check(after, -32022, "UNSUPPORTED_PROTOCOL_VERSION");
        check(after, -32023, "ProtocolUndefined");
        check(after, -32099, "ProtocolUndefined");
        check(after, -32002, "retired RESOURCE_NOT_FOUND");
        check(after, -32042, "retired URL_ELICITATION_REQUIRED");
    }

    #[test]
    fn a_policy_permits_its_ranges_and_nothing_else() {
        let policy = ErrorCodePolicy::ERLMCP;
        let class = |code| policy.classify(Revision::V2026_07_28, code);
        assert_eq!(class(-32650), ErrorCodeClass::Permitted);
        assert_eq!(class(-32113), ErrorCodeClass::Permitted);
        assert_eq!(class(-32010), ErrorCodeClass::Permitted);
        assert_eq!(class(1001), ErrorCodeClass::Application);
        for code in [-32701, -32599, -32114, -31999, 0, 1000, 1090, i64::MAX] {
            assert_eq!(class(code), ErrorCodeClass::NotPermitted, "{code}");
        }
        assert!(matches!(class(-32601), ErrorCodeClass::Standard(_)));
        let strict = ErrorCodePolicy::SPEC;
        assert_eq!(strict.classify(Revision::V2026_07_28, -32010), ErrorCodeClass::LegacyRange);
    }

    #[test]
    fn the_table_is_sorted_and_has_no_duplicates() {
        assert!(DEFINED_CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
    }

    #[test]
    fn shapes_of_data_are_defined_where_the_code_is() {
        for defined in DEFINED_CODES {
            let Some(name) = defined.data else { continue };
            for revision in defined.revisions.iter() {
                assert!(crate::definition(revision, name).is_some(), "{revision} {name}");
            }
        }
    }
}
