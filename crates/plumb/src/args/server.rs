use std::{ffi::OsString, path::PathBuf};

use clap::Args as ClapArgs;
use http::{HeaderName, HeaderValue};

/// A server, and how it is reached.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct ServerArgs {
    /// The server: a URL with http, https, ws or wss, or its name in plumb.toml
    #[arg(value_name = "URL|NAME", conflicts_with = "command")]
    pub(crate) server: Option<String>,
    /// The server to start instead, with its arguments; without a shell
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<OsString>,
    #[command(flatten)]
    pub(crate) options: ServerOptions,
}

/// How a server is started or reached.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct ServerOptions {
    /// Set a variable in the environment of the server; may be repeated
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = variable)]
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Start the server in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Send this header with every request to a URL; may be repeated
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header)]
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

fn variable(text: &str) -> Result<(OsString, OsString), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.into(), value.into()))
}

fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("write it as `Name: value`")?;
    let name = name.trim().parse().map_err(|_| "this is not the name of a header")?;
    let value = value.trim().parse().map_err(|_| "this is not the value of a header")?;
    Ok((name, value))
}
