use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{Cost, Fault, Names, Survey, SurveyedSchema};
use crate::{
    program::{Patterns, TooCostly},
    violation::push_token,
};

/// Keywords whose value is one schema that applies to the same value.
const HERE: [&str; 4] = ["not", "if", "then", "else"];
/// Keywords whose value is a list of schemas that apply to the same value.
const HERE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords whose value is a map to schemas that apply to the same value.
const HERE_MAPS: [&str; 2] = ["dependentSchemas", "dependencies"];
/// Keywords whose value is one schema for any member.
const MEMBERS: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "propertyNames"];
/// Keywords whose value is one schema, or a list of them, for any element.
const ELEMENTS: [&str; 5] =
    ["items", "prefixItems", "additionalItems", "contains", "unevaluatedItems"];
/// Keywords that refer to a schema elsewhere.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Traverses schemas along keywords and references.
pub(super) struct Surveyor<'d> {
    names: &'d Names<'d>,
    indices: HashMap<String, u32>,
    pointers: Vec<String>,
    patterns: Patterns,
}

impl<'d> Surveyor<'d> {
    pub(super) fn new(names: &'d Names<'d>) -> Surveyor<'d> {
        let (indices, pointers, patterns) = Default::default();
        Surveyor { names, indices, pointers, patterns }
    }

    /// Surveys everything reachable from the schema at `pointer`.
    pub(super) fn survey(mut self, pointer: &str) -> Result<Survey, Fault> {
        self.index_of(pointer.to_owned());
        let mut places = Vec::new();
        while let Some(at) = self.pointers.get(places.len()).cloned() {
            places.push(self.place(&at)?);
        }
        Ok(Survey { places, pointers: self.pointers, patterns: self.patterns })
    }

    fn index_of(&mut self, pointer: String) -> u32 {
        if let Some(index) = self.indices.get(&pointer) {
            return *index;
        }
        let index = u32::try_from(self.pointers.len()).expect("schemas are of limited size");
        self.pointers.push(pointer.clone());
        self.indices.insert(pointer, index);
        index
    }

    fn place(&mut self, at: &str) -> Result<SurveyedSchema, Fault> {
        let mut place = SurveyedSchema::default();
        let Some(Value::Object(keywords)) = self.names.document.pointer(at) else {
            // `true`, `false`, or something the meta-schema rejects.
            return Ok(place);
        };
        for keyword in REFERENCES {
            if let Some(reference) = keywords.get(keyword).and_then(Value::as_str)
                && let Some(target) = self.names.target(reference)?
            {
                place.here.push(self.index_of(target));
            }
        }
        for keyword in HERE {
            self.one(at, keywords, keyword, &mut place.here);
        }
        for keyword in HERE_LISTS {
            self.list(at, keywords, keyword, &mut place.here);
        }
        for keyword in HERE_MAPS {
            self.map(at, keywords, keyword, &mut place.here);
        }
        for keyword in MEMBERS {
            self.one(at, keywords, keyword, &mut place.members);
        }
        self.map(at, keywords, "patternProperties", &mut place.members);
        for keyword in ELEMENTS {
            self.one(at, keywords, keyword, &mut place.elements);
            self.list(at, keywords, keyword, &mut place.elements);
        }
        if let Some(Value::Object(properties)) = keywords.get("properties") {
            for name in properties.keys() {
                let mut pointer = format!("{at}/properties");
                push_token(&mut pointer, name);
                place.properties.push((name.as_str().into(), self.index_of(pointer)));
            }
            place.properties.sort_unstable();
        }
        place.again = ["unevaluatedProperties", "unevaluatedItems"]
            .iter()
            .any(|keyword| keywords.contains_key(*keyword));
        let keys = keywords.get("patternProperties").and_then(Value::as_object);
        let expressions = keywords
            .get("pattern")
            .and_then(Value::as_str)
            .into_iter()
            .chain(keys.into_iter().flat_map(Map::keys).map(String::as_str));
        for expression in expressions {
            if self.patterns.add(expression) == Err(TooCostly) {
                return Err(Fault::Patterns { pointer: at.to_owned() });
            }
            place.patterns.push(match self.patterns.get(expression) {
                Some(pattern) => Cost::Linear(pattern.clone()),
                None => Cost::Backtracking,
            });
        }
        Ok(place)
    }

    fn one(&mut self, at: &str, keywords: &Map<String, Value>, keyword: &str, to: &mut Vec<u32>) {
        if keywords.get(keyword).is_some_and(|value| value.is_object() || value.is_boolean()) {
            to.push(self.index_of(format!("{at}/{keyword}")));
        }
    }

    fn list(&mut self, at: &str, keywords: &Map<String, Value>, keyword: &str, to: &mut Vec<u32>) {
        if let Some(Value::Array(schemas)) = keywords.get(keyword) {
            for position in 0..schemas.len() {
                to.push(self.index_of(format!("{at}/{keyword}/{position}")));
            }
        }
    }

    fn map(&mut self, at: &str, keywords: &Map<String, Value>, keyword: &str, to: &mut Vec<u32>) {
        if let Some(Value::Object(schemas)) = keywords.get(keyword) {
            for (name, schema) in schemas {
                // `dependencies` may contain lists of names, too.
                if schema.is_object() {
                    let mut pointer = format!("{at}/{keyword}");
                    push_token(&mut pointer, name);
                    to.push(self.index_of(pointer));
                }
            }
        }
    }
}
