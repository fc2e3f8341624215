//! The supported keywords, in `ajv`'s order.

use std::collections::HashSet;

use jsonschema::Draft;
use mcp_json::Node;
use serde_json::{Value, json};

use crate::program::{Number, Types};

use super::canonical::canonical;
use super::compile::{Compiler, CurrentSchema, Declined};
use super::{ArrayRule, Bound, Dependency, InPlace, Literal, NumberRule, ObjectRule, StringRule};

/// Limit on the JSON text of schema values repeated in violations.
const MAX_REPEATED: usize = 64 << 10;

/// If one of these is present, `ajv` reports a wrong type when it gets to arrays.
pub(super) const OF_ARRAYS: [&str; 10] = [
    "maxItems",
    "minItems",
    "additionalItems",
    "prefixItems",
    "items",
    "contains",
    "uniqueItems",
    "maxContains",
    "minContains",
    "unevaluatedItems",
];
/// If one of these is present, `ajv` reports a wrong type when it gets to objects.
pub(super) const OF_OBJECTS: [&str; 11] = [
    "maxProperties",
    "minProperties",
    "required",
    "propertyNames",
    "additionalProperties",
    "dependencies",
    "properties",
    "patternProperties",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
];

const OF_ANYTHING: [&str; 12] = [
    "type", "nullable", "const", "enum", "not", "anyOf", "oneOf", "allOf", "if", "then", "else",
    "format",
];
const OF_SCALARS: [&str; 8] = [
    "maximum",
    "minimum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "multipleOf",
    "maxLength",
    "minLength",
    "pattern",
];
/// Every keyword that can fail, except references.
pub(super) const ALL: [&[&str]; 4] = [&OF_ANYTHING, &OF_SCALARS, &OF_ARRAYS, &OF_OBJECTS];

pub(super) fn has_any(at: &CurrentSchema<'_, '_>, keywords: &[&str]) -> bool {
    keywords.iter().any(|keyword| at.get(keyword).is_some())
}

/// The position at which the keywords for a type are checked.
pub(super) fn place(types: Types) -> Option<u8> {
    match types {
        Types::NUMBER => Some(0),
        Types::STRING => Some(1),
        Types::ARRAY => Some(2),
        Types::OBJECT => Some(3),
        _ => None,
    }
}

impl<'d> Compiler<'d> {
    fn has_2019(&self) -> bool {
        matches!(self.draft, Draft::Draft201909 | Draft::Draft202012)
    }

    fn has_2020(&self) -> bool {
        self.draft == Draft::Draft202012
    }

    pub(super) fn in_place(&mut self, at: &CurrentSchema<'_, 'd>, rules: &mut Vec<InPlace>) {
        if let Some(node) = at.get("const") {
            let value = if node.raw().len() > MAX_REPEATED { Value::Null } else { node.to_value() };
            rules.push(InPlace::Const(Literal { canonical: canonical(node), value }));
        }
        if let Some(node) = at.get("enum") {
            let options: HashSet<Box<str>> = node.elements().map(canonical).collect();
            let mut room = MAX_REPEATED;
            let fitting = node.elements().take_while(|option| {
                room = room.saturating_sub(option.raw().len() + 1);
                room > 0
            });
            rules.push(InPlace::Enum { options, allowed: fitting.map(Node::to_value).collect() });
        }
        if let Some(schema) = self.one(at, "not") {
            rules.push(InPlace::Not(schema));
        }
        rules.extend(self.list(at, "anyOf").map(InPlace::AnyOf));
        rules.extend(self.list(at, "oneOf").map(InPlace::OneOf));
        rules.extend(self.list(at, "allOf").map(InPlace::AllOf));
        if self.draft != Draft::Draft6
            && let Some(condition) = self.one(at, "if")
        {
            let (then, otherwise) = (self.one(at, "then"), self.one(at, "else"));
            if then.is_some() || otherwise.is_some() {
                rules.push(InPlace::If { condition, then, otherwise });
            }
        }
    }

    pub(super) fn number(
        &self,
        at: &CurrentSchema<'_, 'd>,
        rules: &mut Vec<NumberRule>,
    ) -> Result<(), Declined> {
        for (keyword, comparison) in [
            ("maximum", "<="),
            ("minimum", ">="),
            ("exclusiveMaximum", "<"),
            ("exclusiveMinimum", ">"),
        ] {
            if let Some(node) = at.get(keyword) {
                let limit = Number::of_node(node).filter(|_| node.is_number()).ok_or(Declined)?;
                let written = node.to_value();
                rules.push(NumberRule::Bound { keyword, comparison, limit, written });
            }
        }
        if let Some(node) = at.get("multipleOf") {
            let divisor = node.to_value();
            let judge = self.judge(&json!({ "multipleOf": divisor }))?;
            rules.push(NumberRule::MultipleOf { divisor, judge });
        }
        Ok(())
    }

    pub(super) fn string(
        &self,
        at: &CurrentSchema<'_, 'd>,
        rules: &mut Vec<StringRule>,
    ) -> Result<(), Declined> {
        let bounds = bounds(at, ["maxLength", "minLength"])?;
        rules.extend(bounds.map(StringRule::Length));
        if let Some(source) = at.get("pattern").and_then(Node::as_str) {
            rules.push(StringRule::Pattern(self.expression(&source)?));
        }
        Ok(())
    }

    pub(super) fn array(
        &mut self,
        at: &CurrentSchema<'_, 'd>,
        rules: &mut Vec<ArrayRule>,
    ) -> Result<(), Declined> {
        rules.extend(bounds(at, ["maxItems", "minItems"])?.map(ArrayRule::Length));
        // The keyword for a list of schemas, and the one for the elements after it.
        let (list, rest) =
            if self.has_2020() { ("prefixItems", "items") } else { ("items", "additionalItems") };
        let prefix = self.list(at, list);
        let from = prefix.as_ref().map(Vec::len);
        let rest = match (self.one(at, rest), from) {
            (Some(schema), Some(from)) => Some(ArrayRule::Rest { keyword: rest, from, schema }),
            _ => None,
        };
        if self.has_2020() {
            rules.extend(prefix.map(ArrayRule::Prefix));
            rules.extend(rest);
        } else {
            rules.extend(rest);
            rules.extend(prefix.map(ArrayRule::Prefix));
        }
        if from.is_none()
            && let Some(schema) = self.one(at, "items")
        {
            rules.push(ArrayRule::Items(schema));
        }
        if let Some(schema) = self.one(at, "contains") {
            let limits = self.has_2019();
            let min = if limits { at.count("minContains")? } else { None }.unwrap_or(1);
            let max = if limits { at.count("maxContains")? } else { None };
            rules.push(ArrayRule::Contains { schema, min, max });
        }
        if at.get("uniqueItems").and_then(Node::as_bool) == Some(true) {
            let items = at.get("items").filter(|items| items.is_object());
            rules.push(ArrayRule::Unique { scalars: items.and_then(scalar_types) });
        }
        if self.has_2019()
            && let Some(schema) = self.one(at, "unevaluatedItems")
        {
            self.tracks = true;
            rules.push(ArrayRule::Unevaluated(schema));
        }
        Ok(())
    }

    pub(super) fn object(
        &mut self,
        at: &CurrentSchema<'_, 'd>,
        rules: &mut Vec<ObjectRule>,
    ) -> Result<(), Declined> {
        rules.extend(bounds(at, ["maxProperties", "minProperties"])?.map(ObjectRule::Size));
        if let Some(node) = at.get("required").filter(|node| node.is_array()) {
            rules.push(ObjectRule::Required(names(node)));
        }
        if let Some(schema) = self.one(at, "propertyNames") {
            rules.push(ObjectRule::PropertyNames(schema));
        }
        let properties = self.map(at, "properties");
        let mut patterns = Vec::new();
        for (source, branch) in self.map(at, "patternProperties").unwrap_or_default() {
            patterns.push((self.expression(&source)?, branch));
        }
        if let Some(schema) = self.one(at, "additionalProperties") {
            let declared = properties.iter().flatten().map(|(name, _)| name.clone()).collect();
            let sources = patterns.iter().map(|(expression, _)| &*expression.source);
            let patterns =
                sources.map(|source| self.expression(source)).collect::<Result<_, _>>()?;
            rules.push(ObjectRule::Additional { schema, declared, patterns });
        }
        self.dependencies(at, "dependencies", rules);
        rules.extend(properties.map(ObjectRule::Properties));
        if !patterns.is_empty() {
            rules.push(ObjectRule::Patterns(patterns));
        }
        if self.has_2019() {
            self.dependencies(at, "dependentRequired", rules);
            self.dependencies(at, "dependentSchemas", rules);
            if let Some(schema) = self.one(at, "unevaluatedProperties") {
                self.tracks = true;
                rules.push(ObjectRule::Unevaluated(schema));
            }
        }
        Ok(())
    }

    /// Name lists first, then schemas.
    fn dependencies(
        &mut self,
        at: &CurrentSchema<'_, 'd>,
        keyword: &'static str,
        rules: &mut Vec<ObjectRule>,
    ) {
        let Some(node) = at.get(keyword).filter(|node| node.is_object()) else { return };
        let members = super::order::Members::of(node);
        let dependencies: Vec<_> = members
            .iter()
            .filter(|member| member.value.is_array())
            .map(|member| dependency(&member.name, names(member.value)))
            .collect();
        if !dependencies.is_empty() {
            rules.push(ObjectRule::DependentRequired { keyword, dependencies });
        }
        let branches = self.map(at, keyword).unwrap_or_default();
        if !branches.is_empty() {
            rules.push(ObjectRule::DependentSchemas(branches));
        }
    }
}

/// The bounds in a schema, upper bounds first.
fn bounds(
    at: &CurrentSchema<'_, '_>,
    [max, min]: [&'static str; 2],
) -> Result<impl Iterator<Item = Bound>, Declined> {
    let bound = |keyword, is_maximum, limit| Bound { keyword, is_maximum, limit };
    let largest = at.count(max)?.map(|limit| bound(max, true, limit));
    let smallest = at.count(min)?.map(|limit| bound(min, false, limit));
    Ok(largest.into_iter().chain(smallest))
}

fn names(list: Node<'_>) -> Vec<Box<str>> {
    list.elements().filter_map(Node::as_str).map(|name| name.as_ref().into()).collect()
}

fn dependency(property: &str, needed: Vec<Box<str>>) -> Dependency {
    let mut room = MAX_REPEATED;
    let fitting = needed.iter().take_while(|name| {
        room = room.saturating_sub(name.len() + 2);
        room > 0
    });
    let mut joined = fitting.map(|name| &**name).collect::<Vec<_>>().join(", ");
    if room == 0 {
        joined.push_str(", …");
    }
    Dependency { property: property.into(), needed, joined: joined.into() }
}

/// The types listed by the keyword `type`.
pub(super) fn types(kind: Node<'_>) -> Option<Types> {
    let named = |node: Node<'_>| node.as_str().and_then(|name| Types::named(&name));
    if kind.is_array() {
        kind.elements().map(named).try_fold(Types::NONE, |all, types| Some(all.union(types?)))
    } else {
        named(kind)
    }
}

/// The types that `items` allows, if it names any and all are scalars.
fn scalar_types(items: Node<'_>) -> Option<Types> {
    let types = types(items.get("type")?)?;
    (!types.meets(Types::ARRAY) && !types.meets(Types::OBJECT)).then_some(types)
}
