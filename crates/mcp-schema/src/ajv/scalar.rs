//! Keywords of numbers and strings, and bounds of anything that has a size.

use mcp_json::Node;
use serde_json::{Value, json};

use crate::program::{Number, characters};
use crate::violation::{shown, shown_value};

use super::walk::Walk;
use super::{Bound, NumberRule, StringRule};

impl Walk<'_> {
    pub(super) fn number(&mut self, rule: &NumberRule, node: Node<'_>) -> bool {
        match rule {
            NumberRule::Bound { keyword, comparison, limit, written } => {
                let Some(value) = Number::of_node(node) else { return true };
                let (fits, words) = match *comparison {
                    ">=" => (value >= *limit, "less than the minimum of"),
                    "<=" => (value <= *limit, "greater than the maximum of"),
                    ">" => (value > *limit, "not greater than"),
                    _ => (value < *limit, "not less than"),
                };
                if !fits {
                    self.report(keyword, node.span(), || {
                        let message = format!("{} is {words} {written}", shown(node));
                        (json!({ "comparison": comparison, "limit": written }), message)
                    });
                }
                fits
            }
            NumberRule::MultipleOf { divisor, judge } => {
                let fits = judge.accepts(node);
                if !fits {
                    self.report("multipleOf", node.span(), || {
                        let message = format!("{} is not a multiple of {divisor}", shown(node));
                        (json!({ "multipleOf": divisor }), message)
                    });
                }
                fits
            }
        }
    }

    pub(super) fn string(&mut self, rule: &StringRule, node: Node<'_>) -> bool {
        match rule {
            StringRule::Length(bound) => {
                let length = characters(&node.str_bytes().unwrap_or_default());
                self.bound(*bound, length, ("character", "characters"), node)
            }
            StringRule::Pattern(expression) => {
                let fits = expression.matches(node, &mut self.allowance);
                if !fits {
                    self.report("pattern", node.span(), || {
                        let source = Value::from(&*expression.source);
                        let message =
                            format!("{} does not match {}", shown(node), shown_value(&source));
                        (json!({ "pattern": source }), message)
                    });
                }
                fits
            }
        }
    }

    /// With the words for one and for several of what is counted.
    pub(super) fn bound(
        &mut self,
        bound: Bound,
        size: u64,
        (one, several): (&str, &str),
        node: Node<'_>,
    ) -> bool {
        let Bound { keyword, is_maximum, limit } = bound;
        let (fits, words) =
            if is_maximum { (size <= limit, "more") } else { (size >= limit, "fewer") };
        if !fits {
            self.report(keyword, node.span(), || {
                let unit = if limit == 1 { one } else { several };
                let message = format!("{} has {words} than {limit} {unit}", shown(node));
                (json!({ "limit": limit }), message)
            });
        }
        fits
    }
}
