//! What people who come from other validators and adapters try first with live conversations, table
//! by table.

mod adapter_pair;
mod ajv_errors;
mod base_stack;
mod batches;
mod logging;
mod overrides;
