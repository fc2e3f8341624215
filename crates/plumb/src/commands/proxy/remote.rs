use std::time::Duration;

use mcp_proxy::{
    Access, Tap,
    bridge::remote::{self, Remote, RemoteSettings},
    shutdown::Drain,
};

use crate::{args::ProxyArgs, failure::Failure};

/// Relays between the client on our standard streams and a server at a URL.
pub(super) fn run(
    url: &str,
    access: &Access,
    args: &ProxyArgs,
    tap: &Tap,
    limit: usize,
    drain: &Drain,
) -> anyhow::Result<()> {
    let timeout = Duration::from_secs(args.answer_timeout.into());
    let remote = Remote::answering(url, limit, timeout, access).map_err(|error| {
        Failure::new("the server cannot be used")
            .because(error)
            .hint("write its URL like http://127.0.0.1:3000/mcp or ws://127.0.0.1:3000/mcp")
    })?;
    let mut settings = RemoteSettings::default();
    settings.max_line = limit;
    settings.exit_wait = Duration::from_secs(args.exit_wait.into());
    settings.drain = drain.clone();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(remote::run(remote, tap, &settings))?;
    Ok(())
}
