//! The constraints of a schema, in the form from which code is generated.
//!
//! JSON Schema keywords apply only to values of their own type: `{"required": ["a"]}` accepts the
//! number 3. Our documents always state the type beside such keywords, and the generator insists on
//! it, so that a shape is a single check and the generated code is exact.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};

use crate::schema::{Definitions, Schema, Type};

/// Constraints on a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    Anything,
    /// One of these types.
    Types(Vec<Type>),
    /// A string that is one of these.
    OneOf(Vec<String>),
    Number {
        integer: bool,
        minimum: Option<i32>,
        maximum: Option<i32>,
    },
    Array {
        items: Box<Shape>,
        min_items: Option<usize>,
        max_items: Option<usize>,
    },
    Object(Object),
    /// The named definition.
    Definition(String),
    /// At least one of these must match; they are tried in order.
    Any(Vec<Shape>),
    /// An object whose member `property` determines which alternatives are possible.
    Tagged {
        property: String,
        /// Alternatives by value of the member.
        present: BTreeMap<String, Vec<Shape>>,
        /// Alternatives if the member is missing.
        absent: Vec<Shape>,
    },
}

/// Constraints on an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Object {
    pub members: BTreeMap<String, Shape>,
    pub required: BTreeSet<String>,
    /// At least one of these sets of members must be present completely; unless there are no sets.
    pub required_alternatives: Vec<BTreeSet<String>>,
    /// Shape of every member not in `members`.
    pub additional: Box<Shape>,
}

/// The shape of `schema`, which may refer to `definitions`.
pub(crate) fn shape(schema: &Schema, definitions: &Definitions) -> Result<Shape> {
    if schema.is_empty() {
        return Ok(Shape::Anything);
    }
    if let Some(name) = &schema.reference {
        alone(schema, |rest| rest.reference = None).context("beside `$ref`")?;
        return Ok(Shape::Definition(name.clone()));
    }
    if let Some(text) = &schema.constant {
        alone(schema, |rest| rest.constant = None).context("beside `const`")?;
        return Ok(Shape::OneOf(vec![text.clone()]));
    }
    if !schema.choices.is_empty() {
        alone(schema, |rest| rest.choices.clear()).context("beside `enum`")?;
        return Ok(Shape::OneOf(schema.choices.clone()));
    }
    match schema.types.as_slice() {
        [] => {
            alone(schema, |rest| rest.any_of.clear()).context("without `type`")?;
            alternatives(&schema.any_of, definitions)
        }
        [Type::Object] => object(schema, definitions),
        [Type::Array] => array(schema, definitions),
        [number @ (Type::Integer | Type::Number)] => number_in_bounds(schema, *number),
        types => {
            alone(schema, |rest| rest.types.clear()).context("beside `type`")?;
            Ok(Shape::Types(types.to_vec()))
        }
    }
}

fn object(schema: &Schema, definitions: &Definitions) -> Result<Shape> {
    alone(schema, |rest| {
        rest.types.clear();
        rest.properties.clear();
        rest.required.clear();
        rest.additional = None;
        rest.any_of.clear();
    })
    .context("beside `type: object`")?;

    let mut members = BTreeMap::new();
    for (name, schema) in &schema.properties {
        let member = shape(schema, definitions).with_context(|| format!("in property `{name}`"))?;
        members.insert(name.clone(), member);
    }
    let additional = match &schema.additional {
        Some(schema) => shape(schema, definitions).context("in `additionalProperties`")?,
        None => Shape::Anything,
    };
    let required_alternatives = (schema.any_of.iter())
        .map(|branch| {
            alone(branch, |rest| rest.required.clear())
                .context("in `anyOf` beside `type: object`, which may only hold `required`")?;
            Ok(branch.required.iter().cloned().collect())
        })
        .collect::<Result<Vec<BTreeSet<String>>>>()?;

    let object = Object {
        members,
        required: schema.required.iter().cloned().collect(),
        required_alternatives,
        additional: Box::new(additional),
    };
    Ok(if object.is_plain() { Shape::Types(vec![Type::Object]) } else { Shape::Object(object) })
}

impl Object {
    /// Whether every object matches.
    fn is_plain(&self) -> bool {
        self.required.is_empty()
            && self.required_alternatives.is_empty()
            && *self.additional == Shape::Anything
            && self.members.values().all(|shape| *shape == Shape::Anything)
    }
}

fn array(schema: &Schema, definitions: &Definitions) -> Result<Shape> {
    alone(schema, |rest| {
        rest.types.clear();
        rest.items = None;
        rest.min_items = None;
        rest.max_items = None;
    })
    .context("beside `type: array`")?;
    let items = match &schema.items {
        Some(schema) => shape(schema, definitions).context("in `items`")?,
        None => Shape::Anything,
    };
    if items == Shape::Anything && schema.min_items.is_none() && schema.max_items.is_none() {
        return Ok(Shape::Types(vec![Type::Array]));
    }
    Ok(Shape::Array {
        items: Box::new(items),
        min_items: schema.min_items,
        max_items: schema.max_items,
    })
}

fn number_in_bounds(schema: &Schema, number: Type) -> Result<Shape> {
    alone(schema, |rest| {
        rest.types.clear();
        rest.minimum = None;
        rest.maximum = None;
    })
    .context("beside a numeric `type`")?;
    if schema.minimum.is_none() && schema.maximum.is_none() {
        return Ok(Shape::Types(vec![number]));
    }
    Ok(Shape::Number {
        integer: number == Type::Integer,
        minimum: schema.minimum,
        maximum: schema.maximum,
    })
}

fn alternatives(branches: &[Schema], definitions: &Definitions) -> Result<Shape> {
    let mut shapes = Vec::new();
    for branch in branches {
        shapes.push(shape(branch, definitions).context("in `anyOf`")?);
    }
    let Some(property) = discriminator(&shapes, definitions)? else {
        return Ok(Shape::Any(shapes));
    };

    let mut present: BTreeMap<String, Vec<Shape>> = BTreeMap::new();
    let mut absent = Vec::new();
    for branch in shapes {
        let tag = tags(&branch, definitions)?
            .remove(&property)
            .expect("a discriminator is constrained by every branch");
        for value in tag.values {
            present.entry(value).or_default().push(branch.clone());
        }
        if !tag.required {
            absent.push(branch);
        }
    }
    Ok(Shape::Tagged { property, present, absent })
}

/// The member whose value distinguishes the alternatives, if every one of them fixes it to some
/// strings: then an alternative that does not list the value cannot match.
fn discriminator(branches: &[Shape], definitions: &Definitions) -> Result<Option<String>> {
    let mut common: Option<BTreeMap<String, BTreeSet<String>>> = None;
    for branch in branches {
        let tags = tags(branch, definitions)?;
        common = Some(match common {
            None => (tags.into_iter())
                .map(|(name, tag)| (name, tag.values.into_iter().collect()))
                .collect(),
            Some(common) => (common.into_iter())
                .filter_map(|(name, mut values)| {
                    values.extend(tags.get(&name)?.values.iter().cloned());
                    Some((name, values))
                })
                .collect(),
        });
    }
    // The one with the most values discriminates best; ties go to the first by name.
    Ok((common.into_iter().flatten())
        .filter(|(_, values)| values.len() > 1)
        .max_by(|(one, few), (other, many)| few.len().cmp(&many.len()).then(other.cmp(one)))
        .map(|(name, _)| name))
}

struct Tag {
    values: Vec<String>,
    required: bool,
}

/// The members that `shape` fixes to some strings; none unless it accepts objects only.
fn tags(shape: &Shape, definitions: &Definitions) -> Result<BTreeMap<String, Tag>> {
    let object = match shape {
        Shape::Definition(name) => {
            return tags(&self::shape(&definitions[name], definitions)?, definitions);
        }
        Shape::Object(object) => object,
        _ => return Ok(BTreeMap::new()),
    };
    Ok((object.members.iter())
        .filter_map(|(name, member)| match member {
            Shape::OneOf(values) => Some((
                name.clone(),
                Tag { values: values.clone(), required: object.required.contains(name) },
            )),
            _ => None,
        })
        .collect())
}

/// Rejects a schema that has more constraints than `remove` takes away.
fn alone(schema: &Schema, remove: impl FnOnce(&mut Schema)) -> Result<()> {
    let mut rest = schema.clone();
    remove(&mut rest);
    ensure!(rest.is_empty(), "the generator cannot combine these keywords: {rest:?}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::parse_document;

    fn shape_of(definitions: &str) -> Result<Shape> {
        let document = format!(
            r#"{{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{definitions}}}"#
        );
        let definitions = parse_document(&document).unwrap();
        shape(&definitions["A"], &definitions)
    }

    fn discriminator_of(definitions: &str) -> Option<String> {
        match shape_of(definitions).unwrap() {
            Shape::Tagged { property, .. } => Some(property),
            _ => None,
        }
    }

    #[test]
    fn alternatives_are_told_apart_by_a_member_that_all_of_them_fix() {
        let found = discriminator_of(
            r##"{
                "A": { "anyOf": [{ "$ref": "#/$defs/B" }, { "$ref": "#/$defs/C" }] },
                "B": { "type": "object", "properties": { "k": { "const": "b" }, "same": { "const": "s" } } },
                "C": { "type": "object", "properties": { "k": { "enum": ["c", "d"] }, "same": { "const": "s" } } }
            }"##,
        );
        assert_eq!(found.as_deref(), Some("k"));
    }

    #[test]
    fn an_alternative_that_leaves_the_member_open_prevents_that() {
        let found = discriminator_of(
            r#"{ "A": { "anyOf": [
                { "type": "object", "properties": { "k": { "const": "b" } } },
                { "type": "object", "properties": { "k": { "type": "string" } } }
            ] } }"#,
        );
        assert_eq!(found, None);
    }

    #[test]
    fn only_alternatives_that_do_not_need_the_member_are_left_when_it_is_missing() {
        let shape = shape_of(
            r#"{ "A": { "anyOf": [
                { "type": "object", "required": ["k"], "properties": { "k": { "const": "b" } } },
                { "type": "object", "properties": { "k": { "const": "c" }, "l": { "type": "string" } } }
            ] } }"#,
        );
        let Shape::Tagged { present, absent, .. } = shape.unwrap() else {
            panic!("there is a discriminator");
        };
        assert_eq!(present.keys().collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(absent, present["c"]);
    }

    #[test]
    fn keywords_without_their_type_are_refused() {
        for schema in [
            r#"{ "A": { "required": ["a"] } }"#,
            r#"{ "A": { "items": { "type": "string" } } }"#,
            r#"{ "A": { "type": "string", "minimum": 1 } }"#,
            r#"{ "A": { "type": ["object", "null"], "required": ["a"] } }"#,
            r#"{ "A": { "type": "object", "anyOf": [{ "properties": { "a": { "const": "b" } } }] } }"#,
        ] {
            let error = format!("{:#}", shape_of(schema).unwrap_err());
            assert!(error.contains("cannot combine these keywords"), "{error}");
        }
    }
}
