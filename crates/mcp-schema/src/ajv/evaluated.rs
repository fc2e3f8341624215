//! Tracks which parts of a value keywords have evaluated, for `unevaluatedProperties` and
//! `unevaluatedItems`.

use std::collections::HashSet;

use mcp_json::Node;

/// The parts of one value that the keywords of one schema have evaluated.
#[derive(Debug, Default)]
pub(super) struct Evaluated {
    /// Indices of member values.
    members: Part<u32>,
    /// Positions of elements accepted by `contains`.
    elements: Part<usize>,
    /// All elements before this position.
    prefix: usize,
}

#[derive(Debug)]
struct Part<T> {
    all: bool,
    some: HashSet<T>,
}

impl<T> Default for Part<T> {
    fn default() -> Self {
        Part { all: false, some: HashSet::new() }
    }
}

impl Evaluated {
    pub(super) fn add_member(&mut self, value: Node<'_>) {
        if !self.members.all {
            self.members.some.insert(value.index());
        }
    }

    pub(super) fn add_all_members(&mut self) {
        self.members = Part { all: true, some: HashSet::new() };
    }

    pub(super) fn has_member(&self, value: Node<'_>) -> bool {
        self.members.all || self.members.some.contains(&value.index())
    }

    pub(super) fn add_element(&mut self, position: usize) {
        if !self.elements.all {
            self.elements.some.insert(position);
        }
    }

    pub(super) fn add_prefix(&mut self, length: usize) {
        self.prefix = self.prefix.max(length);
    }

    pub(super) fn add_all_elements(&mut self) {
        self.elements = Part { all: true, some: HashSet::new() };
    }

    pub(super) fn has_element(&self, position: usize) -> bool {
        self.elements.all || position < self.prefix || self.elements.some.contains(&position)
    }

    pub(super) fn prefix(&self) -> usize {
        self.prefix
    }

    /// Merges what another schema has evaluated in the same value.
    pub(super) fn merge(&mut self, other: Evaluated) {
        self.add_prefix(other.prefix);
        if other.members.all {
            self.add_all_members();
        } else if !self.members.all {
            self.members.some.extend(other.members.some);
        }
        if other.elements.all {
            self.add_all_elements();
        } else if !self.elements.all {
            self.elements.some.extend(other.elements.some);
        }
    }
}
