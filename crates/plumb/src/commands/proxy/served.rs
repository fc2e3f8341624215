use std::{ffi::OsString, time::Duration};

use mcp_proxy::{
    Tap,
    bridge::children::{Children, ChildrenSettings},
    http::{Forwarding, Guarded, SessionSeal},
    shutdown,
};
use mcp_transport::http::server::{ServeSettings, serve};

use super::{command, listener::ListenerPlan, sharing::Sharing};
use crate::args::ProxyArgs;

/// A server that is started for HTTP clients, checked and ready to run.
#[derive(Debug)]
pub(super) struct ServedPlan<'a> {
    listener: ListenerPlan,
    program: OsString,
    arguments: Vec<OsString>,
    settings: ChildrenSettings,
    /// What other replicas need to find sessions here.
    sharing: Option<(Sharing<'a>, SessionSeal)>,
}

impl<'a> ServedPlan<'a> {
    pub(super) fn new(
        listen: &str,
        args: &ProxyArgs,
        limit: usize,
        sharing: Option<Sharing<'a>>,
    ) -> anyhow::Result<ServedPlan<'a>> {
        let (program, arguments) = command(args)?;
        let listener = ListenerPlan::new(listen, args)?;
        let mut settings = ChildrenSettings::default();
        settings.hosts = listener.hosts.clone();
        settings.origins = listener.origins.clone();
        settings.max_children = args.max_children.into();
        settings.max_message = limit;
        settings.exit_wait = Duration::from_secs(args.exit_wait.into());
        let (program, arguments) = (program.clone(), arguments.to_vec());
        let sharing = match sharing {
            Some(sharing) => {
                let seal = sharing.seal()?;
                Some((sharing, seal))
            }
            None => None,
        };
        Ok(ServedPlan { listener, program, arguments, settings, sharing })
    }

    /// Serves clients until we are told to stop, and ends what was started for them.
    pub(super) fn run(self, tap: &Tap) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = self.listener.open().await?;
            let replica = match self.sharing {
                Some((sharing, seal)) => Some((sharing.address(listener.local_addr()?)?, seal)),
                None => None,
            };
            let children = Children::new(&self.program, &self.arguments, tap, self.settings);
            let service = children.service();
            let stop = service.clone().drain_after(shutdown::requested());
            let (token, settings) = (self.listener.token, ServeSettings::default());
            match replica {
                Some((address, seal)) => {
                    let forwarding = Forwarding::new(service.clone(), address, seal);
                    serve(listener, Guarded::new(forwarding, token), settings, stop).await;
                }
                None => {
                    serve(listener, Guarded::new(service.clone(), token), settings, stop).await;
                }
            }
            service.close();
            children.close().await;
            Ok(())
        })
    }
}
