use std::{sync::Arc, time::Duration};

use mcp_proxy::{
    Access, Entrance, EntranceSettings, Tap,
    http::{Replica, SessionSeal},
    shutdown,
};
use mcp_transport::http::server::{ServeSettings, serve};

use super::{command, listener::ListenerPlan, sharing::Sharing};
use crate::{args::ProxyArgs, failure::Failure};

/// A gateway for clients over HTTP and WebSocket, checked and ready to run.
#[derive(Debug)]
pub(super) struct GatewayPlan<'a> {
    listener: ListenerPlan,
    entrance: Entrance,
    /// What other replicas need to find sessions here.
    sharing: Option<(Sharing<'a>, SessionSeal)>,
}

impl<'a> GatewayPlan<'a> {
    pub(super) fn new(
        listen: &str,
        args: &ProxyArgs,
        tap: &Tap,
        limit: usize,
        sharing: Option<Sharing<'a>>,
    ) -> anyhow::Result<GatewayPlan<'a>> {
        let listener = ListenerPlan::new(listen, args)?;
        let mut settings = EntranceSettings::default();
        settings.hosts = listener.hosts.clone();
        settings.origins = listener.origins.clone();
        settings.token.clone_from(&listener.token);
        settings.max_message = limit;
        settings.max_children = args.max_children.into();
        settings.exit_wait = Duration::from_secs(args.exit_wait.into());
        let entrance = if let Some(url) = &args.upstream {
            Entrance::to_url(url, &Access::default(), tap, &settings).map_err(|error| {
                Failure::new("the server has no usable URL")
                    .because(error)
                    .hint("write it like http://127.0.0.1:3000/mcp or ws://127.0.0.1:3000/mcp")
            })?
        } else {
            let (program, arguments) = command(args)?;
            Entrance::to_command(program, arguments, tap, &settings)
        };
        let sharing = match sharing.filter(|sharing| !sharing.is_over_http()) {
            Some(sharing) => {
                let seal = sharing.seal()?;
                Some((sharing, seal))
            }
            None => None,
        };
        Ok(GatewayPlan { listener, entrance, sharing })
    }

    /// Serves clients until we are told to stop, and ends what was started for them.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = self.listener.open().await?;
            let mut entrance = self.entrance;
            if let Some((sharing, seal)) = self.sharing {
                let address = sharing.address(listener.local_addr()?)?;
                let replica = Replica::new(address, seal, self.listener.token.as_deref());
                entrance = entrance.as_replica(Arc::new(replica));
            }
            let mut settings = ServeSettings::default();
            settings.keep_header_case = true;
            let stop = async {
                shutdown::requested().await;
                entrance.drain();
            };
            serve(listener, entrance.clone(), settings, stop).await;
            entrance.close().await;
            Ok(())
        })
    }
}
