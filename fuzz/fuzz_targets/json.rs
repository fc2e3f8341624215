//! Arbitrary bytes: no panic, and the same verdict and value as `serde_json`, except for known
//! differences.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_json::{Limits, Node, Tape};

fuzz_target!(|input: &[u8]| {
    let mut tape = Tape::new();
    let ours = tape.parse(input, Limits::default());
    let theirs = serde_json::from_slice::<serde_json::Value>(input);
    match (ours, theirs) {
        (Ok(document), Ok(value)) => {
            assert_eq!(document.root().to_value(), value);
            assert_eq!(document.duplicate_keys().next().is_some(), document.has_duplicate_keys());
            check_spans(document.root());
        }
        // serde_json rejects lone surrogates, numbers out of range for `f64` and deep nesting.
        (Ok(document), Err(error)) => assert!(
            document.lone_surrogates().next().is_some()
                || error.to_string().contains("number out of range")
                || error.to_string().contains("recursion limit"),
            "only serde_json refuses this: {error}"
        ),
        (Err(error), Ok(_)) => panic!("only serde_json accepts this: {error}"),
        (Err(error), Err(_)) => {
            assert!(error.offset <= input.len());
            let _ = (error.to_string(), error.position(input));
        }
    }
});

/// The text of a span parses to the same value on its own; checked for the outer levels only, as
/// every level is parsed again.
fn check_spans(root: Node<'_>) {
    for node in root.elements().chain(root.members().flat_map(|(name, value)| [name, value])) {
        let mut tape = Tape::new();
        let alone = tape.parse(node.raw(), Limits::default()).expect("a value stands alone");
        assert_eq!(alone.root().to_value(), node.to_value());
    }
}
