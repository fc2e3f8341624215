//! What all servers have, in one list.

use std::sync::Arc;

use futures_util::future::join_all;
use mcp_core::{Prompt, Resource, ResourceTemplate, Tool};

use super::{
    Host, HostError,
    member::{Listed, Member},
};

/// Something a server has, under the host's name for it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Merged<T> {
    /// The name to call it by at this host; for resources the URI.
    pub name: String,
    /// The server's name at this host.
    pub server: String,
    /// As the server has listed it, with its own name.
    pub entry: T,
}

/// What all servers have, as far as they could be asked.
#[derive(Debug)]
#[non_exhaustive]
pub struct MergedList<T> {
    /// By server in the order in which those were added, then as each has listed it.
    pub entries: Vec<Merged<T>>,
    /// The servers that could not be asked, and why. What they have is missing above.
    pub failures: Vec<(String, HostError)>,
    /// What several servers have.
    pub collisions: Vec<Collision>,
}

/// A name or URI that was listed more than once. Tools and prompts are told apart by long names; a
/// resource is read from the first server that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collision {
    /// The name or URI.
    pub name: String,
    /// Who has listed it, in the order of the host; one that has repeated itself is there twice.
    pub servers: Vec<String>,
}

impl Host {
    /// The tools of all servers. Lists that are known, of servers that tell when they change, are
    /// not fetched again.
    pub async fn tools(&self) -> MergedList<Tool> {
        self.list().await
    }

    /// The prompts of all servers.
    pub async fn prompts(&self) -> MergedList<Prompt> {
        self.list().await
    }

    /// The resources of all servers. The first server that has a URI has it for all.
    pub async fn resources(&self) -> MergedList<Resource> {
        self.list().await
    }

    /// The patterns by which further resources can be read.
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

    /// Asks all these servers at once; gives those that failed.
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
