//! A conversation over HTTP that shows whole exchanges, not only messages: the client connects
//! through a private gateway on loopback.

use std::{
    io::{Read, Write},
    sync::Arc,
};

use http::{HeaderValue, Uri, header::AUTHORIZATION};
use mcp_proxy::{
    Access, ProxiedServer, ProxiedServerSettings, Tap,
    bridge::remote::{self, Remote, RemoteSettings},
    shutdown::Drain,
};
use mcp_transport::http::server::{ServeSettings, serve};
use tokio::net::TcpListener;

use crate::service::new_token;

/// Runs a conversation with the server at a URL, and returns how it ended.
pub(super) async fn converse(
    server: (&str, &Access),
    streams: (impl Read + Send + 'static, impl Write + Send + 'static),
    (shown, aside): (&Tap, &Tap),
    longest: usize,
    drain: Drain,
) -> String {
    let (listener, entrance, remote) = match open(server, shown, longest, &drain).await {
        Ok(opened) => opened,
        Err(reason) => return format!("cannot start: {reason}"),
    };
    let mut settings = RemoteSettings::default();
    (settings.max_line, settings.drain) = (longest, drain);
    let serving = serve(listener, entrance, ServeSettings::default(), std::future::pending());
    tokio::select! {
        biased;
        () = remote::run_over(remote, streams, aside, &settings) => {}
        () = serving => {}
    }
    "the connection was closed".to_owned()
}

/// Opens the gateway to a server, and a client connected to it.
async fn open(
    (url, access): (&str, &Access),
    tap: &Tap,
    longest: usize,
    drain: &Drain,
) -> Result<(TcpListener, ProxiedServer, Remote), String> {
    let token = new_token().map_err(|_| "the system could not provide random bytes".to_owned())?;
    let mut settings = ProxiedServerSettings::default();
    settings.token = Some(Arc::clone(&token));
    settings.shows_server = true;
    settings.max_message = longest;
    settings.drain = drain.clone();
    let words = |error: &dyn std::error::Error| error.to_string();
    let entrance = ProxiedServer::to_url(url, access, tap, &settings);
    let entrance = entrance.map_err(|error| words(&error))?;
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| words(&error))?;
    let address = listener.local_addr().map_err(|error| words(&error))?;
    let server: Uri = url.parse().map_err(|error| words(&error))?;
    let path = server.path_and_query().map_or("/", |path| path.as_str());
    let bearer =
        HeaderValue::from_str(&format!("Bearer {token}")).map_err(|error| words(&error))?;
    let access = Access::default().header(AUTHORIZATION, bearer).map_err(|error| words(&error))?;
    let remote = Remote::new(&format!("http://{address}{path}"), longest, &access);
    Ok((listener, entrance, remote.map_err(|error| words(&error))?))
}
