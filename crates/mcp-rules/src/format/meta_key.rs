//! The grammar of `_meta` keys and of extension identifiers: an optional prefix of dot-separated
//! labels and a slash, then a name.

use mcp_core::Revision;

/// Whether `key` matches the grammar.
pub(crate) fn is_valid(key: &[u8]) -> bool {
    let (prefix, name) = split(key);
    prefix.is_none_or(|prefix| labels(prefix).all(is_label)) && is_name(name)
}

/// Whether `key` has a prefix.
pub(crate) fn has_prefix(key: &[u8]) -> bool {
    split(key).0.is_some()
}

/// Whether `revision` reserves the prefix of `key` for the protocol itself.
pub(crate) fn is_reserved(key: &[u8], revision: Revision) -> bool {
    let Some(prefix) = split(key).0 else {
        return false;
    };
    let label = if revision >= Revision::V2025_11_25 {
        labels(prefix).nth(1)
    } else {
        // Earlier revisions have the word before the last label, as in `modelcontextprotocol.io/`.
        labels(prefix).rev().nth(1)
    };
    label.is_some_and(|label| label == b"modelcontextprotocol" || label == b"mcp")
}

/// The prefix without its slash, and the name.
fn split(key: &[u8]) -> (Option<&[u8]>, &[u8]) {
    match key.iter().position(|byte| *byte == b'/') {
        Some(slash) => (Some(&key[..slash]), &key[slash + 1..]),
        None => (None, key),
    }
}

fn labels(prefix: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    prefix.split(|byte| *byte == b'.')
}

fn is_label(label: &[u8]) -> bool {
    matches!(label, [first, ..] if first.is_ascii_alphabetic())
        && matches!(label, [.., last] if last.is_ascii_alphanumeric())
        && label.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

/// The empty name is valid.
fn is_name(name: &[u8]) -> bool {
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    match name {
        [] => true,
        [first, .., last] => {
            first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric() && name.iter().all(inside)
        }
        [only] => only.is_ascii_alphanumeric(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_an_optional_prefix_and_a_name() {
        for key in [
            "",
            "x",
            "progressToken",
            "com.example-2.a1/trace_id.x-1",
            "com.example/",
            "a/b",
            "io.modelcontextprotocol/related-task",
        ] {
            assert!(is_valid(key.as_bytes()), "{key}");
        }
        for key in [
            "_internal",
            "a b",
            "-x",
            "x-",
            "x.",
            "3d.example/x",
            "com.example/trace/id",
            "https://example.com/x",
            "/x",
            "com..example/x",
            "com.example-/x",
            "com.exa_mple/x",
            ".com/x",
            "größe",
        ] {
            assert!(!is_valid(key.as_bytes()), "{key}");
        }
    }

    #[test]
    fn reserved_prefixes_were_turned_round() {
        let reserved = |key: &str, revision| is_reserved(key.as_bytes(), revision);
        for key in ["io.modelcontextprotocol/x", "com.mcp.tools/x", "dev.mcp/"] {
            assert!(reserved(key, Revision::V2025_11_25), "{key}");
            assert!(reserved(key, Revision::V2026_07_28), "{key}");
        }
        for key in ["modelcontextprotocol.io/x", "mcp.dev/x", "tools.mcp.com/x"] {
            assert!(reserved(key, Revision::V2025_06_18), "{key}");
        }
        for key in ["io.modelcontextprotocol/x", "mcp/x", "com.example/mcp", "mcp"] {
            assert!(!reserved(key, Revision::V2025_06_18), "{key}");
        }
        for key in ["com.example.mcp/x", "mcp/x", "mcp.dev/x", "io.mcpx/x"] {
            assert!(!reserved(key, Revision::V2025_11_25), "{key}");
        }
    }
}
