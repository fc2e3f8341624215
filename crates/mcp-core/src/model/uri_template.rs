use std::collections::BTreeMap;

/// A URI template that URIs can be matched against: literal text and variables, `{name}` for one
/// segment of a path and `{+name}` for any text.
///
/// A `{name}` is safe to use as a file name: decoded, it contains no `/`, `\\` or NUL, and is neither
/// `.` nor `..`. A `{+name}` may be anything, `../../etc/passwd` for example; a handler that uses it
/// as a path must check it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UriTemplate {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Variable { name: String, takes_slashes: bool },
}

/// Why a template is not supported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe them")]
#[non_exhaustive]
pub enum UriTemplateError {
    #[error("unbalanced braces")]
    Braces,
    #[error("`{{{0}}}` is not a simple variable such as `{{name}}` or `{{+name}}`")]
    Variable(String),
    #[error("two adjacent variables are ambiguous")]
    Adjacent,
    #[error("more than {0} variables")]
    TooMany(usize),
}

/// The cost of matching grows with every variable.
const MAX_VARIABLES: usize = 16;

impl UriTemplate {
    /// Parses a template.
    ///
    /// # Errors
    ///
    /// If it has anything but text and simple variables.
    pub fn parse(template: &str) -> Result<UriTemplate, UriTemplateError> {
        let mut parts: Vec<Part> = Vec::new();
        let mut rest = template;
        while !rest.is_empty() {
            let text_end = rest.find(['{', '}']).unwrap_or(rest.len());
            let (text, after) = rest.split_at(text_end);
            if !text.is_empty() {
                parts.push(Part::Text(text.to_owned()));
            }
            let Some(inner) = after.strip_prefix('{') else {
                if after.is_empty() {
                    break;
                }
                return Err(UriTemplateError::Braces);
            };
            let (expression, after) = inner.split_once('}').ok_or(UriTemplateError::Braces)?;
            if matches!(parts.last(), Some(Part::Variable { .. })) {
                return Err(UriTemplateError::Adjacent);
            }
            parts.push(variable(expression)?);
            rest = after;
        }
        let variables = parts.iter().filter(|part| matches!(part, Part::Variable { .. })).count();
        if variables > MAX_VARIABLES {
            return Err(UriTemplateError::TooMany(MAX_VARIABLES));
        }
        Ok(UriTemplate { parts })
    }

    /// The decoded values of the variables for which the template expands to `uri`; `None` if it does
    /// not match.
    pub fn matches(&self, uri: &str) -> Option<BTreeMap<String, String>> {
        let mut values = BTreeMap::new();
        let mut rest = uri;
        let mut parts = self.parts.iter().peekable();
        while let Some(part) = parts.next() {
            match part {
                Part::Text(text) => rest = rest.strip_prefix(text.as_str())?,
                Part::Variable { name, takes_slashes } => {
                    let end = match parts.peek() {
                        Some(Part::Text(next)) if *takes_slashes => rest.rfind(next.as_str())?,
                        Some(Part::Text(next)) => rest.find(next.as_str())?,
                        _ => rest.len(),
                    };
                    let (value, after) = rest.split_at_checked(end)?;
                    if value.is_empty() {
                        return None;
                    }
                    // Checked after decoding: `..%2F` must not become `../` behind the check.
                    let value = decode(value)?;
                    if !takes_slashes && !is_segment(&value) {
                        return None;
                    }
                    values.insert(name.clone(), value);
                    rest = after;
                }
            }
        }
        rest.is_empty().then_some(values)
    }
}

fn variable(expression: &str) -> Result<Part, UriTemplateError> {
    let (name, takes_slashes) = match expression.strip_prefix('+') {
        Some(name) => (name, true),
        None => (expression, false),
    };
    let is_plain = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-%".contains(&byte));
    if !is_plain {
        return Err(UriTemplateError::Variable(expression.to_owned()));
    }
    Ok(Part::Variable { name: name.to_owned(), takes_slashes })
}

/// Whether a decoded value is one path segment, other than `.` and `..`.
fn is_segment(value: &str) -> bool {
    !value.contains(['/', '\\', '\0']) && value != "." && value != ".."
}

/// Decodes percent-encoding; `None` if the result is not UTF-8.
fn decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(template: &str, uri: &str, expected: Option<&[(&str, &str)]>) {
        let found = UriTemplate::parse(template).unwrap().matches(uri);
        let expected = expected.map(|pairs| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        });
        assert_eq!(found, expected, "{template} {uri}");
    }

    #[test]
    fn variables_capture_their_part_of_the_uri() {
        check("test://template/{id}/data", "test://template/123/data", Some(&[("id", "123")]));
        check("test://template/{id}/data", "test://template/1/2/data", None);
        check("test://template/{id}/data", "test://template//data", None);
        check("file:///{+path}", "file:///a/b%20c", Some(&[("path", "a/b c")]));
        check("a:{x}-{y}", "a:1-2-3", Some(&[("x", "1"), ("y", "2-3")]));
        check("a:b", "a:b", Some(&[]));
        check("a:{x}", "a:%ff", None);
    }

    #[test]
    fn a_plain_variable_never_leaves_its_segment() {
        for escape in
            ["..%2F..%2Fetc%2Fpasswd", "a%2fb", "%2F", "a%5Cb", "a%00b", "..", "%2e%2E", "."]
        {
            check("notes://{name}", &format!("notes://{escape}"), None);
            check("notes://{name}/text", &format!("notes://{escape}/text"), None);
        }
        // Decoded once, never twice.
        check("notes://{name}", "notes://a%252Fb", Some(&[("name", "a%2Fb")]));
        check("notes://{name}", "notes://...", Some(&[("name", "...")]));
        check("notes://{+path}", "notes://..%2Fb", Some(&[("path", "../b")]));
    }

    #[test]
    fn unsupported_templates_are_rejected() {
        for template in ["a:{x", "a:x}", "a:{}", "a:{x,y}", "a:{?x}", "a:{x}{y}"] {
            assert!(UriTemplate::parse(template).is_err(), "{template}");
        }
    }
}
