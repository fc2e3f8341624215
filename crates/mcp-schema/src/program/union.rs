//! Guesses which alternative of a union a value was meant to be.
//!
//! Only that one is reported: the one whose discriminator (`type`, `method`, any property with a
//! fixed value) the message has. A discriminator that matches no alternative is itself the error.
//! If there is no discriminator, the errors common to all alternatives are reported, or else the
//! union.

use mcp_json::Node;
use serde_json::{Value, json};

use crate::violation::{Violation, listed, shown, shown_value};

use super::check::types_of;
use super::explain::{Explainer, not_an_option};
use super::{Index, Literal, Logic, Program, Schema, Types};

/// Properties that distinguish alternatives, the usual ones first.
const DISCRIMINATORS: [&str; 5] = ["type", "method", "mode", "resultType", "kind"];
/// Nobody reads more than this many alternatives of a union.
const MAX_ALTERNATIVES: usize = 64;
/// Limit on alternatives compared when no discriminator decides, and on their violations.
const MAX_COMPARED: usize = 8;

impl Explainer<'_> {
    /// Reports why `node` fits none of `branches`, which are under `keyword`.
    pub(super) fn union(
        &mut self,
        index: Index,
        keyword: &str,
        branches: &[Index],
        node: Node<'_>,
    ) {
        let before = self.found.len();
        self.alternatives(index, keyword, branches, node);
        if self.found.len() == before {
            let message = format!("{} fits none of {} alternatives", shown(node), branches.len());
            self.report(index, keyword, json!({}), message, node.span());
        }
    }

    fn alternatives(&mut self, index: Index, keyword: &str, branches: &[Index], node: Node<'_>) {
        let mut leaves = Vec::new();
        self.program.flatten(branches, &mut leaves);
        let types =
            leaves.iter().fold(Types::NONE, |all, leaf| all.union(self.program.types(*leaf)));
        leaves.retain(|leaf| {
            let types = self.program.types(*leaf);
            types.meets(types_of(node, types))
        });
        if leaves.is_empty() {
            let position = self.found.len();
            self.wrong_type(index, keyword, types, node);
            // It was reported at the union, but the type is what is wrong.
            if let Some(violation) = self.found.get_mut(position)
                && violation.keyword == keyword
            {
                violation.keyword = "type".into();
            }
            return;
        }
        for name in self.program.discriminators(&leaves) {
            if leaves.len() > 1 && !self.discriminate(index, keyword, name, &mut leaves, node) {
                return;
            }
        }
        match leaves.as_slice() {
            [leaf] => self.schema(*leaf, node),
            _ => self.common_fault(index, keyword, &leaves, node),
        }
    }

    /// Keeps the alternatives that `name` selects. Returns `false` if it selects none, after
    /// reporting that.
    fn discriminate(
        &mut self,
        index: Index,
        keyword: &str,
        name: &str,
        leaves: &mut Vec<Index>,
        node: Node<'_>,
    ) -> bool {
        let program = self.program;
        let Some(value) = node.get(name) else {
            if leaves.iter().any(|leaf| !program.requires(*leaf, name)) {
                leaves.retain(|leaf| !program.requires(*leaf, name));
                return true;
            }
            let options = program.options(leaves, name);
            let allowed: Vec<Value> = options.iter().map(|option| option.to_json()).collect();
            let message = format!(
                "required property {} is missing; it is one of {}",
                shown_value(&name.into()),
                listed(&allowed)
            );
            let params = json!({ "missingProperty": name, "allowedValues": allowed });
            self.report(index, keyword, params, message, node.span());
            self.rename_last("required");
            return false;
        };
        let selected = |leaf: &Index| {
            program
                .property_literals(*leaf, name)
                .is_some_and(|literals| literals.iter().any(|literal| literal.equals(value)))
        };
        if leaves.iter().any(selected) {
            leaves.retain(selected);
            return true;
        }
        if leaves.iter().any(|leaf| program.property_literals(*leaf, name).is_none()) {
            leaves.retain(|leaf| program.property_literals(*leaf, name).is_none());
            return true;
        }
        let (params, message) = not_an_option(value, program.options(leaves, name));
        self.below(name, |this| {
            this.report(index, keyword, params, message, value.span());
            this.rename_last("enum");
        });
        false
    }

    /// Changes the keyword of the last violation, which was found at a union but belongs to
    /// another.
    fn rename_last(&mut self, keyword: &str) {
        if let Some(violation) = self.found.last_mut() {
            violation.keyword = keyword.into();
        }
    }

    /// Reports the errors common to all `leaves`, or the union if there are none.
    fn common_fault(&mut self, index: Index, keyword: &str, leaves: &[Index], node: Node<'_>) {
        let mut faults: Vec<Vec<Violation>> = Vec::new();
        let outer_limit = std::mem::replace(&mut self.limit, MAX_COMPARED);
        let outer_found = std::mem::take(&mut self.found);
        for leaf in leaves.iter().take(MAX_COMPARED) {
            self.schema(*leaf, node);
            faults.push(std::mem::take(&mut self.found));
        }
        self.found = outer_found;
        self.limit = outer_limit;

        // If only one alternative has all its required members in the value, that one was meant.
        let lacks =
            |fault: &Violation| fault.keyword == "required" && fault.instance_path == self.path;
        let mut complete = faults.iter().filter(|list| !list.iter().any(lacks));
        if leaves.len() <= MAX_COMPARED
            && let (Some(meant), None) = (complete.next(), complete.next())
        {
            let room = self.limit.saturating_sub(self.found.len());
            self.found.extend(meant.iter().take(room).cloned());
            return;
        }
        let same = |one: &Violation, other: &Violation| {
            one.instance_path == other.instance_path
                && one.keyword == other.keyword
                && one.params == other.params
        };
        let (first, others) = faults.split_first().expect("a union has alternatives");
        let mut common = first
            .iter()
            .filter(|fault| {
                others.iter().all(|list| list.iter().any(|candidate| same(fault, candidate)))
            })
            .cloned()
            .peekable();
        if common.peek().is_some() {
            let room = self.limit.saturating_sub(self.found.len());
            self.found.extend(common.take(room));
            return;
        }
        let mut reasons: Vec<String> = Vec::new();
        for fault in faults.iter().filter_map(|list| list.first()) {
            let reason = match fault.instance_path.strip_prefix(&self.path) {
                Some("") | None => fault.message.clone(),
                Some(below) => format!("{below}: {}", fault.message),
            };
            if reasons.len() < 3 && !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        let message = format!(
            "{} fits none of {} alternatives: {}",
            shown(node),
            leaves.len(),
            reasons.join("; or ")
        );
        self.report(index, keyword, json!({}), message, node.span());
    }
}

/// Inspects a program as a description of values.
impl Program {
    /// The alternatives of a union, with nested unions flattened and references followed.
    fn flatten(&self, branches: &[Index], leaves: &mut Vec<Index>) {
        let mut pending: Vec<Index> = branches.iter().rev().copied().collect();
        let mut hops = 16 * MAX_ALTERNATIVES;
        while let Some(branch) = pending.pop() {
            if leaves.len() >= MAX_ALTERNATIVES || hops == 0 {
                return;
            }
            hops -= 1;
            let leaf = self.resolve(branch);
            match self.schemas[leaf as usize].bare_union() {
                Some(inner) => pending.extend(inner.iter().rev()),
                None if leaves.contains(&leaf) => {}
                None => leaves.push(leaf),
            }
        }
    }

    /// Follows bare references.
    fn resolve(&self, mut index: Index) -> Index {
        for _ in 0..16 {
            match self.schemas[index as usize].bare_reference() {
                Some(target) => index = target,
                None => break,
            }
        }
        index
    }

    /// The types that `index` allows, without a closer look.
    fn types(&self, index: Index) -> Types {
        let schema = &self.schemas[index as usize];
        let Some(logic) = &schema.logic else {
            return schema.types;
        };
        let of_literals = |literals: &[Literal]| {
            literals.iter().fold(Types::NONE, |all, literal| all.union(literal.types()))
        };
        let mut types = schema.types;
        if let Some(constant) = &logic.constant {
            types = Types(types.0 & constant.types().0);
        }
        if let Some(options) = &logic.options {
            types = Types(types.0 & of_literals(options).0);
        }
        types
    }

    /// Properties that distinguish `leaves`, the usual ones first.
    fn discriminators(&self, leaves: &[Index]) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for leaf in leaves {
            let Some(rules) = &self.schemas[*leaf as usize].object else {
                continue;
            };
            for property in &rules.properties {
                let name = property.name.as_str();
                if !names.contains(&name)
                    && names.len() < MAX_ALTERNATIVES
                    && self.property_literals(*leaf, name).is_some()
                {
                    names.push(name);
                }
            }
        }
        names.sort_by_key(|name| {
            DISCRIMINATORS.iter().position(|usual| usual == name).unwrap_or(DISCRIMINATORS.len())
        });
        names
    }

    /// The fixed values that `leaf` allows for the property `name`.
    fn property_literals(&self, leaf: Index, name: &str) -> Option<&[Literal]> {
        let rules = self.schemas[leaf as usize].object.as_ref()?;
        let property = rules.properties.iter().find(|property| property.name.as_str() == name)?;
        if !property.declared {
            return None;
        }
        let schema = self.resolve(property.schema);
        let logic = self.schemas[schema as usize].logic.as_ref()?;
        match (&logic.constant, &logic.options) {
            (Some(constant), _) => Some(std::slice::from_ref(constant)),
            (None, Some(options)) => Some(options),
            (None, None) => None,
        }
    }

    fn requires(&self, leaf: Index, name: &str) -> bool {
        self.schemas[leaf as usize].object.as_ref().is_some_and(|rules| {
            rules
                .properties
                .iter()
                .any(|property| property.required && property.name.as_str() == name)
        })
    }

    /// The fixed values that any of `leaves` allows for `name`, without duplicates.
    fn options(&self, leaves: &[Index], name: &str) -> Vec<&Literal> {
        let mut options: Vec<&Literal> = Vec::new();
        for literal in
            leaves.iter().filter_map(|leaf| self.property_literals(*leaf, name)).flatten()
        {
            if !options.contains(&literal) {
                options.push(literal);
            }
        }
        options
    }
}

impl Schema {
    /// The target, if the schema is nothing but a reference.
    fn bare_reference(&self) -> Option<Index> {
        match self.only_logic()? {
            Logic { reference: Some(target), any_of: None, .. } => Some(*target),
            _ => None,
        }
    }

    /// The alternatives, if the schema is nothing but a union.
    fn bare_union(&self) -> Option<&[Index]> {
        match self.only_logic()? {
            Logic { reference: None, any_of: Some(branches), .. } => Some(branches),
            _ => None,
        }
    }

    /// The logic of a schema that has nothing but a reference or `anyOf`.
    fn only_logic(&self) -> Option<&Logic> {
        let logic = self.logic.as_ref()?;
        let only = self.types == Types::ALL
            && self.object.is_none()
            && self.array.is_none()
            && self.string.is_none()
            && self.number.is_none()
            && logic.constant.is_none()
            && logic.options.is_none()
            && logic.all_of.is_empty()
            && logic.one_of.is_none();
        only.then_some(logic)
    }
}
