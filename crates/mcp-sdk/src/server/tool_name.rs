//! Tool names that clients may reject.

/// The maximum length of a name that the specification recommends.
const MAX_LENGTH: usize = 128;

/// Logs a warning about an unusual name. The tool is served anyway: the format is only a
/// recommendation, and only of newer revisions.
pub(super) fn warn_if_unusual(name: &str) {
    if let Some(fault) = fault_of(name) {
        tracing::warn!(tool = name, "{fault}; some clients and models will reject the tool");
    }
}

fn fault_of(name: &str) -> Option<&'static str> {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !name.chars().all(is_usual) {
        Some("a tool name should have only ASCII letters, digits, `_`, `-` and `.`")
    } else if name.len() > MAX_LENGTH {
        Some("a tool name should have at most 128 characters")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_outside_the_recommendation_have_a_fault() {
        for name in ["a b/\u{fc}", "a b", "a/b", "\u{fc}", "a:b", &"a".repeat(129)] {
            assert!(fault_of(name).is_some(), "{name}");
        }
        for name in ["a", "get_user", "DATA_EXPORT-v2.1", &"a".repeat(128)] {
            assert!(fault_of(name).is_none(), "{name}");
        }
    }
}
