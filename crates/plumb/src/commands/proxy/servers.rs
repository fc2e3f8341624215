//! The servers behind the proxy.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use http::{HeaderValue, header::AUTHORIZATION};
use mcp_proxy::{Access, Prefix};

use super::secrets;
use crate::{
    args::{HeaderFromEnvironment, ProxyArgs},
    config::{Config, UpstreamConfig},
    failure::Failure,
};

/// A server, and how to reach it.
#[derive(Debug)]
pub(super) struct Server {
    /// The path prefix that leads to it, if there are several.
    pub(super) prefix: Option<Prefix>,
    pub(super) target: Target,
    pub(super) access: Access,
}

/// Where a server is.
#[derive(Debug)]
pub(super) enum Target {
    Url(String),
    /// The command that starts it. Never empty.
    Command(Vec<OsString>),
}

impl Server {
    /// Its name, if there are several.
    pub(super) fn name(&self) -> Option<Arc<str>> {
        self.prefix.as_ref().map(|prefix| prefix.name().into())
    }
}

/// The servers given on the command line, or else those in plumb.toml.
pub(super) fn chosen(args: &ProxyArgs, config: &Config) -> anyhow::Result<Vec<Server>> {
    let servers = if !args.command.is_empty() {
        let (target, access) = (Target::Command(args.command.clone()), Access::default());
        vec![Server { prefix: None, target, access }]
    } else if args.upstream.is_empty() {
        configured(config)?
    } else {
        named(args)?
    };
    check(&servers, args)?;
    Ok(servers)
}

fn named(args: &ProxyArgs) -> anyhow::Result<Vec<Server>> {
    let credentials = Credentials {
        token: args.upstream_auth_token_file.clone(),
        headers: args.upstream_header_file.clone(),
        environment: &args.upstream_header_env,
        ca: args.upstream_ca.clone(),
    };
    if args.upstream.len() > 1 && !credentials.is_empty() {
        return Err(Failure::new("credentials given, but there are several servers")
            .hint("move the servers with their credentials to [[proxy.upstream]] in plumb.toml")
            .into());
    }
    let access = credentials.read()?;
    let server = |upstream: &crate::args::UpstreamArg| Server {
        prefix: upstream.prefix.clone(),
        target: Target::Url(upstream.url.clone()),
        access: access.clone(),
    };
    Ok(args.upstream.iter().map(server).collect())
}

fn configured(config: &Config) -> anyhow::Result<Vec<Server>> {
    let directory = config.directory();
    config.proxy.upstreams.iter().map(|upstream| configured_server(upstream, directory)).collect()
}

fn configured_server(upstream: &UpstreamConfig, directory: &Path) -> anyhow::Result<Server> {
    let place = |path: &Option<PathBuf>| path.as_ref().map(|path| directory.join(path));
    let credentials = Credentials {
        token: place(&upstream.auth_token_file),
        headers: place(&upstream.header_file),
        environment: &[],
        ca: place(&upstream.ca),
    };
    let target = if upstream.command.is_empty() {
        Target::Url(upstream.url.clone())
    } else {
        Target::Command(upstream.command.iter().map(OsString::from).collect())
    };
    Ok(Server { prefix: upstream.prefix.clone(), target, access: credentials.read()? })
}

fn check(servers: &[Server], args: &ProxyArgs) -> anyhow::Result<()> {
    if servers.is_empty() {
        return Err(Failure::new("no server given")
            .hint("give a command after `--`, a URL with --upstream, or [[proxy.upstream]] in plumb.toml")
            .into());
    }
    let has_prefix = servers.iter().any(|server| server.prefix.is_some());
    if args.listen.is_none() && (has_prefix || servers.len() > 1) {
        return Err(Failure::new("a client on the standard streams can only use one server")
            .hint("use --listen ADDRESS to serve several servers")
            .into());
    }
    if servers.len() == 1 {
        return Ok(());
    }
    let mut seen = BTreeSet::new();
    for server in servers {
        let Some(prefix) = &server.prefix else {
            return Err(Failure::new("a server has no prefix, but there are several")
                .hint("write it like --upstream /files=http://127.0.0.1:3000/mcp")
                .into());
        };
        if !seen.insert(prefix) {
            return Err(Failure::new(format!("the prefix {prefix} is used for several servers"))
                .hint("give each a prefix of its own")
                .into());
        }
    }
    Ok(())
}

/// The sources of credentials for a server.
struct Credentials<'a> {
    token: Option<PathBuf>,
    headers: Option<PathBuf>,
    environment: &'a [HeaderFromEnvironment],
    ca: Option<PathBuf>,
}

impl Credentials<'_> {
    fn is_empty(&self) -> bool {
        let Credentials { token, headers, environment, ca } = self;
        token.is_none() && headers.is_none() && environment.is_empty() && ca.is_none()
    }

    fn read(&self) -> anyhow::Result<Access> {
        let mut access = Access::default();
        if let Some(path) = &self.headers {
            for (name, value) in secrets::headers(path)? {
                access = access.header(name, value)?;
            }
        }
        for HeaderFromEnvironment { name, variable } in self.environment {
            let value = std::env::var_os(variable).ok_or_else(|| {
                Failure::new(format!("the environment variable {variable} is not set"))
                    .hint("set it to the value of the header")
            })?;
            let value = HeaderValue::from_bytes(value.as_encoded_bytes()).map_err(|error| {
                Failure::new(format!("the value of {variable} is not a valid header value"))
                    .because(error)
            })?;
            access = access.header(name.clone(), value)?;
        }
        if let Some(path) = &self.token {
            let value = HeaderValue::from_str(&format!("Bearer {}", secrets::token(path)?))?;
            access = access.header(AUTHORIZATION, value)?;
        }
        if let Some(path) = &self.ca {
            access = access.trusting(&secrets::read(path, "certificates")?)?;
        }
        Ok(access)
    }
}
