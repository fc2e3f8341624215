//! The budget of a walk.

use mcp_json::Node;

use super::step_budget;

/// Maximum nesting of schema applications: the nesting of the value times the references and
/// alternatives on each level.
const MAX_DEPTH: u32 = 512;

/// What is left of a walk's budget.
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

    /// Whether the budget was exceeded; the walk's result is then meaningless.
    pub(crate) fn is_spent(&self) -> bool {
        self.steps == 0
    }

    pub(crate) fn spend(&mut self, steps: u64) -> bool {
        self.steps = self.steps.saturating_sub(steps);
        self.steps > 0
    }

    /// Enters a schema. If it returns `true`, [`leave`](Allowance::leave) must follow.
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
