//! Judges the error codes of refused requests.

use mcp_rules::behaviour;

use crate::{Conversation, ConversationError, Reply, Stage, Stop};

/// The answer to a request that should be refused. `None` if it was refused by an HTTP status
/// alone.
pub(super) fn refusable(answer: Result<Reply, ConversationError>) -> Result<Option<Reply>, Stop> {
    match answer {
        Ok(reply) => Ok(Some(reply)),
        Err(ConversationError::Exchange { how, .. }) if how.starts_with("status 4") => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Reports a refusal of params with an unsuitable error code. The best code is not always defined,
/// but these are wrong.
pub(super) fn judge_params(stage: &mut Stage, talk: &Conversation, reply: &Reply, what: &str) {
    if matches!(reply.error_code(), Some(-32603 | -32700)) {
        let message = format!("{what} was refused with {}", reply.error_text());
        let help = "answer with the error -32602";
        stage.fail(&behaviour::INVALID_PARAMS_CODE, talk, reply.line(), message, help);
    }
}
