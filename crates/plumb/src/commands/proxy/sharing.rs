use std::{
    fs,
    io::{self, Write as _},
    net::SocketAddr,
    path::Path,
};

use mcp_core::SessionStore;
use mcp_proxy::{
    Knowledge, UrlKind, Watcher,
    http::SessionSeal,
    store::{RedisStore, StoreSettings},
};

use crate::{
    args::{ProxyArgs, ReportFormat},
    failure::Failure,
    text::shown_path,
};

/// What replicas of a proxy have in common.
#[derive(Debug)]
pub(super) struct Sharing<'a> {
    args: &'a ProxyArgs,
}

impl<'a> Sharing<'a> {
    /// Nothing, unless the arguments say so.
    pub(super) fn of(args: &'a ProxyArgs) -> anyhow::Result<Option<Sharing<'a>>> {
        if let Some(address) = &args.advertise
            && !is_address(address)
        {
            return Err(Failure::new(format!("`{address}` is not an address to advertise"))
                .hint("write a host and a port, such as 10.0.0.5:8900")
                .into());
        }
        let shares = args.store.is_some() || args.store_key_file.is_some();
        if args.advertise.is_some() && !shares {
            return Err(Failure::new("there is nothing to share with other replicas")
                .hint("name what they have in common with --store or --store-key-file")
                .into());
        }
        Ok(shares.then_some(Sharing { args }))
    }

    /// Whether sessions live in a server that all replicas reach.
    pub(super) fn is_over_http(&self) -> bool {
        let url = self.args.upstream.as_deref();
        url.is_some_and(|url| matches!(UrlKind::of(url), Ok(UrlKind::Http)))
    }

    fn store(&self) -> anyhow::Result<Option<RedisStore>> {
        let Some(url) = &self.args.store else { return Ok(None) };
        let store = RedisStore::new(url, StoreSettings::default()).map_err(|error| {
            // The URL may hold a password.
            Failure::new("the session store cannot be used").because(error)
        })?;
        Ok(Some(store))
    }

    /// What all replicas know of sessions. Those of a server that is started here are known to one
    /// replica only.
    pub(super) fn memory(&self) -> anyhow::Result<Option<Box<dyn SessionStore>>> {
        if !self.is_over_http() {
            return Ok(None);
        }
        Ok(self.store()?.map(|store| Box::new(store) as Box<dyn SessionStore>))
    }

    /// Says when the store goes away, and when it is back.
    pub(super) fn watcher(&self) -> Option<Watcher> {
        let is_for_people = !self.args.quiet && self.args.format == ReportFormat::Human;
        let enforces = self.args.enforce;
        let mut is_away = false;
        is_for_people.then(|| {
            let watcher: Watcher = Box::new(move |passage| {
                let was_away = is_away;
                match passage.knowledge {
                    Knowledge::Missing => is_away = true,
                    Knowledge::Shared => is_away = false,
                    _ => {}
                }
                let text = match (was_away, is_away) {
                    (false, true) if enforces => {
                        "plumb: the session store is away; requests of sessions get 503\n"
                    }
                    (false, true) => {
                        "plumb: the session store is away; traffic passes, and sessions are not judged\n"
                    }
                    (true, false) => "plumb: the session store is back\n",
                    _ => return,
                };
                // If nobody listens, the traffic still has to pass.
                let _ = io::stderr().write_all(text.as_bytes());
            });
            watcher
        })
    }

    /// The seal for the ids of sessions that one replica has.
    pub(super) fn seal(&self) -> anyhow::Result<SessionSeal> {
        if let Some(path) = &self.args.store_key_file {
            return read_key(path);
        }
        let Some(mut store) = self.store()? else {
            return Err(Failure::new("replicas need a key in common")
                .hint("name a file with --store-key-file, or a store with --store")
                .into());
        };
        let key = store.sealing_key().map_err(|error| {
            Failure::new("the key for session ids could not be read from the store")
                .hint("start the store first, or name a file with --store-key-file")
                .because(error)
        })?;
        Ok(SessionSeal::new(&key)?)
    }

    /// Where other replicas reach this one.
    pub(super) fn address(&self, listening: SocketAddr) -> anyhow::Result<String> {
        match &self.args.advertise {
            Some(address) => Ok(address.clone()),
            None if listening.ip().is_unspecified() => {
                Err(Failure::new(format!("other replicas cannot reach this one at `{listening}`"))
                    .hint("say where they can with --advertise HOST:PORT")
                    .into())
            }
            None => Ok(listening.to_string()),
        }
    }
}

/// Whether it is a host with a port.
fn is_address(text: &str) -> bool {
    let parts = text.rsplit_once(':');
    parts.is_some_and(|(host, port)| {
        let is_host =
            host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte));
        !host.is_empty() && is_host && port.parse::<u16>().is_ok_and(|port| port > 0)
    })
}

fn read_key(path: &Path) -> anyhow::Result<SessionSeal> {
    let text = fs::read(path).map_err(|error| {
        Failure::new(format!("could not read the key in {}", shown_path(path))).because(error)
    })?;
    let seal = SessionSeal::new(text.trim_ascii()).map_err(|error| {
        Failure::new(format!("{} holds no key", shown_path(path)))
            .because(error)
            .hint("make one with `openssl rand -base64 32`, the same for all replicas")
    })?;
    Ok(seal)
}
