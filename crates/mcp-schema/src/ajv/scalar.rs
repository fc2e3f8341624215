//! Keywords for numbers and strings, and bounds on anything that has a size.

use mcp_json::Node;
use serde_json::json;

use crate::program::{Number, characters};

use super::walk::Walk;
use super::{Bound, NumberRule, StringRule};

impl Walk<'_> {
    pub(super) fn number(&mut self, rule: &NumberRule, node: Node<'_>) -> bool {
        match rule {
            NumberRule::Bound { keyword, comparison, limit, written } => {
                let Some(value) = Number::of_node(node) else { return true };
                let fits = match *comparison {
                    ">=" => value >= *limit,
                    "<=" => value <= *limit,
                    ">" => value > *limit,
                    _ => value < *limit,
                };
                if !fits {
                    self.report(
                        keyword,
                        node.span(),
                        || json!({ "comparison": comparison, "limit": written }),
                    );
                }
                fits
            }
            NumberRule::MultipleOf { divisor, judge } => {
                let fits = judge.accepts(node);
                if !fits {
                    self.report("multipleOf", node.span(), || json!({ "multipleOf": divisor }));
                }
                fits
            }
        }
    }

    pub(super) fn string(&mut self, rule: &StringRule, node: Node<'_>) -> bool {
        match rule {
            StringRule::Length(bound) => {
                let length = characters(&node.str_bytes().unwrap_or_default());
                self.bound(*bound, length, node)
            }
            StringRule::Pattern(expression) => {
                let fits = expression.matches(node, &mut self.allowance);
                if !fits {
                    let source = &*expression.source;
                    self.report("pattern", node.span(), || json!({ "pattern": source }));
                }
                fits
            }
        }
    }

    pub(super) fn bound(&mut self, bound: Bound, size: u64, node: Node<'_>) -> bool {
        let Bound { keyword, is_maximum, limit } = bound;
        let fits = if is_maximum { size <= limit } else { size >= limit };
        if !fits {
            self.report(keyword, node.span(), || json!({ "limit": limit }));
        }
        fits
    }
}
