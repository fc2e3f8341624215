use serde_json::Value;

/// Maximum number of schemas to search for an anchor.
const SEARCHED: usize = 10_000;

/// A schema document with resolution of references. Nothing is fetched: references to other
/// documents do not resolve.
#[derive(Debug, Clone, Copy)]
pub(super) struct Document<'s> {
    root: &'s Value,
}

impl<'s> Document<'s> {
    pub(super) fn new(root: &'s Value) -> Document<'s> {
        Document { root }
    }

    pub(super) fn root(self) -> &'s Value {
        self.root
    }

    /// Resolves a reference.
    pub(super) fn resolve(self, reference: &str) -> Option<&'s Value> {
        let fragment = match reference.strip_prefix('#') {
            Some(fragment) => fragment,
            // The reference may include the document's own `$id`.
            None => reference.strip_prefix(self.root.get("$id")?.as_str()?)?.strip_prefix('#')?,
        };
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.root.pointer(&percent_decoded(fragment)?);
        }
        self.anchored(fragment)
    }

    fn anchored(self, name: &str) -> Option<&'s Value> {
        let mut pending = vec![self.root];
        let mut left = SEARCHED;
        while let Some(value) = pending.pop() {
            left = left.checked_sub(1)?;
            let named = |keyword: &str| value.get(keyword).and_then(Value::as_str) == Some(name);
            if named("$anchor") || named("$dynamicAnchor") {
                return Some(value);
            }
            match value {
                Value::Object(members) => pending.extend(members.values()),
                Value::Array(elements) => pending.extend(elements),
                _ => {}
            }
        }
        None
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_within_the_document_are_followed() {
        let schema = json!({
            "$id": "https://example.com/a",
            "$defs": { "a/b": { "type": "string" }, "é": { "$anchor": "here", "type": "null" } },
        });
        let document = Document::new(&schema);
        let kind = |reference| Some(document.resolve(reference)?["type"].as_str()?.to_owned());
        assert_eq!(kind("#/$defs/a~1b").as_deref(), Some("string"));
        assert_eq!(kind("#/$defs/%C3%A9").as_deref(), Some("null"));
        assert_eq!(kind("https://example.com/a#here").as_deref(), Some("null"));
        assert_eq!(document.resolve("#"), Some(&schema));
        assert_eq!(document.resolve("#/$defs/%"), None);
        assert_eq!(document.resolve("#/nowhere"), None);
        assert_eq!(document.resolve("other.json#/a"), None);
    }
}
