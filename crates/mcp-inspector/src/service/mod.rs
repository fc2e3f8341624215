//! The page and what it asks for, over HTTP.
//!
//! Every address begins with the token, `/TOKEN/…`, so that nothing is served to those who do not
//! know it, whether they can set headers or not; no cookie, which all ports of a host would share.

mod api;
mod assets;
mod guard;
mod stream;

use std::sync::Arc;

use axum::{Router, middleware, routing::get};
use mcp_transport::{Allowed, http::server::ServeSettings};
use ring::rand::{SecureRandom as _, SystemRandom};
use tokio::net::TcpListener;

use self::guard::Guard;
use crate::Log;

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
}

/// Serves the page for one log.
#[derive(Debug, Clone)]
pub struct Service {
    log: Log,
    access: Access,
    about: Arc<About>,
}

#[derive(Debug, Clone)]
struct State {
    log: Log,
    about: Arc<About>,
}

/// More pages are not looked at.
const MAX_CONNECTIONS: usize = 256;

impl Service {
    /// Shows `log` to those with access; `target` names what is looked at.
    pub fn new(log: Log, access: Access, target: impl Into<String>) -> Service {
        let about = About { version: env!("CARGO_PKG_VERSION"), target: target.into() };
        Service { log, access, about: Arc::new(about) }
    }

    /// Serves until `shutdown` completes.
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
        let mut settings = ServeSettings::default();
        settings.max_connections = MAX_CONNECTIONS;
        let service = guard::Bodies(self.router());
        mcp_transport::http::server::serve(listener, service, settings, shutdown).await;
    }

    fn router(self) -> Router {
        let Service { log, access, about } = self;
        let guard = Arc::new(Guard::new(access));
        Router::new()
            .route("/{token}/", get(assets::page))
            .route("/{token}/assets/{hash}/{*path}", get(assets::asset))
            .route("/{token}/api/about", get(api::about))
            .route("/{token}/api/frames/{number}", get(api::frame))
            .route("/{token}/api/frames/{number}/text", get(api::text))
            .route("/{token}/api/search", get(api::search))
            .route("/{token}/api/problems", get(api::problems))
            .route("/{token}/api/rules/{name}", get(api::rule))
            .route("/{token}/api/recording", get(api::recording))
            .route("/{token}/api/stream", get(stream::changes))
            .with_state(State { log, about })
            .layer(middleware::from_fn_with_state(guard, guard::check))
    }
}

#[cfg(test)]
mod tests;
