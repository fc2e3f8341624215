use std::{
    fs,
    io::{self, Write as _},
    path::Path,
    sync::Arc,
};

use mcp_transport::Allowed;
use tokio::net::TcpListener;

use crate::{args::ProxyArgs, commands::listen::is_local, failure::Failure, text::shown_path};

/// Where HTTP clients are served, and which of them.
#[derive(Debug)]
pub(super) struct ListenerPlan {
    address: String,
    pub(super) hosts: Allowed,
    pub(super) origins: Allowed,
    pub(super) token: Option<Arc<str>>,
}

impl ListenerPlan {
    pub(super) fn new(address: &str, args: &ProxyArgs) -> anyhow::Result<ListenerPlan> {
        let token = args.auth_token_file.as_deref().map(read_token).transpose()?;
        if token.is_none() && !args.insecure && !is_local(address) {
            return Err(Failure::new(format!("`{address}` can be reached from other machines"))
                .hint("require a token with --auth-token-file, or say --insecure")
                .into());
        }
        Ok(ListenerPlan {
            address: address.to_owned(),
            hosts: args.hosts.iter().fold(Allowed::loopback(), Allowed::and),
            origins: args.origins.iter().fold(Allowed::loopback(), Allowed::and),
            token,
        })
    }

    /// Begins to listen, and says where.
    pub(super) async fn open(&self) -> anyhow::Result<TcpListener> {
        let listener = mcp_transport::bind(&*self.address).await?;
        let address = listener.local_addr()?;
        // Whoever starts it has to know, however quiet it is.
        let _ = writeln!(io::stderr(), "plumb: listening on http://{address}");
        Ok(listener)
    }
}

fn read_token(path: &Path) -> anyhow::Result<Arc<str>> {
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::new(format!("could not read the token in {}", shown_path(path))).because(error)
    })?;
    let token = text.trim();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Failure::new(format!("{} holds no token", shown_path(path)))
            .hint("write one line of letters, digits and punctuation to it")
            .into());
    }
    Ok(token.into())
}
