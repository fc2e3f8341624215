//! Compiles a schema document to a [`Checklist`].

use std::borrow::Cow;
use std::collections::HashMap;

use jsonschema::Draft;
use mcp_json::Node;
use serde_json::{Value, json};

use crate::percent::encoded;
use crate::program::{Patterns, Types};
use crate::runtime::options;
use crate::survey::Names;
use crate::violation::push_token;

use super::order::Members;
use super::{
    Branch, Checklist, Engine, Expression, InPlace, Index, Judge, Keywords, Kind, Schema, keywords,
};

/// The schema uses something that this module does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Declined;

/// Keywords whose target depends on how a schema was reached.
const DYNAMIC: [&str; 2] = ["$dynamicRef", "$recursiveRef"];
/// Keywords by which `ajv` recognises schemas that refer to others.
const REFERENCES: [&str; 5] =
    ["$ref", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"];

impl Checklist {
    /// Compiles the valid schema document at `root`, whose regular expressions are `patterns`.
    pub(crate) fn compile(
        root: Node<'_>,
        draft: Draft,
        patterns: &Patterns,
    ) -> Result<Checklist, Declined> {
        if matches!(draft, Draft::Draft4 | Draft::Unknown) {
            return Err(Declined);
        }
        let document = root.to_value();
        let mut compiler = Compiler {
            draft,
            patterns,
            root,
            names: Names::of(&document),
            indices: HashMap::new(),
            places: Vec::new(),
            targets: HashMap::new(),
            referring: HashMap::new(),
            tables: HashMap::new(),
            tracks: false,
        };
        compiler.index_of(root, String::new());
        let mut schemas = Vec::new();
        // A queue, as in the other compiler, since chains of references may be long.
        while let Some((node, pointer)) = compiler.places.get(schemas.len()).cloned() {
            schemas.push(compiler.schema(node, &pointer)?);
        }
        Ok(Checklist { schemas, tracks: compiler.tracks })
    }
}

pub(super) struct Compiler<'d> {
    pub(super) draft: Draft,
    patterns: &'d Patterns,
    root: Node<'d>,
    names: Names<'d>,
    indices: HashMap<u32, Index>,
    /// Each schema and its JSON pointer.
    places: Vec<(Node<'d>, String)>,
    /// Targets of references already resolved.
    targets: HashMap<String, (Index, Box<str>)>,
    /// Whether schemas that are referred to contain references themselves.
    referring: HashMap<u32, bool>,
    /// Members of large objects that references pass through.
    tables: HashMap<u32, HashMap<String, Node<'d>>>,
    pub(super) tracks: bool,
}

impl<'d> Compiler<'d> {
    /// The index of the schema at `node`, assigned now if it was not seen before.
    fn index_of(&mut self, node: Node<'d>, pointer: String) -> Index {
        if let Some(index) = self.indices.get(&node.index()) {
            return *index;
        }
        let index = Index::try_from(self.places.len()).unwrap_or(Index::MAX);
        self.places.push((node, pointer));
        self.indices.insert(node.index(), index);
        index
    }

    fn schema(&mut self, node: Node<'d>, pointer: &str) -> Result<Schema, Declined> {
        match node.as_bool() {
            Some(true) => return Ok(Schema::Anything),
            Some(false) => return Ok(Schema::Nothing),
            None if !node.is_object() => return Err(Declined),
            None => {}
        }
        let members = Members::of(node);
        let is_text = |name| members.get(name).is_some_and(|member| member.value.is_string());
        let is_dynamic = DYNAMIC.into_iter().any(is_text);
        if is_dynamic || (!pointer.is_empty() && (is_text("$id") || is_text("$schema"))) {
            return Err(Declined);
        }
        let at = CurrentSchema { members: &members, pointer };
        let mut found = Keywords::default();
        if let Some(reference) = at.get("$ref").and_then(Node::as_str) {
            let (schema, path) = self.target(&reference)?;
            found.in_place.push(InPlace::Reference { schema, path });
            if matches!(self.draft, Draft::Draft6 | Draft::Draft7) {
                return Ok(Schema::Keywords(Box::new(found)));
            }
        }
        self.in_place(&at, &mut found.in_place);
        self.number(&at, &mut found.number)?;
        self.string(&at, &mut found.string)?;
        self.array(&at, &mut found.array)?;
        self.object(&at, &mut found.object)?;
        found.kind = kind(&at, &found)?;
        let is_idle = found.kind.is_none()
            && found.in_place.is_empty()
            && found.number.is_empty()
            && found.string.is_empty()
            && found.array.is_empty()
            && found.object.is_empty();
        Ok(if is_idle { Schema::Anything } else { Schema::Keywords(Box::new(found)) })
    }

    /// The schema directly under `keyword`.
    pub(super) fn one(&mut self, at: &CurrentSchema<'_, 'd>, keyword: &str) -> Option<Index> {
        let node = at.get(keyword).filter(|node| node.is_object() || node.as_bool().is_some())?;
        Some(self.index_of(node, format!("{}/{keyword}", at.pointer)))
    }

    /// The schemas in the list under `keyword`.
    pub(super) fn list(
        &mut self,
        at: &CurrentSchema<'_, 'd>,
        keyword: &str,
    ) -> Option<Vec<Branch>> {
        let node = at.get(keyword).filter(|node| node.is_array())?;
        let branch = |(position, node)| {
            let step = format!("{keyword}/{position}");
            let schema = self.index_of(node, format!("{}/{step}", at.pointer));
            Branch { schema, step: step.into() }
        };
        Some(node.elements().enumerate().map(branch).collect())
    }

    /// The schemas in the map under `keyword`, in order. Other values are skipped.
    pub(super) fn map(
        &mut self,
        at: &CurrentSchema<'_, 'd>,
        keyword: &str,
    ) -> Option<Vec<(Box<str>, Branch)>> {
        let node = at.get(keyword).filter(|node| node.is_object())?;
        let mut branches = Vec::new();
        for member in Members::of(node).iter() {
            if !member.value.is_object() && member.value.as_bool().is_none() {
                continue;
            }
            let mut pointer = format!("{}/{keyword}", at.pointer);
            push_token(&mut pointer, &member.name);
            let mut step = String::new();
            push_token(&mut step, &member.name);
            let step = format!("{keyword}/{}", encoded(&step[1..]));
            let schema = self.index_of(member.value, pointer);
            branches.push((member.name.as_ref().into(), Branch { schema, step: step.into() }));
        }
        Some(branches)
    }

    /// A regular expression in the schema.
    pub(super) fn expression(&self, source: &str) -> Result<Expression, Declined> {
        let engine = match self.patterns.get(source) {
            Some(pattern) => Engine::Linear(pattern.clone()),
            None => Engine::Backtracking(self.judge(&json!({ "pattern": source }))?),
        };
        Ok(Expression { source: source.into(), engine })
    }

    /// The other engine, for one keyword.
    pub(super) fn judge(&self, schema: &Value) -> Result<Box<Judge>, Declined> {
        options(self.draft)
            .build(schema)
            .map(|validator| Box::new(Judge(validator)))
            .or(Err(Declined))
    }

    /// The target of `reference`, and the schema path of the keywords there.
    fn target(&mut self, reference: &str) -> Result<(Index, Box<str>), Declined> {
        if let Some((schema, path)) = self.targets.get(reference) {
            return Ok((*schema, path.clone()));
        }
        // The meta-schemas are not part of the document.
        let mut pointer = self.names.target(reference).or(Err(Declined))?.ok_or(Declined)?;
        let mut node = self.find(&pointer).ok_or(Declined)?;
        // Schemas that are nothing but a reference are skipped, as in `ajv`. Cycles were ruled out.
        while let Some(next) = bare_reference(node) {
            pointer = self.names.target(&next).or(Err(Declined))?.ok_or(Declined)?;
            node = self.find(&pointer).ok_or(Declined)?;
        }
        // `ajv` uses the reference as written in the path. At a schema that has references itself
        // it starts a new path, which leads nowhere; ours is the location of the schema.
        let refers_on = *self.referring.entry(node.index()).or_insert_with(|| refers(node));
        let path = if refers_on { fragment(&pointer) } else { reference.to_owned() };
        let schema = self.index_of(node, pointer);
        self.targets.insert(reference.to_owned(), (schema, path.clone().into()));
        Ok((schema, path.into()))
    }

    fn find(&mut self, pointer: &str) -> Option<Node<'d>> {
        const MANY: usize = 32;
        let mut node = self.root;
        for token in pointer.split('/').skip(1) {
            node = if node.is_object() && node.len() > MANY {
                let table = self.tables.entry(node.index()).or_insert_with(|| {
                    let named = |(key, value): (Node<'d>, Node<'d>)| {
                        (key.as_str().unwrap_or_default().into_owned(), value)
                    };
                    node.members().map(named).collect()
                });
                *table.get(&token.replace("~1", "/").replace("~0", "~"))?
            } else {
                node.pointer(&format!("/{token}"))?
            };
        }
        Some(node)
    }
}

/// The schema being read.
pub(super) struct CurrentSchema<'m, 'd> {
    pub(super) members: &'m Members<'d>,
    pub(super) pointer: &'m str,
}

impl<'d> CurrentSchema<'_, 'd> {
    pub(super) fn get(&self, keyword: &str) -> Option<Node<'d>> {
        self.members.get(keyword).map(|member| member.value)
    }

    /// A non-negative whole number; `2.0` counts.
    pub(super) fn count(&self, keyword: &str) -> Result<Option<u64>, Declined> {
        let Some(node) = self.get(keyword) else { return Ok(None) };
        if let Some(count) = node.as_u64() {
            return Ok(Some(count));
        }
        match node.as_f64() {
            #[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
            #[expect(clippy::cast_sign_loss, reason = "not negative")]
            Some(count) if count.fract() == 0.0 && (0.0..1e15).contains(&count) => {
                Ok(Some(count as u64))
            }
            _ => Err(Declined),
        }
    }
}

/// A JSON pointer as a URI fragment.
fn fragment(pointer: &str) -> String {
    let mut fragment = "#".to_owned();
    for token in pointer.split('/').skip(1) {
        fragment.push('/');
        // The one common name with a `$`.
        fragment.push_str(&if token == "$defs" { token.to_owned() } else { encoded(token) });
    }
    fragment
}

/// The reference, if the schema has no other keyword.
fn bare_reference(schema: Node<'_>) -> Option<Cow<'_, str>> {
    let is_other = |key: Node<'_>| {
        let name = key.as_str().unwrap_or_default();
        keywords::ALL.iter().any(|list| list.contains(&&*name))
    };
    let reference = schema.get("$ref")?.as_str()?;
    (!schema.members().any(|(key, _)| is_other(key))).then_some(reference)
}

/// Whether a schema contains a reference anywhere. The depth of documents is limited.
fn refers(node: Node<'_>) -> bool {
    node.members()
        .any(|(key, value)| REFERENCES.iter().any(|keyword| key.str_eq(keyword)) || refers(value))
        || node.elements().any(refers)
}

fn kind(at: &CurrentSchema<'_, '_>, found: &Keywords) -> Result<Option<Kind>, Declined> {
    let Some(node) = at.get("type") else { return Ok(None) };
    let types = keywords::types(node).ok_or(Declined)?;
    let is_single = !node.is_array() || node.len() == 1;
    let has_keywords = match types {
        Types::NUMBER => !found.number.is_empty() || keywords::has_any(at, &["format"]),
        Types::STRING => !found.string.is_empty() || keywords::has_any(at, &["format"]),
        Types::ARRAY => keywords::has_any(at, &keywords::OF_ARRAYS),
        Types::OBJECT => keywords::has_any(at, &keywords::OF_OBJECTS),
        _ => false,
    };
    let place = keywords::place(types).filter(|_| is_single && has_keywords);
    Ok(Some(Kind { types, written: node.to_value(), place }))
}
