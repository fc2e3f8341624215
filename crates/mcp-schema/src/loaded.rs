//! A schema document that replaces an embedded one.
//!
//! The official documents differ in layout from ours: up to 2025-06-18 they are draft-07 with
//! `definitions` and have `params` inline in the request. [`LoadedOverride`] finds our definitions
//! in them; missing ones stay embedded.

use jsonschema::Draft;
use mcp_core::Revision;
use serde_json::Value;

use crate::definition::Definition;
use crate::ignored::{Ignored, ignored};
use crate::registry::definitions;
use crate::runtime::RuntimeSchema;
use crate::source::{Override, Source, SourceError, SourceLimits};
use crate::survey::{Fault, Names, Survey};

/// Definitions that a document must and must not have to be recognised as a revision, newest first.
const SIGNS: [(Revision, &str, &str); 5] = [
    (Revision::V2026_07_28, "DiscoverResult", "InitializeResult"),
    (Revision::V2025_11_25, "CreateTaskResult", "DiscoverResult"),
    (Revision::V2025_06_18, "ElicitResult", "CreateTaskResult"),
    (Revision::V2025_03_26, "AudioContent", "ElicitResult"),
    (Revision::V2024_11_05, "InitializeResult", "AudioContent"),
];

/// A schema document that was read from a [`Source`], recognised and compiled.
#[derive(Debug)]
pub struct LoadedOverride {
    revision: Revision,
    given: Override,
    ignored: Vec<Ignored>,
    /// By position in [`definitions`]; `None` where the document has no such definition.
    schemas: Box<[Option<RuntimeSchema>]>,
}

impl Override {
    /// Reads, recognises and compiles the document.
    ///
    /// # Errors
    ///
    /// Anything that makes the document unusable; whether that is fatal or the embedded schema is
    /// used instead is the caller's decision.
    pub fn load(&self, limits: &SourceLimits) -> Result<LoadedOverride, SourceError> {
        let bytes = self.source.read(limits)?;
        LoadedOverride::from_slice(&bytes, self)
    }
}

impl LoadedOverride {
    /// Like [`Override::load`], from bytes in memory; `given` says where they came from.
    ///
    /// # Errors
    ///
    /// As [`Override::load`], except for read errors.
    pub fn from_slice(bytes: &[u8], given: &Override) -> Result<LoadedOverride, SourceError> {
        let source_name = || given.source.clone();
        let document: Value = serde_json::from_slice(bytes)
            .map_err(|cause| SourceError::NotJson { source_name: source_name(), cause })?;
        let container = ["$defs", "definitions"]
            .into_iter()
            .find(|key| document.get(key).is_some_and(Value::is_object))
            .ok_or_else(|| SourceError::NotSchema { source_name: source_name() })?;
        let draft = draft(&document).map_err(|dialect| SourceError::UnknownDialect {
            source_name: source_name(),
            dialect,
        })?;
        let revision = given
            .revision
            .or_else(|| revision_in_name(&given.source))
            .or_else(|| revision_by_signs(&document, container))
            .ok_or_else(|| SourceError::RevisionUnclear { source_name: source_name() })?;
        let does_not_compile = |pointer: String, reason: String| SourceError::DoesNotCompile {
            source_name: source_name(),
            pointer,
            reason,
        };
        if let Err(error) = jsonschema::meta::validate(&document) {
            let pointer = format!("#{}", error.instance_path().as_str());
            return Err(does_not_compile(pointer, error.masked().to_string()));
        }
        let names = Names::of(&document);
        let mut schemas = Vec::new();
        for definition in definitions(revision) {
            let Some(pointer) = place(&document, container, definition.name) else {
                schemas.push(None);
                continue;
            };
            let survey = Survey::of(&names, &pointer)
                .map_err(|fault| does_not_compile(format!("#{pointer}"), describe(&fault)))?;
            let schema = RuntimeSchema::compile(&document, &pointer, draft, survey)
                .map_err(|error| does_not_compile(format!("#{pointer}"), error.to_string()))?;
            schemas.push(Some(schema));
        }
        if schemas.iter().all(Option::is_none) {
            return Err(SourceError::NoDefinitions { source_name: source_name(), revision });
        }
        Ok(LoadedOverride {
            revision,
            given: given.clone(),
            ignored: ignored(&names, &document, container, draft, revision),
            schemas: schemas.into_boxed_slice(),
        })
    }

    /// The revision it is for.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Where it came from.
    pub fn source(&self) -> &Source {
        &self.given.source
    }

    /// The override as it was requested.
    pub(crate) fn given(&self) -> &Override {
        &self.given
    }

    /// Parts of the document that have no effect: methods that the revision does not have, and
    /// changes to the envelope. Each is worth a warning.
    pub fn ignored(&self) -> impl Iterator<Item = &Ignored> {
        self.ignored.iter()
    }

    /// The definitions that the document lacks; the embedded ones stay in force.
    pub fn missing(&self) -> impl Iterator<Item = &'static Definition> {
        definitions(self.revision)
            .iter()
            .zip(&self.schemas)
            .filter(|(_, schema)| schema.is_none())
            .map(|(definition, _)| definition)
    }

    pub(crate) fn schema(&self, definition: &Definition) -> Option<&RuntimeSchema> {
        let all = definitions(self.revision);
        let position = all.binary_search_by(|other| other.name.cmp(definition.name)).ok()?;
        self.schemas[position].as_ref()
    }
}

fn draft(document: &Value) -> Result<Draft, String> {
    match Draft::default().detect(document) {
        Draft::Unknown => Err(document["$schema"].to_string()),
        draft => Ok(draft),
    }
}

/// The revision in `…/2025-11-25/schema.json`, or in a file named after the revision.
fn revision_in_name(source: &Source) -> Option<Revision> {
    let name = source.to_string();
    Revision::ALL.into_iter().rev().find(|revision| name.contains(revision.as_str()))
}

fn revision_by_signs(document: &Value, container: &str) -> Option<Revision> {
    let has = |name: &str| document[container].get(name).is_some();
    SIGNS
        .into_iter()
        .find(|(_, present, absent)| has(present) && !has(absent))
        .map(|(revision, _, _)| revision)
}

/// The pointer of our definition `name` in `document`: under that name, or inline in its request.
fn place(document: &Value, container: &str, name: &str) -> Option<String> {
    let by_name = format!("/{container}/{name}");
    let inline = name
        .strip_suffix("Params")
        .map(|message| format!("/{container}/{message}/properties/params"));
    [Some(by_name), inline]
        .into_iter()
        .flatten()
        .find(|pointer| document.pointer(pointer).is_some())
}

fn describe(fault: &Fault) -> String {
    match fault {
        Fault::External { reference } => {
            format!("`{reference}` is in another document, and references are never fetched")
        }
        Fault::Dangling { reference } => format!("`{reference}` does not resolve"),
        Fault::Endless { pointer } => format!("#{pointer} refers to itself endlessly"),
        Fault::Chain { pointer } => {
            format!("#{pointer} starts a chain of references that is too long")
        }
        Fault::Patterns { .. } => "the regular expressions are too large".to_owned(),
    }
}
