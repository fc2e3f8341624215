//! Chooses the servers to test or lock: a command, a URL, or names in plumb.toml.

use std::path::{Path, PathBuf};

use http::{HeaderMap, HeaderValue};
use mcp_probe::{Launch, RunError, Target};

use crate::{
    args::{LOCK_FILE, ServerArgs},
    config::{Config, ServerConfig, TestOptions},
    failure::Failure,
    names::UnknownName,
    text::visible_lines,
};

/// A server to test or to lock.
#[derive(Debug)]
pub(super) struct ChosenServer {
    /// Its name in plumb.toml.
    pub(super) name: Option<String>,
    pub(super) target: Target,
    /// Options from plumb.toml; paths are relative to the working directory.
    pub(super) options: TestOptions,
    /// Its lock file, unless the command line gives another one.
    pub(super) lock: PathBuf,
}

/// The chosen servers: one, or all in plumb.toml.
pub(super) fn chosen(args: &ServerArgs, config: &Config) -> anyhow::Result<Vec<ChosenServer>> {
    let of_all = relative_to(config.directory(), config.test.options.clone());
    let unnamed = |target| {
        let lock = of_all.lock.clone().unwrap_or_else(|| LOCK_FILE.into());
        vec![ChosenServer { name: None, target, options: of_all.clone(), lock }]
    };
    if let Some((program, arguments)) = args.command.split_first() {
        return Ok(unnamed(Target::Command(Launch {
            program: program.clone(),
            arguments: arguments.to_vec(),
            environment: args.options.environment.clone(),
            directory: args.options.cwd.clone(),
        })));
    }
    let servers = &config.test.servers;
    let named = |name: &String, server: &ServerConfig| -> anyhow::Result<ChosenServer> {
        let own = relative_to(config.directory(), server.options.clone());
        let options = own.or(&of_all);
        let lock = options.lock.clone().unwrap_or_else(|| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            let name = name.replace(|c| !is_plain(c), "-");
            config.directory().join(format!("plumb-{name}.lock"))
        });
        let target = configured(args, server, config.directory())?;
        Ok(ChosenServer { name: Some(name.clone()), target, options, lock })
    };
    match &args.server {
        Some(url) if url.contains("://") => {
            let headers = args.options.headers.iter().cloned().collect();
            Ok(unnamed(at(url, headers)?))
        }
        Some(name) => match servers.get(name) {
            Some(server) => Ok(vec![named(name, server)?]),
            None => Err(unknown(name, config).into()),
        },
        None if servers.is_empty() => Err(Failure::new("no server given")
            .hint("give its URL, or a command after `--`, or add `[test.servers]` to plumb.toml")
            .into()),
        None => servers.iter().map(|(name, server)| named(name, server)).collect(),
    }
}

/// Why a server could not be tested or locked.
pub(super) fn untestable(error: &RunError) -> anyhow::Error {
    let failure = Failure::new(error.to_string());
    let (RunError::Unreachable { reason, stderr } | RunError::NoRevision { reason, stderr }) =
        error
    else {
        return failure.into();
    };
    if reason.ends_with("status 401") {
        let hint = "it wants credentials: `--header \"Authorization: Bearer TOKEN\"` sends them";
        return failure.hint(hint).into();
    }
    let said: Vec<&str> = stderr.trim_end().lines().rev().take(5).collect();
    if said.is_empty() {
        return failure.hint("give the command that starts it after `--`, or its URL").into();
    }
    let said: Vec<&str> = said.into_iter().rev().collect();
    failure.hint(format!("its standard error: {}", visible_lines(&said.join("\n")))).into()
}

/// A server from plumb.toml, with options from the command line added.
fn configured(args: &ServerArgs, server: &ServerConfig, base: &Path) -> anyhow::Result<Target> {
    let Some((program, arguments)) = server.command.split_first() else {
        let mut headers: HeaderMap = server.headers.iter().cloned().collect();
        for (name, variable) in &server.header_env {
            headers.insert(name.clone(), from_environment(variable)?);
        }
        headers.extend(args.options.headers.iter().cloned());
        return at(&server.url, headers);
    };
    let of_file = server.environment.iter().map(|(name, value)| (name.into(), value.into()));
    let directory = server.cwd.as_ref().map(|cwd| base.join(cwd));
    Ok(Target::Command(Launch {
        program: program.into(),
        arguments: arguments.iter().map(Into::into).collect(),
        environment: of_file.chain(args.options.environment.iter().cloned()).collect(),
        directory: args.options.cwd.clone().or(directory),
    }))
}

fn at(url: &str, headers: HeaderMap) -> anyhow::Result<Target> {
    Target::url(url, headers).map_err(|error| {
        Failure::new("the URL of the server cannot be used")
            .because(error)
            .hint("write it like http://127.0.0.1:3000/mcp, or give a command after `--`")
            .into()
    })
}

fn from_environment(variable: &str) -> anyhow::Result<HeaderValue> {
    let value = std::env::var_os(variable).ok_or_else(|| {
        Failure::new(format!(
            "the environment variable `{variable}`, needed for a header, is not set"
        ))
    })?;
    // The error does not repeat the value, which may be a secret.
    let header = HeaderValue::from_bytes(value.as_encoded_bytes());
    let mut header = header.map_err(|_| {
        Failure::new(format!("the environment variable `{variable}` is not a valid header value"))
    })?;
    header.set_sensitive(true);
    Ok(header)
}

fn unknown(name: &str, config: &Config) -> Failure {
    let servers = &config.test.servers;
    if servers.is_empty() {
        return Failure::new(format!("`{name}` is not a URL, and plumb.toml names no servers"))
            .hint("give a URL with http, https, ws or wss, or a command after `--`");
    }
    let known: Vec<&str> = servers.keys().map(String::as_str).collect();
    Failure::new(UnknownName::new("server", name, known.iter().copied()).to_string())
        .hint(format!("plumb.toml has: {}", known.join(", ")))
}

fn relative_to(base: &Path, mut options: TestOptions) -> TestOptions {
    options.baseline = options.baseline.map(|path| base.join(path));
    options.lock = options.lock.map(|path| base.join(path));
    options
}
