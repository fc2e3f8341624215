//! Generates values.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{
    document::Document,
    shape::{Branches, Shape, Types},
    text,
};
use crate::Random;

/// Maximum depth of optional members and elements.
const OPTIONAL_DEPTH: usize = 6;
/// Maximum depth of a value.
const DEPTH: usize = 24;
/// Maximum number of nested values.
const NODES: usize = 2_000;
/// Maximum bytes of text in a value.
const BYTES: usize = 256 << 10;
/// Maximum attempts at alternatives if the first contradicts the rest.
const ATTEMPTS: usize = 4;

/// The style of generated values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Only what is required, as small as possible.
    Least,
    /// All named members.
    Full,
    /// Random.
    Any,
}

/// Generates one value.
#[derive(Debug)]
pub(super) struct Maker<'s, 'r> {
    document: Document<'s>,
    style: Style,
    /// The combination of alternatives to use; random if `None`.
    branch: Option<usize>,
    random: &'r mut Random,
    nodes: usize,
    bytes: usize,
}

impl<'s, 'r> Maker<'s, 'r> {
    pub(super) fn new(
        document: Document<'s>,
        style: Style,
        branch: Option<usize>,
        random: &'r mut Random,
    ) -> Maker<'s, 'r> {
        Maker { document, style, branch, random, nodes: NODES, bytes: BYTES }
    }

    /// A value for the whole schema; `None` if impossible within the limits.
    pub(super) fn root(&mut self) -> Option<Value> {
        self.value(&[self.document.root()], 0)
    }

    fn value(&mut self, schemas: &[&'s Value], depth: usize) -> Option<Value> {
        self.nodes = self.nodes.checked_sub(1)?;
        if depth > DEPTH {
            return None;
        }
        (0..ATTEMPTS).find_map(|attempt| {
            let shape = match self.branch {
                Some(branch) => {
                    Shape::of(self.document, schemas, &mut Branches::Nth(branch + attempt))
                }
                None => Shape::of(self.document, schemas, &mut Branches::Random(self.random)),
            }?;
            self.of_shape(&shape, depth)
        })
    }

    fn of_shape(&mut self, shape: &Shape<'s>, depth: usize) -> Option<Value> {
        if let Some(named) = self.named(shape) {
            self.bytes = self.bytes.checked_sub(named.to_string().len())?;
            return Some(named);
        }
        let types = shape.preferred_types();
        let first = match self.style {
            Style::Any => self.random.index(types.len()),
            Style::Least | Style::Full => 0,
        };
        let order = types[first..].iter().chain(&types[..first]);
        order.copied().find_map(|single| self.of_type(shape, single, depth))
    }

    /// A value named by the schema itself.
    fn named(&mut self, shape: &Shape<'s>) -> Option<Value> {
        if let Some(constant) = shape.constant {
            return Some(constant.clone());
        }
        if let Some(options) = &shape.options {
            let default = shape.default.filter(|default| options.contains(default));
            return Some(match self.style {
                Style::Any => *self.random.choose(options)?,
                Style::Least | Style::Full => default.or(options.first().copied())?,
            })
            .cloned();
        }
        // Default numbers are often large, which may make calls too slow for a test.
        let default = shape.default.filter(|default| default.is_string() || default.is_boolean());
        let mut examples = shape.examples.iter().copied().chain(default);
        let fits = |value: &&Value| !value.is_object() && shape.types.has(Types::of(value));
        match self.style {
            Style::Any => {
                let examples: Vec<&Value> = examples.filter(fits).collect();
                let is_wanted = self.random.one_in(3);
                self.random.choose(&examples).filter(|_| is_wanted).map(|value| (*value).clone())
            }
            Style::Least | Style::Full => examples.find(fits).cloned(),
        }
    }

    fn of_type(&mut self, shape: &Shape<'s>, single: Types, depth: usize) -> Option<Value> {
        let is_any = self.style == Style::Any;
        match single {
            Types::STRING => {
                let text = text::text(shape, is_any.then_some(&mut *self.random))?;
                self.bytes = self.bytes.checked_sub(text.len())?;
                Some(Value::String(text))
            }
            Types::INTEGER | Types::NUMBER if is_any => shape.range.any(single, self.random),
            Types::INTEGER | Types::NUMBER => shape.range.small(single),
            Types::BOOLEAN => Some(Value::Bool(is_any && self.random.one_in(2))),
            Types::OBJECT => self.object(shape, depth),
            Types::ARRAY => self.array(shape, depth),
            _ => Some(Value::Null),
        }
    }

    fn object(&mut self, shape: &Shape<'s>, depth: usize) -> Option<Value> {
        let mut wanted: Vec<&str> = shape.required.iter().copied().collect();
        let needed = wanted.len();
        if depth < OPTIONAL_DEPTH && self.style != Style::Least {
            let optional = shape.properties.keys().filter(|name| !shape.required.contains(*name));
            for name in optional {
                if self.style == Style::Full || self.random.one_in(2) {
                    wanted.push(name);
                }
            }
        }
        let most = usize::try_from(shape.max_properties.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        let mut members = Map::new();
        for (index, name) in wanted.into_iter().enumerate() {
            if index >= needed && (members.len() >= most || self.nodes < NODES / 4) {
                break;
            }
            let made = shape.member(name).and_then(|schemas| self.value(&schemas, depth + 1));
            match made {
                Some(value) => members.insert(name.to_owned(), value),
                None if index < needed => return None,
                None => None,
            };
        }
        self.add_dependent(shape, &mut members, depth)?;
        self.add_unnamed(shape, &mut members, depth)?;
        Some(Value::Object(members))
    }

    /// Adds members required by others.
    fn add_dependent(
        &mut self,
        shape: &Shape<'s>,
        members: &mut Map<String, Value>,
        depth: usize,
    ) -> Option<()> {
        loop {
            let missing = shape.dependent.iter().find(|(name, needed)| {
                members.contains_key(*name) && !members.contains_key(*needed)
            });
            let Some((_, needed)) = missing else { return Some(()) };
            let value = self.value(&shape.member(needed)?, depth + 1)?;
            members.insert((*needed).to_owned(), value);
        }
    }

    /// Adds members until there are enough.
    fn add_unnamed(
        &mut self,
        shape: &Shape<'s>,
        members: &mut Map<String, Value>,
        depth: usize,
    ) -> Option<()> {
        let least = usize::try_from(shape.min_properties).ok()?;
        let optional: Vec<&str> = shape.properties.keys().copied().collect();
        for name in optional {
            if members.len() >= least {
                return Some(());
            }
            if !members.contains_key(name)
                && let Some(value) = self.value(&shape.member(name)?, depth + 1)
            {
                members.insert(name.to_owned(), value);
            }
        }
        let mut number = 0;
        while members.len() < least {
            number += 1;
            self.nodes = self.nodes.checked_sub(1)?;
            let name = if shape.member_names.is_empty() {
                format!("member{number}")
            } else {
                let named = Maker::new(self.document, Style::Any, None, self.random);
                let mut named = Maker { nodes: ATTEMPTS, ..named };
                named.value(&shape.member_names, depth + 1)?.as_str()?.to_owned()
            };
            let value = self.value(&shape.member(&name)?, depth + 1)?;
            members.insert(name, value);
        }
        Some(())
    }

    fn array(&mut self, shape: &Shape<'s>, depth: usize) -> Option<Value> {
        let most = shape.max_items.unwrap_or(u64::MAX);
        let wanted = match self.style {
            Style::Least => 0,
            _ if depth >= OPTIONAL_DEPTH => 0,
            Style::Full => (shape.prefix.len() as u64).max(1),
            Style::Any => self.random.below(4),
        };
        let count = wanted.min(most).max(shape.min_items);
        let count = usize::try_from(count).ok().filter(|count| *count <= self.nodes)?;
        let (mut elements, mut seen) = (Vec::new(), BTreeSet::new());
        for index in 0..count {
            let mut schemas = shape.element(index);
            // One is enough: the first without its own schema.
            if index == shape.prefix.len().min(count - 1) {
                schemas.extend(shape.contains);
            }
            let element = if shape.is_unique {
                self.unlike(&schemas, &mut seen, depth)
            } else {
                self.value(&schemas, depth + 1)
            };
            match element {
                Some(element) => elements.push(element),
                None if (elements.len() as u64) < shape.min_items => return None,
                None => break,
            }
        }
        Some(Value::Array(elements))
    }

    /// An element that differs from the existing ones.
    fn unlike(
        &mut self,
        schemas: &[&'s Value],
        seen: &mut BTreeSet<String>,
        depth: usize,
    ) -> Option<Value> {
        let (style, branch) = (self.style, self.branch);
        let found = (0..ATTEMPTS * 2).find_map(|attempt| {
            if attempt > 0 {
                (self.style, self.branch) = (Style::Any, None);
            }
            self.value(schemas, depth + 1).filter(|value| seen.insert(value.to_string()))
        });
        (self.style, self.branch) = (style, branch);
        found
    }
}
