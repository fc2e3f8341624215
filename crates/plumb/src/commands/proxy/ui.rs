use std::sync::Arc;

use mcp_inspector::{Log, LogLimits};
use mcp_proxy::Watcher;
use mcp_rules::{Engine, Limits};

use super::servers::{Server, Target};
use crate::{args::ProxyArgs, commands::page::Page};

/// A page that shows the traffic.
pub(super) struct Ui(Option<Log>);

impl Ui {
    /// Starts serving the page, if there is an address, until the process ends.
    pub(super) fn start(
        args: &ProxyArgs,
        servers: &[Server],
        engine: &Arc<Engine>,
    ) -> anyhow::Result<Ui> {
        let Some(address) = &args.ui else { return Ok(Ui(None)) };
        let page = Page::bind(address, args.insecure)?;
        let log = Log::new(LogLimits::default());
        page.announce(false)?;
        let targets: Vec<String> = servers.iter().map(shown).collect();
        page.serve_aside(log.clone(), targets.join(", "), Arc::clone(engine));
        Ok(Ui(Some(log)))
    }

    /// A watcher that shows the traffic on the page.
    pub(super) fn watcher(&self, limits: &Limits) -> Option<Watcher> {
        self.0.as_ref().map(|log| log.watcher(limits))
    }
}

fn shown(server: &Server) -> String {
    match &server.target {
        Target::Url(url) => url.clone(),
        Target::Command(words) => {
            words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
        }
    }
}
