//! Emits one function per definition, and one per nested shape that does not fit into an
//! expression.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use anyhow::{Result, ensure};

use super::name::{bytes, snake_case};
use crate::{
    schema::Type,
    shape::{Object, Shape},
};

/// The functions that check the definition `name`, starting with that of the definition itself.
pub(super) fn functions(name: &str, shape: &Shape) -> Result<String> {
    let mut helpers = Helpers::default();
    let mut text = format!("/// `{name}`\npub(super) ");
    text.push_str(&function(&snake_case(name), shape, &mut helpers)?);
    while let Some((name, shape)) = helpers.open.pop() {
        text.push('\n');
        text.push_str(&function(&name, &shape, &mut helpers)?);
    }
    Ok(text)
}

/// Nested shapes with a function that has yet to be written.
#[derive(Default)]
struct Helpers {
    open: Vec<(String, Shape)>,
    taken: BTreeSet<String>,
}

impl Helpers {
    /// The name of a new function for `shape`, which is at `path`.
    fn add(&mut self, path: &str, shape: &Shape) -> String {
        let mut name = path.to_owned();
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        self.open.push((name.clone(), shape.clone()));
        name
    }
}

fn function(name: &str, shape: &Shape, helpers: &mut Helpers) -> Result<String> {
    let parameter = if *shape == Shape::Anything { "_node" } else { "node" };
    let body = match shape {
        Shape::Object(object) if !is_map(object) => object_body(name, object, helpers)?,
        Shape::Tagged { property, present, absent } => {
            tagged_body(name, property, present, absent, helpers)
        }
        _ => expression(name, shape, "node", helpers),
    };
    Ok(format!("fn {name}({parameter}: Node<'_>) -> bool {{\n{body}\n}}\n"))
}

/// A Rust expression that checks the value in `variable` against `shape`. `path` is the location,
/// used to name functions that the expression has to call.
fn expression(path: &str, shape: &Shape, variable: &str, helpers: &mut Helpers) -> String {
    match shape {
        Shape::Anything => "true".to_owned(),
        Shape::Types(types) => {
            let tests: Vec<_> = types.iter().map(|one| type_test(*one, variable)).collect();
            tests.join(" || ")
        }
        Shape::OneOf(texts) => match texts.as_slice() {
            [text] => format!("{variable}.str_eq({text:?})"),
            texts => {
                format!("check::text_is({variable}, |text| matches!(text, {}))", patterns(texts))
            }
        },
        Shape::Number { integer, minimum, maximum } => {
            let number = if *integer { Type::Integer } else { Type::Number };
            let mut tests = vec![type_test(number, variable)];
            tests.extend(minimum.map(|bound| format!("check::at_least({variable}, {bound})")));
            tests.extend(maximum.map(|bound| format!("check::at_most({variable}, {bound})")));
            tests.join(" && ")
        }
        Shape::Array { items, min_items, max_items } => {
            let mut tests = vec![format!("{variable}.is_array()")];
            tests.extend(min_items.map(|bound| format!("{variable}.len() >= {bound}")));
            tests.extend(max_items.map(|bound| format!("{variable}.len() <= {bound}")));
            if **items != Shape::Anything {
                let item = predicate(&format!("{path}_item"), items, helpers);
                tests.push(format!("{variable}.elements().all({item})"));
            }
            tests.join(" && ")
        }
        Shape::Definition(name) => format!("{}({variable})", snake_case(name)),
        Shape::Object(object) if is_map(object) => {
            let value = predicate(&format!("{path}_value"), &object.additional, helpers);
            format!("check::every_value({variable}, {value})")
        }
        Shape::Object(_) | Shape::Tagged { .. } => {
            format!("{}({variable})", helpers.add(path, shape))
        }
        Shape::Any(shapes) => any(path, shapes, variable, helpers),
    }
}

fn any(path: &str, shapes: &[Shape], variable: &str, helpers: &mut Helpers) -> String {
    let tests: Vec<_> = (shapes.iter().enumerate())
        .map(|(position, shape)| {
            let path = format!("{path}_{}", position + 1);
            let test = expression(&path, shape, variable, helpers);
            if test.contains(" && ") { format!("({test})") } else { test }
        })
        .collect();
    tests.join(" || ")
}

/// A function or closure that checks a value against `shape`.
fn predicate(path: &str, shape: &Shape, helpers: &mut Helpers) -> String {
    match shape {
        Shape::Definition(name) => snake_case(name),
        Shape::Types(types) if matches!(types.as_slice(), [Type::String]) => {
            "Node::is_string".to_owned()
        }
        Shape::Types(types) if matches!(types.as_slice(), [Type::Object]) => {
            "Node::is_object".to_owned()
        }
        Shape::Types(_) | Shape::OneOf(_) | Shape::Number { .. } => {
            format!("|value| {}", expression(path, shape, "value", helpers))
        }
        _ => helpers.add(path, shape),
    }
}

/// Whether the object only constrains its values, whatever their names.
fn is_map(object: &Object) -> bool {
    object.members.is_empty()
        && object.required.is_empty()
        && object.required_alternatives.is_empty()
}

fn object_body(path: &str, object: &Object, helpers: &mut Helpers) -> Result<String> {
    let bits = bits(object)?;
    let mut body = String::from("if !node.is_object() { return false; }\n");
    if !bits.is_empty() {
        body.push_str("let mut seen = 0_u32;\n");
    }
    body.push_str("for (name, value) in node.members() {\nlet name = check::text(name);\nlet fits = match name.len() {\n");
    body.push_str(&arms(path, object, &bits, helpers));
    let additional = expression(&format!("{path}_other"), &object.additional, "value", helpers);
    _ = writeln!(body, "_ => {additional},\n}};\nif !fits {{ return false; }}\n}}");
    body.push_str(&required_test(object, &bits));
    Ok(body)
}

/// One match arm per member that matters, shortest name first: the match becomes a jump on the
/// length, and few names have the same.
fn arms(path: &str, object: &Object, bits: &BTreeMap<&str, u32>, helpers: &mut Helpers) -> String {
    let mut names: Vec<&str> = object.members.keys().map(String::as_str).collect();
    names.extend(bits.keys().filter(|name| !object.members.contains_key(**name)));
    names.sort_by_key(|name| (name.len(), *name));

    let mut arms = String::new();
    for name in names {
        let shape = object.members.get(name).unwrap_or(&object.additional);
        let bit = bits.get(name);
        if *shape == Shape::Anything && *object.additional == Shape::Anything && bit.is_none() {
            continue;
        }
        let test = expression(&format!("{path}_{}", snake_case(name)), shape, "value", helpers);
        let verdict = match bit {
            Some(bit) => format!("{{ seen |= {bit:#b}; {test} }}"),
            None => test,
        };
        _ = writeln!(arms, "{} if *name == *{} => {verdict},", name.len(), bytes(name));
    }
    arms
}

/// A bit for every member whose presence matters.
fn bits(object: &Object) -> Result<BTreeMap<&str, u32>> {
    let names: BTreeSet<&str> = (object.required.iter())
        .chain(object.required_alternatives.iter().flatten())
        .map(String::as_str)
        .collect();
    ensure!(names.len() <= 32, "more than 32 required members");
    Ok((names.into_iter().enumerate()).map(|(position, name)| (name, 1 << position)).collect())
}

fn required_test(object: &Object, bits: &BTreeMap<&str, u32>) -> String {
    let mask =
        |names: &BTreeSet<String>| -> u32 { names.iter().map(|name| bits[name.as_str()]).sum() };
    if bits.is_empty() {
        return "true".to_owned();
    }
    if object.required_alternatives.is_empty() {
        return format!("seen == {:#b}", mask(&object.required));
    }
    let alternatives: Vec<_> = (object.required_alternatives.iter())
        .map(|names| format!("seen & {0:#b} == {0:#b}", mask(names)))
        .collect();
    let alternatives = alternatives.join(" || ");
    if object.required.is_empty() {
        return alternatives;
    }
    format!("seen & {0:#b} == {0:#b} && ({alternatives})", mask(&object.required))
}

fn tagged_body(
    path: &str,
    property: &str,
    present: &BTreeMap<String, Vec<Shape>>,
    absent: &[Shape],
    helpers: &mut Helpers,
) -> String {
    let alternatives = |shapes: &[Shape], suffix: &str, helpers: &mut Helpers| match shapes {
        [] => "false".to_owned(),
        shapes => any(&format!("{path}_{suffix}"), shapes, "node", helpers),
    };
    let mut body = format!(
        "let Some(tag) = node.get({property:?}) else {{ return {}; }};\n",
        alternatives(absent, "untagged", helpers),
    );
    body.push_str("match tag.str_bytes().as_deref() {\n");
    // Values that select the same alternatives share an arm.
    let mut arms: Vec<(Vec<String>, &Vec<Shape>)> = Vec::new();
    for (value, shapes) in present {
        match arms.iter_mut().find(|(_, others)| *others == shapes) {
            Some((values, _)) => values.push(value.clone()),
            None => arms.push((vec![value.clone()], shapes)),
        }
    }
    for (values, shapes) in arms {
        let verdict = alternatives(shapes, &snake_case(&values[0]), helpers);
        _ = writeln!(body, "Some({}) => {verdict},", patterns(&values));
    }
    body.push_str("_ => false,\n}");
    body
}

fn patterns(texts: &[String]) -> String {
    let patterns: Vec<_> = texts.iter().map(|text| bytes(text)).collect();
    patterns.join(" | ")
}

fn type_test(one: Type, variable: &str) -> String {
    let method = match one {
        Type::Null => "is_null",
        Type::Boolean => return format!("check::is_boolean({variable})"),
        Type::Integer => "is_integer",
        Type::Number => "is_number",
        Type::String => "is_string",
        Type::Array => "is_array",
        Type::Object => "is_object",
    };
    format!("{variable}.{method}()")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(members: &[(&str, Shape)], required: &[&str]) -> Shape {
        let members = members.iter().cloned();
        Shape::Object(Object {
            members: members.map(|(name, shape)| (name.to_owned(), shape)).collect(),
            required: required.iter().map(|name| (*name).to_owned()).collect(),
            required_alternatives: Vec::new(),
            additional: Box::new(Shape::Anything),
        })
    }

    #[track_caller]
    fn check(shape: &Shape, expected: &str) {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&functions("A", shape).unwrap()), words(expected));
    }

    #[test]
    fn members_are_told_apart_by_length_and_counted_by_bits() {
        let text = Shape::Types(vec![Type::String]);
        let inner = object(&[("z", Shape::OneOf(vec!["1".to_owned()]))], &[]);
        check(
            &object(&[("b", text), ("aa", inner)], &["b", "any"]),
            r#"
            /// `A`
            pub(super) fn a(node: Node<'_>) -> bool {
                if !node.is_object() { return false; }
                let mut seen = 0_u32;
                for (name, value) in node.members() {
                    let name = check::text(name);
                    let fits = match name.len() {
                        1 if *name == *b"b" => { seen |= 0b10; value.is_string() },
                        2 if *name == *b"aa" => a_aa(value),
                        3 if *name == *b"any" => { seen |= 0b1; true },
                        _ => true,
                    };
                    if !fits { return false; }
                }
                seen == 0b11
            }
            fn a_aa(node: Node<'_>) -> bool {
                if !node.is_object() { return false; }
                for (name, value) in node.members() {
                    let name = check::text(name);
                    let fits = match name.len() {
                        1 if *name == *b"z" => value.str_eq("1"),
                        _ => true,
                    };
                    if !fits { return false; }
                }
                true
            }"#,
        );
    }

    #[test]
    fn a_tag_selects_the_alternatives() {
        let definition = |name: &str| Shape::Definition(name.to_owned());
        check(
            &Shape::Tagged {
                property: "type".to_owned(),
                present: BTreeMap::from([
                    ("x".to_owned(), vec![definition("B"), definition("C")]),
                    ("y".to_owned(), vec![definition("C")]),
                    ("z".to_owned(), vec![definition("C")]),
                ]),
                absent: vec![definition("B")],
            },
            r#"
            /// `A`
            pub(super) fn a(node: Node<'_>) -> bool {
                let Some(tag) = node.get("type") else { return b(node); };
                match tag.str_bytes().as_deref() {
                    Some(b"x") => b(node) || c(node),
                    Some(b"y" | b"z") => c(node),
                    _ => false,
                }
            }"#,
        );
    }
}
