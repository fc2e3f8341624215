//! Clients: one conversation with one server, at the newest revision both support.

mod answers;
mod builder;
mod call_clock;
mod calls;
mod connect;
mod error;
mod events;
mod granted;
#[cfg(any(feature = "http", feature = "ws"))]
mod headers;
mod lists;
mod methods;
mod negotiation;
mod reconnect;
mod resource_subscriptions;
mod roots;
mod subscription;

use std::{
    collections::HashMap,
    sync::{Arc, RwLock, atomic::AtomicI64},
};

use mcp_core::{
    DiscoverResult, Dispatch, Framing, Implementation, InitializeResult, LogLevel, Revision,
    ServerCapabilities,
};
use mcp_jsonrpc::JsonRpcPeer;
use serde_json::{Map, Value};
use tokio::task::JoinHandle;

pub use self::{
    builder::ClientBuilder, calls::CallOptions, error::ClientError, events::ClientEvent,
    granted::Granted, subscription::Subscription,
};
use self::{
    call_clock::PendingCalls, connect::Wire, events::Events,
    resource_subscriptions::ResourceSubscriptions,
};
pub(crate) use self::{granted::announces_changes, subscription::Listening};
use crate::{feed::Listener, header_params::Marked};

/// A connection to one server. Cheap to clone; the connection ends with [`Client::close`], or when
/// the last clone and the last [subscription](Client::subscribe) are dropped.
///
/// The [guide to clients](crate::guide::clients) covers time-outs and notifications.
#[derive(Debug, Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    builder: ClientBuilder,
    peer: JsonRpcPeer<Wire>,
    revision: Revision,
    framing: Framing,
    /// The metadata of every request, in revisions that require it.
    meta: Map<String, Value>,
    server: ServerFacts,
    events: Arc<Events>,
    calls: Arc<PendingCalls>,
    resource_subscriptions: ResourceSubscriptions,
    next_token: AtomicI64,
    /// The log level, in revisions where requests carry it.
    log_level: RwLock<Option<LogLevel>>,
    /// Arguments that are mirrored in headers, by tool.
    marked: RwLock<HashMap<String, Arc<Marked>>>,
    running: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

/// What a server has declared about itself.
#[derive(Debug, Clone, Default)]
struct ServerFacts {
    info: Option<Implementation>,
    capabilities: Option<ServerCapabilities>,
    instructions: Option<String>,
}

impl Client {
    /// Configures a client with this name.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(Implementation::new(name, version))
    }

    /// Configures a client with a full description of itself.
    pub fn builder_for(info: Implementation) -> ClientBuilder {
        ClientBuilder::new(info)
    }

    /// The negotiated revision.
    pub fn revision(&self) -> Revision {
        self.inner.revision
    }

    /// The server's name and version, if it has sent them.
    pub fn server_info(&self) -> Option<&Implementation> {
        self.inner.server.info.as_ref()
    }

    /// The server's capabilities, if it has declared them.
    pub fn server_capabilities(&self) -> Option<&ServerCapabilities> {
        self.inner.server.capabilities.as_ref()
    }

    /// The server's instructions for models.
    pub fn instructions(&self) -> Option<&str> {
        self.inner.server.instructions.as_deref()
    }

    /// Compiles the schemas that the server lists into contracts, according to this client's
    /// validation.
    pub(crate) fn contracts(&self) -> Arc<dyn mcp_core::Contracts> {
        self.inner.builder.validation.contracts(Dispatch::Mcp)
    }

    /// The server's notifications from now on, until the conversation is over. A listener that
    /// falls more than 1024 events or about 16 MiB behind loses the oldest ones.
    pub fn events(&self) -> Listener<ClientEvent> {
        self.inner.events.listen()
    }

    /// Closes the connection cleanly and waits until it is closed.
    pub async fn close(&self) {
        self.inner.peer.close();
        let mut running = self.inner.running.lock().await;
        // Other callers wait for the same task, even if this future is dropped.
        if let Some(driver) = running.as_mut() {
            // It ends by itself, even if it panics.
            let _ = driver.await;
            *running = None;
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.peer.close();
    }
}

impl ServerFacts {
    fn initialized(result: InitializeResult) -> ServerFacts {
        ServerFacts {
            info: Some(result.server_info),
            capabilities: Some(result.capabilities),
            instructions: result.instructions,
        }
    }

    fn discovered(result: DiscoverResult) -> ServerFacts {
        let info = result.meta.as_ref().and_then(|meta| meta.get(mcp_core::Meta::SERVER_INFO));
        ServerFacts {
            info: info.and_then(|info| serde_json::from_value(info.clone()).ok()),
            capabilities: Some(result.capabilities),
            instructions: result.instructions,
        }
    }
}
