//! What people who come from other validators expect of live conversations.

mod base_stack;
mod overrides;
