use std::{
    fs,
    io::{self, Write as _},
    path::Path,
    sync::Arc,
    time::Duration,
};

use mcp_core::BoxFuture;
use mcp_proxy::shutdown::{Drain, Phase};
use mcp_transport::{Allowed, http::server::ServeSettings};
use tokio::net::TcpListener;

use crate::{
    args::{LogFormat, ProxyArgs},
    commands::listen::is_local,
    failure::Failure,
    text::shown_path,
};

/// Where HTTP clients are served, and which of them.
#[derive(Debug)]
pub(super) struct ListenerPlan {
    address: String,
    pub(super) hosts: Allowed,
    pub(super) origins: Allowed,
    pub(super) token: Option<Arc<str>>,
    log: LogFormat,
}

/// Says where something listens. Whoever starts it has to know, however quiet it is.
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
            log: args.log_format,
        })
    }

    /// Begins to listen, and says where.
    pub(super) async fn open(&self) -> anyhow::Result<TcpListener> {
        let listener = mcp_transport::bind(&*self.address).await?;
        let address = listener.local_addr()?;
        announce(self.log, "listening on", &format!("http://{address}"));
        Ok(listener)
    }
}

/// Serves until it is time to end: connections get no longer than `drain` says, and a moment for the
/// last answers.
pub(super) async fn serve_until_drained<F: Future<Output = ()>>(
    drain: &Drain,
    mut settings: ServeSettings,
    serve: impl FnOnce(ServeSettings, BoxFuture<'static, ()>) -> F,
) {
    // The phases say when; this is for those who do not listen to them.
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
