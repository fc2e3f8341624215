use std::{ffi::OsString, time::Duration};

use mcp_proxy::{
    Tap,
    bridge::children::{Children, ChildrenSettings},
    http::Guarded,
    shutdown::{Drain, Phase},
};
use mcp_transport::http::server::{ServeSettings, serve};

use super::{
    command,
    listener::{ListenerPlan, serve_until_drained},
};
use crate::args::{LogFormat, ProxyArgs};

/// A server that is started for HTTP clients, checked and ready to run.
#[derive(Debug)]
pub(super) struct ServedPlan {
    listener: ListenerPlan,
    program: OsString,
    arguments: Vec<OsString>,
    settings: ChildrenSettings,
}

impl ServedPlan {
    pub(super) fn new(
        listen: &str,
        args: &ProxyArgs,
        limit: usize,
        drain: &Drain,
    ) -> anyhow::Result<ServedPlan> {
        let (program, arguments) = command(args)?;
        let listener = ListenerPlan::new(listen, args)?;
        let mut settings = ChildrenSettings::default();
        settings.hosts = listener.hosts.clone();
        settings.origins = listener.origins.clone();
        settings.max_children = args.max_children.into();
        settings.max_message = limit;
        settings.drain = drain.clone();
        settings.log_stderr = args.log_format == LogFormat::Json;
        settings.exit_wait = Duration::from_secs(args.exit_wait.into());
        let (program, arguments) = (program.clone(), arguments.to_vec());
        Ok(ServedPlan { listener, program, arguments, settings })
    }

    /// Serves clients until we are told to stop, and ends what was started for them.
    pub(super) fn run(self, tap: &Tap) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = self.listener.open().await?;
            let drain = self.settings.drain.clone();
            let children = Children::new(&self.program, &self.arguments, tap, self.settings);
            let service = children.service();
            let guarded = Guarded::new(service.clone(), self.listener.token);
            let settings = ServeSettings::default();
            serve_until_drained(&drain, settings, |settings, stop| {
                serve(listener, guarded, settings, service.clone().drain_after(stop))
            })
            .await;
            service.close();
            tokio::select! {
                () = children.close() => {}
                () = drain.reached(Phase::Forced) => {}
            }
            Ok(())
        })
    }
}
