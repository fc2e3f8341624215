//! Checks tool output against output schemas, on the tape of the outgoing message.

use mcp_core::{OutputContract, Revision, Transport};
use mcp_json::Node;

use super::JsonRpcProcessor;
use crate::{ErrorCode, JsonRpcError, error_map::to_json_rpc_error, transport::OutgoingMessage};

/// The output contract of a result, and the revision in which to report a violation.
pub(super) struct OutputCheck {
    pub(super) output: OutputContract,
    pub(super) revision: Revision,
}

impl<T: Transport + 'static> JsonRpcProcessor<T> {
    /// The responses in `message`, which is a batch or a single response, whose results violate
    /// their output contract, with the errors to send instead.
    pub(super) fn output_violations(
        &self,
        checks: &[Option<OutputCheck>],
        message: &mut OutgoingMessage,
    ) -> Vec<(usize, JsonRpcError)> {
        if checks.iter().all(Option::is_none) {
            return Vec::new();
        }
        let parsed = match self.link.transport.parsed(message) {
            Ok(parsed) => parsed,
            Err(error) => {
                let error = format!("the response is not JSON: {error}");
                let error = JsonRpcError::new(ErrorCode::InternalError.code(), error);
                return (0..checks.len()).map(|index| (index, error.clone())).collect();
            }
        };
        let document = parsed.document();
        let root = document.root();
        let single = Some(root).filter(|root| !root.is_array());
        let responses = single.into_iter().chain(root.elements());
        let violation = |(index, (response, check)): (usize, (Node<'_>, &Option<OutputCheck>))| {
            let OutputCheck { output, revision } = check.as_ref()?;
            let error = output.check(response.get("result")?).err()?;
            Some((index, to_json_rpc_error(&error, *revision, self.handler.dispatch())))
        };
        responses.zip(checks).enumerate().filter_map(violation).collect()
    }
}
