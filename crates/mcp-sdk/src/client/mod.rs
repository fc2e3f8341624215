//! Clients: one conversation with one server, at the newest revision both speak.

mod answers;
mod builder;
mod calls;
mod connect;
mod error;
mod events;
mod granted;
#[cfg(any(feature = "http", feature = "ws"))]
mod headers;
mod interests;
mod lists;
mod methods;
mod opening;
mod patience;
mod roots;
mod subscription;
mod way;

use std::{
    collections::HashMap,
    sync::{Arc, RwLock, atomic::AtomicI64},
};

use mcp_core::{
    Carriage, DiscoverResult, Dispatch, Implementation, InitializeResult, LogLevel, Revision,
    ServerCapabilities,
};
use mcp_jsonrpc::JsonRpcPeer;
use serde_json::{Map, Value};
use tokio::task::JoinHandle;

pub use self::{
    builder::ClientBuilder, calls::CallOptions, error::ClientError, events::ClientEvent,
    granted::Granted, subscription::Subscription,
};
use self::{connect::Wire, events::Events, interests::Interests, patience::UnderWay};
pub(crate) use self::{granted::tells_changes, subscription::Listening};
use crate::{feed::Listener, labels::Marked};

/// A connection to one server. Cheap to clone; the connection ends with [`Client::close`] or with
/// the last clone, once there are no [subscriptions](Client::subscribe) either.
///
/// The [guide to clients](crate::guide::clients) tells how long is waited for what, and how news are
/// heard.
#[derive(Debug, Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    builder: ClientBuilder,
    peer: JsonRpcPeer<Wire>,
    revision: Revision,
    carriage: Carriage,
    /// What every request says about its sender, in revisions where each does.
    meta: Map<String, Value>,
    server: ServerFacts,
    events: Arc<Events>,
    calls: Arc<UnderWay>,
    interests: Interests,
    next_token: AtomicI64,
    /// From this level on the server should log, in revisions where requests say so.
    log_level: RwLock<Option<LogLevel>>,
    /// Arguments that have to be shown outside, by tool.
    marked: RwLock<HashMap<String, Arc<Marked>>>,
    running: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

/// What a server says about itself.
#[derive(Debug, Clone, Default)]
struct ServerFacts {
    info: Option<Implementation>,
    capabilities: Option<ServerCapabilities>,
    instructions: Option<String>,
}

impl Client {
    /// Prepares a client that calls itself `name`.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(Implementation::new(name, version))
    }

    /// Prepares a client that introduces itself more fully.
    pub fn builder_for(info: Implementation) -> ClientBuilder {
        ClientBuilder::new(info)
    }

    /// The revision that is spoken.
    pub fn revision(&self) -> Revision {
        self.inner.revision
    }

    /// What the server calls itself, if it has said so.
    pub fn server_info(&self) -> Option<&Implementation> {
        self.inner.server.info.as_ref()
    }

    /// What the server offers, if it has said so.
    pub fn server_capabilities(&self) -> Option<&ServerCapabilities> {
        self.inner.server.capabilities.as_ref()
    }

    /// How models should use the server.
    pub fn instructions(&self) -> Option<&str> {
        self.inner.server.instructions.as_deref()
    }

    /// What makes contracts of the schemas that the server lists, as this client validates.
    pub(crate) fn contracts(&self) -> Arc<dyn mcp_core::Contracts> {
        self.inner.builder.validation.contracts(Dispatch::Mcp)
    }

    /// What the server tells from now on without being asked, until the conversation is over. A
    /// listener that does not keep up misses the oldest events: beyond 1024 of them, or about 16 MiB.
    pub fn events(&self) -> Listener<ClientEvent> {
        self.inner.events.listen()
    }

    /// Ends the connection in good order and waits until it is over.
    pub async fn close(&self) {
        self.inner.peer.close();
        let mut running = self.inner.running.lock().await;
        // Whoever else closes waits for the same, even if this future is dropped meanwhile.
        if let Some(driver) = running.as_mut() {
            // It ends by itself; if it panicked, it has ended too.
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
