//! Tests of the public API; one module per subject.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod agreement;
mod ajv;
mod explanations;
mod methods;
mod overrides;
mod payloads;
mod sample;
