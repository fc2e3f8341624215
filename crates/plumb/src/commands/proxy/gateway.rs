use std::{
    fs,
    io::{self, Write as _},
    path::Path,
    sync::Arc,
};

use mcp_proxy::{
    Tap,
    http::{Gateway, GatewaySettings, Upstream},
    shutdown,
};
use mcp_transport::{
    Allowed,
    http::server::{ServeSettings, serve},
};

use super::super::listen::is_local;
use crate::{args::ProxyArgs, failure::Failure, text::shown_path};

/// A gateway for HTTP clients, checked and ready to run.
#[derive(Debug)]
pub(super) struct GatewayPlan {
    listen: String,
    upstream: Upstream,
    settings: GatewaySettings,
}

impl GatewayPlan {
    pub(super) fn new(
        upstream: &str,
        listen: &str,
        args: &ProxyArgs,
        limit: usize,
    ) -> anyhow::Result<GatewayPlan> {
        let mut settings = GatewaySettings::default();
        settings.hosts = args.hosts.iter().fold(settings.hosts, Allowed::and);
        settings.origins = args.origins.iter().fold(settings.origins, Allowed::and);
        settings.token = args.auth_token_file.as_deref().map(read_token).transpose()?;
        settings.max_body = limit;
        if settings.token.is_none() && !args.insecure && !is_local(listen) {
            return Err(Failure::new(format!("`{listen}` can be reached from other machines"))
                .hint("require a token with --auth-token-file, or say --insecure")
                .into());
        }
        Ok(GatewayPlan { listen: listen.to_owned(), upstream: Upstream::new(upstream)?, settings })
    }

    /// Serves clients until we are told to stop.
    pub(super) fn run(self, tap: &Tap) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = mcp_transport::bind(&*self.listen).await?;
            let address = listener.local_addr()?;
            // Whoever starts it has to know, however quiet it is.
            let _ = writeln!(io::stderr(), "plumb: listening on http://{address}");
            let gateway = Gateway::new(self.upstream, tap.clone(), self.settings);
            let mut settings = ServeSettings::default();
            settings.keep_header_case = true;
            serve(listener, gateway, settings, shutdown::requested()).await;
            Ok(())
        })
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
