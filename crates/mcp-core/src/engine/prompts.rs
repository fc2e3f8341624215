use std::collections::BTreeMap;

use serde::Serialize;

use super::{Mcp, params::Params, result::Caching};
use crate::{
    CompleteRequest, Completion, Context, Error, GetPromptResult, Json, Revision, revision_shape,
};

impl Mcp {
    pub(super) async fn prompt(
        &self,
        params: &Params<'_>,
        context: Context,
    ) -> Result<GetPromptResult, Error> {
        let name = params.name()?;
        let prompt = self.prompts().get(&name);
        let prompt = prompt.ok_or_else(|| Error::PromptNotFound { name: name.to_string() })?;
        let arguments: BTreeMap<String, String> = match params.arguments() {
            None => BTreeMap::new(),
            Some(arguments) => arguments.read().map_err(|error| {
                Error::invalid_params(format!(
                    "`params.arguments` must be an object of strings: {error}"
                ))
            })?,
        };
        for argument in &prompt.definition.arguments {
            if argument.required && !arguments.contains_key(&argument.name) {
                let missing = &argument.name;
                return Err(Error::invalid_params(format!(
                    "prompt `{name}` requires the argument `{missing}`"
                )));
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
        self.write(revision, &result, meta, Caching::Unspecified)
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
            .map_err(|error| Error::invalid_params(format!("invalid params: {error}")))?;
        let completion = handler.complete(request, context).await?;
        self.write(revision, &Complete { completion }, None, Caching::Unspecified)
    }
}
