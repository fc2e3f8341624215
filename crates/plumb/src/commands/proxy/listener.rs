use std::{
    io::{self, Write as _},
    sync::Arc,
    time::Duration,
};

use mcp_core::BoxFuture;
use mcp_proxy::shutdown::{Drain, Phase};
use mcp_transport::{
    Allowed,
    http::{server::ServeSettings, tls},
};
use rustls::ServerConfig;
use tokio::net::TcpListener;

use super::secrets;
use crate::{
    args::{LogFormat, ProxyArgs},
    commands::listen::is_local,
    failure::Failure,
};

/// The address that HTTP clients connect to, and who may connect.
#[derive(Debug)]
pub(super) struct ListenerPlan {
    address: String,
    pub(super) hosts: Allowed,
    pub(super) origins: Allowed,
    pub(super) token: Option<Arc<str>>,
    pub(super) tls: Option<Arc<ServerConfig>>,
    pub(super) max_connections: usize,
    log: LogFormat,
}

/// Prints a listening address. Even with --quiet, the user has to know it.
pub(super) fn announce(log: LogFormat, what: &str, url: &str) {
    match log {
        LogFormat::Text => {
            let _ = writeln!(io::stderr(), "plumb: {what} {url}");
        }
        LogFormat::Json => tracing::info!(url, "{what}"),
    }
}

impl ListenerPlan {
    pub(super) fn new(address: &str, args: &ProxyArgs) -> anyhow::Result<ListenerPlan> {
        let token = args.auth_token_file.as_deref().map(secrets::token).transpose()?;
        let is_closed = token.is_some() || args.client_ca.is_some();
        if !is_closed && !args.insecure && !is_local(address)? {
            return Err(Failure::new(format!("`{address}` can be reached from other machines"))
                .hint(
                    "require a token with --auth-token-file or certificates with --client-ca, or \
                     say --insecure",
                )
                .into());
        }
        Ok(ListenerPlan {
            address: address.to_owned(),
            hosts: args.hosts.iter().fold(Allowed::loopback(), Allowed::and),
            origins: args.origins.iter().fold(Allowed::loopback(), Allowed::and),
            token,
            log: args.log_format,
            tls: tls(args)?,
            max_connections: usize::try_from(args.max_connections).unwrap_or(usize::MAX),
        })
    }

    /// Starts listening, and prints the address.
    pub(super) async fn open(&self) -> anyhow::Result<TcpListener> {
        let listener = mcp_transport::bind(&*self.address).await?;
        let address = listener.local_addr()?;
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        announce(self.log, "listening on", &format!("{scheme}://{address}"));
        Ok(listener)
    }
}

/// Serves until `drain` stops; connections then get a moment for their last answers.
pub(super) async fn serve_until_drained(
    drain: &Drain,
    mut settings: ServeSettings,
    serve: impl AsyncFnOnce(ServeSettings, BoxFuture<'static, ()>),
) {
    // `drain` ends connections; this is a fallback for those that ignore it.
    settings.grace = Duration::from_secs(24 * 60 * 60);
    let begun = drain.clone();
    let stop = Box::pin(async move { begun.reached(Phase::Draining).await });
    let cut_off = async {
        drain.reached(Phase::Stopping).await;
        tokio::select! {
            () = tokio::time::sleep(LAST_ANSWERS) => {}
            () = drain.reached(Phase::Forced) => {}
        }
    };
    tokio::select! {
        () = serve(settings, stop) => {}
        () = cut_off => {}
    }
}

/// How long clients may take to read what they get in the end.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

fn tls(args: &ProxyArgs) -> anyhow::Result<Option<Arc<ServerConfig>>> {
    let (Some(certificates), Some(key)) = (&args.tls_cert, &args.tls_key) else { return Ok(None) };
    let certificates = secrets::read(certificates, "certificates")?;
    let key = secrets::read(key, "private key")?;
    let clients = args.client_ca.as_deref();
    let clients = clients.map(|path| secrets::read(path, "certificates")).transpose()?;
    let config = match clients {
        Some(clients) => tls::server_config_for_clients(&certificates, &key, &clients),
        None => tls::server_config(&certificates, &key),
    };
    let config = config.map_err(|error| {
        Failure::new("clients cannot be served over TLS")
            .because(error)
            .hint("check that --tls-cert and --tls-key are PEM files that belong together")
    })?;
    Ok(Some(config))
}
