use std::collections::BTreeMap;

use super::{Mcp, result::Caching};
use crate::{Context, Error, Json, ReadResourceResult, Revision};

impl Mcp {
    /// Reads a resource: the one with this URI, or else through the first template that matches.
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
        self.write(revision, &result, meta, Caching::Allowed)
    }
}
