//! The schemas in force.

use std::array;
use std::sync::{Arc, OnceLock};

use jsonschema::Draft;
use mcp_core::Revision;
use mcp_json::Node;
use serde_json::Value;

use crate::definition::Definition;
use crate::loaded::LoadedOverride;
use crate::program::{Patterns, Program};
use crate::registry::{definitions, schema_text};
use crate::source::{Origin, Override, SourceError, SourceLimits};
use crate::violation::Violation;

/// The schemas in force: the embedded ones, except for revisions that were overridden.
///
/// Creating one costs nothing. What is needed to explain a rejection is compiled when a definition
/// first rejects a value, and kept.
///
/// ```
/// use mcp_core::Revision;
/// use mcp_json::{Limits, Tape};
/// use mcp_schema::{Schemas, definition};
///
/// let schemas = Schemas::embedded();
/// let params = definition(Revision::V2025_11_25, "CallToolRequestParams").expect("defined");
///
/// let mut tape = Tape::new();
/// let document = tape.parse(br#"{"name": 7}"#, Limits::default())?;
/// assert!(!schemas.accepts(params, document.root()));
///
/// let violations = schemas.violations(params, document.root());
/// assert_eq!(violations[0].instance_path, "/name");
/// assert_eq!(violations[0].schema_path, "#/$defs/CallToolRequestParams/properties/name/type");
/// assert_eq!(violations[0].message, r#"7 is not of type "string""#);
/// # Ok::<(), mcp_json::SyntaxError>(())
/// ```
///
/// # Reloading at run time
///
/// A `Schemas` never changes, and a clone shares everything with its original. A server keeps one
/// for future conversations and gives each conversation a clone. On request, for example a signal,
/// [`reload`](Schemas::reload) makes a new one from the same sources: running conversations keep
/// theirs, new ones get the new one, and if a source cannot be used, nothing changes.
///
/// ```
/// use std::sync::{PoisonError, RwLock};
/// use mcp_schema::{Schemas, SourceError, SourceLimits};
///
/// struct Server {
///     /// For conversations to come.
///     schemas: RwLock<Schemas>,
/// }
///
/// impl Server {
///     fn begin_conversation(&self) -> Schemas {
///         self.schemas.read().unwrap_or_else(PoisonError::into_inner).clone()
///     }
///
///     fn reload(&self) -> Result<(), SourceError> {
///         let reloaded = self.begin_conversation().reload(&SourceLimits::default())?;
///         *self.schemas.write().unwrap_or_else(PoisonError::into_inner) = reloaded;
///         Ok(())
///     }
/// }
/// # let server = Server { schemas: RwLock::new(Schemas::embedded()) };
/// # server.reload().expect("there is nothing to read");
/// ```
#[derive(Debug, Clone)]
pub struct Schemas {
    revisions: [Arc<InForce>; Revision::ALL.len()],
    /// Every override, in the order given; a revision may have several, and some may not have been
    /// usable.
    given: Vec<Override>,
}

#[derive(Debug, Default)]
struct InForce {
    replacement: Option<LoadedOverride>,
    /// The embedded document, for explanations.
    document: OnceLock<Value>,
    /// By position in [`definitions`].
    programs: OnceLock<Box<[OnceLock<Option<Program>>]>>,
}

impl Default for Schemas {
    fn default() -> Self {
        Schemas::embedded()
    }
}

impl Schemas {
    /// The embedded schemas of all revisions.
    pub fn embedded() -> Schemas {
        Schemas { revisions: array::from_fn(|_| Arc::default()), given: Vec::new() }
    }

    /// The embedded schemas, replaced by those of `overrides` that can be used, with the reasons
    /// why the others cannot. Those are remembered: [`reload`](Schemas::reload) tries them again.
    pub fn load(overrides: &[Override], limits: &SourceLimits) -> (Schemas, Vec<SourceError>) {
        let mut schemas = Schemas::embedded();
        let mut errors = Vec::new();
        for given in overrides {
            match given.load(limits) {
                Ok(loaded) => schemas = schemas.with_override(loaded),
                Err(error) => {
                    schemas.given.push(given.clone());
                    errors.push(error);
                }
            }
        }
        (schemas, errors)
    }

    /// These schemas, with `replacement` for its revision. The last override of a revision wins.
    #[must_use]
    pub fn with_override(mut self, replacement: LoadedOverride) -> Schemas {
        let position = replacement.revision().index();
        self.given.push(replacement.given().clone());
        let replacement = Some(replacement);
        self.revisions[position] = Arc::new(InForce { replacement, ..InForce::default() });
        self
    }

    /// The same overrides, read again from their sources. `self` is unchanged.
    ///
    /// Blocks until everything is read; see [`SourceLimits::timeout`].
    ///
    /// # Errors
    ///
    /// The first override that cannot be used, even if it could be before. Nothing is reloaded
    /// partially: `self` stays valid.
    pub fn reload(&self, limits: &SourceLimits) -> Result<Schemas, SourceError> {
        (self.given.iter())
            .map(|given| given.load(limits))
            .try_fold(Schemas::embedded(), |schemas, loaded| Ok(schemas.with_override(loaded?)))
    }

    /// The overrides in force, oldest revision first.
    pub fn overrides(&self) -> impl Iterator<Item = &LoadedOverride> {
        self.revisions.iter().filter_map(|in_force| in_force.replacement.as_ref())
    }

    /// Where the schema of `revision` comes from.
    pub fn origin(&self, revision: Revision) -> Origin {
        match &self.revisions[revision.index()].replacement {
            Some(replacement) => Origin::Override(replacement.source().clone()),
            None => Origin::Embedded,
        }
    }

    /// Whether `node` fits `definition`, according to the generated validator or the override.
    pub fn accepts(&self, definition: &'static Definition, node: Node<'_>) -> bool {
        match &self.revisions[definition.revision.index()].replacement {
            None => definition.accepts(node),
            Some(replacement) => match replacement.schema(definition) {
                Some(schema) => schema.accepts(node),
                None => definition.accepts(node),
            },
        }
    }

    /// Why `node` does not fit `definition`; empty if it does. Paths start at `node`, spans refer
    /// to the document, violations are in document order, and there are at most
    /// [`MAX_VIOLATIONS`](crate::MAX_VIOLATIONS) and a marker.
    pub fn violations(&self, definition: &'static Definition, node: Node<'_>) -> Vec<Violation> {
        let in_force = &self.revisions[definition.revision.index()];
        let replacement = in_force.replacement.as_ref();
        if let Some(schema) = replacement.and_then(|replacement| replacement.schema(definition)) {
            return schema.violations(node);
        }
        if definition.accepts(node) {
            return Vec::new();
        }
        let violations =
            in_force.program(definition).map(|program| program.explain(node)).unwrap_or_default();
        if violations.is_empty() {
            let schema_path = format!("#/$defs/{}", definition.name);
            return vec![Violation::unexplained(node, schema_path)];
        }
        violations
    }
}

impl InForce {
    fn program(&self, definition: &'static Definition) -> Option<&Program> {
        let all = definitions(definition.revision);
        let position = all.binary_search_by(|other| other.name.cmp(definition.name)).ok()?;
        let programs = self.programs.get_or_init(|| all.iter().map(|_| OnceLock::new()).collect());
        let compile = || {
            let document = self.document.get_or_init(|| {
                serde_json::from_str(schema_text(definition.revision)).unwrap_or_default()
            });
            let pointer = format!("/$defs/{}", definition.name);
            Program::compile(document, &pointer, Draft::Draft202012, &Patterns::default()).ok()
        };
        programs[position].get_or_init(compile).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_definition_can_be_explained() {
        let schemas = Schemas::embedded();
        for revision in Revision::ALL {
            for definition in definitions(revision) {
                let in_force = &schemas.revisions[revision.index()];
                assert!(in_force.program(definition).is_some(), "{definition:?}");
            }
        }
    }

    #[test]
    fn threads_can_share_them() {
        fn shareable<T: Send + Sync>() {}
        shareable::<Schemas>();
    }
}
