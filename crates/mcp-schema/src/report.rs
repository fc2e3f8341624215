//! Errors of the `jsonschema` crate as [`Violation`]s.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{ValidationError, Validator};
use mcp_json::{Node, SchemaNode, TapeJson};
use serde_json::{Value, json};

use crate::violation::{MAX_VIOLATIONS, Violation, kept_path, listed, shown, shown_value};

/// Everything that `validator` objects to in `node`, up to the limit.
pub(crate) fn violations(validator: &Validator<TapeJson>, node: Node<'_>) -> Vec<Violation> {
    from_errors(validator.iter_errors(SchemaNode::from(node)), node)
}

/// Converts `errors`, which are about `node` or parts of it.
pub(crate) fn from_errors<'e>(
    errors: impl Iterator<Item = ValidationError<'e>>,
    node: Node<'_>,
) -> Vec<Violation> {
    let mut found = Vec::new();
    for error in errors {
        if found.len() > MAX_VIOLATIONS {
            break;
        }
        push(&error, node, &mut found);
    }
    if found.len() > MAX_VIOLATIONS {
        found.truncate(MAX_VIOLATIONS);
        found.push(Violation::more(node));
    }
    found
}

fn push(error: &ValidationError<'_>, root: Node<'_>, found: &mut Vec<Violation>) {
    if let Kind::AnyOf { context } | Kind::OneOfNotValid { context } = error.kind()
        && let Some(branch) = only_candidate(context, error.instance_path().as_str())
    {
        for inner in branch {
            push(inner, root, found);
        }
        return;
    }
    let instance_path = error.instance_path().as_str();
    let node = root.pointer(instance_path);
    let value = node.map_or_else(|| shown_value(error.instance()), shown);
    found.push(Violation {
        instance_path: kept_path(instance_path),
        schema_path: format!("#{}", error.schema_path().as_str()),
        keyword: keyword(error.kind()).to_owned(),
        params: params(error.kind()),
        message: message(error, value),
        span: node.unwrap_or(root).span(),
    });
}

type Branch = Vec<ValidationError<'static>>;

/// The alternative that the value was meant to be: the only one with its type, or else the only one
/// whose fixed values directly below match as well.
fn only_candidate<'c>(context: &'c [Branch], union_path: &str) -> Option<&'c Branch> {
    let depth = |error: &ValidationError<'_>| {
        let path = error.instance_path().as_str();
        path[union_path.len().min(path.len())..].matches('/').count()
    };
    let has_type = |branch: &&Branch| {
        !branch.iter().any(|error| matches!(error.kind(), Kind::Type { .. }) && depth(error) == 0)
    };
    let has_fixed_values = |branch: &&Branch| {
        !branch.iter().any(|error| {
            matches!(error.kind(), Kind::Constant { .. } | Kind::Enum { .. }) && depth(error) <= 1
        })
    };
    only(context.iter().filter(has_type))
        .or_else(|| only(context.iter().filter(has_type).filter(has_fixed_values)))
}

fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

fn keyword(kind: &Kind) -> &str {
    match kind {
        // `ajv`'s spelling.
        Kind::FalseSchema => "false schema",
        other => other.keyword(),
    }
}

fn params(kind: &Kind) -> Value {
    match kind {
        Kind::AdditionalItems { limit } => json!({ "limit": limit }),
        Kind::AdditionalProperties { unexpected } => match unexpected.as_slice() {
            [only] => json!({ "additionalProperty": only }),
            all => json!({ "additionalProperties": all }),
        },
        Kind::UnevaluatedProperties { unexpected } => match unexpected.as_slice() {
            [only] => json!({ "unevaluatedProperty": only }),
            all => json!({ "unevaluatedProperties": all }),
        },
        Kind::Constant { expected_value } => json!({ "allowedValue": **expected_value }),
        Kind::Enum { options } => json!({ "allowedValues": **options }),
        Kind::ExclusiveMaximum { limit } => json!({ "comparison": "<", "limit": limit }),
        Kind::ExclusiveMinimum { limit } => json!({ "comparison": ">", "limit": limit }),
        Kind::Maximum { limit } => json!({ "comparison": "<=", "limit": limit }),
        Kind::Minimum { limit } => json!({ "comparison": ">=", "limit": limit }),
        Kind::Format { format } => json!({ "format": format }),
        Kind::MaxItems { limit }
        | Kind::MaxLength { limit }
        | Kind::MaxProperties { limit }
        | Kind::MinItems { limit }
        | Kind::MinLength { limit }
        | Kind::MinProperties { limit } => json!({ "limit": limit }),
        Kind::MultipleOf { multiple_of } => json!({ "multipleOf": multiple_of }),
        Kind::Pattern { pattern } => json!({ "pattern": pattern }),
        Kind::Required { property } => json!({ "missingProperty": property }),
        Kind::Type { kind } => json!({ "type": type_names(kind) }),
        _ => json!({}),
    }
}

fn type_names(kind: &TypeKind) -> Value {
    match kind {
        TypeKind::Single(name) => name.to_string().into(),
        TypeKind::Multiple(names) => {
            names.iter().map(|name| Value::from(name.to_string())).collect()
        }
    }
}

fn message(error: &ValidationError<'_>, value: String) -> String {
    match error.kind() {
        Kind::Required { property } => {
            format!("required property {} is missing", shown_value(property))
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            format!("{value} fits none of {} alternatives", context.len())
        }
        Kind::Enum { options } => {
            let options = options.as_array().map_or(&[][..], Vec::as_slice);
            format!("{value} is not one of {}", listed(options))
        }
        // The crate's message quotes the whole schema.
        Kind::Not { .. } => format!("{value} fits a schema that it must not fit"),
        Kind::BacktrackLimitExceeded { .. } => {
            format!("matching {value} against the pattern takes more steps than allowed")
        }
        _ => error.masked_with(value).to_string(),
    }
}
