//! Null where another type is expected: usually a member that should have been omitted.

use mcp_json::{Limits, Node, Tape};
use mcp_schema::{Definition, Schemas, Violation};
use serde_json::Value;

/// Maximum nulls examined per payload.
const MOST: usize = 16;
/// The parameter of a violation that marks the member as optional.
const OPTIONAL: &str = "optional";

/// Whether a violation is about a null.
pub(crate) fn is_concerned(violation: &Violation) -> bool {
    violation.keyword == "type" && violation.message.starts_with("null ")
}

/// Returns what to do about it.
pub(crate) fn help(violation: &Violation) -> Option<String> {
    let name = violation.instance_path.rsplit('/').next().unwrap_or_default();
    if violation.params.get(OPTIONAL) == Some(&Value::Bool(true)) {
        return Some(format!("null is a value: leave `{name}` out"));
    }
    let wanted = match violation.params.get("type")? {
        Value::String(name) => with_article(name),
        Value::Array(names) => names
            .iter()
            .filter_map(Value::as_str)
            .map(with_article)
            .collect::<Vec<_>>()
            .join(" or "),
        _ => return None,
    };
    Some(format!("null is a value: send {wanted}"))
}

fn with_article(name: &str) -> String {
    let article = if name.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// Marks the null members that are optional: those whose absence would not be a violation.
#[cold]
pub(crate) fn mark_optional(
    schemas: &Schemas,
    definition: &'static Definition,
    payload: Node<'_>,
    violations: &mut [Violation],
) {
    let mut nulls = violations.iter_mut().filter(|violation| is_concerned(violation)).peekable();
    if nulls.peek().is_none() {
        return;
    }
    let whole = payload.to_value();
    for violation in nulls.take(MOST) {
        if is_optional(schemas, definition, whole.clone(), &violation.instance_path)
            && let Value::Object(params) = &mut violation.params
        {
            params.insert(OPTIONAL.into(), true.into());
        }
    }
}

fn is_optional(
    schemas: &Schemas,
    definition: &'static Definition,
    mut payload: Value,
    path: &str,
) -> bool {
    let Some((parent, name)) = path.rsplit_once('/') else { return false };
    let name = name.replace("~1", "/").replace("~0", "~");
    let object = payload.pointer_mut(parent).and_then(Value::as_object_mut);
    if object.and_then(|object| object.remove(&name)).is_none() {
        return false;
    }
    let text = payload.to_string();
    let limits = Limits { max_bytes: usize::MAX, max_depth: usize::MAX };
    let mut tape = Tape::new();
    let Ok(document) = tape.parse(text.as_bytes(), limits) else { return false };
    let misses = |violation: &Violation| {
        violation.instance_path == parent
            && violation.params.get("missingProperty").is_some_and(|missing| *missing == *name)
    };
    !schemas.violations(definition, document.root()).iter().any(misses)
}
