//! Lookups in the generated tables.

use mcp_core::{Revision, Revisions};

use crate::{definition::Definition, generated, method::Method};

/// The methods of `revision`, requests before notifications.
pub fn methods(revision: Revision) -> &'static [Method] {
    generated::methods(revision)
}

/// The method called `name` in `revision`. Cheap enough to call for every message.
pub fn method(revision: Revision, name: &[u8]) -> Option<&'static Method> {
    generated::method(revision, name)
}

/// The revisions that have the method `name`, even if only inside a result
/// ([`Method::input_request_only`]).
pub fn revisions_with(name: &str) -> Revisions {
    (Revision::ALL.into_iter())
        .filter(|revision| method(*revision, name.as_bytes()).is_some())
        .fold(Revisions::NONE, Revisions::and)
}

/// The definitions of `revision`, sorted by name.
pub fn definitions(revision: Revision) -> &'static [Definition] {
    generated::definitions(revision)
}

/// The definition called `name` in `revision`.
pub fn definition(revision: Revision, name: &str) -> Option<&'static Definition> {
    let definitions = generated::definitions(revision);
    let position = (definitions.binary_search_by(|definition| definition.name.cmp(name))).ok()?;
    Some(&definitions[position])
}

/// The schema document of `revision`: JSON Schema 2020-12, every definition under `$defs`.
pub fn schema_text(revision: Revision) -> &'static str {
    generated::schema_text(revision)
}
