//! Array keywords.

use std::collections::HashMap;

use mcp_json::Node;
use serde_json::json;

use crate::program::{Types, types_of};

use super::canonical::canonical;
use super::evaluated::Evaluated;
use super::walk::Walk;
use super::{ArrayRule, Index, Schema};

impl<'c> Walk<'c> {
    pub(super) fn array(
        &mut self,
        rules: &'c [ArrayRule],
        node: Node<'_>,
        evaluated: &mut Evaluated,
    ) -> bool {
        let mut fits = true;
        for rule in rules {
            fits &= match rule {
                ArrayRule::Length(bound) => self.bound(*bound, node.len() as u64, node),
                ArrayRule::Prefix(branches) => {
                    evaluated.add_prefix(branches.len());
                    let pairs = branches.iter().zip(node.elements()).enumerate();
                    pairs.fold(true, |fits, (position, (branch, element))| {
                        let token = position.to_string();
                        fits & self.below(&branch.step, branch.schema, &token, element)
                    })
                }
                ArrayRule::Items(schema) => {
                    evaluated.add_all_elements();
                    self.elements(("items", *schema), node, |_| true)
                }
                ArrayRule::Rest { keyword, from, schema } => {
                    evaluated.add_all_elements();
                    self.rest(keyword, *from, *schema, node)
                }
                ArrayRule::Contains { schema, min, max } => {
                    self.contains((*schema, *min, *max), node, evaluated)
                }
                ArrayRule::Unique { scalars } => self.unique(*scalars, node),
                ArrayRule::Unevaluated(schema) => {
                    let fits = self.unevaluated_elements(*schema, node, evaluated);
                    evaluated.add_all_elements();
                    fits
                }
            };
        }
        fits
    }

    /// Checks the elements whose position satisfies `is_meant`.
    fn elements(
        &mut self,
        (keyword, schema): (&str, Index),
        node: Node<'_>,
        is_meant: impl Fn(usize) -> bool,
    ) -> bool {
        if matches!(self.checklist.schemas[schema as usize], Schema::Anything) {
            return true;
        }
        let mut fits = true;
        for (position, element) in node.elements().enumerate() {
            if self.is_done() || !self.allowance.spend(1) {
                return false;
            }
            if is_meant(position) {
                fits &= self.below(keyword, schema, &position.to_string(), element);
            }
        }
        fits
    }

    fn rest(&mut self, keyword: &str, from: usize, schema: Index, node: Node<'_>) -> bool {
        if !matches!(self.checklist.schemas[schema as usize], Schema::Nothing) {
            return self.elements((keyword, schema), node, |position| position >= from);
        }
        let fits = node.len() <= from;
        if !fits {
            self.too_many(keyword, from, node);
        }
        fits
    }

    fn unevaluated_elements(
        &mut self,
        schema: Index,
        node: Node<'_>,
        evaluated: &Evaluated,
    ) -> bool {
        let is_new = |position| !evaluated.has_element(position);
        if !matches!(self.checklist.schemas[schema as usize], Schema::Nothing) {
            return self.elements(("unevaluatedItems", schema), node, is_new);
        }
        let fits = !(0..node.len()).any(is_new);
        if !fits {
            self.too_many("unevaluatedItems", evaluated.prefix(), node);
        }
        fits
    }

    fn too_many(&mut self, keyword: &str, limit: usize, node: Node<'_>) {
        self.report(keyword, node.span(), || json!({ "limit": limit }));
    }

    fn contains(
        &mut self,
        (schema, min, max): (Index, u64, Option<u64>),
        node: Node<'_>,
        evaluated: &mut Evaluated,
    ) -> bool {
        let tracks = self.checklist.tracks;
        if max.is_some_and(|max| min > max) {
            self.not_contained(min, max, node);
            return false;
        }
        self.tentatively(|this| {
            let mut count = 0;
            for (position, element) in node.elements().enumerate() {
                if this.is_done() || !this.allowance.spend(1) {
                    return false;
                }
                if this.below("contains", schema, &position.to_string(), element) {
                    count += 1;
                    evaluated.add_element(position);
                    let is_too_many = max.is_some_and(|max| count > max);
                    if is_too_many || (!tracks && max.is_none() && count >= min) {
                        break;
                    }
                }
            }
            let fits = count >= min && max.is_none_or(|max| count <= max);
            if !fits {
                this.not_contained(min, max, node);
            }
            fits
        })
    }

    fn not_contained(&mut self, min: u64, max: Option<u64>, node: Node<'_>) {
        self.report("contains", node.span(), || match max {
            None => json!({ "minContains": min }),
            Some(max) => json!({ "minContains": min, "maxContains": max }),
        });
    }

    /// Which of several duplicates is reported depends on the order in which `ajv` looks for them.
    fn unique(&mut self, scalars: Option<Types>, node: Node<'_>) -> bool {
        if !self.allowance.spend(1 + node.raw().len() as u64 / 8) {
            return false;
        }
        let mut last: HashMap<Box<str>, usize> = HashMap::new();
        let mut pair = None;
        for (position, element) in node.elements().enumerate() {
            if let Some(types) = scalars
                && !types.meets(types_of(element, types))
            {
                continue;
            }
            if let Some(earlier) = last.insert(canonical(element), position) {
                pair = match (scalars, pair) {
                    // Scanning downwards: the first one seen twice.
                    (Some(_), Some((i, j))) if i > earlier => Some((i, j)),
                    (Some(_), _) => Some((earlier, position)),
                    (None, _) => Some((position, earlier)),
                };
            }
        }
        let Some((i, j)) = pair else { return true };
        self.report("uniqueItems", node.span(), || json!({ "i": i, "j": j }));
        false
    }
}
