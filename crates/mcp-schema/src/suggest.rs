//! The nearest known name to one that nobody knows.
//!
//! Two steps: the same letters in another spelling (case, `_`, `-`) always match; otherwise a
//! candidate has to be within a distance that a typing slip explains.

/// The candidate that `unknown` was probably meant to be.
///
/// Never a far-fetched one: at most one edit per four characters, and no suggestion for names
/// shorter than three. Equally near candidates are settled by their order.
///
/// ```
/// use mcp_schema::nearest;
///
/// let methods = ["tools/call", "tools/list", "logging/setLevel"];
/// assert_eq!(nearest("tool/call", methods), Some("tools/call"));
/// assert_eq!(nearest("logging/set_level", methods), Some("logging/setLevel"));
/// assert_eq!(nearest("weather/forecast", methods), None);
/// ```
pub fn nearest<'c>(
    unknown: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    // Longer ones are not slips of the pen, and the distance is quadratic in the length.
    const MAX_LENGTH: usize = 128;
    if unknown.len() > MAX_LENGTH {
        return None;
    }
    let folded = fold(unknown);
    let length = folded.chars().count();
    if length < 3 {
        return None;
    }
    let tolerance = (length / 4).clamp(1, 3);
    let mut best: Option<(usize, &'c str)> = None;
    for candidate in candidates {
        if candidate == unknown || candidate.len() > MAX_LENGTH {
            continue;
        }
        let folded_candidate = fold(candidate);
        if folded_candidate == folded {
            return Some(candidate);
        }
        let distance = strsim::osa_distance(&folded, &folded_candidate);
        if distance <= tolerance && best.is_none_or(|(nearest, _)| distance < nearest) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Lower case without the marks between words; `/` and `.` separate parts and stay.
fn fold(name: &str) -> String {
    name.chars()
        .filter(|character| !matches!(character, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const METHODS: &[&str] = &[
        "completion/complete",
        "elicitation/create",
        "initialize",
        "logging/setLevel",
        "notifications/initialized",
        "notifications/tools/list_changed",
        "ping",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "roots/list",
        "sampling/createMessage",
        "tools/call",
        "tools/list",
    ];

    #[track_caller]
    fn check(unknown: &str, expected: Option<&str>) {
        assert_eq!(nearest(unknown, METHODS.iter().copied()), expected, "{unknown}");
    }

    #[test]
    fn another_spelling_of_the_same_words_always_matches() {
        check("logging/set_level", Some("logging/setLevel"));
        check("sampling/create_message", Some("sampling/createMessage"));
        check("Sampling/CreateMessage", Some("sampling/createMessage"));
        check("notifications/tools/listChanged", Some("notifications/tools/list_changed"));
    }

    #[test]
    fn slips_match_the_nearest() {
        check("tool/call", Some("tools/call"));
        check("tools/lsit", Some("tools/list"));
        check("initialise", Some("initialize"));
        check("resource/list", Some("resources/list"));
        check("pnig", Some("ping"));
    }

    #[test]
    fn far_names_get_no_suggestion() {
        check("weather/forecast", None);
        check("tools/execute", None);
        check("pi", None);
        check("", None);
        check("tasks/get", None);
        check(&"tools/call".repeat(100), None);
        check("ping", None);
    }
}
