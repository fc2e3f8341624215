//! What a walk may cost.

use mcp_json::Node;

use super::step_budget;

/// How many schemas may be entered inside each other: the nesting of the value times the
/// references and alternatives on one level.
const MAX_DEPTH: u32 = 512;

/// What is left of a walk's allowance.
#[derive(Debug)]
pub(crate) struct Allowance {
    steps: u64,
    depth: u32,
}

impl Allowance {
    pub(crate) fn for_node(node: Node<'_>) -> Allowance {
        let span = node.span();
        Allowance { steps: step_budget(span.end - span.start), depth: MAX_DEPTH }
    }

    /// Whether something was refused; answers are then void.
    pub(crate) fn is_spent(&self) -> bool {
        self.steps == 0
    }

    pub(crate) fn spend(&mut self, steps: u64) -> bool {
        self.steps = self.steps.saturating_sub(steps);
        self.steps > 0
    }

    /// One schema deeper. Must be followed by [`leave`](Allowance::leave) if it says yes.
    pub(crate) fn enter(&mut self) -> bool {
        if self.depth == 0 {
            self.steps = 0;
        }
        if !self.spend(1) {
            return false;
        }
        self.depth -= 1;
        true
    }

    pub(crate) fn leave(&mut self) {
        self.depth += 1;
    }
}
