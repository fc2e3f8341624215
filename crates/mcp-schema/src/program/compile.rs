//! Compiles a schema document to a [`Program`].

use std::collections::{BTreeMap, HashMap};

use jsonschema::Draft;
use serde_json::{Map, Value};

use super::{
    Additional, ArrayRules, Index, Literal, Logic, Name, Number, NumberRules, ObjectRules,
    Patterns, Program, Property, Schema, StringRules, Types,
};

/// Why there is no program for a schema: it uses something only the `jsonschema` crate supports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declined {
    /// Pointer of the keyword.
    pub(crate) at: String,
}

/// Keywords whose meaning [`Program`] does not implement. Unknown ones are annotations and ignored.
const UNSUPPORTED: &[&str] = &[
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "$vocabulary",
    "additionalItems",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "maxContains",
    "minContains",
    "multipleOf",
    "not",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

impl Program {
    /// Compiles the schema at `pointer` in `document`, and everything it refers to.
    ///
    /// `document` is a valid schema document of `draft`, and `patterns` has its expressions;
    /// anything unsupported is declined.
    pub(crate) fn compile(
        document: &Value,
        pointer: &str,
        draft: Draft,
        patterns: &Patterns,
    ) -> Result<Program, Declined> {
        if matches!(draft, Draft::Draft4 | Draft::Unknown) {
            // In draft 4 `1.0` is not an integer, and bounds work differently.
            return Err(Declined { at: "#/$schema".into() });
        }
        let mut compiler = Compiler {
            document,
            patterns,
            ref_hides_siblings: matches!(draft, Draft::Draft6 | Draft::Draft7),
            indices: HashMap::new(),
            pointers: Vec::new(),
        };
        compiler.index_of(pointer.to_owned());
        let mut schemas = Vec::new();
        // Schemas refer to each other by index, so a queue replaces recursion, with no limit on the
        // length of a chain of references.
        while schemas.len() < compiler.pointers.len() {
            let at = compiler.pointers[schemas.len()].clone();
            schemas.push(compiler.schema(&at)?);
        }
        let pointers = compiler.pointers.into_iter().map(String::into_boxed_str).collect();
        Ok(Program { schemas, pointers })
    }
}

struct Compiler<'d> {
    document: &'d Value,
    patterns: &'d Patterns,
    ref_hides_siblings: bool,
    indices: HashMap<String, Index>,
    pointers: Vec<String>,
}

/// Declines because of `keyword` in the schema at `pointer`.
fn declined<T>(pointer: &str, keyword: &str) -> Result<T, Declined> {
    Err(Declined { at: format!("#{pointer}/{keyword}") })
}

impl Compiler<'_> {
    /// The index of the schema at `pointer`, assigned now if it was not seen before.
    fn index_of(&mut self, pointer: String) -> Index {
        if let Some(index) = self.indices.get(&pointer) {
            return *index;
        }
        let index = Index::try_from(self.pointers.len()).expect("schemas are of limited size");
        self.pointers.push(pointer.clone());
        self.indices.insert(pointer, index);
        index
    }

    fn schema(&mut self, at: &str) -> Result<Schema, Declined> {
        let keywords = match self.document.pointer(at) {
            Some(Value::Bool(true)) => return Ok(Schema::ANYTHING),
            Some(Value::Bool(false)) => {
                return Ok(Schema { types: Types::NONE, ..Schema::ANYTHING });
            }
            Some(Value::Object(keywords)) => keywords,
            _ => return declined(at, ""),
        };
        let foreign_base = |key| !at.is_empty() && keywords.get(key).is_some_and(Value::is_string);
        if foreign_base("$id") || foreign_base("$schema") {
            return declined(at, "$id");
        }
        if self.ref_hides_siblings && keywords.contains_key("$ref") {
            let reference = self.reference(at, keywords)?;
            let logic = Logic { reference, ..Logic::default() };
            return Ok(Schema { bare: false, logic: Some(Box::new(logic)), ..Schema::ANYTHING });
        }
        if let Some(keyword) = UNSUPPORTED.iter().find(|keyword| keywords.contains_key(**keyword)) {
            return declined(at, keyword);
        }
        let mut schema = Schema {
            types: types(at, keywords)?,
            bare: false,
            object: self.object(at, keywords)?.map(Box::new),
            array: self.array(at, keywords)?.map(Box::new),
            string: self.string(at, keywords)?.map(Box::new),
            number: number(at, keywords)?.map(Box::new),
            logic: self.logic(at, keywords)?.map(Box::new),
        };
        schema.bare = schema.object.is_none()
            && schema.array.is_none()
            && schema.string.is_none()
            && schema.number.is_none()
            && schema.logic.is_none();
        Ok(schema)
    }

    fn object(
        &mut self,
        at: &str,
        keywords: &Map<String, Value>,
    ) -> Result<Option<ObjectRules>, Declined> {
        let mut properties: BTreeMap<&str, Property> = BTreeMap::new();
        match keywords.get("properties") {
            None => {}
            Some(Value::Object(declared)) => {
                for name in declared.keys() {
                    let schema = self.index_of(format!("{at}/properties/{}", escape(name)));
                    let property =
                        Property { name: Name::new(name), schema, declared: true, required: false };
                    properties.insert(name, property);
                }
            }
            Some(_) => return declined(at, "properties"),
        }
        match keywords.get("required") {
            None => {}
            Some(Value::Array(names)) => {
                for name in names {
                    let Some(name) = name.as_str() else {
                        return declined(at, "required");
                    };
                    let property = properties.entry(name).or_insert_with(|| Property {
                        name: Name::new(name),
                        schema: 0,
                        declared: false,
                        required: true,
                    });
                    property.required = true;
                }
            }
            Some(_) => return declined(at, "required"),
        }
        let additional = match keywords.get("additionalProperties") {
            None | Some(Value::Bool(true)) => Additional::Anything,
            Some(Value::Bool(false)) => Additional::Nothing,
            Some(_) => Additional::Schema(self.index_of(format!("{at}/additionalProperties"))),
        };
        let min = count(at, keywords, "minProperties")?.unwrap_or(0);
        let max = count(at, keywords, "maxProperties")?.unwrap_or(u64::MAX);
        let properties: Box<[Property]> = properties.into_values().collect();
        let idle = properties.is_empty()
            && additional == Additional::Anything
            && min == 0
            && max == u64::MAX;
        let required = properties.iter().filter(|property| property.required).count();
        Ok((!idle).then_some(ObjectRules { properties, required, additional, min, max }))
    }

    fn array(
        &mut self,
        at: &str,
        keywords: &Map<String, Value>,
    ) -> Result<Option<ArrayRules>, Declined> {
        let items = match keywords.get("items") {
            None => None,
            Some(Value::Object(_) | Value::Bool(_)) => Some(self.index_of(format!("{at}/items"))),
            // One schema per position, as in older drafts.
            Some(_) => return declined(at, "items"),
        };
        let min = count(at, keywords, "minItems")?.unwrap_or(0);
        let max = count(at, keywords, "maxItems")?.unwrap_or(u64::MAX);
        let idle = items.is_none() && min == 0 && max == u64::MAX;
        Ok((!idle).then_some(ArrayRules { items, min, max }))
    }

    fn string(
        &self,
        at: &str,
        keywords: &Map<String, Value>,
    ) -> Result<Option<StringRules>, Declined> {
        let min = count(at, keywords, "minLength")?.unwrap_or(0);
        let max = count(at, keywords, "maxLength")?.unwrap_or(u64::MAX);
        let pattern = match keywords.get("pattern") {
            None => None,
            Some(source) => match source.as_str().and_then(|source| self.patterns.get(source)) {
                Some(pattern) => Some(pattern.clone()),
                None => return declined(at, "pattern"),
            },
        };
        let idle = min == 0 && max == u64::MAX && pattern.is_none();
        Ok((!idle).then_some(StringRules { min, max, pattern }))
    }

    fn logic(
        &mut self,
        at: &str,
        keywords: &Map<String, Value>,
    ) -> Result<Option<Logic>, Declined> {
        let constant = match keywords.get("const") {
            None => None,
            Some(value) => match literal(value) {
                Some(literal) => Some(literal),
                None => return declined(at, "const"),
            },
        };
        let options = match keywords.get("enum") {
            None => None,
            Some(Value::Array(values)) => {
                match values.iter().map(literal).collect::<Option<Box<[Literal]>>>() {
                    Some(literals) => Some(literals),
                    None => return declined(at, "enum"),
                }
            }
            Some(_) => return declined(at, "enum"),
        };
        let logic = Logic {
            reference: self.reference(at, keywords)?,
            constant,
            options,
            all_of: self.branches(at, keywords, "allOf")?.unwrap_or_default(),
            any_of: self.branches(at, keywords, "anyOf")?,
            one_of: self.branches(at, keywords, "oneOf")?,
        };
        let idle = logic.reference.is_none()
            && logic.constant.is_none()
            && logic.options.is_none()
            && logic.all_of.is_empty()
            && logic.any_of.is_none()
            && logic.one_of.is_none();
        Ok((!idle).then_some(logic))
    }

    fn branches(
        &mut self,
        at: &str,
        keywords: &Map<String, Value>,
        keyword: &str,
    ) -> Result<Option<Box<[Index]>>, Declined> {
        match keywords.get(keyword) {
            None => Ok(None),
            Some(Value::Array(branches)) if !branches.is_empty() => {
                let index = |position| self.index_of(format!("{at}/{keyword}/{position}"));
                Ok(Some((0..branches.len()).map(index).collect()))
            }
            Some(_) => declined(at, keyword),
        }
    }

    fn reference(
        &mut self,
        at: &str,
        keywords: &Map<String, Value>,
    ) -> Result<Option<Index>, Declined> {
        let Some(reference) = keywords.get("$ref") else {
            return Ok(None);
        };
        let target = match reference.as_str().and_then(|text| text.strip_prefix('#')) {
            Some("") => String::new(),
            Some(pointer) if pointer.starts_with('/') && !pointer.contains('%') => {
                pointer.to_owned()
            }
            _ => return declined(at, "$ref"),
        };
        if !self.is_plain_path(&target) {
            return declined(at, "$ref");
        }
        Ok(Some(self.index_of(target)))
    }

    /// Whether there is a schema at `pointer`, and no `$id` on the way changes what references
    /// mean.
    fn is_plain_path(&self, pointer: &str) -> bool {
        let mut value = self.document;
        let mut tokens = pointer.split('/');
        tokens.next();
        for token in tokens {
            let next = match value {
                Value::Object(members) => members.get(&unescape(token)),
                Value::Array(elements) => {
                    token.parse().ok().and_then(|index: usize| elements.get(index))
                }
                _ => None,
            };
            let Some(next) = next else { return false };
            value = next;
            if value.get("$id").is_some_and(Value::is_string) {
                return false;
            }
        }
        value.is_object() || value.is_boolean()
    }
}

fn types(at: &str, keywords: &Map<String, Value>) -> Result<Types, Declined> {
    let one = |value: &Value| value.as_str().and_then(Types::named);
    let types = match keywords.get("type") {
        None => Some(Types::ALL),
        Some(Value::Array(names)) => {
            names.iter().map(one).try_fold(Types::NONE, |all, types| Some(all.union(types?)))
        }
        Some(name) => one(name),
    };
    types.map_or_else(|| declined(at, "type"), Ok)
}

fn number(at: &str, keywords: &Map<String, Value>) -> Result<Option<NumberRules>, Declined> {
    let bound = |keyword: &str| match keywords.get(keyword) {
        None => Ok(None),
        Some(Value::Number(number)) => match Number::of_literal(number) {
            Some(number) => Ok(Some(number)),
            None => declined(at, keyword),
        },
        Some(_) => declined(at, keyword),
    };
    let mut rules = NumberRules {
        integers: None,
        minimum: bound("minimum")?,
        maximum: bound("maximum")?,
        exclusive_minimum: bound("exclusiveMinimum")?,
        exclusive_maximum: bound("exclusiveMaximum")?,
    };
    let idle = rules.minimum.is_none()
        && rules.maximum.is_none()
        && rules.exclusive_minimum.is_none()
        && rules.exclusive_maximum.is_none();
    rules.integers = integers_within(&rules);
    Ok((!idle).then_some(rules))
}

/// The first and the last integer within the limits, unless one of them does not fit 64 bits.
fn integers_within(rules: &NumberRules) -> Option<(i64, i64)> {
    let whole = |limit: Option<Number>, otherwise: i64| match limit {
        None => Some(otherwise),
        Some(Number::Integer(value)) => i64::try_from(value).ok(),
        Some(Number::Float(_)) => None,
    };
    let above = match rules.exclusive_minimum {
        None => i64::MIN,
        limit => whole(limit, i64::MIN)?.checked_add(1)?,
    };
    let below = match rules.exclusive_maximum {
        None => i64::MAX,
        limit => whole(limit, i64::MAX)?.checked_sub(1)?,
    };
    Some((whole(rules.minimum, i64::MIN)?.max(above), whole(rules.maximum, i64::MAX)?.min(below)))
}

fn count(at: &str, keywords: &Map<String, Value>, keyword: &str) -> Result<Option<u64>, Declined> {
    match keywords.get(keyword) {
        None => Ok(None),
        // `2.0` is allowed; leaving it to the other engine costs nothing.
        Some(value) => match value.as_u64() {
            Some(count) => Ok(Some(count)),
            None => declined(at, keyword),
        },
    }
}

fn literal(value: &Value) -> Option<Literal> {
    Some(match value {
        Value::Null => Literal::Null,
        Value::Bool(value) => Literal::Bool(*value),
        Value::Number(number) => Literal::Number(Number::of_literal(number)?),
        Value::String(text) => Literal::String(text.as_str().into()),
        Value::Array(_) | Value::Object(_) => return None,
    })
}

/// Escapes one token of a JSON pointer.
pub(super) fn escape(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

fn unescape(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}
