//! Checks a schema against its meta-schema, directly on the tape.
//!
//! A listing may contain hundreds of schemas that no call ever uses. Compiling one takes as long as
//! parsing a whole page of them, so it is deferred until the compiled form is needed; until then it
//! only has to be known that the schema is valid. [`is_valid`] accepts nearly every valid schema
//! and returns `false` for anything wrong or unusual. Those are compiled, which decides and
//! explains.
//!
//! There is one table of [`keywords`](shape) for all drafts from draft-06 on: a keyword that a
//! draft lacks is held to what others require of it. That is stricter than the meta-schema, never
//! laxer.

use mcp_json::{Kind, Node};

use super::Dialect;

/// Lists with more names than this are not checked for duplicates here.
const MANY: usize = 64;

/// Whether `schema` certainly fits the meta-schema of `dialect`, is nested at most `max_depth`
/// levels deep and refers to nothing outside of itself.
pub(super) fn is_valid(schema: Node<'_>, dialect: Dialect, max_depth: usize) -> bool {
    // Draft-04 differs too much, and nobody uses it any more.
    if dialect == Dialect::Draft4 || schema.document().has_duplicate_keys() {
        return false;
    }
    Check { dialect }.schema(schema, max_depth)
}

/// The kind of value a keyword takes.
enum Shape {
    Schema,
    /// One or more schemas.
    Schemas,
    /// A schema, or before 2020-12 a list of them.
    Items,
    /// Schemas by name.
    SchemaMap,
    /// Schemas by regular expression.
    PatternMap,
    /// Schemas or lists of names, by name.
    Dependencies,
    /// Lists of names, by name.
    NamesMap,
    Names,
    Types,
    Text,
    Boolean,
    Number,
    /// A number above zero.
    Positive,
    /// A non-negative integer.
    Count,
    Pattern,
    List,
    Reference,
    Url,
    Anchor,
    /// Any value.
    Data,
    /// Too rare to be checked here.
    Rare,
}

fn shape(keyword: &[u8]) -> Shape {
    match keyword {
        b"additionalItems"
        | b"additionalProperties"
        | b"contains"
        | b"contentSchema"
        | b"else"
        | b"if"
        | b"not"
        | b"propertyNames"
        | b"then"
        | b"unevaluatedItems"
        | b"unevaluatedProperties" => Shape::Schema,
        b"allOf" | b"anyOf" | b"oneOf" | b"prefixItems" => Shape::Schemas,
        b"items" => Shape::Items,
        b"$defs" | b"definitions" | b"dependentSchemas" | b"properties" => Shape::SchemaMap,
        b"patternProperties" => Shape::PatternMap,
        b"dependencies" => Shape::Dependencies,
        b"dependentRequired" => Shape::NamesMap,
        b"required" => Shape::Names,
        b"type" => Shape::Types,
        b"$comment" | b"contentEncoding" | b"contentMediaType" | b"description" | b"format"
        | b"title" => Shape::Text,
        b"deprecated" | b"readOnly" | b"uniqueItems" | b"writeOnly" => Shape::Boolean,
        b"exclusiveMaximum" | b"exclusiveMinimum" | b"maximum" | b"minimum" => Shape::Number,
        b"multipleOf" => Shape::Positive,
        b"maxContains" | b"maxItems" | b"maxLength" | b"maxProperties" | b"minContains"
        | b"minItems" | b"minLength" | b"minProperties" => Shape::Count,
        b"pattern" => Shape::Pattern,
        b"enum" | b"examples" => Shape::List,
        b"$ref" | b"$dynamicRef" => Shape::Reference,
        b"$id" | b"$schema" => Shape::Url,
        b"$anchor" | b"$dynamicAnchor" => Shape::Anchor,
        b"$recursiveAnchor" | b"$recursiveRef" | b"$vocabulary" => Shape::Rare,
        // `const`, `default`, and anything that is not a keyword.
        _ => Shape::Data,
    }
}

struct Check {
    dialect: Dialect,
}

impl Check {
    /// `levels` is how many more containers may be entered, which bounds the recursion.
    fn schema(&self, node: Node<'_>, levels: usize) -> bool {
        match node.kind() {
            Kind::Bool => true,
            Kind::Object => every_member(node, levels, |keyword, value, levels| {
                self.keyword(&shape(keyword), value, levels)
            }),
            _ => false,
        }
    }

    fn keyword(&self, shape: &Shape, value: Node<'_>, levels: usize) -> bool {
        match shape {
            Shape::Schemas => self.schemas(value, levels),
            Shape::Items if self.dialect < Dialect::Draft202012 && value.is_array() => {
                self.schemas(value, levels)
            }
            Shape::Schema | Shape::Items => self.schema(value, levels),
            Shape::SchemaMap => {
                value.is_object()
                    && every_member(value, levels, |_, schema, levels| self.schema(schema, levels))
            }
            Shape::PatternMap => {
                value.is_object()
                    && every_member(value, levels, |pattern, schema, levels| {
                        self.is_pattern(pattern) && self.schema(schema, levels)
                    })
            }
            Shape::Dependencies => {
                value.is_object()
                    && every_member(value, levels, |_, needed, levels| {
                        is_names(needed, levels) || self.schema(needed, levels)
                    })
            }
            Shape::NamesMap => {
                value.is_object()
                    && every_member(value, levels, |_, names, levels| is_names(names, levels))
            }
            Shape::Names => is_names(value, levels),
            Shape::Types => is_types(value, levels),
            Shape::Text => value.is_string(),
            Shape::Boolean => value.kind() == Kind::Bool,
            Shape::Number => value.is_number(),
            Shape::Positive => value.as_f64().is_some_and(|value| value > 0.0),
            Shape::Count => value.as_u64().is_some() && !value.raw().starts_with(b"-"),
            Shape::Pattern => value.str_bytes().is_some_and(|pattern| self.is_pattern(&pattern)),
            Shape::List => value.is_array() && is_data(value, levels),
            Shape::Reference => is_local_reference(value),
            Shape::Url => value.str_bytes().is_some_and(|url| is_plain_url(&url)),
            Shape::Anchor => value.str_bytes().is_some_and(|anchor| is_plain_anchor(&anchor)),
            Shape::Data => is_data(value, levels),
            Shape::Rare => false,
        }
    }

    fn schemas(&self, node: Node<'_>, levels: usize) -> bool {
        node.is_array()
            && !node.is_empty()
            && levels > 0
            && node.elements().all(|schema| self.schema(schema, levels - 1))
    }

    /// Up to draft-07 the meta-schemas require that expressions are valid; later ones only advise
    /// it.
    fn is_pattern(&self, pattern: &[u8]) -> bool {
        self.dialect > Dialect::Draft7
            || std::str::from_utf8(pattern).is_ok_and(jsonschema_regex::is_valid_ecma_regex)
    }
}

/// Data is unrestricted, but a reference may point into it and use it as a schema.
fn is_data(node: Node<'_>, levels: usize) -> bool {
    match node.kind() {
        Kind::Object => every_member(node, levels, |name, value, levels| match name {
            b"$ref" | b"$dynamicRef" | b"$recursiveRef" => is_local_reference(value),
            _ => is_data(value, levels),
        }),
        Kind::Array if node.is_empty() => true,
        Kind::Array => levels > 0 && node.elements().all(|element| is_data(element, levels - 1)),
        _ => true,
    }
}

/// Whether `fits` holds for the name and value of each member, which are one level deeper.
#[inline]
fn every_member(
    node: Node<'_>,
    levels: usize,
    fits: impl Fn(&[u8], Node<'_>, usize) -> bool,
) -> bool {
    if node.is_empty() {
        return true;
    }
    levels > 0
        && node.members().all(|(name, value)| {
            name.str_bytes().is_some_and(|name| fits(&name, value, levels - 1))
        })
}

/// Strings without duplicates.
fn is_names(node: Node<'_>, levels: usize) -> bool {
    if !node.is_array() || node.len() > MANY || (levels == 0 && !node.is_empty()) {
        return false;
    }
    node.elements().enumerate().all(|(position, name)| {
        // With escapes, equal strings may be spelled differently.
        name.is_string()
            && !name.raw().contains(&b'\\')
            && node.elements().take(position).all(|earlier| earlier.raw() != name.raw())
    })
}

/// A type name, or several different ones.
fn is_types(node: Node<'_>, levels: usize) -> bool {
    if !node.is_array() {
        return type_bit(node).is_some();
    }
    let seen = node.elements().try_fold(0, |seen: u8, name| {
        let bit = type_bit(name)?;
        (seen & bit == 0).then_some(seen | bit)
    });
    levels > 0 && seen.is_some_and(|seen| seen != 0)
}

fn type_bit(node: Node<'_>) -> Option<u8> {
    Some(match &*node.str_bytes()? {
        b"string" => 1,
        b"object" => 2,
        b"integer" => 4,
        b"number" => 8,
        b"boolean" => 16,
        b"array" => 32,
        b"null" => 64,
        _ => return None,
    })
}

/// Whether `node` refers to a location in the same document, in plain notation.
fn is_local_reference(node: Node<'_>) -> bool {
    let plain = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'$' | b'-' | b'_' | b'.' | b'~')
    };
    node.str_bytes().is_some_and(|reference| match &*reference {
        [b'#', fragment @ ..] => fragment.iter().all(plain),
        _ => false,
    })
}

fn is_plain_url(url: &[u8]) -> bool {
    let plain =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.');
    let rest = url.strip_prefix(b"https://").or_else(|| url.strip_prefix(b"http://"));
    rest.is_some_and(|rest| rest.strip_suffix(b"#").unwrap_or(rest).iter().all(plain))
}

fn is_plain_anchor(anchor: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    anchor.first().is_some_and(u8::is_ascii_alphabetic) && anchor.iter().all(plain)
}

#[cfg(test)]
mod tests;
