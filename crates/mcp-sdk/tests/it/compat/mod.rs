//! What people who come from other validators and adapters try first, table by table.

mod adapter_pair;
