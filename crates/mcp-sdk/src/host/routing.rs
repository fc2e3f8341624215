//! Which server a call goes to.

use std::{collections::BTreeMap, sync::Arc};

use mcp_core::{
    CallToolResult, CompleteRequest, Completion, CompletionReference, GetPromptResult, Json,
    Prompt, ReadResourceResult, Resource, ResourceTemplate, Tool, UriTemplate,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Host, HostError,
    member::{Listed, Member},
    table::{Entry, Found},
};
use crate::CallOptions;

impl Host {
    /// Calls a tool by the name it has at this host, by its long name `<server>__<tool>`, or by its
    /// own name if only one server has that.
    ///
    /// # Errors
    ///
    /// If no server or more than one has it, the arguments violate its schema, or the call itself
    /// failed. A tool that failed is a result with `is_error`.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<CallToolResult, HostError> {
        self.call_tool_with(name, arguments, &CallOptions::default()).await
    }

    /// Calls a tool with options: time-out, progress.
    ///
    /// # Errors
    ///
    /// As for [`Host::call_tool`].
    pub async fn call_tool_with(
        &self,
        name: &str,
        arguments: impl Serialize,
        options: &CallOptions,
    ) -> Result<CallToolResult, HostError> {
        let arguments = match serde_json::to_value(arguments) {
            Ok(Value::Null) => json!({}),
            Ok(arguments) => arguments,
            Err(cause) => return Err(HostError::Unwritable { name: name.to_owned(), cause }),
        };
        let tool = self.find::<Tool>(name).await?;
        check_arguments(&tool, &arguments)?;
        let called = tool.member.client.call_tool_with(&tool.value.name, arguments, options).await;
        called.map_err(|error| tool.member.failed(error))
    }

    /// Gets a prompt, which is named like a tool.
    ///
    /// # Errors
    ///
    /// If no server or more than one has it, or the call failed.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: &BTreeMap<String, String>,
    ) -> Result<GetPromptResult, HostError> {
        let prompt = self.find::<Prompt>(name).await?;
        let filled = prompt.member.client.get_prompt(&prompt.value.name, arguments).await;
        filled.map_err(|error| prompt.member.failed(error))
    }

    /// Reads a resource from the first server that lists it, or else the first that has a template
    /// for it. An unlisted resource can be read through the [client](Host::client) of its server.
    ///
    /// # Errors
    ///
    /// If no server has it, or the call failed.
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, HostError> {
        let member = self.reader_of(uri).await?;
        member.client.read_resource(uri).await.map_err(|error| member.failed(error))
    }

    /// Requests completions from the server that has the prompt or the template.
    ///
    /// # Errors
    ///
    /// If no server has it, or the call failed.
    pub async fn complete(&self, request: &CompleteRequest) -> Result<Completion, HostError> {
        let mut request = request.clone();
        let member = match &mut request.reference {
            CompletionReference::Prompt { name } => {
                let prompt = self.find::<Prompt>(name).await?;
                name.clone_from(&prompt.value.name);
                Arc::clone(&prompt.member)
            }
            CompletionReference::Resource { uri } => {
                match self.find::<ResourceTemplate>(uri).await {
                    Ok(template) => Arc::clone(&template.member),
                    Err(_) => self.reader_of(uri).await?,
                }
            }
            _ => return Err(unknown("completion", "of this kind", &[])),
        };
        member.client.complete(&request).await.map_err(|error| member.failed(error))
    }

    /// Looks up a name. Lists are fetched if that may help: the owner's if it is out of date, all
    /// if there is no owner.
    async fn find<T: Listed>(&self, name: &str) -> Result<Arc<Entry<T>>, HostError> {
        let failures = match self.table().find(name) {
            Found::One(entry) if T::list(&entry.member.lists).is_up_to_date() => {
                return Ok(entry);
            }
            // If it can no longer list, the call will show that.
            Found::One(entry) => self.refresh::<T>(&[Arc::clone(&entry.member)]).await,
            Found::Several(_) | Found::Nothing => self.refresh::<T>(&self.members()).await,
        };
        match self.table().find(name) {
            Found::One(entry) => Ok(entry),
            Found::Several(names) => {
                Err(HostError::Ambiguous { what: T::WHAT, name: name.to_owned(), names })
            }
            Found::Nothing => Err(unknown(T::WHAT, name, &failures)),
        }
    }

    async fn reader_of(&self, uri: &str) -> Result<Arc<Member>, HostError> {
        if let Found::One(resource) = self.table::<Resource>().find(uri) {
            return Ok(Arc::clone(&resource.member));
        }
        let members = self.members();
        let mut failures = self.refresh::<Resource>(&members).await;
        if let Found::One(resource) = self.table::<Resource>().find(uri) {
            return Ok(Arc::clone(&resource.member));
        }
        let templates = self.refresh::<ResourceTemplate>(&members).await;
        let table = self.table::<ResourceTemplate>();
        let fitting = |fits: fn(&str, &str) -> bool| {
            table.entries.iter().find(|entry| fits(&entry.value.uri_template, uri))
        };
        if let Some(template) = fitting(fits_exactly).or_else(|| fitting(fits_roughly)) {
            return Ok(Arc::clone(&template.member));
        }
        let is_new =
            |server: &String| failures.iter().all(|(failed, _): &(String, _)| failed != server);
        let new: Vec<_> = templates.into_iter().filter(|(server, _)| is_new(server)).collect();
        failures.extend(new);
        Err(unknown(Resource::WHAT, uri, &failures))
    }
}

/// Checks the arguments against the listed schema, so that the error can name the server. The
/// client's gate would reject them too, but does not know the names of servers.
fn check_arguments(tool: &Entry<Tool>, arguments: &Value) -> Result<(), HostError> {
    let written = Json::of(arguments)
        .map_err(|cause| HostError::Unwritable { name: tool.name.clone(), cause })?;
    let findings = tool.violations(&written);
    if findings.is_empty() {
        return Ok(());
    }
    let (server, tool) = (tool.member.name.to_string(), tool.value.name.clone());
    Err(HostError::InvalidArguments { server, tool, findings })
}

fn fits_exactly(template: &str, uri: &str) -> bool {
    UriTemplate::parse(template).is_ok_and(|template| template.matches(uri).is_some())
}

/// A template with more than plain variables: only the text before the first one is compared.
fn fits_roughly(template: &str, uri: &str) -> bool {
    let text = template.split('{').next().unwrap_or_default();
    UriTemplate::parse(template).is_err() && !text.is_empty() && uri.starts_with(text)
}

fn unknown(what: &'static str, name: &str, failures: &[(String, HostError)]) -> HostError {
    let unasked =
        failures.iter().map(|(server, error)| (server.clone(), error.to_string())).collect();
    HostError::Unknown { what, name: name.to_owned(), unasked }
}
