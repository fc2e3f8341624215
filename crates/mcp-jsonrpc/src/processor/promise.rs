//! Answers are held to what their tools have promised, on the tape of the message that leaves.

use mcp_core::{OutputPromise, Revision, Transport};
use mcp_json::Node;

use super::JsonRpcProcessor;
use crate::{ErrorCode, JsonRpcError, error_map::to_json_rpc_error, transport::OwnMessage};

/// What the tool has promised about its output, and how to say that it broke the promise.
pub(super) struct Promise {
    pub(super) output: OutputPromise,
    pub(super) revision: Revision,
}

impl<T: Transport + 'static> JsonRpcProcessor<T> {
    /// Which answers of a message break what their tools have promised, and what to say instead: the
    /// message is a batch of answers, or a single one.
    pub(super) fn broken_promises(
        &self,
        promises: &[Option<Promise>],
        message: &mut OwnMessage,
    ) -> Vec<(usize, JsonRpcError)> {
        if promises.iter().all(Option::is_none) {
            return Vec::new();
        }
        let parsed = match self.link.transport.parsed(message) {
            Ok(parsed) => parsed,
            Err(error) => {
                let error = format!("the answer is not JSON: {error}");
                let error = JsonRpcError::new(ErrorCode::InternalError.code(), error);
                return (0..promises.len()).map(|index| (index, error.clone())).collect();
            }
        };
        let document = parsed.document();
        let root = document.root();
        let single = Some(root).filter(|root| !root.is_array());
        let answers = single.into_iter().chain(root.elements());
        let broken = |(index, (answer, promise)): (usize, (Node<'_>, &Option<Promise>))| {
            let Promise { output, revision } = promise.as_ref()?;
            let error = output.check(answer.get("result")?).err()?;
            Some((index, to_json_rpc_error(&error, *revision, self.handler.dispatch())))
        };
        answers.zip(promises).enumerate().filter_map(broken).collect()
    }
}
