//! Any bytes as a schema document in place of an embedded one, a line break and a message: no panic,
//! and the quick answer is that of the full report.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::Revision;
use mcp_json::{Limits, Tape};
use mcp_schema::{LoadedOverride, Override, Schemas, Source, definitions};

fuzz_target!(|input: &[u8]| {
    let _ = compare(input);
});

/// `None` if there is nothing to compare.
fn compare(input: &[u8]) -> Option<()> {
    let line_break = input.iter().position(|byte| *byte == b'\n')?;
    let (document, value) = (&input[..line_break], &input[line_break + 1..]);
    let source = Source::File("given.json".into());
    let given = Override { revision: Some(Revision::V2025_11_25), source };
    let loaded = LoadedOverride::from_slice(document, &given).ok()?;
    let mut tape = Tape::new();
    let value = tape.parse(value, Limits::default()).ok()?;
    // The embedded ones would be compiled again for every input, to no use.
    let missing: Vec<_> = loaded.missing().map(|definition| definition.name).collect();
    let schemas = Schemas::embedded().with_override(loaded);
    let given = definitions(Revision::V2025_11_25).iter();
    for definition in given.filter(|definition| !missing.contains(&definition.name)) {
        let violations = schemas.violations(definition, value.root());
        assert_eq!(schemas.accepts(definition, value.root()), violations.is_empty());
    }
    Some(())
}
