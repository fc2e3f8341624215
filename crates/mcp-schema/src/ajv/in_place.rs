//! Keywords that apply to values of any type, and those that apply other schemas to the value.

use mcp_json::Node;
use serde_json::{Value, json};

use super::canonical::canonical;
use super::evaluated::Evaluated;
use super::walk::Walk;
use super::{Branch, InPlace, Index};

impl<'c> Walk<'c> {
    pub(super) fn in_place(
        &mut self,
        rule: &'c InPlace,
        node: Node<'_>,
        evaluated: &mut Evaluated,
    ) -> bool {
        match rule {
            InPlace::Reference { schema, path } => {
                let mut own = Evaluated::default();
                let fits = self.reference(path, *schema, node, &mut own);
                evaluated.merge(own);
                fits
            }
            InPlace::Const(literal) => {
                if self.is_affordable(node) && *canonical(node) == *literal.canonical {
                    return true;
                }
                self.report("const", node.span(), || json!({ "allowedValue": literal.value }));
                false
            }
            InPlace::Enum { options, allowed } => {
                if self.is_affordable(node) && options.contains(&*canonical(node)) {
                    return true;
                }
                self.report("enum", node.span(), || json!({ "allowedValues": allowed }));
                false
            }
            InPlace::Not(schema) => {
                let fits =
                    self.silently(|this| this.schema(*schema, node, &mut Evaluated::default()));
                if fits {
                    self.report("not", node.span(), || json!({}));
                }
                !fits
            }
            // Branches do not see what other branches have evaluated.
            InPlace::AllOf(branches) => branches.iter().fold(true, |fits, branch| {
                let mut own = Evaluated::default();
                let fits_branch = self.below_schema(&branch.step, branch.schema, node, &mut own);
                evaluated.merge(own);
                fits & fits_branch
            }),
            InPlace::AnyOf(branches) => self.any_of(branches, node, evaluated),
            InPlace::OneOf(branches) => self.one_of(branches, node, evaluated),
            InPlace::If { condition, then, otherwise } => {
                self.condition((*condition, *then, *otherwise), node, evaluated)
            }
        }
    }

    /// Whether the budget allows comparing the value, which costs as many steps as it has bytes.
    fn is_affordable(&mut self, node: Node<'_>) -> bool {
        self.allowance.spend(1 + node.raw().len() as u64 / 8)
    }

    fn any_of(&mut self, branches: &[Branch], node: Node<'_>, evaluated: &mut Evaluated) -> bool {
        let tracks = self.checklist.tracks;
        self.tentatively(|this| {
            let mut fits = false;
            for branch in branches {
                let mut own = Evaluated::default();
                if this.below_schema(&branch.step, branch.schema, node, &mut own) {
                    evaluated.merge(own);
                    fits = true;
                    if !tracks {
                        break;
                    }
                }
            }
            if !fits {
                this.report("anyOf", node.span(), || json!({}));
            }
            fits
        })
    }

    fn one_of(&mut self, branches: &[Branch], node: Node<'_>, evaluated: &mut Evaluated) -> bool {
        self.tentatively(|this| {
            let mut passing = None;
            for (position, branch) in branches.iter().enumerate() {
                let mut own = Evaluated::default();
                if !this.below_schema(&branch.step, branch.schema, node, &mut own) {
                    continue;
                }
                if let Some(first) = passing {
                    let passing = [first, position];
                    this.report("oneOf", node.span(), || json!({ "passingSchemas": passing }));
                    return false;
                }
                passing = Some(position);
                evaluated.merge(own);
            }
            if passing.is_none() {
                this.report("oneOf", node.span(), || json!({ "passingSchemas": Value::Null }));
            }
            passing.is_some()
        })
    }

    fn condition(
        &mut self,
        (condition, then, otherwise): (Index, Option<Index>, Option<Index>),
        node: Node<'_>,
        evaluated: &mut Evaluated,
    ) -> bool {
        let mut own = Evaluated::default();
        let holds = self.silently(|this| this.schema(condition, node, &mut own));
        if holds {
            evaluated.merge(own);
        }
        let (keyword, clause) = if holds { ("then", then) } else { ("else", otherwise) };
        let Some(clause) = clause else { return true };
        let mut own = Evaluated::default();
        let fits = self.below_schema(keyword, clause, node, &mut own);
        if fits {
            evaluated.merge(own);
        } else {
            self.report("if", node.span(), || json!({ "failingKeyword": keyword }));
        }
        fits
    }
}
