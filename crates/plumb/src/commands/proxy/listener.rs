use std::{
    io::{self, Write as _},
    sync::Arc,
};

use mcp_transport::{Allowed, http::tls};
use rustls::ServerConfig;
use tokio::net::TcpListener;

use super::secrets;
use crate::{args::ProxyArgs, commands::listen::is_local, failure::Failure};

/// Where HTTP clients are served, and which of them.
#[derive(Debug)]
pub(super) struct ListenerPlan {
    address: String,
    pub(super) hosts: Allowed,
    pub(super) origins: Allowed,
    pub(super) token: Option<Arc<str>>,
    pub(super) tls: Option<Arc<ServerConfig>>,
}

impl ListenerPlan {
    pub(super) fn new(address: &str, args: &ProxyArgs) -> anyhow::Result<ListenerPlan> {
        let token = args.auth_token_file.as_deref().map(secrets::token).transpose()?;
        let is_closed = token.is_some() || args.client_ca.is_some();
        if !is_closed && !args.insecure && !is_local(address) {
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
            tls: tls(args)?,
        })
    }

    /// Begins to listen, and says where.
    pub(super) async fn open(&self) -> anyhow::Result<TcpListener> {
        let listener = mcp_transport::bind(&*self.address).await?;
        let address = listener.local_addr()?;
        // Whoever starts it has to know, however quiet it is.
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let _ = writeln!(io::stderr(), "plumb: listening on {scheme}://{address}");
        Ok(listener)
    }
}

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
            .hint("--tls-cert and --tls-key are PEM files that belong together")
    })?;
    Ok(Some(config))
}
