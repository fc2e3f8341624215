//! The codes that requests are refused with.

use mcp_rules::behaviour;

use crate::{Conversation, Reply, Stage, Stop, Trouble};

/// The answer to a request that is to be refused. `None` if a status of HTTP alone does that.
pub(super) fn refusable(answer: Result<Reply, Trouble>) -> Result<Option<Reply>, Stop> {
    match answer {
        Ok(reply) => Ok(Some(reply)),
        Err(Trouble::Exchange { how, .. }) if how.starts_with("status 4") => Ok(None),
        Err(trouble) => Err(trouble.into()),
    }
}

/// Reports a refusal of params by a code that says something else. Which code is best is not always
/// settled; that these are wrong is.
pub(super) fn judge_params(stage: &mut Stage, talk: &Conversation, reply: &Reply, what: &str) {
    if matches!(reply.error_code(), Some(-32603 | -32700)) {
        let message = format!("{what} is refused with {}", reply.error_text());
        let help = "answer with the error -32602";
        stage.fail(&behaviour::INVALID_PARAMS_CODE, talk, reply.line(), message, help);
    }
}
