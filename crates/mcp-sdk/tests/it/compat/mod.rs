//! What users of other validators and adapters try first in live conversations, table by table.

mod adapter_pair;
mod ajv_errors;
mod base_stack;
mod batches;
mod logging;
mod overrides;
