//! The codes that requests are refused with.

use mcp_rules::behaviour;

use crate::{Conversation, Reply, Stage};

/// Reports a refusal of params by a code that says something else. Which code is best is not always
/// settled; that these are wrong is.
pub(super) fn judge_params(stage: &mut Stage, talk: &Conversation, reply: &Reply, what: &str) {
    if matches!(reply.error_code(), Some(-32603 | -32700)) {
        let message = format!("{what} is refused with {}", reply.error_text());
        let help = "answer with the error -32602";
        stage.fail(&behaviour::INVALID_PARAMS_CODE, talk, reply.line(), message, help);
    }
}
