//! Shows the methods and definitions of a revision, or one of them.

mod listing;
mod shape;

use std::{
    fmt::Write as _,
    io::{self, IsTerminal as _, Write as _},
};

use anyhow::Context as _;
use mcp_core::Revision;
use mcp_schema::{Definition, Document, Method};
use serde_json::{Map, Value, json};

use super::Outcome;
use crate::{
    args::{Color, SchemaArgs, SchemaFormat},
    failure::Failure,
    names::UnknownName,
    style::{self, Palette},
};

/// Shows methods and definitions.
pub(crate) fn schema(args: &SchemaArgs, color: Color) -> anyhow::Result<Outcome> {
    let revision = args.revision;
    let subject = args.name.as_deref().map(|name| find(revision, name)).transpose()?;
    let text = match args.format {
        SchemaFormat::Human => {
            let palette = Palette::of_stdout(color);
            // Columns are for terminals; a pipe gets one name per line.
            let width = io::stdout().is_terminal().then(style::stdout_width);
            human(revision, subject, &palette, width)?
        }
        SchemaFormat::Json => {
            let value = json(revision, subject)?;
            serde_json::to_string_pretty(&value)? + "\n"
        }
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(Outcome::Clean)
}

/// What a name can refer to. No definition has the name of a method.
#[derive(Clone, Copy)]
enum Subject {
    Definition(&'static Definition),
    Method(&'static Method),
}

fn find(revision: Revision, name: &str) -> anyhow::Result<Subject> {
    if let Some(definition) = mcp_schema::definition(revision, name) {
        return Ok(Subject::Definition(definition));
    }
    if let Some(method) = mcp_schema::method(revision, name.as_bytes()) {
        return Ok(Subject::Method(method));
    }
    let elsewhere: Vec<&str> = (Revision::ALL.into_iter())
        .filter(|other| {
            mcp_schema::definition(*other, name).is_some()
                || mcp_schema::method(*other, name.as_bytes()).is_some()
        })
        .map(Revision::as_str)
        .collect();
    if let Some(latest) = elsewhere.last() {
        let hint = format!("it is in {}; try --revision {latest}", elsewhere.join(", "));
        return Err(Failure::new(format!("{revision} has no `{name}`")).hint(hint).into());
    }
    let error = UnknownName::new("method or definition", name, names(revision));
    let hint = format!("`plumb schema --revision {revision}` lists them");
    Err(Failure::new(error.to_string()).hint(hint).into())
}

/// Methods, then definitions.
fn names(revision: Revision) -> impl Iterator<Item = &'static str> {
    let methods = mcp_schema::methods(revision).iter();
    let definitions = mcp_schema::definitions(revision).iter();
    let methods = methods.map(|method| method.name);
    methods.chain(definitions.map(|definition| definition.name))
}

fn human(
    revision: Revision,
    subject: Option<Subject>,
    palette: &Palette,
    width: Option<usize>,
) -> anyhow::Result<String> {
    match subject {
        None => Ok(listing::listing(revision, palette, width)),
        Some(subject) => described(&Document::of(revision), revision, subject, palette),
    }
}

fn described(
    document: &Document,
    revision: Revision,
    subject: Subject,
    palette: &Palette,
) -> anyhow::Result<String> {
    let Palette { bold, dim, .. } = palette;
    let heading = |name: &str| format!("{bold}{name}{bold:#} {dim}({revision}){dim:#}\n");
    match subject {
        Subject::Definition(definition) => {
            let shape = shape::shape(defined(document, definition)?, palette);
            Ok(heading(definition.name) + &shape)
        }
        Subject::Method(method) => {
            let mut out = heading(method.name) + &listing::facts(method);
            for (role, definition) in parts(method) {
                let _ = writeln!(out, "\n{bold}{role}{bold:#}: {}", definition.name);
                out.push_str(&shape::shape(defined(document, definition)?, palette));
            }
            Ok(out)
        }
    }
}

fn json(revision: Revision, subject: Option<Subject>) -> anyhow::Result<Value> {
    match subject {
        None => Ok(listing::json(revision)),
        Some(subject) => exported(&Document::of(revision), revision, subject),
    }
}

/// Self-contained: everything referred to is under `$defs`.
fn exported(document: &Document, revision: Revision, subject: Subject) -> anyhow::Result<Value> {
    match subject {
        Subject::Definition(definition) => Ok(json!({
            "$schema": document.dialect(),
            "$ref": reference(definition),
            "$defs": closure(document, &[definition.name])?,
        })),
        Subject::Method(method) => {
            let names: Vec<&str> = parts(method).map(|(_, definition)| definition.name).collect();
            let mut row = Map::new();
            row.insert("revision".into(), revision.as_str().into());
            row.extend(listing::row(method));
            row.insert("$defs".into(), closure(document, &names)?.into());
            Ok(row.into())
        }
    }
}

/// The definitions of a method, with their roles.
fn parts(method: &'static Method) -> impl Iterator<Item = (&'static str, &'static Definition)> {
    let all = [
        ("params", method.params),
        ("result", method.result),
        ("result of a task", method.task_result),
        ("result that asks for input", method.input_required),
    ];
    all.into_iter().filter_map(|(role, definition)| Some((role, definition?)))
}

fn reference(definition: &Definition) -> String {
    format!("#/$defs/{}", definition.name)
}

fn defined<'d>(document: &'d Document, definition: &Definition) -> anyhow::Result<&'d Value> {
    let name = definition.name;
    document.definition(name).with_context(|| format!("the document does not define `{name}`"))
}

fn closure(document: &Document, names: &[&str]) -> anyhow::Result<Map<String, Value>> {
    let missing = || format!("the document does not define all of {}", names.join(", "));
    document.closure(names).with_context(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(revision: Revision, name: &str) -> String {
        let subject = find(revision, name).ok();
        human(revision, subject, &Palette::plain(), Some(80)).unwrap()
    }

    #[test]
    fn a_definition_is_a_table_of_members() {
        insta::assert_snapshot!(text(Revision::V2025_11_25, "Tool"));
    }

    #[test]
    fn a_method_is_its_facts_and_definitions() {
        insta::assert_snapshot!(text(Revision::V2025_11_25, "tools/call"));
    }

    #[test]
    fn every_name_of_every_revision_can_be_shown() {
        for revision in Revision::ALL {
            let document = Document::of(revision);
            for name in names(revision) {
                let subject = find(revision, name).unwrap();
                let plain = Palette::plain();
                assert!(described(&document, revision, subject, &plain).is_ok(), "{name}");
                assert!(exported(&document, revision, subject).is_ok(), "{name}");
            }
        }
    }

    #[test]
    fn json_contains_everything_it_refers_to() {
        let subject = find(Revision::V2025_11_25, "CallToolResult").unwrap();
        let value = json(Revision::V2025_11_25, Some(subject)).unwrap();
        assert_eq!(value["$ref"], "#/$defs/CallToolResult");
        let defined = value["$defs"].as_object().unwrap();
        assert!(defined.contains_key("TextContent") && !defined.contains_key("Tool"));
    }

    #[test]
    fn unknown_names_get_suggestions() {
        let error = find(Revision::V2025_11_25, "tool/call").map(drop).unwrap_err();
        assert!(error.to_string().contains("did you mean `tools/call`?"), "{error}");
        let error = find(Revision::V2024_11_05, "elicitation/create").map(drop).unwrap_err();
        assert_eq!(error.to_string(), "2024-11-05 has no `elicitation/create`");
    }
}
