//! `cargo xtask compare-official DIR`: compares our documents with the official ones.
//!
//! The official files are not part of this repository; anyone who has them can use this command to
//! check that ours differ only where `expected.json` says so, with a reason. It is strict both
//! ways: an expected difference that no longer exists is reported too.

mod differences;
mod expected;
mod normal_form;

use std::{collections::BTreeMap, fs, path::Path, process::ExitCode};

use anyhow::{Context, Result, bail};
use mcp_core::Revision;
use serde_json::Value;

use self::{differences::differences, expected::Expected, normal_form::normal_form};
use crate::{layout, methods::parse_table, schema::parse_document};

/// The definitions of a document in normal form, by name.
type Document = BTreeMap<String, Value>;

pub(crate) fn run(directory: &Path) -> Result<ExitCode> {
    let mut expected = Expected::load()?;
    let mut compared = 0;
    let mut complaints = Vec::new();
    for revision in Revision::ALL {
        let ours = document(&layout::revision_folder(revision).join("schema.json"))?;
        let official = document(&directory.join(revision.as_str()).join("schema.json"))?;
        let counterparts = counterparts(revision, &ours, &official)?;
        for (name, schema) in &ours {
            let Some(counterpart) = counterparts.get(name.as_str()) else {
                if !expected.added(revision, name) {
                    complaints.push(format!("{revision} {name}: not in the official file"));
                }
                continue;
            };
            compared += 1;
            for difference in differences((schema, &ours), (counterpart, &official)) {
                if !expected.difference(revision, name, &difference) {
                    complaints.push(format!("{revision} {name} {difference}"));
                }
            }
        }
        for name in official.keys() {
            if !ours.contains_key(name) && !expected.left_out(revision, name) {
                complaints.push(format!("{revision} {name}: only in the official file"));
            }
        }
    }
    complaints.extend(expected.unused());

    for complaint in &complaints {
        eprintln!("{complaint}");
    }
    eprintln!(
        "{compared} definitions compared, {} differences as expected, {} complaints",
        expected.met(),
        complaints.len()
    );
    Ok(if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn document(path: &Path) -> Result<Document> {
    let read = || -> Result<Document> {
        let document: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
        let definitions = document.get("$defs").or_else(|| document.get("definitions"));
        let Some(Value::Object(definitions)) = definitions else {
            bail!("there are no definitions");
        };
        Ok((definitions.iter()).map(|(name, schema)| (name.clone(), normal_form(schema))).collect())
    };
    read().with_context(|| format!("could not read {}", path.display()))
}

/// What to compare each of our definitions with, by name: the official definition of that name, or
/// what is inline in the definition of a method or an error.
fn counterparts(revision: Revision, ours: &Document, official: &Document) -> Result<Document> {
    let folder = layout::revision_folder(revision);
    let definitions = parse_document(&fs::read_to_string(folder.join("schema.json"))?)?;
    let methods = parse_table(&fs::read_to_string(folder.join("methods.json"))?, &definitions)?;

    let mut counterparts = Document::new();
    for method in methods {
        let wrapper = official.values().find(|schema| {
            schema.pointer("/properties/method/const").and_then(Value::as_str)
                == Some(method.name.as_str())
        });
        let wrapper =
            wrapper.with_context(|| format!("{revision} has no method `{}`", method.name))?;
        if let (Some(name), Some(params)) = (method.params, wrapper.pointer("/properties/params")) {
            counterparts.insert(name, params.clone());
        }
    }
    for (name, schema) in official {
        // Such an error combines the envelope's error object with a second schema that adds to it.
        if let Some(data) = schema.pointer("/properties/error/allOf/1/properties/data") {
            counterparts.insert(format!("{name}Data").replace("URL", "Url"), data.clone());
        }
    }
    for name in ours.keys() {
        if let Some(schema) = official.get(name) {
            counterparts.insert(name.clone(), schema.clone());
        }
    }
    Ok(counterparts)
}
