use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::{Arc, OnceLock},
};

use mcp_core::{Contract, ContractKind, Json, Tool};

use super::{
    lists::Collision,
    member::{Listed, Member},
    names::{long_name, offered_names},
};

/// All entries of one kind, under the host's names.
#[derive(Debug)]
pub(super) struct Table<T> {
    pub(super) entries: Vec<Arc<Entry<T>>>,
    pub(super) collisions: Vec<Collision>,
    /// Offered and long names.
    names: HashMap<String, usize>,
    own_names: HashMap<String, Vec<usize>>,
}

pub(super) struct Entry<T> {
    /// Its name at this host.
    pub(super) name: String,
    pub(super) member: Arc<Member>,
    pub(super) value: T,
    /// The contract for its arguments; created on first use.
    contract: OnceLock<Option<Arc<dyn Contract>>>,
}

/// What a name refers to.
pub(super) enum Found<T> {
    One(Arc<Entry<T>>),
    /// Several have it as their own name; these names distinguish them.
    Several(Vec<String>),
    Nothing,
}

impl<T: Listed> Table<T> {
    /// From the lists that are currently known.
    pub(super) fn of(members: &[Arc<Member>]) -> Table<T> {
        let mut table: Table<T> = Table {
            entries: Vec::new(),
            collisions: Vec::new(),
            names: HashMap::new(),
            own_names: HashMap::new(),
        };
        let listed = table.listed(members);
        let names = if T::HAS_OWN_NAME {
            let pairs: Vec<_> =
                listed.iter().map(|(member, value)| (&*member.name, value.own_name())).collect();
            offered_names(&pairs)
        } else {
            listed.iter().map(|(_, value)| value.own_name().to_owned()).collect()
        };
        for ((member, value), name) in listed.into_iter().zip(names) {
            table.add(Entry { name, member, value, contract: OnceLock::new() });
        }
        table
    }

    pub(super) fn find(&self, name: &str) -> Found<T> {
        if let Some(entry) = self.names.get(name).and_then(|index| self.entries.get(*index)) {
            return Found::One(Arc::clone(entry));
        }
        let owners: Vec<_> = self
            .own_names
            .get(name)
            .into_iter()
            .flatten()
            .filter_map(|index| self.entries.get(*index))
            .collect();
        match owners.as_slice() {
            [] => Found::Nothing,
            [entry] => Found::One(Arc::clone(entry)),
            several => Found::Several(several.iter().map(|entry| entry.name.clone()).collect()),
        }
    }

    /// The entries without duplicates: repeated by a server, or listed by another one if the name
    /// means the same everywhere.
    fn listed(&mut self, members: &[Arc<Member>]) -> Vec<(Arc<Member>, T)> {
        let mut listed: Vec<(Arc<Member>, T)> = Vec::new();
        let mut servers: HashMap<String, Vec<String>> = HashMap::new();
        let mut order = Vec::new();
        for member in members {
            let mut seen = HashSet::new();
            for value in T::list(&member.lists).entries().iter() {
                let own = value.own_name();
                let owners = servers.entry(own.to_owned()).or_insert_with(|| {
                    order.push(own.to_owned());
                    Vec::new()
                });
                let is_taken = !T::HAS_OWN_NAME && !owners.is_empty();
                let is_repeated = !seen.insert(own.to_owned());
                owners.push(member.name.to_string());
                if !is_taken && !is_repeated {
                    listed.push((Arc::clone(member), value.clone()));
                }
            }
        }
        self.collisions = order
            .into_iter()
            .filter_map(|name| {
                let servers = servers.remove(&name).filter(|servers| servers.len() > 1)?;
                Some(Collision { name, servers })
            })
            .collect();
        listed
    }

    fn add(&mut self, entry: Entry<T>) {
        let index = self.entries.len();
        // Taken only if another tool of the same server has a name that sanitizes to the same.
        if *self.names.entry(entry.name.clone()).or_insert(index) != index {
            return;
        }
        let own = entry.value.own_name().to_owned();
        if T::HAS_OWN_NAME {
            self.names.entry(long_name(&entry.member.name, &own)).or_insert(index);
        }
        self.own_names.entry(own).or_default().push(index);
        self.entries.push(Arc::new(entry));
    }
}

impl Entry<Tool> {
    /// What is wrong with the arguments of a call.
    pub(super) fn violations(&self, arguments: &Json) -> Vec<Json> {
        let contract = self.contract.get_or_init(|| {
            let contracts = self.member.client.contracts();
            // An invalid schema is reported by the client.
            contracts.compile(&self.value.input_schema, ContractKind::Arguments).ok()
        });
        match (contract, arguments.to_parsed()) {
            (Some(contract), Ok(arguments)) => contract.violations(arguments.document().root()),
            _ => Vec::new(),
        }
    }
}

impl<T> fmt::Debug for Entry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}
