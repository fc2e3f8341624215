//! Hosts: several servers at once, as if they were one.

mod cached_list;
mod error;
mod events;
mod lists;
mod member;
mod names;
mod routing;
mod table;
mod tables;

use std::{
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

pub use self::{
    error::HostError,
    events::HostEvent,
    lists::{Collision, Merged, MergedList},
    names::BadServerName,
};
use self::{member::Member, names::check_server_name, tables::Tables};
use crate::{
    Client,
    feed::{Feed, Listener},
};

/// Presents several servers, each reached through its own [`Client`], as one. Cheap to clone; all
/// clones are the same host.
///
/// * Tools and prompts keep their own name if no other server has it. Otherwise each is called
///   `<server>__<name>`. That long name always works, so a name never changes its meaning: it
///   works, or the error lists the names that distinguish the servers. All names match
///   `[A-Za-z0-9_.-]{1,128}`, whatever servers call their tools.
/// * A resource is read from the first server that lists its URI, or else the first that has a
///   template for it.
/// * A server that fails or hangs does not hide the others: lists leave it out and report it.
/// * Lists are fetched when they are needed, and again after the server announces a change. If a
///   server does not announce changes, its lists are fetched every time.
/// * Calls are validated twice: the host checks arguments against the listed schema, so that the
///   error names server, tool and position; then the client's own gate checks the whole message.
///
/// ```
/// use mcp_sdk::{Client, Host, NoArguments, Server, transport::memory};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut host = Host::builder();
/// for name in ["paris", "oslo"] {
///     let server = Server::builder(name, "1.0.0")
///         .tool("where", "Says where it is", move |_: NoArguments, _| async move { Ok(name) })
///         .build()?;
///     let (near, far) = memory::pair(16);
///     tokio::spawn(async move { server.serve(far).await });
///     host = host.server(name, Client::builder("host", "1.0.0").connect(near).await?);
/// }
/// let host = host.build()?;
///
/// let names: Vec<_> = host.tools().await.entries.into_iter().map(|tool| tool.name).collect();
/// assert_eq!(names, ["paris__where", "oslo__where"]);
/// let said = host.call_tool("oslo__where", serde_json::json!({})).await?;
/// assert_eq!(said.all_text(), "oslo");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Host {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    settings: HostSettings,
    members: RwLock<Vec<Arc<Member>>>,
    tables: Tables,
    events: Arc<Feed<HostEvent>>,
    next_serial: AtomicU64,
}

#[derive(Debug, Clone)]
struct HostSettings {
    list_timeout: Duration,
    max_entries: usize,
}

impl Host {
    /// Configures a host.
    pub fn builder() -> HostBuilder {
        let list_timeout = Duration::from_secs(10);
        let settings = HostSettings { list_timeout, max_entries: 10_000 };
        HostBuilder { settings, servers: Vec::new() }
    }

    /// Adds a server, from within a tokio runtime. One of the same name is replaced in its position
    /// and returned: use this to reconnect a server after [`ClientEvent::Closed`].
    ///
    /// [`ClientEvent::Closed`]: crate::ClientEvent::Closed
    ///
    /// # Errors
    ///
    /// If the name is invalid.
    pub fn add(&self, name: &str, client: Client) -> Result<Option<Client>, BadServerName> {
        check_server_name(name)?;
        let serial = self.inner.next_serial.fetch_add(1, Ordering::Relaxed);
        let member = Member::new(serial, name, client, &self.inner.events);
        let old = {
            let mut members = self.inner.members.write().unwrap_or_else(PoisonError::into_inner);
            if let Some(place) = members.iter_mut().find(|member| &*member.name == name) {
                Some(std::mem::replace(place, member))
            } else {
                members.push(member);
                None
            }
        };
        Ok(old.map(|old| self.let_go(&old)))
    }

    /// Removes a server and returns its client, which is still connected. Calls in flight continue.
    pub fn remove(&self, name: &str) -> Option<Client> {
        let old = {
            let mut members = self.inner.members.write().unwrap_or_else(PoisonError::into_inner);
            let place = members.iter().position(|member| &*member.name == name)?;
            members.remove(place)
        };
        Some(self.let_go(&old))
    }

    /// The names of the servers, in the order in which they were added.
    pub fn servers(&self) -> Vec<String> {
        self.members().iter().map(|member| member.name.to_string()).collect()
    }

    /// The client of a server, for anything a host does not do.
    pub fn client(&self, server: &str) -> Option<Client> {
        let members = self.members();
        members.iter().find(|member| &*member.name == server).map(|member| member.client.clone())
    }

    /// The events of all servers from now on. A listener that falls behind loses the oldest events,
    /// as with a [client](Client::events).
    pub fn events(&self) -> Listener<HostEvent> {
        self.inner.events.listen()
    }

    /// Closes all connections cleanly.
    pub async fn close(&self) {
        let members = std::mem::take(
            &mut *self.inner.members.write().unwrap_or_else(PoisonError::into_inner),
        );
        let clients: Vec<Client> = members.iter().map(|member| self.let_go(member)).collect();
        futures_util::future::join_all(clients.iter().map(Client::close)).await;
    }

    fn members(&self) -> Vec<Arc<Member>> {
        self.inner.members.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn let_go(&self, member: &Member) -> Client {
        member.retire();
        self.inner.tables.clear();
        member.client.clone()
    }
}

/// Configures a host.
#[derive(Debug)]
pub struct HostBuilder {
    settings: HostSettings,
    servers: Vec<(String, Client)>,
}

impl HostBuilder {
    /// Adds a server.
    #[must_use]
    pub fn server(mut self, name: impl Into<String>, client: Client) -> Self {
        self.servers.push((name.into(), client));
        self
    }

    /// How long to wait for a list of one server, with all its pages. Default: ten seconds.
    #[must_use]
    pub fn list_timeout(mut self, timeout: Duration) -> Self {
        self.settings.list_timeout = timeout;
        self
    }

    /// The maximum number of entries in one list of one server; a longer one is a failure. Default:
    /// 10,000.
    #[must_use]
    pub fn max_entries(mut self, most: usize) -> Self {
        self.settings.max_entries = most;
        self
    }

    /// Builds the host, from within a tokio runtime.
    ///
    /// # Errors
    ///
    /// If a server's name is invalid or taken.
    pub fn build(self) -> Result<Host, BadServerName> {
        let inner = Inner {
            settings: self.settings,
            members: RwLock::default(),
            tables: Tables::default(),
            events: Arc::new(Feed::new()),
            next_serial: AtomicU64::new(0),
        };
        let host = Host { inner: Arc::new(inner) };
        for (name, client) in self.servers {
            if host.add(&name, client)?.is_some() {
                return Err(BadServerName::Taken(name));
            }
        }
        Ok(host)
    }
}
