//! The generated validators agree with the `jsonschema` crate on every value.

use std::cell::Cell;

use jsonschema::Validator;
use mcp_core::Revision;
use mcp_json::{Limits, Tape};
use mcp_schema::Definition;
use proptest::{
    collection::vec,
    prelude::{ProptestConfig, any},
    prop_assert, prop_assert_eq,
    test_runner::TestRunner,
};
use serde_json::{Value, json};

use crate::sample::{Choices, Sampler, single_faults, spelled};

#[test]
fn verdicts_of_2024_11_05() {
    check(Revision::V2024_11_05);
}

#[test]
fn verdicts_of_2025_03_26() {
    check(Revision::V2025_03_26);
}

#[test]
fn verdicts_of_2025_06_18() {
    check(Revision::V2025_06_18);
}

#[test]
fn verdicts_of_2025_11_25() {
    check(Revision::V2025_11_25);
}

#[test]
fn verdicts_of_2026_07_28() {
    check(Revision::V2026_07_28);
}

fn check(revision: Revision) {
    let document: Value = serde_json::from_str(mcp_schema::schema_text(revision)).unwrap();
    let sampler = Sampler::new(&document);
    for definition in mcp_schema::definitions(revision) {
        let mut schema = document.clone();
        schema["$ref"] = json!(format!("#/$defs/{}", definition.name));
        let validator = jsonschema::validator_for(&schema).unwrap();

        check_single_faults(definition, &validator, &sampler);
        let (accepted, refused) = check_random_values(definition, &validator, &sampler);
        let anything = document["$defs"][definition.name] == json!({});
        assert!(
            accepted >= 5 && (refused >= 5 || anything),
            "{definition:?}: {accepted} accepted and {refused} refused say little",
        );
    }
}

/// Checks every location that the definition mentions, with an error there.
fn check_single_faults(definition: &Definition, validator: &Validator, sampler: &Sampler) {
    let mut complete: Vec<Value> = Vec::new();
    for variant in 0..8 {
        let value = sampler.complete(definition.name, variant);
        if !complete.contains(&value) {
            complete.push(value);
        }
    }
    for value in complete {
        assert!(validator.is_valid(&value), "{definition:?}: {value}");
        for value in single_faults(&value).iter().chain([&value]) {
            let (verdict, expected) =
                (accepts(definition, &value.to_string()), validator.is_valid(value));
            assert_eq!(verdict, expected, "{definition:?}: {value}");
        }
    }
}

/// Checks random values, some of them corrupted; returns how many were accepted and how many
/// rejected.
fn check_random_values(
    definition: &Definition,
    validator: &Validator,
    sampler: &Sampler,
) -> (u32, u32) {
    let (accepted, refused) = (Cell::new(0), Cell::new(0));
    let mut runner =
        TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() });
    let outcome = runner.run(&vec(any::<u32>(), 0..160), |numbers| {
        let mut choices = Choices::new(&numbers);
        let spoilt = choices.below(3);
        let mut value = sampler.fitting(definition.name, &mut choices);
        for _ in 0..spoilt {
            sampler.spoil(&mut value, &mut choices);
        }
        let text = spelled(&value, &mut choices);

        let expected = validator.is_valid(&value);
        if spoilt == 0 {
            prop_assert!(expected, "the sample does not fit: {}", text);
        }
        prop_assert_eq!(accepts(definition, &text), expected, "{}", text);
        let count = if expected { &accepted } else { &refused };
        count.set(count.get() + 1);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{definition:?}: {error}"));
    (accepted.get(), refused.get())
}

fn accepts(definition: &Definition, text: &str) -> bool {
    let mut tape = Tape::new();
    let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
    definition.accepts(document.root())
}
