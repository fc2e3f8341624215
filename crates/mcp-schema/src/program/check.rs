//! The yes/no walk.

use std::{borrow::Cow, collections::HashMap};

use mcp_json::{Kind, Node};

use super::allowance::Allowance;
use super::{
    Additional, ArrayRules, Index, Literal, Logic, Number, NumberRules, ObjectRules, Program,
    Property, ROOT, Schema, StringRules, Types, WalkOutcome,
};

impl Program {
    /// Whether `node` satisfies the schema.
    pub(crate) fn accepts(&self, node: Node<'_>) -> WalkOutcome {
        let mut allowance = Allowance::for_node(node);
        let accepted = self.check(ROOT, node, &mut allowance);
        match (allowance.is_spent(), accepted) {
            (true, _) => WalkOutcome::Undecided,
            (false, true) => WalkOutcome::Accepted,
            (false, false) => WalkOutcome::Rejected,
        }
    }

    #[inline]
    pub(super) fn check(&self, index: Index, node: Node<'_>, allowance: &mut Allowance) -> bool {
        let schema = &self.schemas[index as usize];
        if schema.bare {
            return schema.types.meets(types_of(node, schema.types));
        }
        self.check_rules(schema, node, allowance)
    }

    fn check_rules(&self, schema: &Schema, node: Node<'_>, allowance: &mut Allowance) -> bool {
        if !allowance.enter() {
            return false;
        }
        let fits = schema.types.meets(types_of(node, schema.types))
            && match node.kind() {
                Kind::Object => schema
                    .object
                    .as_ref()
                    .is_none_or(|rules| self.check_object(rules, node, allowance)),
                Kind::Array => schema
                    .array
                    .as_ref()
                    .is_none_or(|rules| self.check_array(rules, node, allowance)),
                Kind::String => {
                    schema.string.as_ref().is_none_or(|rules| check_string(rules, node, allowance))
                }
                Kind::Integer | Kind::Decimal => {
                    schema.number.as_ref().is_none_or(|rules| check_number(rules, node))
                }
                Kind::Null | Kind::Bool => true,
            }
            && schema.logic.as_ref().is_none_or(|logic| self.check_logic(logic, node, allowance));
        allowance.leave();
        fits
    }

    fn check_object(&self, rules: &ObjectRules, node: Node<'_>, allowance: &mut Allowance) -> bool {
        let size = node.len() as u64;
        if size < rules.min || size > rules.max {
            return false;
        }
        let mut seen = Seen::new(rules);
        let superseded = Superseded::of(node);
        for (key, value) in node.members() {
            if superseded.contains(key, value) {
                continue;
            }
            let fits = match rules.find(key) {
                Some((position, property)) => {
                    seen.mark(position, property);
                    if property.declared {
                        self.check(property.schema, value, allowance)
                    } else {
                        self.check_additional(rules.additional, value, allowance)
                    }
                }
                None => self.check_additional(rules.additional, value, allowance),
            };
            if !fits {
                return false;
            }
        }
        seen.has_all_required(rules)
    }

    fn check_additional(
        &self,
        additional: Additional,
        value: Node<'_>,
        allowance: &mut Allowance,
    ) -> bool {
        match additional {
            Additional::Anything => true,
            Additional::Nothing => false,
            Additional::Schema(index) => self.check(index, value, allowance),
        }
    }

    fn check_array(&self, rules: &ArrayRules, node: Node<'_>, allowance: &mut Allowance) -> bool {
        let length = node.len() as u64;
        length >= rules.min
            && length <= rules.max
            && rules.items.is_none_or(|items| {
                node.elements().all(|element| self.check(items, element, allowance))
            })
    }

    fn check_logic(&self, logic: &Logic, node: Node<'_>, allowance: &mut Allowance) -> bool {
        if let Some(constant) = &logic.constant
            && !constant.equals(node)
        {
            return false;
        }
        if let Some(options) = &logic.options {
            // An `enum` can be as long as the schema.
            if !allowance.spend(options.len() as u64)
                || !options.iter().any(|option| option.equals(node))
            {
                return false;
            }
        }
        logic.reference.is_none_or(|target| self.check(target, node, allowance))
            && logic.all_of.iter().all(|branch| self.check(*branch, node, allowance))
            && logic.any_of.as_ref().is_none_or(|branches| {
                branches.iter().any(|branch| self.check(*branch, node, allowance))
            })
            && logic.one_of.as_ref().is_none_or(|branches| {
                let mut fitting =
                    branches.iter().filter(|branch| self.check(**branch, node, allowance));
                fitting.next().is_some() && fitting.next().is_none()
            })
    }
}

impl ObjectRules {
    /// The property named by `key`, and its position.
    pub(super) fn find(&self, key: Node<'_>) -> Option<(usize, &Property)> {
        // For a few properties, a linear search is fastest.
        const FEW: usize = 16;
        let position = if self.properties.len() <= FEW {
            let fingerprint = key.fingerprint();
            self.properties.iter().position(|property| property.name.is(key, fingerprint))?
        } else {
            let name = key.str_bytes()?;
            self.properties
                .binary_search_by(|property| property.name.as_str().as_bytes().cmp(&name))
                .ok()?
        };
        Some((position, &self.properties[position]))
    }
}

/// The properties seen in an object, so that a duplicate key does not count twice.
pub(super) enum Seen {
    Few(u64),
    Many(Vec<u64>),
}

impl Seen {
    pub(super) fn new(rules: &ObjectRules) -> Seen {
        if rules.properties.len() <= 64 {
            Seen::Few(0)
        } else {
            Seen::Many(vec![0; rules.properties.len().div_ceil(64)])
        }
    }

    pub(super) fn mark(&mut self, position: usize, property: &Property) {
        if !property.required {
            return;
        }
        match self {
            Seen::Few(bits) => *bits |= 1 << position,
            Seen::Many(words) => words[position / 64] |= 1 << (position % 64),
        }
    }

    pub(super) fn has(&self, position: usize) -> bool {
        match self {
            Seen::Few(bits) => bits & (1 << position) != 0,
            Seen::Many(words) => words[position / 64] & (1 << (position % 64)) != 0,
        }
    }

    /// Only required ones are ever marked.
    fn has_all_required(&self, rules: &ObjectRules) -> bool {
        let marked = match self {
            Seen::Few(bits) => bits.count_ones() as usize,
            Seen::Many(words) => words.iter().map(|word| word.count_ones() as usize).sum(),
        };
        marked == rules.required
    }
}

impl Literal {
    pub(super) fn equals(&self, node: Node<'_>) -> bool {
        match self {
            Literal::Null => node.is_null(),
            Literal::Bool(value) => node.as_bool() == Some(*value),
            Literal::Number(number) => {
                node.is_number() && Number::of_node(node).is_some_and(|other| other == *number)
            }
            Literal::String(text) => node.str_eq(text),
        }
    }
}

/// The members of an object that do not count because a later one has the same name.
pub(super) struct Superseded<'a> {
    /// The last value of each name; nothing if no name of the document occurs twice.
    last: Option<HashMap<Cow<'a, [u8]>, u32>>,
}

impl<'a> Superseded<'a> {
    pub(super) fn of(object: Node<'a>) -> Superseded<'a> {
        let twice = object.document().has_duplicate_keys();
        Superseded { last: twice.then(|| last_values(object)) }
    }

    pub(super) fn contains(&self, key: Node<'_>, value: Node<'_>) -> bool {
        self.last.as_ref().is_some_and(|last| is_earlier(last, key, value))
    }
}

#[cold]
fn last_values(object: Node<'_>) -> HashMap<Cow<'_, [u8]>, u32> {
    object.members().filter_map(|(key, value)| Some((key.str_bytes()?, value.index()))).collect()
}

#[cold]
fn is_earlier(last: &HashMap<Cow<'_, [u8]>, u32>, key: Node<'_>, value: Node<'_>) -> bool {
    key.str_bytes().is_some_and(|name| last.get(&*name).is_some_and(|last| *last != value.index()))
}

/// The type of `node`. Whether a number is integral is worked out only if `wanted` asks.
#[inline]
pub(crate) fn types_of(node: Node<'_>, wanted: Types) -> Types {
    match node.kind() {
        Kind::Null => Types::NULL,
        Kind::Bool => Types::BOOLEAN,
        Kind::String => Types::STRING,
        Kind::Array => Types::ARRAY,
        Kind::Object => Types::OBJECT,
        Kind::Integer => Types::INTEGER,
        Kind::Decimal if wanted.meets(Types::FRACTION) => Types::NUMBER,
        Kind::Decimal if node.is_integer() => Types::INTEGER,
        Kind::Decimal => Types::FRACTION,
    }
}

fn check_string(rules: &StringRules, node: Node<'_>, allowance: &mut Allowance) -> bool {
    let Some(bytes) = node.str_bytes() else {
        return false;
    };
    let length = bytes.len() as u64;
    // A character takes one to four bytes: count only if in doubt.
    if length < rules.min
        || (length < rules.min.saturating_mul(4) && characters(&bytes) < rules.min)
    {
        return false;
    }
    if length > rules.max && characters(&bytes) > rules.max {
        return false;
    }
    rules
        .pattern
        .as_ref()
        .is_none_or(|pattern| allowance.spend(pattern.steps(node)) && pattern.is_match(&bytes))
}

pub(crate) fn characters(text: &[u8]) -> u64 {
    // Every byte that is not a continuation byte starts a character.
    text.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64
}

fn check_number(rules: &NumberRules, node: Node<'_>) -> bool {
    if let Some((first, last)) = rules.integers
        && let Some(value) = node.as_i64()
    {
        return (first..=last).contains(&value);
    }
    let Some(value) = Number::of_node(node) else {
        return true;
    };
    rules.minimum.is_none_or(|limit| value >= limit)
        && rules.maximum.is_none_or(|limit| value <= limit)
        && rules.exclusive_minimum.is_none_or(|limit| value > limit)
        && rules.exclusive_maximum.is_none_or(|limit| value < limit)
}
