//! The HTTP service of the page.
//!
//! Every path begins with the token, `/TOKEN/…`, so that nothing is served without it, even to
//! clients that cannot set headers. Cookies are not used, since all ports of a host share them.

mod api;
mod assets;
mod export;
mod guard;
mod imports;
mod speak;
mod stream;

use std::sync::Arc;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    routing::{any, get, post},
};
use mcp_rules::{Engine, Settings};
use mcp_schema::Schemas;
use mcp_transport::{Allowed, http::server::ServeSettings};
use ring::rand::{SecureRandom as _, SystemRandom};
use tokio::net::TcpListener;

pub(crate) use self::api::{text_of, with_line};
use self::{guard::Guard, imports::Imports};
use crate::{InspectorClient, Log};

/// Access control for the page.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "callers set what they need")]
pub struct PageAccess {
    /// The secret that every path begins with.
    pub token: Arc<str>,
    /// The hosts that requests may be addressed to.
    pub hosts: Allowed,
    /// The origins of pages that may send requests.
    pub origins: Allowed,
}

/// Generates a random token.
///
/// # Errors
///
/// If the system cannot provide random bytes.
pub fn new_token() -> Result<Arc<str>, ring::error::Unspecified> {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)).into())
}

/// Facts about the page.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct About {
    pub(crate) version: &'static str,
    /// What the page shows: a command, a URL or a file.
    pub(crate) target: String,
    /// Whether there is a server to send requests to.
    pub(crate) can_speak: bool,
    /// Whether that is the built-in demonstration server.
    pub(crate) demo: bool,
    /// Whether it is a file imported on another page.
    pub(crate) imported: bool,
}

/// Serves the page for one log.
#[derive(Debug, Clone)]
pub struct Service {
    log: Log,
    access: PageAccess,
    about: Arc<About>,
    client: Option<InspectorClient>,
    engine: Option<Arc<Engine>>,
}

#[derive(Debug, Clone)]
struct State {
    log: Log,
    client: Option<InspectorClient>,
    about: Arc<About>,
    /// Judges imported and masked lines.
    engine: Arc<Engine>,
    /// `None` on the page of an import.
    imports: Option<Arc<Imports>>,
}

impl State {
    /// The state of a page about an imported file.
    fn showing_import(&self, log: Log, target: String) -> State {
        let about = About {
            target,
            can_speak: false,
            demo: false,
            imported: true,
            ..About::clone(&self.about)
        };
        let engine = Arc::clone(&self.engine);
        State { log, client: None, about: Arc::new(about), engine, imports: None }
    }
}

/// Maximum number of connections.
const MAX_CONNECTIONS: usize = 256;
/// Maximum size of a request body: a message of 16 MiB as a JSON string.
const LONGEST_BODY: usize = 33 << 20;

impl Service {
    /// Serves `log` to those with access; `target` names what the page shows.
    pub fn new(log: Log, access: PageAccess, target: impl Into<String>) -> Service {
        let (version, target) = (env!("CARGO_PKG_VERSION"), target.into());
        let about = About { version, target, can_speak: false, demo: false, imported: false };
        Service { log, access, about: Arc::new(about), client: None, engine: None }
    }

    /// Lets those with access send requests to a server.
    #[must_use]
    pub fn with_client(mut self, client: InspectorClient) -> Service {
        let mut about = About::clone(&self.about);
        (about.can_speak, about.demo) = (true, client.is_demo());
        self.about = Arc::new(about);
        self.client = Some(client);
        self
    }

    /// Judges imported files with this engine. Without it, all rules have their default levels.
    #[must_use]
    pub fn with_engine(mut self, engine: Arc<Engine>) -> Service {
        self.engine = Some(engine);
        self
    }

    /// Serves until `shutdown` completes.
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
        let mut settings = ServeSettings::default();
        settings.max_connections = MAX_CONNECTIONS;
        let service = guard::Bodies(self.router());
        mcp_transport::http::server::serve(listener, service, settings, shutdown).await;
    }

    fn router(self) -> Router {
        let Service { log, access, about, client, engine } = self;
        let guard = Arc::new(Guard::new(access));
        let engine = engine
            .unwrap_or_else(|| Arc::new(Engine::new(Schemas::embedded(), Settings::default())));
        let imports = Some(Arc::new(Imports::new()));
        routes(State { log, client, about, engine, imports })
            .layer(middleware::from_fn_with_state(guard, guard::check))
    }
}

/// All routes; access is checked around them.
fn routes(state: State) -> Router {
    Router::new()
        .route("/{token}/", get(assets::page))
        .route("/{token}/assets/{hash}/{*path}", get(assets::asset))
        .route("/{token}/api/about", get(api::about))
        .route("/{token}/api/frames/{number}", get(api::frame))
        .route("/{token}/api/frames/{number}/text", get(api::text))
        .route("/{token}/api/frames/{number}/line", get(api::line))
        .route("/{token}/api/frames/{number}/schemas", get(api::schemas))
        .route("/{token}/api/search", get(api::search))
        .route("/{token}/api/problems", get(api::problems))
        .route("/{token}/api/session", get(api::session))
        .route("/{token}/api/rules/{name}", get(api::rule))
        .route("/{token}/api/recording", get(export::recording))
        .route("/{token}/api/har", get(export::har))
        .route("/{token}/api/report", get(export::report))
        .route("/{token}/api/import", post(imports::import))
        .route("/{token}/imports/{number}/", any(imports::imported))
        .route("/{token}/imports/{number}/{*rest}", any(imports::imported))
        .route("/{token}/api/stream", get(stream::changes))
        .route("/{token}/api/speak", get(speak::state))
        .route("/{token}/api/speak/offer", get(speak::offer))
        .route("/{token}/api/speak/connect", post(speak::connect))
        .route("/{token}/api/speak/disconnect", post(speak::disconnect))
        .route("/{token}/api/speak/refresh", post(speak::refresh))
        .route("/{token}/api/speak/compose", post(speak::compose))
        .route("/{token}/api/speak/request", post(speak::request))
        .route("/{token}/api/speak/raw", post(speak::raw))
        .route("/{token}/api/speak/answer", post(speak::answer))
        .route("/{token}/api/speak/cancel", post(speak::cancel))
        .route("/{token}/api/speak/replay", post(speak::replay))
        .route("/{token}/api/speak/demo", post(speak::demo))
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .with_state(state)
}

#[cfg(test)]
mod tests;
