use std::collections::BTreeMap;

use serde::Serialize;

use super::{Mcp, params::Params, result::Keep};
use crate::{Context, Error, Json, ReadResourceResult, Resource, ResourceTemplate, Revision};

impl Mcp {
    pub(super) fn list_resources(
        &self,
        revision: Revision,
        params: &Params<'_>,
    ) -> Result<Json, Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct ListResources<'a> {
            resources: Vec<&'a Resource>,
            #[serde(skip_serializing_if = "Option::is_none")]
            next_cursor: Option<String>,
        }
        let page = self.page(self.resources(), params)?;
        let resources: Vec<_> = page.entries.iter().map(|entry| &entry.definition).collect();
        let result = ListResources { resources, next_cursor: page.next };
        self.write(revision, &result, None, Keep::Cacheable)
    }

    pub(super) fn list_templates(
        &self,
        revision: Revision,
        params: &Params<'_>,
    ) -> Result<Json, Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct ListTemplates<'a> {
            resource_templates: Vec<&'a ResourceTemplate>,
            #[serde(skip_serializing_if = "Option::is_none")]
            next_cursor: Option<String>,
        }
        let page = self.page(self.templates(), params)?;
        let templates: Vec<_> = page.entries.iter().map(|entry| &entry.definition).collect();
        let result = ListTemplates { resource_templates: templates, next_cursor: page.next };
        self.write(revision, &result, None, Keep::Cacheable)
    }

    /// Reads a resource: by its own URI, or by the first pattern that it matches.
    pub(super) async fn resource(
        &self,
        uri: &str,
        context: Context,
    ) -> Result<ReadResourceResult, Error> {
        if let Some(resource) = self.resources().get(uri) {
            return resource.handler.read(uri.to_owned(), BTreeMap::new(), context).await;
        }
        for template in &self.templates().list() {
            if let Some(variables) = template.pattern.matches(uri) {
                return template.handler.read(uri.to_owned(), variables, context).await;
            }
        }
        Err(Error::ResourceNotFound { uri: uri.to_owned() })
    }

    pub(super) fn write_resource(
        &self,
        revision: Revision,
        mut result: ReadResourceResult,
    ) -> Result<Json, Error> {
        let meta = result.meta.take();
        self.write(revision, &result, meta, Keep::Cacheable)
    }
}
