//! The violations of tool schemas match those of `ajv` 8.
//!
//! `tests/ajv/cases.jsonl` is a table of schemas and values, `recorded.jsonl` has the output of
//! `ajv` for them. `scripts/ajv` runs the original again, also on a few hundred random schemas, and
//! rewrites the recording if told to. Intentional differences are in `differences.json`, with the
//! reason: an unlisted difference fails, and so does a listed one that no longer exists.

mod drawn;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, thread};

use mcp_json::{Limits, Node, Tape};
use mcp_schema::{Dialect, ToolSchema, ToolSchemaLimits};
use serde_json::{Value, json};

/// One schema and the values checked against it, as texts: the order of members matters.
struct Case {
    name: String,
    line: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ajv")
}

fn cases() -> Vec<Case> {
    let text = fs::read_to_string(folder().join("cases.jsonl")).unwrap();
    let case = |line: &str| {
        let parsed: Value = serde_json::from_str(line).unwrap();
        Case { name: parsed["name"].as_str().unwrap().to_owned(), line: line.to_owned() }
    };
    text.lines().map(case).collect()
}

/// Reasons by case.
fn differences() -> BTreeMap<String, String> {
    let text = fs::read_to_string(folder().join("differences.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Our output for a case, in the format in which the driver prints that of `ajv`.
fn ours(case: &Case) -> Value {
    let mut tape = Tape::new();
    let document = tape.parse(case.line.as_bytes(), Limits::default()).unwrap();
    let root = document.root();
    let member = |name: &str| root.get(name).unwrap();
    let dialect = member("dialect").as_str().unwrap();
    let dialect = Dialect::ALL.into_iter().find(|known| known.to_string() == dialect).unwrap();
    let schema = ToolSchema::compile(member("schema"), dialect, ToolSchemaLimits::default())
        .unwrap_or_else(|error| panic!("{}: {error}", case.name));
    member("values").elements().map(|value| listed(&schema, value)).collect()
}

fn listed(schema: &ToolSchema, value: Node<'_>) -> Value {
    let violations = schema.violations(value);
    assert_eq!(violations.is_empty(), schema.accepts(value));
    violations
        .into_iter()
        .map(|violation| {
            json!({
                "instancePath": violation.instance_path,
                "schemaPath": violation.schema_path,
                "keyword": violation.keyword,
                "params": violation.params,
                "message": violation.message,
            })
        })
        .collect()
}

/// `1` and `1.0` are the same number.
fn normalized(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(elements) => elements.iter().map(normalized).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), normalized(value))).collect()
        }
        other => other.clone(),
    }
}

/// Where `ajv` itself fails, there is nothing to compare.
fn forget_failures(ours: &mut Value, theirs: &Value) {
    let pairs =
        ours.as_array_mut().into_iter().flatten().zip(theirs.as_array().into_iter().flatten());
    for (ours, _) in pairs.filter(|(_, theirs)| theirs.is_null()) {
        *ours = Value::Null;
    }
}

/// Fails unless exactly the listed cases differ.
#[track_caller]
fn compare(cases: &[Case], theirs: &[Value]) {
    assert_eq!(cases.len(), theirs.len(), "one line for each case");
    let intended = differences();
    let mut wrong = Vec::new();
    for (case, theirs) in cases.iter().zip(theirs) {
        let mut ours = ours(case);
        forget_failures(&mut ours, theirs);
        match (normalized(&ours) == normalized(theirs), intended.get(&case.name)) {
            (true, None) | (false, Some(_)) => {}
            (true, Some(_)) => wrong.push(format!("{}: listed, but no difference", case.name)),
            (false, None) => {
                let first = |at: &usize| normalized(&ours[at]) != normalized(&theirs[at]);
                let at = (0..ours.as_array().map_or(0, Vec::len)).find(first).unwrap_or_default();
                let theirs = theirs.get(at).unwrap_or(theirs);
                wrong.push(format!(
                    "{}\n  {}\n  value {at}\n  ours {}\n  ajv  {theirs}",
                    case.name, case.line, ours[at]
                ));
            }
        }
    }
    for name in intended.keys().filter(|name| !cases.iter().any(|case| case.name == **name)) {
        if !cases.iter().any(|case| case.name.starts_with("drawn")) {
            wrong.push(format!("{name}: listed, but no case"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn recorded() -> Vec<Value> {
    let text = fs::read_to_string(folder().join("recorded.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn violations_are_those_that_ajv_was_seen_to_give() {
    compare(&cases(), &recorded());
}

/// Where `scripts/ajv` installs it.
fn installed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/ajv")
}

/// The output of `ajv` for each case.
fn asked(cases: &[Case]) -> Vec<String> {
    let mut child = Command::new("node")
        .arg(folder().join("driver.cjs"))
        .current_dir(installed())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node runs");
    let mut input = child.stdin.take().unwrap();
    let lines: Vec<&str> = cases.iter().map(|case| case.line.as_str()).collect();
    let text = lines.join("\n");
    let writer = thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn parsed(lines: &[String]) -> Vec<Value> {
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
#[ignore = "needs node and ajv: scripts/ajv runs it"]
fn ajv_still_says_what_was_recorded() {
    let cases = cases();
    let now = parsed(&asked(&cases));
    assert!(
        now == recorded(),
        "ajv has changed; scripts/ajv --record, then look at the difference"
    );
    compare(&cases, &now);
}

#[test]
#[ignore = "needs node and ajv: scripts/ajv runs it"]
fn violations_are_those_of_ajv_for_schemas_drawn_by_chance() {
    let cases: Vec<Case> = drawn::lines(600)
        .enumerate()
        .map(|(number, line)| Case { name: format!("drawn {number}"), line })
        .collect();
    compare(&cases, &parsed(&asked(&cases)));
}

#[test]
#[ignore = "writes the recording: scripts/ajv --record runs it"]
fn record() {
    let mut text = asked(&cases()).join("\n");
    text.push('\n');
    fs::write(folder().join("recorded.jsonl"), text).unwrap();
}
