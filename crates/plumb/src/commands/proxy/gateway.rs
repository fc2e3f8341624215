use mcp_proxy::{
    Tap,
    http::{Gateway, GatewaySettings, Upstream},
    shutdown::Drain,
};
use mcp_transport::http::server::{ServeSettings, serve};

use super::listener::{ListenerPlan, serve_until_drained};
use crate::args::ProxyArgs;

/// A gateway for HTTP clients, checked and ready to run.
#[derive(Debug)]
pub(super) struct GatewayPlan {
    listener: ListenerPlan,
    upstream: Upstream,
    settings: GatewaySettings,
}

impl GatewayPlan {
    pub(super) fn new(
        upstream: &str,
        listen: &str,
        args: &ProxyArgs,
        limit: usize,
        drain: &Drain,
    ) -> anyhow::Result<GatewayPlan> {
        let mut settings = GatewaySettings::default();
        let listener = ListenerPlan::new(listen, args)?;
        settings.hosts = listener.hosts.clone();
        settings.origins = listener.origins.clone();
        settings.token.clone_from(&listener.token);
        settings.max_body = limit;
        settings.drain = drain.clone();
        Ok(GatewayPlan { listener, upstream: Upstream::new(upstream)?, settings })
    }

    /// Serves clients until we are told to stop.
    pub(super) fn run(self, tap: &Tap) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = self.listener.open().await?;
            let drain = self.settings.drain.clone();
            let gateway = Gateway::new(self.upstream, tap.clone(), self.settings);
            let mut settings = ServeSettings::default();
            settings.keep_header_case = true;
            serve_until_drained(&drain, settings, |settings, stop| {
                serve(listener, gateway, settings, stop)
            })
            .await;
            Ok(())
        })
    }
}
