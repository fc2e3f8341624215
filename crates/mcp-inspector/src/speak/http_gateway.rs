//! A conversation over HTTP whose exchanges are seen, not only the messages in them: our client goes
//! through a gateway on this machine, which nobody else may use.

use std::{
    io::{Read, Write},
    sync::Arc,
};

use http::{HeaderValue, Uri, header::AUTHORIZATION};
use mcp_proxy::{
    Access, Entrance, EntranceSettings, Tap,
    bridge::remote::{self, Remote, RemoteSettings},
    shutdown::Drain,
};
use mcp_transport::http::server::{ServeSettings, serve};
use tokio::net::TcpListener;

use crate::service::new_token;

/// Converses with the server at a URL until it is over, and says how that came.
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

/// The gateway to a server, and the way to it.
async fn open(
    (url, access): (&str, &Access),
    tap: &Tap,
    longest: usize,
    drain: &Drain,
) -> Result<(TcpListener, Entrance, Remote), String> {
    let token = new_token().map_err(|_| "the system has no random numbers".to_owned())?;
    let mut settings = EntranceSettings::default();
    settings.token = Some(Arc::clone(&token));
    settings.shows_server = true;
    settings.max_message = longest;
    settings.drain = drain.clone();
    let words = |error: &dyn std::error::Error| error.to_string();
    let entrance = Entrance::to_url(url, access, tap, &settings);
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
