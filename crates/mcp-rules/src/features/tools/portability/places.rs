//! The schemas inside a schema, with what each of them describes.

use mcp_json::Node;

/// A schema inside a tool's schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot<'a> {
    pub(super) schema: Node<'a>,
    /// The whole that it is part of.
    pub(super) root: Node<'a>,
    pub(super) place: Place,
    /// How deep it is nested; the root is 1. Definitions begin anew.
    pub(super) level: usize,
}

/// What a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Root,
    /// A value on its own: a property, the items of an array, a definition, or one of several
    /// schemas for a value whose type is not given otherwise.
    Value,
    /// The same, as a named property.
    Property,
    /// The values of an open map.
    MapValue,
    /// One more condition for a value whose type is known.
    Condition,
}

impl<'a> Spot<'a> {
    pub(super) fn root(schema: Node<'a>) -> Spot<'a> {
        Spot { schema, root: schema, place: Place::Root, level: 1 }
    }

    /// Every schema from here on, outermost first, in the order of the text. What stands in
    /// conditions (`not`, `if`…) is left out: those keywords are objected to themselves.
    pub(super) fn walk(self, mut visit: impl FnMut(Spot<'a>)) {
        let mut open = vec![self];
        while let Some(spot) = open.pop() {
            visit(spot);
            let first = open.len();
            spot.push_inner(&mut open);
            open[first..].reverse();
        }
    }

    fn push_inner(self, open: &mut Vec<Spot<'a>>) {
        let Spot { root, .. } = self;
        let level = self.level + 1;
        let branch = if self.has_type() { Place::Condition } else { Place::Value };
        for (keyword, value) in self.schema.members() {
            let Some(keyword) = keyword.str_bytes() else {
                continue;
            };
            let mut push = |schema, place, level| open.push(Spot { schema, root, place, level });
            match &*keyword {
                b"properties" => {
                    value.members().for_each(|(_, inner)| push(inner, Place::Property, level));
                }
                b"patternProperties" => {
                    value.members().for_each(|(_, inner)| push(inner, Place::MapValue, level));
                }
                b"$defs" | b"definitions" => {
                    value.members().for_each(|(_, inner)| push(inner, Place::Value, 1));
                }
                b"items" if !value.is_array() => push(value, Place::Value, level),
                b"items" | b"prefixItems" => {
                    value.elements().for_each(|inner| push(inner, Place::Value, level));
                }
                b"additionalProperties" => push(value, Place::MapValue, level),
                b"anyOf" | b"oneOf" | b"allOf" => {
                    value.elements().for_each(|inner| push(inner, branch, level));
                }
                _ => {}
            }
        }
    }

    pub(super) fn has_type(self) -> bool {
        self.schema.get("type").is_some()
    }

    /// Whether values of this type may occur here.
    pub(super) fn is(self, name: &str) -> bool {
        self.schema
            .get("type")
            .is_some_and(|kind| kind.str_eq(name) || kind.elements().any(|one| one.str_eq(name)))
    }

    pub(super) fn has_any(self, keywords: &[&str]) -> bool {
        keywords.iter().any(|keyword| self.schema.get(keyword).is_some())
    }
}
