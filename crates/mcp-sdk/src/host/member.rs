use std::{
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use futures_util::{StreamExt as _, TryStreamExt as _, stream::BoxStream};
use mcp_core::{Era, Prompt, Resource, ResourceTemplate, ServerCapabilities, Tool};
use serde_json::Value;
use tokio::task::AbortHandle;

use super::{
    HostError, HostEvent,
    cached_list::CachedList,
    events::forward,
    tables::{Cache, Tables},
};
use crate::{
    Client, ClientError, Granted,
    client::{Listening, announces_changes},
    feed::Feed,
};

/// One server of a host.
#[derive(Debug)]
pub(super) struct Member {
    /// Unique among all members a host ever has, whatever their names.
    pub(super) serial: u64,
    pub(super) name: Arc<str>,
    pub(super) client: Client,
    pub(super) lists: Arc<CachedLists>,
    forwarding: AbortHandle,
    /// The subscription to changes, in revisions that need one.
    list_subscription: Mutex<Option<ListSubscription>>,
}

/// The request on which a server announces changes of its lists.
#[derive(Debug)]
struct ListSubscription {
    listening: Listening,
    /// What the server has agreed to send, once it has.
    granted: Arc<OnceLock<Granted>>,
}

/// The lists of a server.
#[derive(Debug, Default)]
pub(super) struct CachedLists {
    pub(super) tools: CachedList<Tool>,
    pub(super) prompts: CachedList<Prompt>,
    pub(super) resources: CachedList<Resource>,
    pub(super) templates: CachedList<ResourceTemplate>,
}

impl CachedLists {
    pub(super) fn invalidate(&self) {
        self.tools.invalidate();
        self.prompts.invalidate();
        self.resources.invalidate();
        self.templates.invalidate();
    }
}

/// The kinds of things that servers list.
pub(super) trait Listed: Clone + Send + Sync + Sized + 'static {
    /// Its name for messages.
    const WHAT: &'static str;
    /// Whether the same name on two servers means two things. The same URI means the same thing.
    const HAS_OWN_NAME: bool;

    fn list(lists: &CachedLists) -> &CachedList<Self>;
    fn cache(tables: &Tables) -> &Cache<Self>;
    fn declared(capabilities: &ServerCapabilities) -> Option<&Value>;
    fn is_granted(granted: &Granted) -> bool;
    fn entries(client: &Client) -> BoxStream<'_, Result<Self, ClientError>>;
    /// Its name at the server.
    fn own_name(&self) -> &str;
}

macro_rules! listed {
    ($($entry:ident: $what:literal, $named:literal, $field:ident, $capability:ident, $list:ident, $name:ident;)*) => {$(
        impl Listed for $entry {
            const WHAT: &'static str = $what;
            const HAS_OWN_NAME: bool = $named;

            fn list(lists: &CachedLists) -> &CachedList<Self> {
                &lists.$field
            }

            fn cache(tables: &Tables) -> &Cache<Self> {
                &tables.$field
            }

            fn declared(capabilities: &ServerCapabilities) -> Option<&Value> {
                capabilities.$capability.as_ref()
            }

            fn is_granted(granted: &Granted) -> bool {
                granted.$capability
            }

            fn entries(client: &Client) -> BoxStream<'_, Result<Self, ClientError>> {
                client.$list().boxed()
            }

            fn own_name(&self) -> &str {
                &self.$name
            }
        }
    )*};
}

listed! {
    Tool: "tool", true, tools, tools, tools, name;
    Prompt: "prompt", true, prompts, prompts, prompts, name;
    Resource: "resource", false, resources, resources, resources, uri;
    ResourceTemplate: "resource template", false, templates, resources, resource_templates, uri_template;
}

impl Member {
    pub(super) fn new(
        serial: u64,
        name: &str,
        client: Client,
        events: &Arc<Feed<HostEvent>>,
    ) -> Arc<Member> {
        let name: Arc<str> = name.into();
        let lists = Arc::<CachedLists>::default();
        let forwarding = tokio::spawn(forward(
            Arc::clone(&name),
            client.events(),
            Arc::clone(&lists),
            Arc::clone(events),
        ));
        let member = Member {
            serial,
            name,
            client,
            lists,
            forwarding: forwarding.abort_handle(),
            list_subscription: Mutex::default(),
        };
        member.subscribe_to_changes();
        Arc::new(member)
    }

    /// Releases the server; calls in flight continue.
    pub(super) fn retire(&self) {
        self.forwarding.abort();
        self.list_subscription().take();
    }

    /// Whether the list is known to be up to date: the server would have announced changes.
    pub(super) fn is_current<T: Listed>(&self) -> bool {
        T::list(&self.lists).is_up_to_date()
            && (self.declares_nothing_of::<T>() || self.announces_changes_of::<T>())
    }

    /// Fetches the list, unless it is up to date.
    pub(super) async fn refresh<T: Listed>(
        &self,
        most: usize,
        timeout: Duration,
    ) -> Result<(), HostError> {
        if self.is_current::<T>() {
            return Ok(());
        }
        let fetched = tokio::time::timeout(timeout, self.fetch::<T>(most)).await;
        fetched.unwrap_or_else(|_| {
            let (server, what) = (self.name.to_string(), T::WHAT);
            Err(HostError::ListTimedOut { server, what, after: timeout })
        })
    }

    async fn fetch<T: Listed>(&self, most: usize) -> Result<(), HostError> {
        let list = T::list(&self.lists);
        let _only_one = list.fetching.lock().await;
        if self.is_current::<T>() {
            return Ok(());
        }
        self.subscribe_to_changes();
        let asked_at = list.changes();
        let mut entries = Vec::new();
        if !self.declares_nothing_of::<T>() {
            let mut listed = T::entries(&self.client);
            while let Some(entry) = listed.try_next().await.map_err(|error| self.failed(error))? {
                if entries.len() == most {
                    let (server, what) = (self.name.to_string(), T::WHAT);
                    return Err(HostError::TooMany { server, what, most });
                }
                entries.push(entry);
            }
        }
        list.put(entries, asked_at);
        Ok(())
    }

    pub(super) fn failed(&self, cause: ClientError) -> HostError {
        HostError::Server { server: self.name.to_string(), cause: Box::new(cause) }
    }

    /// Whether the server has declared its capabilities without this one: then it must not be
    /// asked.
    fn declares_nothing_of<T: Listed>(&self) -> bool {
        let capabilities = self.client.server_capabilities();
        capabilities.is_some_and(|capabilities| T::declared(capabilities).is_none())
    }

    fn announces_changes_of<T: Listed>(&self) -> bool {
        let declared = self.client.server_capabilities().and_then(T::declared);
        declared.is_some_and(announces_changes)
            && (self.client.revision().era() == Era::Legacy || self.is_subscribed::<T>())
    }

    fn is_subscribed<T: Listed>(&self) -> bool {
        self.list_subscription().as_ref().is_some_and(|list_subscription| {
            list_subscription.listening.is_open()
                && list_subscription.granted.get().is_some_and(T::is_granted)
        })
    }

    /// Subscribes to changes where that is needed, unless already subscribed.
    fn subscribe_to_changes(&self) {
        let Some(capabilities) = self.client.server_capabilities() else { return };
        let declared = [&capabilities.tools, &capabilities.prompts, &capabilities.resources];
        if !declared.into_iter().flatten().any(announces_changes) {
            return;
        }
        let mut list_subscription = self.list_subscription();
        if list_subscription
            .as_ref()
            .is_some_and(|list_subscription| list_subscription.listening.is_open())
        {
            return;
        }
        let Some((listening, opened)) = self.client.listen_for_lists() else { return };
        let granted = Arc::<OnceLock<Granted>>::default();
        let (lists, known) = (Arc::clone(&self.lists), Arc::clone(&granted));
        tokio::spawn(async move {
            if let Ok(granted) = opened.await {
                // Lists fetched before may have changed before the subscription began.
                lists.invalidate();
                let _ = known.set(granted);
            }
        });
        *list_subscription = Some(ListSubscription { listening, granted });
    }

    fn list_subscription(&self) -> std::sync::MutexGuard<'_, Option<ListSubscription>> {
        self.list_subscription.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.forwarding.abort();
    }
}
