//! The page and what it asks for, over HTTP.
//!
//! Every address begins with the token, `/TOKEN/…`, so that nothing is served to those who do not
//! know it, whether they can set headers or not; no cookie, which all ports of a host would share.

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
use crate::{Log, Speaker};

/// Who may see the page.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "callers set what they need")]
pub struct Access {
    /// The secret that every address begins with.
    pub token: Arc<str>,
    /// The hosts that requests may be addressed to.
    pub hosts: Allowed,
    /// The pages that may send requests.
    pub origins: Allowed,
}

/// A token that nobody can guess.
///
/// # Errors
///
/// If the system has no random numbers.
pub fn new_token() -> Result<Arc<str>, ring::error::Unspecified> {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)).into())
}

/// What the page is about.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct About {
    pub(crate) version: &'static str,
    /// What is looked at: a command, a URL, a file.
    pub(crate) target: String,
    /// Whether there is a server to speak to.
    pub(crate) can_speak: bool,
    /// Whether that is the built-in one.
    pub(crate) demo: bool,
    /// Whether it is a file that was brought to another page.
    pub(crate) imported: bool,
}

/// Serves the page for one log.
#[derive(Debug, Clone)]
pub struct Service {
    log: Log,
    access: Access,
    about: Arc<About>,
    speaker: Option<Speaker>,
    engine: Option<Arc<Engine>>,
}

#[derive(Debug, Clone)]
struct State {
    log: Log,
    speaker: Option<Speaker>,
    about: Arc<About>,
    /// Judges what is imported, and what is masked.
    engine: Arc<Engine>,
    /// `None` for what is imported itself.
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
        State { log, speaker: None, about: Arc::new(about), engine, imports: None }
    }
}

/// More pages are not looked at.
const MAX_CONNECTIONS: usize = 256;
/// The longest body of a request: a message of 16 MiB as a JSON string.
const LONGEST_BODY: usize = 33 << 20;

impl Service {
    /// Shows `log` to those with access; `target` names what is looked at.
    pub fn new(log: Log, access: Access, target: impl Into<String>) -> Service {
        let (version, target) = (env!("CARGO_PKG_VERSION"), target.into());
        let about = About { version, target, can_speak: false, demo: false, imported: false };
        Service { log, access, about: Arc::new(about), speaker: None, engine: None }
    }

    /// Lets those with access speak to a server.
    #[must_use]
    pub fn with_speaker(mut self, speaker: Speaker) -> Service {
        let mut about = About::clone(&self.about);
        (about.can_speak, about.demo) = (true, speaker.is_demo());
        self.about = Arc::new(about);
        self.speaker = Some(speaker);
        self
    }

    /// Judges files that are imported with this engine. Without it, all rules have their defaults.
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
        let Service { log, access, about, speaker, engine } = self;
        let guard = Arc::new(Guard::new(access));
        let engine = engine
            .unwrap_or_else(|| Arc::new(Engine::new(Schemas::embedded(), Settings::default())));
        let imports = Some(Arc::new(Imports::new()));
        routes(State { log, speaker, about, engine, imports })
            .layer(middleware::from_fn_with_state(guard, guard::check))
    }
}

/// Everything that is served; who may see it is checked around this.
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
