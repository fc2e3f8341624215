use std::{fs, net::SocketAddr, path::Path};

use mcp_core::SessionStore;
use mcp_proxy::{
    UrlKind,
    http::SessionSeal,
    store::{RedisStore, StoreSettings},
};

use super::{
    secrets,
    servers::{Server, Target},
};
use crate::{args::ProxyArgs, failure::Failure, text::shown_path};

/// What replicas of a proxy share.
#[derive(Debug)]
pub(super) struct Sharing<'a> {
    args: &'a ProxyArgs,
    store: Option<(&'a str, StoreSettings)>,
    /// Whether there are sessions that live in a server which all replicas reach.
    has_sessions_there: bool,
    /// Whether there are sessions whose servers, or connections, are here.
    has_sessions_here: bool,
}

impl<'a> Sharing<'a> {
    /// Reads the arguments; `None` if there are no replicas.
    pub(super) fn of(
        args: &'a ProxyArgs,
        servers: &[Server],
    ) -> anyhow::Result<Option<Sharing<'a>>> {
        if let Some(address) = &args.advertise
            && !is_address(address)
        {
            return Err(Failure::new(format!("`{address}` is not an address to advertise"))
                .hint("write a host and a port, such as 10.0.0.5:8900")
                .into());
        }
        let shares = args.store.is_some() || args.store_key_file.is_some();
        if args.advertise.is_some() && !shares {
            return Err(Failure::new("--advertise has no effect without a store or a key")
                .hint("add --store or --store-key-file")
                .into());
        }
        let is_there = |server: &Server| match &server.target {
            Target::Url(url) => matches!(UrlKind::of(url), Ok(UrlKind::Http)),
            Target::Command(_) => false,
        };
        let mut settings = StoreSettings::default();
        if let Some(path) = &args.store_ca {
            settings.trusted = Some(secrets::read(path, "certificates")?);
        }
        if let Some(url) = &args.store {
            open(url, settings.clone())?;
        }
        Ok(shares.then(|| Sharing {
            args,
            store: args.store.as_deref().map(|url| (url, settings)),
            has_sessions_there: servers.iter().any(is_there),
            has_sessions_here: !servers.iter().all(is_there),
        }))
    }

    pub(super) fn has_sessions_here(&self) -> bool {
        self.has_sessions_here
    }

    /// The store of what all replicas know about sessions. A session whose server runs here is
    /// known to this replica only.
    pub(super) fn memory(&self) -> Option<Box<dyn SessionStore>> {
        let (url, settings) = self.store.as_ref().filter(|_| self.has_sessions_there)?;
        // The URL was checked before.
        let store = RedisStore::new(url, settings.clone()).ok()?;
        Some(Box::new(store))
    }

    /// The seal for ids of sessions that live in one replica.
    pub(super) fn seal(&self) -> anyhow::Result<SessionSeal> {
        if let Some(path) = &self.args.store_key_file {
            return read_key(path);
        }
        let Some((url, settings)) = &self.store else {
            return Err(Failure::new("replicas need a shared key")
                .hint("add --store-key-file or --store")
                .into());
        };
        let key = open(url, settings.clone())?.sealing_key().map_err(|error| {
            Failure::new("the key for session ids could not be read from the store")
                .hint("start the store first, or use --store-key-file")
                .because(error)
        })?;
        Ok(SessionSeal::new(&key)?)
    }

    /// The address at which other replicas reach this one.
    pub(super) fn address(&self, listening: SocketAddr) -> anyhow::Result<String> {
        match &self.args.advertise {
            Some(address) => Ok(address.clone()),
            None if listening.ip().is_unspecified() => {
                Err(Failure::new(format!("other replicas cannot reach this one at `{listening}`"))
                    .hint("add --advertise HOST:PORT")
                    .into())
            }
            None => Ok(listening.to_string()),
        }
    }
}

fn open(url: &str, settings: StoreSettings) -> anyhow::Result<RedisStore> {
    // The error does not show the URL, which may hold a password.
    let opened = RedisStore::new(url, settings);
    Ok(opened.map_err(|error| Failure::new("the session store cannot be used").because(error))?)
}

/// Whether a text is a host with a port.
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
        Failure::new(format!("{} does not contain a key", shown_path(path))).because(error).hint(
            "create one with `openssl rand -base64 32`, and use the same file for all replicas",
        )
    })?;
    Ok(seal)
}
