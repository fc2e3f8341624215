use std::collections::BTreeMap;

use serde::Serialize;

use super::{Mcp, params::Params, result::Keep};
use crate::{
    CompleteRequest, Completion, Context, Error, GetPromptResult, Json, Prompt, Revision,
    registry::{Named, Page, Registry},
    revision_shape,
};

impl Mcp {
    pub(super) fn list_prompts(
        &self,
        revision: Revision,
        params: &Params<'_>,
    ) -> Result<Json, Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct ListPrompts<'a> {
            prompts: Vec<&'a Prompt>,
            #[serde(skip_serializing_if = "Option::is_none")]
            next_cursor: Option<String>,
        }
        let page = self.page(self.prompts(), params)?;
        let prompts: Vec<_> = page.entries.iter().map(|prompt| &prompt.definition).collect();
        let result = ListPrompts { prompts, next_cursor: page.next };
        self.write(revision, &result, None, Keep::Cacheable)
    }

    pub(super) async fn prompt(
        &self,
        params: &Params<'_>,
        context: Context,
    ) -> Result<GetPromptResult, Error> {
        let name = params.name()?;
        let prompt = self.prompts().get(name);
        let prompt = prompt.ok_or_else(|| Error::PromptNotFound { name: name.to_owned() })?;
        let arguments: BTreeMap<String, String> = match params.arguments {
            None => BTreeMap::new(),
            Some(arguments) => serde_json::from_str(arguments.get()).map_err(|error| {
                Error::invalid_params(format!(
                    "`params.arguments` has to map names to strings: {error}"
                ))
            })?,
        };
        for argument in &prompt.definition.arguments {
            if argument.required && !arguments.contains_key(&argument.name) {
                let missing = &argument.name;
                return Err(Error::invalid_params(format!("prompt `{name}` needs `{missing}`")));
            }
        }
        prompt.handler.get(arguments, context).await
    }

    pub(super) fn write_prompt(
        &self,
        revision: Revision,
        mut result: GetPromptResult,
    ) -> Result<Json, Error> {
        let meta = result.meta.take();
        let result = revision_shape::prompt_result(revision, result);
        self.write(revision, &result, meta, Keep::Not)
    }

    pub(super) async fn complete(
        &self,
        revision: Revision,
        params: Option<&Json>,
        context: Context,
    ) -> Result<Json, Error> {
        #[derive(Serialize)]
        struct Complete {
            completion: Completion,
        }
        let Some(handler) = &self.shared.completions else {
            return Err(Error::MethodNotFound { method: "completion/complete".into() });
        };
        let params = params.ok_or_else(|| super::params::missing("ref"))?;
        let request: CompleteRequest = params
            .read()
            .map_err(|error| Error::invalid_params(format!("params do not fit: {error}")))?;
        let completion = handler.complete(request, context).await?;
        self.write(revision, &Complete { completion }, None, Keep::Not)
    }

    pub(super) fn page<T: Named>(
        &self,
        registry: &Registry<T>,
        params: &Params<'_>,
    ) -> Result<Page<T>, Error> {
        registry
            .page(params.cursor.as_deref(), self.settings().page_size)
            .map_err(|error| Error::invalid_params(error.to_string()))
    }
}
