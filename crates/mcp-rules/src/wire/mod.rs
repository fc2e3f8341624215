//! Checks on every message before anything specific to MCP: framing, JSON, JSON-RPC.

mod batches;
pub(crate) mod error_code;
pub(crate) mod framing;
pub(crate) mod json;
pub(crate) mod jsonrpc;

use crate::RuleMeta;

pub(crate) static RULES: [&[&RuleMeta]; 4] =
    [framing::RULES, json::RULES, jsonrpc::RULES, error_code::RULES];
