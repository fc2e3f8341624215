//! Values generated from a schema, some of them corrupted, driven by a list of numbers that
//! `proptest` can shrink.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

/// The numbers that drive the choices; 0 once they are used up, which always means the simplest
/// choice.
pub(crate) struct Choices<'a>(std::slice::Iter<'a, u32>);

impl<'a> Choices<'a> {
    pub(crate) fn new(numbers: &'a [u32]) -> Choices<'a> {
        Choices(numbers.iter())
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let number = self.0.next().copied().unwrap_or(0);
        usize::try_from(number).expect("four bytes fit") % limit
    }

    fn pick<'b, T>(&mut self, from: &'b [T]) -> &'b T {
        &from[self.below(from.len())]
    }
}

/// A schema document, and all strings in it: member names, constants, enum values.
pub(crate) struct Sampler {
    definitions: Map<String, Value>,
    words: Vec<String>,
}

impl Sampler {
    pub(crate) fn new(document: &Value) -> Sampler {
        let mut words = Vec::new();
        collect_words(document, &mut words);
        words.sort();
        words.dedup();
        Sampler { definitions: document["$defs"].as_object().unwrap().clone(), words }
    }

    /// A value that fits the definition `name`.
    pub(crate) fn fitting(&self, name: &str, choices: &mut Choices<'_>) -> Value {
        self.value(&self.definitions[name], choices)
    }

    /// A value with every member that the definition `name` itself mentions; what it refers to is
    /// as simple as possible. `variant` selects among alternatives.
    pub(crate) fn complete(&self, name: &str, variant: usize) -> Value {
        self.complete_value(&self.definitions[name], variant)
    }

    fn complete_value(&self, schema: &Value, variant: usize) -> Value {
        let chosen = |from: &'_ Value| {
            let from = from.as_array().unwrap();
            from[variant % from.len()].clone()
        };
        let mut schema = schema.clone();
        if schema["type"].is_array() {
            schema["type"] = chosen(&schema["type"]);
        }
        if schema["enum"].is_array() {
            return chosen(&schema["enum"]);
        }
        if schema["type"] == "array" && schema["items"] != Value::Null {
            return json!([self.complete_value(&schema["items"], variant)]);
        }
        if schema["type"] != "object" {
            return match schema["anyOf"] {
                Value::Null => self.value(&schema, &mut Choices::new(&[])),
                _ => self.complete_value(&chosen(&schema["anyOf"]), variant),
            };
        }
        let properties = schema["properties"].as_object().into_iter().flatten();
        let mut members: Map<String, Value> = properties
            .map(|(name, schema)| (name.clone(), self.complete_value(schema, variant)))
            .collect();
        if let Some(additional) = schema.get("additionalProperties") {
            members.insert("more".to_owned(), self.complete_value(additional, variant));
        }
        members.into()
    }

    fn value(&self, schema: &Value, choices: &mut Choices<'_>) -> Value {
        if let Some(target) = schema["$ref"].as_str() {
            return self.fitting(target.strip_prefix("#/$defs/").unwrap(), choices);
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            return choices.pick(values).clone();
        }
        let one = match &schema["type"] {
            Value::String(one) => one.as_str(),
            Value::Array(types) => choices.pick(types).as_str().unwrap(),
            _ => match schema["anyOf"].as_array() {
                Some(branches) => return self.value(choices.pick(branches), choices),
                None => return self.anything(choices),
            },
        };
        match one {
            "null" => Value::Null,
            "boolean" => (choices.below(2) == 1).into(),
            "integer" => {
                Self::number(schema, choices, &[json!(0), json!(1), json!(1.0), json!(100)])
            }
            "number" => {
                Self::number(schema, choices, &[json!(0), json!(1), json!(0.5), json!(1e-3)])
            }
            "string" => self.text(choices).into(),
            "array" => self.array(schema, choices),
            "object" => self.object(schema, choices),
            other => panic!("type {other}"),
        }
    }

    fn object(&self, schema: &Value, choices: &mut Choices<'_>) -> Value {
        let mut members = Map::new();
        let mut required: Vec<&Value> =
            schema["required"].as_array().into_iter().flatten().collect();
        if let Some(alternatives) = schema["anyOf"].as_array() {
            required.extend(choices.pick(alternatives)["required"].as_array().unwrap());
        }
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            if required.iter().any(|one| *one == name) || choices.below(3) == 1 {
                members.insert(name.clone(), self.value(schema, choices));
            }
        }
        if choices.below(3) == 1 {
            let name = format!("{}-more", self.text(choices));
            let value = match schema.get("additionalProperties") {
                Some(schema) => self.value(schema, choices),
                None => self.anything(choices),
            };
            members.insert(name, value);
        }
        members.into()
    }

    fn array(&self, schema: &Value, choices: &mut Choices<'_>) -> Value {
        let length = choices.below(4);
        let mut element = || match schema.get("items") {
            Some(items) => self.value(items, choices),
            None => self.anything(choices),
        };
        (0..length).map(|_| element()).collect()
    }

    fn number(schema: &Value, choices: &mut Choices<'_>, usual: &[Value]) -> Value {
        let bounds = ["minimum", "maximum"].map(|bound| schema[bound].clone());
        match choices.pick(&bounds) {
            Value::Null => {}
            bound => return bound.clone(),
        }
        let fits = |value: &&Value| {
            let value = value.as_f64().unwrap();
            !schema["minimum"].as_f64().is_some_and(|bound| value < bound)
                && !schema["maximum"].as_f64().is_some_and(|bound| value > bound)
        };
        let usual: Vec<&Value> = usual.iter().filter(fits).collect();
        (*choices.pick(&usual)).clone()
    }

    fn text(&self, choices: &mut Choices<'_>) -> String {
        match choices.below(4) {
            0 => "text".to_owned(),
            1 => String::new(),
            2 => "é \"quoted\" \\ \n \u{1F600}".to_owned(),
            _ => choices.pick(&self.words).clone(),
        }
    }

    fn anything(&self, choices: &mut Choices<'_>) -> Value {
        match choices.below(11) {
            0 => json!({}),
            1 => json!([]),
            2 => Value::Null,
            3 => json!(true),
            4 => json!(1),
            5 => json!(1.0),
            6 => json!(1.5),
            7 => json!(-1),
            8 => json!(1e300),
            9 => json!({ "type": "text", "name": [1] }),
            _ => self.text(choices).into(),
        }
    }

    /// Changes one thing somewhere in `value`.
    pub(crate) fn spoil(&self, value: &mut Value, choices: &mut Choices<'_>) {
        // Descends into a child repeatedly, but not always down to the leaves.
        match value {
            Value::Object(members) if !members.is_empty() && choices.below(4) != 0 => {
                let position = choices.below(members.len());
                let child = members.values_mut().nth(position).unwrap();
                return self.spoil(child, choices);
            }
            Value::Array(elements) if !elements.is_empty() && choices.below(4) != 0 => {
                let position = choices.below(elements.len());
                return self.spoil(&mut elements[position], choices);
            }
            _ => {}
        }
        let kind = choices.below(4);
        match value {
            Value::Object(members) if kind == 0 && !members.is_empty() => {
                let position = choices.below(members.len());
                let name = members.keys().nth(position).unwrap().clone();
                members.remove(&name);
            }
            Value::Object(members) if kind == 1 => {
                let name = choices.pick(&self.words).clone();
                members.insert(name, self.anything(choices));
            }
            Value::Array(elements) if kind == 0 && !elements.is_empty() => {
                let element = choices.pick(elements).clone();
                let times = *choices.pick(&[1, 2, 100]);
                elements.extend(std::iter::repeat_n(element, times));
            }
            Value::Array(elements) if kind == 1 => elements.push(self.anything(choices)),
            Value::String(text) if kind < 2 => text.clone_from(choices.pick(&self.words)),
            Value::String(text) if kind == 2 => text.push('x'),
            Value::Number(number) if kind < 3 => {
                let old = number.as_f64().unwrap();
                *value =
                    (*choices.pick(&[old + 0.5, old + 1.0, old - 1.0, -old, old * 1e300])).into();
            }
            _ => *value = self.anything(choices),
        }
    }
}

/// Every value that differs from `value` in one place: replaced or removed.
pub(crate) fn single_faults(value: &Value) -> Vec<Value> {
    let mut faults = vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(0.5),
        json!(1.0),
        json!(2),
        json!("no such"),
        json!({}),
        json!([]),
    ];
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let mut without = members.clone();
                without.remove(name);
                faults.push(without.into());
                for fault in single_faults(member) {
                    let mut changed = members.clone();
                    changed.insert(name.clone(), fault);
                    faults.push(changed.into());
                }
            }
        }
        Value::Array(elements) => {
            faults.push(elements.iter().cycle().take(101).cloned().collect());
            for (position, element) in elements.iter().enumerate() {
                for fault in single_faults(element) {
                    let mut changed = elements.clone();
                    changed[position] = fault;
                    faults.push(changed.into());
                }
            }
        }
        _ => {}
    }
    faults
}

fn collect_words(schema: &Value, words: &mut Vec<String>) {
    match schema {
        Value::String(text) => words.push(text.clone()),
        Value::Array(elements) => elements.iter().for_each(|element| collect_words(element, words)),
        Value::Object(members) => {
            for (name, value) in members {
                words.push(name.clone());
                collect_words(value, words);
            }
        }
        _ => {}
    }
}

/// `value` as JSON text, with spaces and escapes that do not change its meaning.
pub(crate) fn spelled(value: &Value, choices: &mut Choices<'_>) -> String {
    let mut text = String::new();
    spell(value, choices, &mut text);
    text
}

fn spell(value: &Value, choices: &mut Choices<'_>, text: &mut String) {
    match value {
        Value::String(string) => spell_string(string, choices, text),
        Value::Array(elements) => {
            text.push('[');
            for (position, element) in elements.iter().enumerate() {
                text.push_str(if position == 0 { "" } else { "," });
                spell(element, choices, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            text.push('{');
            for (position, (name, value)) in members.iter().enumerate() {
                text.push_str(if position == 0 { "" } else { ", " });
                spell_string(name, choices, text);
                text.push(':');
                spell(value, choices, text);
            }
            text.push('}');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

fn spell_string(string: &str, choices: &mut Choices<'_>, text: &mut String) {
    let plain = Value::from(string).to_string();
    match string.chars().next() {
        Some(first) if first.is_ascii_alphanumeric() && choices.below(8) == 1 => {
            write!(text, "\"\\u{:04x}{}", u32::from(first), &plain[2..]).unwrap();
        }
        _ => text.push_str(&plain),
    }
}
