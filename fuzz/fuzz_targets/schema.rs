//! Arbitrary bytes as a tool schema, a line break and a value: no panic, and the quick verdict
//! agrees with the full report.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_json::{Limits, Tape};
use mcp_schema::{Dialect, ToolSchema, ToolSchemaLimits};

fuzz_target!(|input: &[u8]| {
    let _ = compare(input);
});

/// `None` if there is nothing to compare.
fn compare(input: &[u8]) -> Option<()> {
    let line_break = input.iter().position(|byte| *byte == b'\n')?;
    let (schema, value) = (&input[..line_break], &input[line_break + 1..]);
    let (mut schema_tape, mut value_tape) = (Tape::new(), Tape::new());
    let schema = schema_tape.parse(schema, Limits::default()).ok()?;
    let value = value_tape.parse(value, Limits::default()).ok()?;
    let limits = ToolSchemaLimits::default();
    let compiled = ToolSchema::compile(schema.root(), Dialect::default(), limits).ok()?;
    let violations = compiled.violations(value.root());
    assert_eq!(compiled.accepts(value.root()), violations.is_empty(), "{violations:?}");
    let main = compiled.main_violations(value.root());
    assert_eq!(main.is_empty(), violations.is_empty(), "{main:?}");
    for violation in violations.iter().chain(&main) {
        let at = value.root().pointer(&violation.instance_path).expect("the path leads somewhere");
        // An unexpected property is reported at its key.
        let (outer, inner) = (at.span(), violation.span);
        assert!(outer.start <= inner.start && inner.end <= outer.end, "{violation:?}");
    }
    Some(())
}
