//! Inspects a schema document before anything is compiled from it.
//!
//! A survey follows every keyword that applies a schema, in any draft, and every reference. It
//! finds what would make a validator fetch or run forever, and it can bound in advance how much
//! work a validator has with a given value, which the `jsonschema` crate cannot.

mod names;
mod surveyed_schema;
mod surveyor;

use mcp_json::Node;

pub(crate) use self::names::Names;
use self::{
    surveyed_schema::{Cost, SurveyedSchema},
    surveyor::Surveyor,
};
use crate::program::Patterns;

/// Maximum number of nested schemas that apply to one value.
const MAX_CHAIN: usize = 100;
/// Maximum depth to which the estimate follows a value.
const MAX_DEPTH: usize = 1_000;
/// Step limit for one attempt of a pattern on the backtracking engine.
const BACKTRACKING_STEPS: u64 = 10_000;

/// Why a schema cannot be used at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A reference to another document.
    External { reference: String },
    /// A reference to nothing.
    Dangling { reference: String },
    /// The schema at `pointer` applies itself to the same value, endlessly.
    Endless { pointer: String },
    /// Too many nested schemas apply to one value.
    Chain { pointer: String },
    /// The regular expressions up to this one are too large in total.
    Patterns { pointer: String },
}

/// See the [module docs](self).
#[derive(Debug)]
pub(crate) struct Survey {
    places: Vec<SurveyedSchema>,
    pointers: Vec<String>,
    patterns: Patterns,
}

impl Survey {
    /// Surveys the schema at `pointer` in a document and everything that it refers to.
    pub(crate) fn of(names: &Names<'_>, pointer: &str) -> Result<Survey, Fault> {
        let survey = Surveyor::new(names).survey(pointer)?;
        survey.refuse_endless()?;
        Ok(survey)
    }

    /// The expressions of the schema.
    pub(crate) fn patterns(&self) -> &Patterns {
        &self.patterns
    }

    /// Whether a validator that tries everything needs at most `budget` steps for `node`.
    pub(crate) fn is_affordable(&self, node: Node<'_>, mut budget: u64) -> bool {
        self.spend(0, node, &mut budget, MAX_DEPTH)
    }

    fn spend(&self, place: u32, node: Node<'_>, budget: &mut u64, depth: usize) -> bool {
        let place = &self.places[place as usize];
        if depth == 0 {
            return false;
        }
        let mut price = 1;
        for pattern in &place.patterns {
            let bytes = node.raw().len() as u64;
            price += match pattern {
                Cost::Linear(pattern) => pattern.steps(node),
                Cost::Backtracking => BACKTRACKING_STEPS.saturating_add(bytes),
            };
        }
        if *budget < price {
            *budget = 0;
            return false;
        }
        *budget -= price;
        for _ in 0..=usize::from(place.again) {
            if !place.here.iter().all(|next| self.spend(*next, node, budget, depth - 1)) {
                return false;
            }
        }
        for (key, value) in node.members() {
            let name = key.str_bytes().unwrap_or_default();
            let declared = place
                .properties
                .binary_search_by(|(property, _)| property.as_bytes().cmp(&name))
                .ok()
                .map(|position| &place.properties[position].1);
            for next in declared.into_iter().chain(&place.members) {
                if !self.spend(*next, value, budget, depth - 1) {
                    return false;
                }
            }
        }
        node.elements().all(|element| {
            place.elements.iter().all(|next| self.spend(*next, element, budget, depth - 1))
        })
    }

    /// Rejects cycles and long chains of schemas for one value. Iterative, since long chains are
    /// what it looks for.
    fn refuse_endless(&self) -> Result<(), Fault> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            /// Length of the longest chain from here.
            Done(usize),
        }
        let mut states = vec![State::New; self.places.len()];
        for start in 0..self.places.len() {
            let mut path: Vec<(usize, usize)> = vec![(start, 0)];
            while let Some((place, next)) = path.pop() {
                if next == 0 {
                    match states[place] {
                        State::New => states[place] = State::Open,
                        State::Open => {
                            return Err(Fault::Endless { pointer: self.pointers[place].clone() });
                        }
                        State::Done(_) => continue,
                    }
                }
                let here = &self.places[place].here;
                if let Some(target) = here.get(next) {
                    path.push((place, next + 1));
                    path.push((*target as usize, 0));
                    continue;
                }
                let longest = here
                    .iter()
                    .map(|target| match states[*target as usize] {
                        State::Done(length) => length + 1,
                        State::New | State::Open => 0,
                    })
                    .max();
                let longest = longest.unwrap_or(0);
                if longest > MAX_CHAIN {
                    return Err(Fault::Chain { pointer: self.pointers[place].clone() });
                }
                states[place] = State::Done(longest);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};
    use serde_json::{Map, Value, json};

    use super::*;

    #[track_caller]
    fn affordable(schema: &Value, instance: &Value, budget: u64) -> bool {
        let text = instance.to_string();
        let mut tape = Tape::new();
        let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
        Survey::of(&Names::of(schema), "").unwrap().is_affordable(document.root(), budget)
    }

    #[test]
    fn references_must_lead_somewhere_in_the_document() {
        let fault = |schema: Value| Survey::of(&Names::of(&schema), "").unwrap_err();
        assert_eq!(
            fault(json!({"$ref": "https://example.com/a.json#/b"})),
            Fault::External { reference: "https://example.com/a.json#/b".into() }
        );
        assert_eq!(
            fault(json!({"$ref": "#/$defs/none"})),
            Fault::Dangling { reference: "#/$defs/none".into() }
        );
        assert_eq!(
            fault(json!({"properties": {"a": {"$ref": "other.json"}}})),
            Fault::External { reference: "other.json".into() }
        );
        for schema in [
            json!({"$ref": "#/$defs/a%20b", "$defs": {"a b": {}}}),
            json!({"$ref": "#x", "$defs": {"a": {"$anchor": "x"}}}),
            json!({"$id": "https://x.test/root", "properties": {"a": {"$ref": "leaf"}},
                   "$defs": {"l": {"$id": "https://x.test/leaf"}}}),
            json!({"$ref": "http://json-schema.org/draft-07/schema#"}),
        ] {
            assert!(Survey::of(&Names::of(&schema), "").is_ok(), "{schema}");
        }
    }

    #[test]
    fn circles_on_one_value_are_refused_and_recursion_into_values_is_not() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"anyOf": [{"type": "string"}, {"$ref": "#"}]}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"$ref": "#/$defs/a"}}}),
        ] {
            let fault = Survey::of(&Names::of(&schema), "").unwrap_err();
            assert!(matches!(fault, Fault::Endless { .. }), "{schema}: {fault:?}");
        }
        let tree = json!({"properties": {"children": {"items": {"$ref": "#"}}}});
        assert!(Survey::of(&Names::of(&tree), "").is_ok());
    }

    #[test]
    fn long_chains_are_refused_without_overflowing() {
        let mut definitions = Map::new();
        for position in 0..50_000 {
            let next = json!({"$ref": format!("#/$defs/d{}", position + 1)});
            definitions.insert(format!("d{position}"), next);
        }
        definitions.insert("d50000".into(), json!({}));
        let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions});
        assert!(matches!(Survey::of(&Names::of(&schema), ""), Err(Fault::Chain { .. })));
    }

    #[test]
    fn exponential_work_is_seen_beforehand() {
        let doubling = json!({"$ref": "#/$defs/n", "$defs": {"n": {"allOf": [
            {"properties": {"a": {"$ref": "#/$defs/n"}}},
            {"properties": {"a": {"$ref": "#/$defs/n"}}}]}}});
        let mut deep = json!({});
        for _ in 0..60 {
            deep = json!({ "a": deep });
        }
        assert!(!affordable(&doubling, &deep, 1_000_000));
        assert!(affordable(&doubling, &json!({"a": {"a": {}}}), 1_000));
    }
}
