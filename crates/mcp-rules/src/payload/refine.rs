//! "The more specific rule wins": schema violations that have a rule of their own.
//!
//! One table: the payload, the place in it, the kind of violation, and the rule that replaces the
//! general one. A missing member counts at the place where it is missing.

use mcp_schema::{Method, Violation};

use super::check::Part;
use crate::{
    Findings, RuleMeta,
    features::{
        caching, cancellation, completion, elicitation, inputs, logging, modern, progress,
        subscriptions, tools::schema,
    },
};

/// A place in a payload and the rule that covers it.
struct Refinement {
    /// The rule to report instead.
    rule: &'static RuleMeta,
    /// The parts of a message it applies to.
    parts: &'static [Part],
    /// The methods it applies to; empty means any.
    methods: &'static [&'static str],
    /// JSON pointer; `*` matches one step, a final `**` any number.
    place: &'static str,
    /// The violations it covers.
    what: What,
    /// The number of steps that lead to the subject, which is reported once.
    subject: usize,
}

/// A kind of violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Any,
    /// The member is missing.
    Missing,
    /// The member is present and wrong.
    Wrong,
    /// The list is too long.
    TooMany,
}

impl What {
    fn covers(self, keyword: &str, missing: bool) -> bool {
        match self {
            What::Any => true,
            What::Missing => missing,
            What::Wrong => !missing,
            What::TooMany => keyword == "maxItems",
        }
    }
}

const REQUEST: &[Part] = &[Part::Params];
const CALL: &[Part] = &[Part::Params, Part::NotificationParams];
const NOTIFICATION: &[Part] = &[Part::NotificationParams];
const RESULT: &[Part] = &[Part::Result];
const ASKED: &[Part] = &[Part::Params, Part::InputRequest];

const LISTED: &[&str] = &["tools/list"];
const LISTENED: &[&str] = &["subscriptions/listen"];
const SAMPLED: &[&str] = &["sampling/createMessage"];
const ELICITED: &[&str] = &["elicitation/create"];
const LOGGED: &[&str] = &["logging/setLevel", "notifications/message"];

#[rustfmt::skip]
static REFINEMENTS: &[Refinement] = {
    const fn row(rule: &'static RuleMeta, parts: &'static [Part], methods: &'static [&'static str], place: &'static str, what: What, subject: usize) -> Refinement {
        Refinement { rule, parts, methods, place, what, subject }
    }
    use What::{Any, Missing, TooMany, Wrong};
    &[
        row(&modern::REQUEST_META_MISSING, REQUEST, &[], "/_meta", Any, 0),
        row(&modern::REQUEST_META_MISSING, REQUEST, &[], "/_meta/io.modelcontextprotocol~1protocolVersion", Any, 0),
        row(&modern::REQUEST_META_MISSING, REQUEST, &[], "/_meta/io.modelcontextprotocol~1clientCapabilities", Any, 0),
        row(&progress::TOKEN_TYPE, REQUEST, &[], "/_meta/progressToken", Wrong, 2),
        row(&progress::TOKEN_TYPE, NOTIFICATION, &["notifications/progress"], "/progressToken", Wrong, 1),
        row(&cancellation::MISSING_REQUEST_ID, NOTIFICATION, &["notifications/cancelled"], "/requestId", Missing, 0),
        row(&logging::LEVEL_INVALID, REQUEST, &[], "/_meta/io.modelcontextprotocol~1logLevel", Wrong, 2),
        row(&logging::LEVEL_INVALID, CALL, LOGGED, "/level", Wrong, 1),
        row(&inputs::RESPONSE_TYPE, REQUEST, inputs::RETRIED, "/inputResponses/*/**", Any, 2),
        row(&subscriptions::RESULT_ID, RESULT, LISTENED, "/_meta", Missing, 0),
        row(&subscriptions::RESULT_ID, RESULT, LISTENED, "/_meta/io.modelcontextprotocol~1subscriptionId", Any, 0),
        row(&caching::HINTS_MISSING, RESULT, caching::CACHEABLE, "/ttlMs", Missing, 0),
        row(&caching::HINTS_MISSING, RESULT, caching::CACHEABLE, "/cacheScope", Missing, 0),
        row(&caching::HINTS_INVALID, RESULT, caching::CACHEABLE, "/ttlMs", Wrong, 1),
        row(&caching::HINTS_INVALID, RESULT, caching::CACHEABLE, "/cacheScope", Wrong, 1),
        row(&completion::TOO_MANY_VALUES, RESULT, &["completion/complete"], "/completion/values", TooMany, 2),
        row(&elicitation::SCHEMA_UNSUPPORTED, ASKED, ELICITED, "/requestedSchema/*/**", Any, 3),
        row(&schema::INPUT_NOT_OBJECT, RESULT, LISTED, "/tools/*/inputSchema", Any, 3),
        row(&schema::INPUT_NOT_OBJECT, RESULT, LISTED, "/tools/*/inputSchema/type", Any, 3),
        row(&schema::INPUT_INVALID, RESULT, LISTED, "/tools/*/inputSchema/*/**", Any, 3),
        row(&schema::OUTPUT_NOT_OBJECT, RESULT, LISTED, "/tools/*/outputSchema", Any, 3),
        row(&schema::OUTPUT_NOT_OBJECT, RESULT, LISTED, "/tools/*/outputSchema/type", Any, 3),
        row(&schema::OUTPUT_INVALID, RESULT, LISTED, "/tools/*/outputSchema/*/**", Any, 3),
        row(&schema::INPUT_NOT_OBJECT, ASKED, SAMPLED, "/tools/*/inputSchema", Any, 3),
        row(&schema::INPUT_NOT_OBJECT, ASKED, SAMPLED, "/tools/*/inputSchema/type", Any, 3),
        row(&schema::INPUT_INVALID, ASKED, SAMPLED, "/tools/*/inputSchema/*/**", Any, 3),
        row(&schema::OUTPUT_NOT_OBJECT, ASKED, SAMPLED, "/tools/*/outputSchema", Any, 3),
        row(&schema::OUTPUT_NOT_OBJECT, ASKED, SAMPLED, "/tools/*/outputSchema/type", Any, 3),
        row(&schema::OUTPUT_INVALID, ASKED, SAMPLED, "/tools/*/outputSchema/*/**", Any, 3),
    ]
};

/// A rule that describes a violation better than the general one, and its subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refined {
    pub(crate) rule: &'static RuleMeta,
    /// JSON pointer; the rule is reported once for it.
    pub(crate) subject: String,
}

/// Returns the rule that describes `violation` better than the general one of its part.
pub(crate) fn more_specific(
    part: Part,
    method: &'static Method,
    violation: &Violation,
    findings: &Findings<'_>,
) -> Option<Refined> {
    let mut place = violation.instance_path.clone();
    let missing = violation
        .params
        .get("missingProperty")
        .and_then(|name| name.as_str())
        .filter(|_| violation.keyword == "required");
    if let Some(missing) = missing {
        place.push('/');
        place.push_str(&missing.replace('~', "~0").replace('/', "~1"));
    }
    let is_missing = missing.is_some();
    let found = candidates(part, method, &place, findings)
        .find(|entry| entry.what.covers(&violation.keyword, is_missing))?;
    let subject = place.split('/').take(found.subject + 1);
    Some(Refined { rule: found.rule, subject: subject.collect::<Vec<_>>().join("/") })
}

/// Returns the rule for a message that lacks `params` altogether, and with it everything inside.
pub(crate) fn missing_params(
    part: Part,
    method: &'static Method,
    findings: &Findings<'_>,
) -> Option<&'static RuleMeta> {
    let lacking = |place| {
        candidates(part, method, place, findings).find(|entry| entry.what.covers("required", true))
    };
    ["/_meta", "/requestId"].into_iter().find_map(lacking).map(|entry| entry.rule)
}

fn candidates<'p>(
    part: Part,
    method: &'static Method,
    place: &'p str,
    findings: &Findings<'p>,
) -> impl Iterator<Item = &'static Refinement> {
    REFINEMENTS
        .iter()
        .filter(move |entry| entry.parts.contains(&part))
        .filter(|entry| entry.methods.is_empty() || entry.methods.contains(&method.name))
        .filter(move |entry| matches(entry.place, place))
        // A rule in a layer the profile leaves out cannot report the fault.
        .filter(|entry| {
            entry.rule.applies.contains(findings.revision())
                && !findings.settings().stops_before(entry.rule.layer)
        })
}

fn matches(pattern: &str, place: &str) -> bool {
    let mut wanted = pattern.split('/');
    let mut steps = place.split('/');
    loop {
        match (wanted.next(), steps.next()) {
            (Some("**"), _) | (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some(name), Some(step)) if name == step => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn places_match_step_by_step() {
        for (pattern, place) in [
            ("/tools/*/inputSchema", "/tools/3/inputSchema"),
            ("/tools/*/inputSchema/**", "/tools/3/inputSchema/type"),
            ("/tools/*/inputSchema/**", "/tools/3/inputSchema"),
            ("/tools/*/inputSchema/*/**", "/tools/3/inputSchema/properties/a"),
            ("/tools/*/inputSchema/*/**", "/tools/3/inputSchema/required"),
            ("", ""),
        ] {
            assert!(matches(pattern, place), "{pattern} {place}");
        }
        for (pattern, place) in [
            ("/tools/*/inputSchema", "/tools/3/inputSchema/type"),
            ("/tools/*/inputSchema/*/**", "/tools/3/inputSchema"),
            ("/tools/*", "/tools"),
            ("/a", "/b"),
        ] {
            assert!(!matches(pattern, place), "{pattern} {place}");
        }
    }
}
