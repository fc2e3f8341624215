//! What the parser accepts and rejects, and what the tape then contains.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accepted;
mod against_serde_json;
mod duplicate_keys;
mod limits;
mod lone_surrogates;
mod nodes;
mod refused;
#[cfg(feature = "jsonschema")]
mod schema_node;
mod shared_tape;
mod spelling;
