//! The subschemas of a schema, and what each of them describes.

use mcp_json::Node;

/// A subschema of a tool's schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subschema<'a> {
    pub(super) schema: Node<'a>,
    /// The whole schema it is part of.
    pub(super) root: Node<'a>,
    pub(super) role: SubschemaRole,
    /// Nesting depth; the root is 1. Definitions start over.
    pub(super) level: usize,
}

/// What a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SubschemaRole {
    Root,
    /// A standalone value: a property, the items of an array, a definition, or one of several
    /// schemas for a value whose type is not given otherwise.
    Value,
    /// The same, as a named property.
    Property,
    /// The values of an open map.
    MapValue,
    /// An additional condition on a value whose type is known.
    Condition,
}

impl<'a> Subschema<'a> {
    pub(super) fn root(schema: Node<'a>) -> Subschema<'a> {
        Subschema { schema, root: schema, role: SubschemaRole::Root, level: 1 }
    }

    /// Visits every schema from here on, outermost first, in document order. Those inside
    /// conditions (`not`, `if`…) are skipped: the keywords themselves are reported.
    pub(super) fn walk(self, mut visit: impl FnMut(Subschema<'a>)) {
        let mut open = vec![self];
        while let Some(subschema) = open.pop() {
            visit(subschema);
            let first = open.len();
            subschema.push_inner(&mut open);
            open[first..].reverse();
        }
    }

    fn push_inner(self, open: &mut Vec<Subschema<'a>>) {
        let Subschema { root, .. } = self;
        let level = self.level + 1;
        let branch = if self.has_type() { SubschemaRole::Condition } else { SubschemaRole::Value };
        for (keyword, value) in self.schema.members() {
            let Some(keyword) = keyword.str_bytes() else {
                continue;
            };
            let mut push = |schema, role, level| open.push(Subschema { schema, root, role, level });
            match &*keyword {
                b"properties" => {
                    value
                        .members()
                        .for_each(|(_, inner)| push(inner, SubschemaRole::Property, level));
                }
                b"patternProperties" => {
                    value
                        .members()
                        .for_each(|(_, inner)| push(inner, SubschemaRole::MapValue, level));
                }
                b"$defs" | b"definitions" => {
                    value.members().for_each(|(_, inner)| push(inner, SubschemaRole::Value, 1));
                }
                b"items" if !value.is_array() => push(value, SubschemaRole::Value, level),
                b"items" | b"prefixItems" => {
                    value.elements().for_each(|inner| push(inner, SubschemaRole::Value, level));
                }
                b"additionalProperties" => push(value, SubschemaRole::MapValue, level),
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

    /// Whether values of this type are allowed here.
    pub(super) fn is(self, name: &str) -> bool {
        self.schema
            .get("type")
            .is_some_and(|kind| kind.str_eq(name) || kind.elements().any(|one| one.str_eq(name)))
    }

    pub(super) fn has_any(self, keywords: &[&str]) -> bool {
        keywords.iter().any(|keyword| self.schema.get(keyword).is_some())
    }
}
