//! What a schema document is made of, before anything is compiled from it.
//!
//! A survey follows every keyword that applies a schema, of any draft, and every reference. It
//! finds what would make a validator fetch or run forever, and it can bound beforehand how much
//! work a validator has with a given value, which the `jsonschema` crate cannot.

use std::collections::HashMap;

use mcp_json::Node;
use serde_json::{Map, Value};

use crate::program::{Pattern, Patterns, TooCostly};
use crate::violation::push_token;

/// How many schemas may apply to one value inside each other.
const MAX_CHAIN: usize = 100;
/// How deep the estimate follows a value.
const MAX_DEPTH: usize = 1_000;
/// What one attempt of a pattern on the backtracking engine may cost.
const BACKTRACKING_STEPS: u64 = 10_000;

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

/// Why a schema cannot be used at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A reference to another document.
    External { reference: String },
    /// A reference to nothing.
    Dangling { reference: String },
    /// The schema at `pointer` applies itself to the same value, for ever.
    Endless { pointer: String },
    /// Too many schemas apply to one value inside each other.
    Chain { pointer: String },
    /// The regular expressions up to this one are too large together.
    Patterns { pointer: String },
}

/// See the [module docs](self).
#[derive(Debug)]
pub(crate) struct Survey {
    places: Vec<Place>,
    pointers: Vec<String>,
    patterns: Patterns,
}

/// One schema: which others it applies, and to what.
#[derive(Debug, Default)]
struct Place {
    here: Vec<u32>,
    /// Sorted by name.
    properties: Vec<(Box<str>, u32)>,
    members: Vec<u32>,
    elements: Vec<u32>,
    /// `unevaluated…` goes over the whole schema again.
    again: bool,
    /// Expressions that run on strings, or on the keys of objects.
    patterns: Vec<Cost>,
}

#[derive(Debug)]
enum Cost {
    Linear(Pattern),
    Backtracking,
}

/// A document and what references in it may name.
#[derive(Debug)]
pub(crate) struct Names<'d> {
    document: &'d Value,
    /// Pointers of schemas by `$anchor`.
    anchors: HashMap<&'d str, String>,
    /// Pointers of schemas by `$id`.
    ids: HashMap<&'d str, String>,
}

impl Survey {
    /// Surveys the schema at `pointer` in a document and all that it refers to.
    pub(crate) fn of(names: &Names<'_>, pointer: &str) -> Result<Survey, Fault> {
        let mut surveyor = Surveyor {
            names,
            indices: HashMap::new(),
            pointers: Vec::new(),
            patterns: Patterns::default(),
        };
        surveyor.index_of(pointer.to_owned());
        let mut places = Vec::new();
        while places.len() < surveyor.pointers.len() {
            let at = surveyor.pointers[places.len()].clone();
            places.push(surveyor.place(&at)?);
        }
        let Surveyor { pointers, patterns, .. } = surveyor;
        let survey = Survey { places, pointers, patterns };
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

    /// Refuses circles and long chains of schemas for one value. Iterative, as chains are what it
    /// looks for.
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

struct Surveyor<'d> {
    names: &'d Names<'d>,
    indices: HashMap<String, u32>,
    pointers: Vec<String>,
    patterns: Patterns,
}

impl Surveyor<'_> {
    fn index_of(&mut self, pointer: String) -> u32 {
        if let Some(index) = self.indices.get(&pointer) {
            return *index;
        }
        let index = u32::try_from(self.pointers.len()).expect("schemas are of limited size");
        self.pointers.push(pointer.clone());
        self.indices.insert(pointer, index);
        index
    }

    fn place(&mut self, at: &str) -> Result<Place, Fault> {
        let mut place = Place::default();
        let Some(Value::Object(keywords)) = self.names.document.pointer(at) else {
            // `true`, `false`, or what the meta-schema objects to.
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
                // `dependencies` has lists of names, too.
                if schema.is_object() {
                    let mut pointer = format!("{at}/{keyword}");
                    push_token(&mut pointer, name);
                    to.push(self.index_of(pointer));
                }
            }
        }
    }
}

impl<'d> Names<'d> {
    /// Reads `document`.
    pub(crate) fn of(document: &'d Value) -> Names<'d> {
        let mut names = Names { document, anchors: HashMap::new(), ids: HashMap::new() };
        names.collect(document, &mut String::new());
        names
    }

    /// Documents are of limited depth.
    fn collect(&mut self, value: &'d Value, pointer: &mut String) {
        let length = pointer.len();
        match value {
            Value::Object(members) => {
                for keyword in ["$id", "id"] {
                    if let Some(id) = members.get(keyword).and_then(Value::as_str) {
                        self.ids.insert(id.trim_end_matches('#'), pointer.clone());
                    }
                }
                for keyword in ["$anchor", "$dynamicAnchor"] {
                    if let Some(anchor) = members.get(keyword).and_then(Value::as_str) {
                        self.anchors.insert(anchor, pointer.clone());
                    }
                }
                for (name, member) in members {
                    push_token(pointer, name);
                    self.collect(member, pointer);
                    pointer.truncate(length);
                }
            }
            Value::Array(elements) => {
                for (position, element) in elements.iter().enumerate() {
                    push_token(pointer, &position.to_string());
                    self.collect(element, pointer);
                    pointer.truncate(length);
                }
            }
            _ => {}
        }
    }

    /// The pointer that `reference` stands for; `None` for the meta-schemas everybody has.
    fn target(&self, reference: &str) -> Result<Option<String>, Fault> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if document.is_empty() {
            String::new()
        } else if let Some(pointer) = self.with_id(document) {
            pointer
        } else if is_bundled(document) {
            return Ok(None);
        } else {
            return Err(Fault::External { reference: reference.to_owned() });
        };
        let dangling = || Fault::Dangling { reference: reference.to_owned() };
        let pointer = if fragment.is_empty() {
            base
        } else if fragment.starts_with('/') {
            format!("{base}{}", percent_decoded(fragment).ok_or_else(dangling)?)
        } else {
            self.anchors.get(fragment).cloned().ok_or_else(dangling)?
        };
        match self.document.pointer(&pointer) {
            Some(_) => Ok(Some(pointer)),
            None => Err(dangling()),
        }
    }

    /// References may be relative to an `$id`: the last part of the path settles it.
    fn with_id(&self, document: &str) -> Option<String> {
        if let Some(pointer) = self.ids.get(document) {
            return Some(pointer.clone());
        }
        if document.contains("://") {
            return None;
        }
        let suffix = format!("/{}", document.trim_start_matches("./").trim_start_matches('/'));
        let mut matching: Vec<&String> = self
            .ids
            .iter()
            .filter(|(id, _)| id.ends_with(&suffix))
            .map(|(_, pointer)| pointer)
            .collect();
        matching.sort();
        matching.first().map(|pointer| (*pointer).clone())
    }
}

/// The meta-schemas that come with the `jsonschema` crate.
fn is_bundled(uri: &str) -> bool {
    ["http://json-schema.org/draft-0", "https://json-schema.org/draft/20"]
        .iter()
        .any(|prefix| uri.starts_with(prefix))
}

fn percent_decoded(fragment: &str) -> Option<String> {
    if !fragment.contains('%') {
        return Some(fragment.to_owned());
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first == b'%' {
            let (digits, tail) = rest.split_at_checked(2)?;
            let digits = std::str::from_utf8(digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = tail;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};
    use serde_json::json;

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
