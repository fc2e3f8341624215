use std::sync::{Arc, PoisonError, RwLock};

use mcp_core::{Prompt, Resource, ResourceTemplate, Tool};

use super::{
    Host,
    member::{Listed, Member},
    table::Table,
};

/// The tables of a host, created on demand and cached while they are valid.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) tools: Cache<Tool>,
    pub(super) prompts: Cache<Prompt>,
    pub(super) resources: Cache<Resource>,
    pub(super) templates: Cache<ResourceTemplate>,
}

#[derive(Debug)]
pub(super) struct Cache<T>(RwLock<Option<(Stamp, Arc<Table<T>>)>>);

/// Which lists a table was made from: the serial numbers of servers and the versions of their
/// lists.
type Stamp = Vec<(u64, u64)>;

impl Tables {
    /// Clears everything, including removed servers.
    pub(super) fn clear(&self) {
        self.tools.set(None);
        self.prompts.set(None);
        self.resources.set(None);
        self.templates.set(None);
    }
}

impl<T> Cache<T> {
    fn get(&self, stamp: &Stamp) -> Option<Arc<Table<T>>> {
        let cached = self.0.read().unwrap_or_else(PoisonError::into_inner);
        cached.as_ref().filter(|(made_of, _)| made_of == stamp).map(|(_, table)| Arc::clone(table))
    }

    fn set(&self, table: Option<(Stamp, Arc<Table<T>>)>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = table;
    }
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Cache(RwLock::new(None))
    }
}

impl Host {
    /// The table of the lists that are currently known.
    pub(super) fn table<T: Listed>(&self) -> Arc<Table<T>> {
        let members = self.members();
        let stamp = stamp::<T>(&members);
        let cache = T::cache(&self.inner.tables);
        if let Some(table) = cache.get(&stamp) {
            return table;
        }
        let table = Arc::new(Table::of(&members));
        cache.set(Some((stamp, Arc::clone(&table))));
        table
    }
}

/// Taken before the lists are read: a list that arrives in between invalidates the table.
fn stamp<T: Listed>(members: &[Arc<Member>]) -> Stamp {
    let version = |member: &Arc<Member>| T::list(&member.lists).version();
    members.iter().map(|member| (member.serial, version(member))).collect()
}
