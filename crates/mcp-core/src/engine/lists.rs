//! The list methods, with pagination.

use serde::{Serialize, Serializer, ser::SerializeMap as _};

use super::{Mcp, params::Params, result::Caching};
use crate::{
    Error, Json, Revision,
    registry::{Named, Registry},
};

/// A page of a list; `name` is the member that holds the entries.
struct List<'a, E> {
    name: &'static str,
    entries: Vec<&'a E>,
    next: Option<String>,
}

impl<E: Serialize> Serialize for List<'_, E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(self.name, &self.entries)?;
        if let Some(next) = &self.next {
            map.serialize_entry("nextCursor", next)?;
        }
        map.end()
    }
}

impl Mcp {
    pub(super) fn list_tools(
        &self,
        revision: Revision,
        params: &Params<'_>,
    ) -> Result<Json, Error> {
        self.list("tools", self.tools(), |tool| tool.listed(revision), revision, params)
    }

    pub(super) fn list_prompts(
        &self,
        revision: Revision,
        params: &Params<'_>,
    ) -> Result<Json, Error> {
        self.list("prompts", self.prompts(), |prompt| &prompt.definition, revision, params)
    }

    pub(super) fn list_resources(
        &self,
        revision: Revision,
        params: &Params<'_>,
    ) -> Result<Json, Error> {
        self.list("resources", self.resources(), |resource| &resource.definition, revision, params)
    }

    pub(super) fn list_templates(
        &self,
        revision: Revision,
        params: &Params<'_>,
    ) -> Result<Json, Error> {
        let name = "resourceTemplates";
        self.list(name, self.templates(), |template| &template.definition, revision, params)
    }

    fn list<T: Named, E: Serialize>(
        &self,
        name: &'static str,
        registry: &Registry<T>,
        shown: impl Fn(&T) -> &E,
        revision: Revision,
        params: &Params<'_>,
    ) -> Result<Json, Error> {
        let page = registry
            .page(params.cursor()?.as_deref(), self.settings().page_size)
            .map_err(|error| Error::invalid_params(error.to_string()))?;
        let entries = page.entries.iter().map(|entry| shown(entry)).collect();
        self.write(revision, &List { name, entries, next: page.next }, None, Caching::Allowed)
    }
}
