//! The merged constraints on one place, with references resolved and alternatives chosen.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{document::Document, number::Range};
use crate::Random;

/// Maximum number of schemas merged into one shape.
const MERGED: usize = 512;
/// Maximum number of `enum` values to consider.
const OPTIONS: usize = 64;

/// Chooses branches of `anyOf` and `oneOf`, and whether an `if` applies.
#[derive(Debug)]
pub(super) enum Branches<'r> {
    /// The combination with this index.
    Nth(usize),
    /// Random branches.
    Random(&'r mut Random),
}

impl Branches<'_> {
    fn pick(&mut self, count: usize) -> usize {
        match self {
            Branches::Nth(number) => {
                let index = *number % count.max(1);
                *number /= count.max(1);
                index
            }
            Branches::Random(random) => random.index(count),
        }
    }
}

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const STRING: Types = Types(1);
    pub(super) const INTEGER: Types = Types(2);
    /// Numbers, including integers.
    pub(super) const NUMBER: Types = Types(2 | 4);
    pub(super) const BOOLEAN: Types = Types(8);
    pub(super) const OBJECT: Types = Types(16);
    pub(super) const ARRAY: Types = Types(32);
    pub(super) const NULL: Types = Types(64);
    pub(super) const ALL: Types = Types(127);

    /// The single types, in order of preference.
    pub(super) const EACH: [Types; 7] = [
        Types::STRING,
        Types::INTEGER,
        Types::NUMBER,
        Types::BOOLEAN,
        Types::OBJECT,
        Types::ARRAY,
        Types::NULL,
    ];

    fn named(name: &str) -> Types {
        match name {
            "string" => Types::STRING,
            "integer" => Types::INTEGER,
            "number" => Types::NUMBER,
            "boolean" => Types::BOOLEAN,
            "object" => Types::OBJECT,
            "array" => Types::ARRAY,
            "null" => Types::NULL,
            _ => Types(0),
        }
    }

    pub(super) fn of(value: &Value) -> Types {
        match value {
            Value::Null => Types::NULL,
            Value::Bool(_) => Types::BOOLEAN,
            Value::Number(number) => match number.as_f64() {
                Some(number) if number.fract() != 0.0 => Types(4),
                _ => Types::INTEGER,
            },
            Value::String(_) => Types::STRING,
            Value::Array(_) => Types::ARRAY,
            Value::Object(_) => Types::OBJECT,
        }
    }

    pub(super) fn has(self, other: Types) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    fn and(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }
}

/// See the [module docs](self).
#[derive(Debug, Clone)]
pub(super) struct Shape<'s> {
    pub(super) types: Types,
    pub(super) constant: Option<&'s Value>,
    pub(super) options: Option<Vec<&'s Value>>,
    /// Values suggested by the schema, with the default last.
    pub(super) examples: Vec<&'s Value>,
    pub(super) default: Option<&'s Value>,
    pub(super) range: Range,
    pub(super) min_length: u64,
    pub(super) max_length: Option<u64>,
    pub(super) patterns: Vec<&'s str>,
    pub(super) format: Option<&'s str>,
    pub(super) properties: BTreeMap<&'s str, Vec<&'s Value>>,
    pub(super) required: BTreeSet<&'s str>,
    /// Schemas for members not named in `properties`.
    pub(super) additional: Vec<&'s Value>,
    /// Whether other members are forbidden.
    pub(super) is_closed: bool,
    pub(super) member_names: Vec<&'s Value>,
    pub(super) dependent: Vec<(&'s str, &'s str)>,
    pub(super) min_properties: u64,
    pub(super) max_properties: Option<u64>,
    /// Schemas for the first elements, by position.
    pub(super) prefix: Vec<Vec<&'s Value>>,
    pub(super) items: Vec<&'s Value>,
    pub(super) contains: Option<&'s Value>,
    pub(super) min_items: u64,
    pub(super) max_items: Option<u64>,
    pub(super) is_unique: bool,
    /// Whether there are constraints on members, elements or strings, in this order.
    implied: [bool; 3],
}

impl<'s> Shape<'s> {
    /// Merges all of `schemas` into a shape. `None` if no value is possible, or the limit is
    /// exceeded.
    pub(super) fn of(
        document: Document<'s>,
        schemas: &[&'s Value],
        branches: &mut Branches<'_>,
    ) -> Option<Shape<'s>> {
        let mut shape = Shape::anything();
        let mut pending: Vec<&'s Value> = schemas.iter().rev().copied().collect();
        let mut followed = BTreeSet::new();
        let mut left = MERGED;
        while let Some(schema) = pending.pop() {
            left = left.checked_sub(1)?;
            let members = match schema {
                Value::Bool(false) => return None,
                Value::Object(members) => members,
                _ => continue,
            };
            for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
                if let Some(reference) = members.get(keyword).and_then(Value::as_str)
                    && followed.insert(reference)
                {
                    pending.extend(document.resolve(reference));
                }
            }
            shape.merge(schema)?;
            pending.extend(members.get("allOf").and_then(Value::as_array).into_iter().flatten());
            for keyword in ["anyOf", "oneOf"] {
                if let Some(choices) = members.get(keyword).and_then(Value::as_array) {
                    pending.push(choices.get(branches.pick(choices.len()))?);
                }
            }
            if let Some(condition) = members.get("if") {
                let (then, otherwise) = (members.get("then"), members.get("else"));
                if (then.is_some() || otherwise.is_some()) && branches.pick(2) == 0 {
                    pending.push(condition);
                    pending.extend(then);
                } else {
                    pending.extend(otherwise);
                }
            }
            let dependent = members.get("dependentSchemas").or_else(|| members.get("dependencies"));
            for schema in dependent.and_then(Value::as_object).into_iter().flat_map(|d| d.values())
            {
                // Only relevant if the member is present, and harmless otherwise.
                pending.push(schema);
            }
        }
        shape.is_possible().then_some(shape)
    }

    fn anything() -> Shape<'s> {
        Shape {
            types: Types::ALL,
            constant: None,
            options: None,
            examples: Vec::new(),
            default: None,
            range: Range::default(),
            min_length: 0,
            max_length: None,
            patterns: Vec::new(),
            format: None,
            properties: BTreeMap::new(),
            required: BTreeSet::new(),
            additional: Vec::new(),
            is_closed: false,
            member_names: Vec::new(),
            dependent: Vec::new(),
            min_properties: 0,
            max_properties: None,
            prefix: Vec::new(),
            items: Vec::new(),
            contains: None,
            min_items: 0,
            max_items: None,
            is_unique: false,
            implied: [false; 3],
        }
    }

    fn merge(&mut self, schema: &'s Value) -> Option<()> {
        let says = |keyword: &str| schema.get(keyword);
        let count = |keyword: &str| whole(schema.get(keyword)?);
        match says("type") {
            Some(Value::String(name)) => self.types = self.types.and(Types::named(name)),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str).map(Types::named);
                self.types = self.types.and(names.fold(Types(0), Types::or));
            }
            _ => {}
        }
        if let Some(constant) = says("const") {
            if self.constant.is_some_and(|other| other != constant) {
                return None;
            }
            self.constant = Some(constant);
        }
        if let Some(options) = says("enum").and_then(Value::as_array) {
            let fits = |option: &&Value| {
                self.options.as_ref().is_none_or(|options| options.contains(option))
            };
            self.options = Some(options.iter().filter(fits).take(OPTIONS).collect());
        }
        self.examples.extend(says("examples").and_then(Value::as_array).into_iter().flatten());
        self.examples.extend(says("example"));
        self.examples.truncate(OPTIONS);
        self.default = self.default.or(says("default"));
        self.range.narrow(schema);

        self.min_length = self.min_length.max(count("minLength").unwrap_or_default());
        self.max_length = lower(self.max_length, count("maxLength"));
        self.patterns.extend(says("pattern").and_then(Value::as_str));
        self.format = self.format.or(says("format").and_then(Value::as_str));

        if let Some(properties) = says("properties").and_then(Value::as_object) {
            for (name, schema) in properties {
                self.properties.entry(name).or_default().push(schema);
            }
        }
        let required = says("required").and_then(Value::as_array);
        self.required.extend(required.into_iter().flatten().filter_map(Value::as_str));
        for keyword in ["additionalProperties", "unevaluatedProperties"] {
            match says(keyword) {
                Some(Value::Bool(false)) => self.is_closed = true,
                Some(schema @ Value::Object(_)) => self.additional.push(schema),
                _ => {}
            }
        }
        self.member_names.extend(says("propertyNames"));
        for keyword in ["dependentRequired", "dependencies"] {
            for (name, needed) in says(keyword).and_then(Value::as_object).into_iter().flatten() {
                let needed = needed.as_array().into_iter().flatten().filter_map(Value::as_str);
                self.dependent.extend(needed.map(|needed| (name.as_str(), needed)));
            }
        }
        self.min_properties = self.min_properties.max(count("minProperties").unwrap_or_default());
        self.max_properties = lower(self.max_properties, count("maxProperties"));

        self.merge_items(schema);
        let some = |keywords: &[&str]| keywords.iter().any(|keyword| says(keyword).is_some());
        self.implied[0] |= some(&["properties", "required", "additionalProperties"]);
        self.implied[1] |= some(&["items", "prefixItems", "minItems", "contains"]);
        self.implied[2] |= some(&["pattern", "format", "minLength", "maxLength"]);
        Some(())
    }

    fn merge_items(&mut self, schema: &'s Value) {
        let says = |keyword: &str| schema.get(keyword);
        let count = |keyword: &str| whole(schema.get(keyword)?);
        let tuple = says("prefixItems").or(says("items")).and_then(Value::as_array);
        for (index, schema) in tuple.into_iter().flatten().enumerate() {
            if self.prefix.len() <= index {
                self.prefix.push(Vec::new());
            }
            self.prefix[index].push(schema);
        }
        let rest = match says("items") {
            Some(Value::Array(_)) => says("additionalItems"),
            other => other,
        };
        match rest {
            Some(Value::Bool(false)) => {
                self.max_items = lower(self.max_items, Some(self.prefix.len() as u64));
            }
            Some(schema @ Value::Object(_)) => self.items.push(schema),
            _ => {}
        }
        self.contains = self.contains.or(says("contains"));
        self.min_items = self.min_items.max(count("minItems").unwrap_or_default());
        if says("contains").is_some() {
            self.min_items = self.min_items.max(count("minContains").unwrap_or(1));
        }
        self.max_items = lower(self.max_items, count("maxItems"));
        self.is_unique |= says("uniqueItems") == Some(&Value::Bool(true));
    }

    fn is_possible(&mut self) -> bool {
        let types = self.types;
        let fits = |value: &&Value| types.has(Types::of(value));
        if let Some(options) = &mut self.options {
            options.retain(|option| fits(option));
        }
        if let (Some(constant), Some(options)) = (self.constant, &self.options)
            && !options.contains(&constant)
        {
            return false;
        }
        self.constant.as_ref().is_none_or(fits)
            && self.options.as_ref().is_none_or(|options| !options.is_empty())
            && !types.is_empty()
    }

    /// The schemas for a member's value; empty if anything is allowed. `None` if the member is
    /// forbidden.
    pub(super) fn member(&self, name: &str) -> Option<Vec<&'s Value>> {
        match self.properties.get(name) {
            Some(schemas) => Some(schemas.clone()),
            None if self.is_closed => None,
            None => Some(self.additional.clone()),
        }
    }

    /// The schemas for the element at an index.
    pub(super) fn element(&self, index: usize) -> Vec<&'s Value> {
        self.prefix.get(index).unwrap_or(&self.items).clone()
    }

    /// The possible types, the most likely first: types implied by other keywords come before all
    /// others.
    pub(super) fn preferred_types(&self) -> Vec<Types> {
        let mut types: Vec<Types> =
            Types::EACH.into_iter().filter(|single| self.types.has(*single)).collect();
        let implied = [
            (self.implied[0], Types::OBJECT),
            (self.implied[1], Types::ARRAY),
            (self.implied[2], Types::STRING),
            (self.range.is_bounded(), Types::NUMBER),
        ];
        types.sort_by_key(|single| !implied.contains(&(true, *single)));
        types
    }

    /// Whether the schema names exactly this value.
    pub(super) fn names(&self, value: &Value) -> bool {
        let named = self.constant.into_iter().chain(self.options.iter().flatten().copied());
        named.chain(self.examples.iter().copied()).chain(self.default).any(|named| named == value)
    }

    /// Whether a value may match, judging by the value and its direct members only.
    pub(super) fn admits(&self, value: &Value) -> bool {
        let names_it = |schema: &Value, value: &Value| {
            schema.get("const").is_none_or(|constant| constant == value)
                && schema
                    .get("enum")
                    .and_then(Value::as_array)
                    .is_none_or(|options| options.contains(value))
        };
        self.types.has(Types::of(value))
            && self.constant.is_none_or(|constant| constant == value)
            && self.options.as_ref().is_none_or(|options| options.contains(&value))
            && value.as_object().is_none_or(|members| {
                self.required.iter().all(|name| members.contains_key(*name))
                    && members.iter().all(|(name, value)| match self.member(name) {
                        Some(schemas) => schemas.iter().all(|schema| names_it(schema, value)),
                        None => false,
                    })
            })
    }
}

/// Reads a count, which may be written as `2.0`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the bounds are checked"
)]
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        (number >= 0.0).then_some(number.min(1e18) as u64)
    })
}

fn lower(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
