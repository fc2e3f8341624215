//! The merged lists of all servers.

use std::sync::Arc;

use futures_util::future::join_all;
use mcp_core::{Prompt, Resource, ResourceTemplate, Tool};

use super::{
    Host, HostError,
    member::{Listed, Member},
};

/// An entry of a server, with the host's name for it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Merged<T> {
    /// Its name at this host; for resources the URI.
    pub name: String,
    /// The server's name at this host.
    pub server: String,
    /// The entry as the server lists it, with its own name.
    pub entry: T,
}

/// The entries of all servers that could be asked.
#[derive(Debug)]
#[non_exhaustive]
pub struct MergedList<T> {
    /// Ordered by server, in the order in which they were added, then as each lists them.
    pub entries: Vec<Merged<T>>,
    /// The servers that could not be asked, and why. Their entries are missing above.
    pub failures: Vec<(String, HostError)>,
    /// Names that several servers have.
    pub collisions: Vec<Collision>,
}

/// A name or URI that was listed more than once. Tools and prompts are distinguished by long names;
/// a resource is read from the first server that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collision {
    /// The name or URI.
    pub name: String,
    /// The servers that list it, in the order of the host; one that lists it twice appears twice.
    pub servers: Vec<String>,
}

impl Host {
    /// The tools of all servers. Known lists are not fetched again if the server announces changes.
    pub async fn tools(&self) -> MergedList<Tool> {
        self.list().await
    }

    /// The prompts of all servers.
    pub async fn prompts(&self) -> MergedList<Prompt> {
        self.list().await
    }

    /// The resources of all servers. If several have the same URI, the first one counts.
    pub async fn resources(&self) -> MergedList<Resource> {
        self.list().await
    }

    /// The resource templates of all servers.
    pub async fn resource_templates(&self) -> MergedList<ResourceTemplate> {
        self.list().await
    }

    async fn list<T: Listed>(&self) -> MergedList<T> {
        let failures = self.refresh::<T>(&self.members()).await;
        let table = self.table::<T>();
        let has_failed =
            |member: &Member| failures.iter().any(|(server, _)| **server == *member.name);
        let entries = table
            .entries
            .iter()
            .filter(|entry| !has_failed(&entry.member))
            .map(|entry| Merged {
                name: entry.name.clone(),
                server: entry.member.name.to_string(),
                entry: entry.value.clone(),
            })
            .collect();
        MergedList { entries, failures, collisions: table.collisions.clone() }
    }

    /// Asks all these servers concurrently, and returns those that failed.
    pub(super) async fn refresh<T: Listed>(
        &self,
        members: &[Arc<Member>],
    ) -> Vec<(String, HostError)> {
        let settings = &self.inner.settings;
        let asked = members.iter().map(|member| async move {
            let outcome = member.refresh::<T>(settings.max_entries, settings.list_timeout).await;
            outcome.err().map(|error| (member.name.to_string(), error))
        });
        join_all(asked).await.into_iter().flatten().collect()
    }
}
