use std::{ffi::OsString, path::PathBuf};

use clap::Args as ClapArgs;
use http::{HeaderName, HeaderValue};

/// A server, and how to reach it.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct ServerArgs {
    /// URL of the server (http, https, ws or wss), or its name in plumb.toml
    #[arg(value_name = "URL|NAME", conflicts_with = "command")]
    pub(crate) server: Option<String>,
    /// Command that starts the server, with its arguments; no shell is involved
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<OsString>,
    #[command(flatten)]
    pub(crate) options: ServerOptions,
}

/// How to start or reach a server.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct ServerOptions {
    /// Set an environment variable for the server; may be repeated
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = variable)]
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Start the server in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Send this header with every HTTP request; may be repeated
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header)]
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

fn variable(text: &str) -> Result<(OsString, OsString), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.into(), value.into()))
}

fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("write it as `Name: value`")?;
    let name = name.trim().parse().map_err(|_| "not a valid header name")?;
    let value = value.trim().parse().map_err(|_| "not a valid header value")?;
    Ok((name, value))
}
