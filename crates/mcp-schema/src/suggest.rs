//! The known name nearest to an unknown one.
//!
//! Two steps: names that differ only in case, `_` and `-` always match; otherwise the edit distance
//! must be small enough for a typo.
//!
//! Peers choose both the name and the candidates, so the work is limited: most candidates are ruled
//! out by their length and letters, and only a limited number of the others are compared.

/// Longer names are not typos, and comparing two takes quadratic time.
const MAX_LENGTH: usize = 128;
/// Maximum number of candidates considered.
const MAX_CANDIDATES: usize = 1_000;
/// Maximum number of candidates whose edit distance is computed.
const MAX_COMPARED: usize = 32;

/// The candidate that `unknown` was probably meant to be.
///
/// Never a far-fetched one: at most one edit per four characters, and no suggestion for names
/// shorter than three. Among equally near candidates the first wins.
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
    if unknown.len() > MAX_LENGTH {
        return None;
    }
    let folded = fold(unknown);
    let length = folded.chars().count();
    if length < 3 {
        return None;
    }
    let tolerance = (length / 4).clamp(1, 3);
    let letters = Letters::of(folded.chars());
    let mut best: Option<(usize, &'c str)> = None;
    let mut compared = 0;
    for candidate in candidates.into_iter().take(MAX_CANDIDATES) {
        if candidate == unknown
            || candidate.len() > MAX_LENGTH
            || letters.least_distance(&Letters::of(folded_letters(candidate))) > tolerance
        {
            continue;
        }
        let folded_candidate = fold(candidate);
        if folded_candidate == folded {
            return Some(candidate);
        }
        if compared == MAX_COMPARED {
            continue;
        }
        compared += 1;
        let distance = strsim::osa_distance(&folded, &folded_candidate);
        if distance <= tolerance && best.is_none_or(|(nearest, _)| distance < nearest) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Lower case without word separators; `/` and `.` separate parts and stay.
fn fold(name: &str) -> String {
    folded_letters(name).collect()
}

fn folded_letters(name: &str) -> impl Iterator<Item = char> + '_ {
    name.chars()
        .filter(|character| !matches!(character, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
}

/// How often each letter occurs, in 32 buckets.
struct Letters([u8; 32]);

impl Letters {
    fn of(letters: impl Iterator<Item = char>) -> Letters {
        let mut counts = [0_u8; 32];
        for letter in letters {
            let count = &mut counts[u32::from(letter) as usize % 32];
            *count = count.saturating_add(1);
        }
        Letters(counts)
    }

    /// A lower bound of the edit distance: each edit adds at most one letter and removes at most one.
    fn least_distance(&self, other: &Letters) -> usize {
        let (mut more, mut less) = (0_usize, 0_usize);
        for (ours, theirs) in self.0.iter().zip(&other.0) {
            more += usize::from(ours.saturating_sub(*theirs));
            less += usize::from(theirs.saturating_sub(*ours));
        }
        more.max(less)
    }
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
    fn letters_never_rule_out_what_is_near_enough() {
        for (left, right) in
            [("tools/call", "tool/call"), ("abc", "acb"), ("ping", "pinq"), ("", "a")]
        {
            let letters = |text: &str| Letters::of(folded_letters(text));
            let least = letters(left).least_distance(&letters(right));
            assert!(least <= strsim::osa_distance(left, right), "{left} {right}");
        }
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
