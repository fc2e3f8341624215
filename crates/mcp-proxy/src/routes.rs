use std::{
    convert::Infallible,
    fmt,
    str::FromStr,
    sync::Arc,
    task::{Context, Poll},
};

use http::{Request, Response, Uri, uri::PathAndQuery};
use hyper::body::Incoming;
use mcp_core::BoxFuture;
use mcp_transport::check_source;
use tower_service::Service;

use crate::{
    ProxiedServer, ProxiedServerSettings,
    http::{Answer, OriginalPath, ProxyBody, Replica, has_token},
};

/// The path prefix of a server, such as `/files`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix(Arc<str>);

/// The text is not a valid prefix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a prefix: write it like /files, with letters, digits and any of `-._~/`, and no slash at the end"
)]
pub struct PrefixError(String);

const LONGEST_PREFIX: usize = 100;

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Prefix, PrefixError> {
        let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let is_part = |part: &str| {
            !part.is_empty() && part != "." && part != ".." && part.bytes().all(is_usual)
        };
        let mut parts = text.strip_prefix('/').unwrap_or_default().split('/');
        if text.len() <= LONGEST_PREFIX && parts.all(is_part) {
            return Ok(Prefix(text.into()));
        }
        Err(PrefixError(text.to_owned()))
    }
}

impl Prefix {
    /// The prefix without its leading slash, which names the server.
    pub fn name(&self) -> &str {
        self.0.get(1..).unwrap_or_default()
    }

    /// The rest of a path after the prefix, or `/` if there is none. `None` for other paths.
    fn rest(&self, path: &str) -> Option<PathAndQuery> {
        let rest = path.strip_prefix(&*self.0)?;
        match rest.bytes().next() {
            None => Some(PathAndQuery::from_static("/")),
            Some(b'/') => rest.parse().ok(),
            Some(b'?') => format!("/{rest}").parse().ok(),
            Some(_) => None,
        }
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Routes clients to one of several servers by path prefix. A `tower` service.
#[derive(Debug, Clone)]
pub struct Routes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Longest prefix first, since one may be the beginning of another.
    routes: Vec<(Prefix, ProxiedServer)>,
    settings: ProxiedServerSettings,
}

impl Routes {
    /// Routes to these servers. `settings` decide which clients may learn what prefixes exist.
    pub fn new(
        mut routes: Vec<(Prefix, ProxiedServer)>,
        settings: ProxiedServerSettings,
    ) -> Routes {
        routes.sort_by(|(left, _), (right, _)| {
            right.0.len().cmp(&left.0.len()).then_with(|| left.cmp(right))
        });
        Routes(Arc::new(Inner { routes, settings }))
    }

    /// The same routes for use on another runtime, as [`ProxiedServer::with_own_connections`].
    #[must_use]
    pub fn with_own_connections(&self) -> Routes {
        self.changed(ProxiedServer::with_own_connections)
    }

    /// Lets other replicas find the sessions that are bridged here, and finds theirs.
    #[must_use]
    pub fn as_replica(&self, replica: &Arc<Replica>) -> Routes {
        self.changed(|entrance| entrance.clone().as_replica(Arc::clone(replica)))
    }

    fn changed(&self, change: impl Fn(&ProxiedServer) -> ProxiedServer) -> Routes {
        let Inner { routes, settings } = &*self.0;
        let routes = routes.iter().map(|(prefix, entrance)| (prefix.clone(), change(entrance)));
        Routes(Arc::new(Inner { routes: routes.collect(), settings: settings.clone() }))
    }

    /// Opens no more sessions.
    pub fn drain(&self) {
        for (_, entrance) in &self.0.routes {
            entrance.drain();
        }
    }

    /// Ends all conversations, and the servers started for them.
    pub async fn close(&self) {
        let mut closing = tokio::task::JoinSet::new();
        for (_, entrance) in &self.0.routes {
            let entrance = entrance.clone();
            closing.spawn(async move { entrance.close().await });
        }
        closing.join_all().await;
    }
}

impl Inner {
    /// Finds the server for a request, and removes the prefix from its path.
    fn find(&self, request: &mut Request<Incoming>) -> Option<ProxiedServer> {
        let path = request.uri().path_and_query()?.as_str();
        let found =
            self.routes.iter().find_map(|(prefix, entrance)| Some((prefix.rest(path)?, entrance)));
        let (rest, entrance) = found?;
        let mut parts = request.uri().clone().into_parts();
        let original = parts.path_and_query.replace(rest);
        if let Some(original) = original {
            request.extensions_mut().insert(OriginalPath(original));
        }
        *request.uri_mut() = Uri::from_parts(parts).ok()?;
        Some(entrance.clone())
    }

    fn nothing_here(&self, request: &Request<Incoming>) -> Answer {
        let ProxiedServerSettings { hosts, origins, token, .. } = &self.settings;
        if let Err(foreign) = check_source(hosts, origins, request.uri(), request.headers()) {
            return Answer::foreign(&foreign);
        }
        if token.as_ref().is_some_and(|token| !has_token(request.headers(), token)) {
            return Answer::unauthorized();
        }
        let mut prefixes: Vec<&str> = self.routes.iter().map(|(prefix, _)| &*prefix.0).collect();
        prefixes.sort_unstable();
        Answer::no_such_prefix(&prefixes)
    }
}

impl Service<Request<Incoming>> for Routes {
    type Response = Response<ProxyBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<ProxyBody>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Incoming>) -> Self::Future {
        if let Some(mut entrance) = self.0.find(&mut request) {
            return entrance.call(request);
        }
        let answer = self.0.nothing_here(&request).into_response();
        Box::pin(std::future::ready(Ok(answer)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_paths_without_an_end() {
        for text in ["/files", "/a/b", "/A-1._~"] {
            assert_eq!(text.parse::<Prefix>().unwrap().to_string(), text);
        }
        let long = format!("/{}", "a".repeat(LONGEST_PREFIX));
        for text in ["", "/", "files", "/a/", "//a", "/a//b", "/a b", "/a?b", "/..", "/ä", &long] {
            assert!(text.parse::<Prefix>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_whole_names_match() {
        let prefix: Prefix = "/files".parse().unwrap();
        for (path, rest) in [
            ("/files", Some("/")),
            ("/files/", Some("/")),
            ("/files?a=b", Some("/?a=b")),
            ("/files/mcp?a", Some("/mcp?a")),
            ("/files//x", Some("//x")),
            ("/filesystem", None),
            ("/", None),
            ("/Files", None),
        ] {
            let found = prefix.rest(path);
            assert_eq!(found.as_ref().map(PathAndQuery::as_str), rest, "{path}");
        }
    }
}
