//! Lists, page by page or as streams.

use std::{
    collections::HashSet,
    hash::{BuildHasher as _, RandomState},
    sync::{Arc, PoisonError},
};

use futures_util::{Stream, TryStreamExt as _, stream};
use mcp_core::{
    Era, Framing, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, Prompt, Resource, ResourceTemplate, Tool,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{CallOptions, Client, ClientError};
use crate::header_params::Marked;

/// The maximum number of tools whose header annotations are remembered.
const MOST_MARKED: usize = 10_000;

/// The maximum number of pages of a list.
const MOST_PAGES: usize = 10_000;

/// A page of a list, whatever is listed.
trait ListPage: DeserializeOwned {
    type Entry;
    fn split(self) -> (Vec<Self::Entry>, Option<String>);
}

macro_rules! list_page {
    ($($page:ident { $entries:ident: $entry:ident })*) => {$(
        impl ListPage for $page {
            type Entry = $entry;
            fn split(self) -> (Vec<$entry>, Option<String>) {
                (self.$entries, self.next_cursor)
            }
        }
    )*};
}

list_page! {
    ListToolsResult { tools: Tool }
    ListPromptsResult { prompts: Prompt }
    ListResourcesResult { resources: Resource }
    ListResourceTemplatesResult { resource_templates: ResourceTemplate }
}

impl Client {
    /// One page of tools; `cursor` comes from the previous page.
    ///
    /// # Errors
    ///
    /// If the call failed.
    pub async fn list_tools(&self, cursor: Option<&str>) -> Result<ListToolsResult, ClientError> {
        let mut page: ListToolsResult = self.page("tools/list", cursor).await?;
        page.tools.retain(|tool| self.can_use(tool));
        Ok(page)
    }

    /// One page of prompts.
    ///
    /// # Errors
    ///
    /// If the call failed.
    pub async fn list_prompts(
        &self,
        cursor: Option<&str>,
    ) -> Result<ListPromptsResult, ClientError> {
        self.page("prompts/list", cursor).await
    }

    /// One page of resources.
    ///
    /// # Errors
    ///
    /// If the call failed.
    pub async fn list_resources(
        &self,
        cursor: Option<&str>,
    ) -> Result<ListResourcesResult, ClientError> {
        self.page("resources/list", cursor).await
    }

    /// One page of resource templates.
    ///
    /// # Errors
    ///
    /// If the call failed.
    pub async fn list_resource_templates(
        &self,
        cursor: Option<&str>,
    ) -> Result<ListResourceTemplatesResult, ClientError> {
        self.page("resources/templates/list", cursor).await
    }

    /// All tools; pages are fetched as the stream is read.
    pub fn tools(&self) -> impl Stream<Item = Result<Tool, ClientError>> + Send + '_ {
        self.entries::<ListToolsResult>("tools/list")
            .try_filter(|tool| std::future::ready(self.can_use(tool)))
    }

    /// All prompts; pages are fetched as the stream is read.
    pub fn prompts(&self) -> impl Stream<Item = Result<Prompt, ClientError>> + Send + '_ {
        self.entries::<ListPromptsResult>("prompts/list")
    }

    /// All resources; pages are fetched as the stream is read.
    pub fn resources(&self) -> impl Stream<Item = Result<Resource, ClientError>> + Send + '_ {
        self.entries::<ListResourcesResult>("resources/list")
    }

    /// All resource templates; pages are fetched as the stream is read.
    pub fn resource_templates(
        &self,
    ) -> impl Stream<Item = Result<ResourceTemplate, ClientError>> + Send + '_ {
        self.entries::<ListResourceTemplatesResult>("resources/templates/list")
    }

    /// All tools at once.
    ///
    /// # Errors
    ///
    /// If a call failed.
    pub async fn all_tools(&self) -> Result<Vec<Tool>, ClientError> {
        self.tools().try_collect().await
    }

    /// All prompts at once.
    ///
    /// # Errors
    ///
    /// If a call failed.
    pub async fn all_prompts(&self) -> Result<Vec<Prompt>, ClientError> {
        self.prompts().try_collect().await
    }

    /// All resources at once.
    ///
    /// # Errors
    ///
    /// If a call failed.
    pub async fn all_resources(&self) -> Result<Vec<Resource>, ClientError> {
        self.resources().try_collect().await
    }

    /// All resource templates at once.
    ///
    /// # Errors
    ///
    /// If a call failed.
    pub async fn all_resource_templates(&self) -> Result<Vec<ResourceTemplate>, ClientError> {
        self.resource_templates().try_collect().await
    }

    async fn page<P: ListPage>(
        &self,
        method: &str,
        cursor: Option<&str>,
    ) -> Result<P, ClientError> {
        let params = cursor.map_or(Value::Null, |cursor| json!({ "cursor": cursor }));
        self.typed(method, params, &CallOptions::default()).await
    }

    /// Follows the cursors. A repeated cursor ends the list, and so does the maximum number of
    /// pages: neither a loop nor an endless list must keep us forever.
    fn entries<P: ListPage + 'static>(
        &self,
        method: &'static str,
    ) -> impl Stream<Item = Result<P::Entry, ClientError>> + Send + '_
    where
        P::Entry: Send,
    {
        // Digests, since cursors may be of any size.
        let hasher = RandomState::new();
        let start = Some((None::<String>, HashSet::<u64>::new()));
        stream::try_unfold(start, move |state| {
            let hasher = hasher.clone();
            async move {
                let Some((cursor, mut seen)) = state else { return Ok(None) };
                if seen.len() >= MOST_PAGES {
                    let (method, pages) = (method.to_owned(), MOST_PAGES);
                    return Err(ClientError::TooManyPages { method, pages });
                }
                let page: P = self.page(method, cursor.as_deref()).await?;
                let (entries, next) = page.split();
                let next = next.filter(|next| seen.insert(hasher.hash_one(next)));
                let state = next.map(|next| (Some(next), seen));
                let entries = stream::iter(entries.into_iter().map(Ok));
                Ok::<_, ClientError>(Some((entries, state)))
            }
        })
        .try_flatten()
    }

    /// Whether the tool's header annotations are valid; remembers them for calls. A tool with
    /// invalid ones is left out, the others stay. Only HTTP needs them.
    fn can_use(&self, tool: &Tool) -> bool {
        if self.revision().era() == Era::Legacy || self.inner.framing != Framing::HttpExchanges {
            return true;
        }
        match Marked::of(&tool.input_schema) {
            Ok(marked) => {
                let mut known = self.inner.marked.write().unwrap_or_else(PoisonError::into_inner);
                if marked.is_empty() {
                    known.remove(&tool.name);
                } else if known.len() < MOST_MARKED || known.contains_key(&tool.name) {
                    known.insert(tool.name.clone(), Arc::new(marked));
                } else {
                    tracing::warn!("a tool is left out: too many have header annotations");
                    tracing::debug!(tool = tool.name, "the tool that is left out");
                    return false;
                }
                true
            }
            Err(reason) => {
                tracing::warn!("a tool is left out: its header annotations are invalid");
                tracing::debug!(tool = tool.name, %reason, "the tool that is left out");
                false
            }
        }
    }
}
