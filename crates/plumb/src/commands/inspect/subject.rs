//! What to inspect: a recording, or servers to talk to.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use http::{HeaderName, HeaderValue};
use mcp_inspector::{Launch, Target};
use mcp_proxy::Access;

use crate::{
    args::{InspectArgs, ServerOptions},
    client_config::{self, ConfigFile, Listed, Start, listed},
    commands::notes::Notes,
    failure::Failure,
    names::UnknownName,
    text::shown_path,
};

/// What to inspect.
pub(super) enum Subject {
    Recording(PathBuf),
    Servers { name: String, targets: Vec<Target> },
}

/// Larger files are not checked for being a client's configuration, so recordings are not read for
/// it.
const LONGEST_CONFIG: u64 = 1 << 20;

impl Subject {
    pub(super) fn of(args: &InspectArgs, notes: &Notes) -> anyhow::Result<Subject> {
        let InspectArgs { target, command, options, server, .. } = args;
        if let Some((program, arguments)) = command.split_first() {
            let launch = Launch {
                program: program.clone(),
                arguments: arguments.to_vec(),
                environment: options.environment.clone(),
                directory: options.cwd.clone(),
            };
            return Ok(Subject::one(Target::command(launch)));
        }
        let Some(target) = target else { return Ok(Subject::one(Target::demo())) };
        let url = target.to_str().filter(|text| is_url(text));
        if let Some(url) = url.filter(|_| server.is_none()) {
            return Ok(Subject::one(at(url, access(options, [])?)?));
        }
        if let Some(servers) = servers_of(target.as_ref()) {
            let targets = usable(servers, options, notes, target.as_ref())?;
            let name = shown_path(target.as_ref());
            return Ok(Subject::Servers { name, targets: begin_with(targets, server.as_deref())? });
        }
        if server.is_some() {
            let name = shown_path(target.as_ref());
            return Err(Failure::new(format!("{name} is not the configuration of a client"))
                .hint("--server chooses a server in a file with `mcpServers`")
                .into());
        }
        let ServerOptions { environment, cwd, headers } = options;
        if cwd.is_some() || !environment.is_empty() || !headers.is_empty() {
            let name = shown_path(target.as_ref());
            return Err(Failure::new(format!("{name} is a recording, not a server"))
                .hint("--env, --cwd and --header are for servers")
                .into());
        }
        Ok(Subject::Recording(target.into()))
    }

    fn one(target: Target) -> Subject {
        Subject::Servers { name: target.shown.clone(), targets: vec![target] }
    }
}

/// The servers in a file, if it is the configuration of a client.
fn servers_of(path: &Path) -> Option<Vec<Listed>> {
    let is_short = fs::metadata(path).is_ok_and(|found| found.len() <= LONGEST_CONFIG);
    let file = is_short.then(|| ConfigFile::read(path).ok())??;
    let variable = |name: &str| std::env::var_os(name)?.into_string().ok();
    client_config::read(&file.text, |root| listed(root, &variable)).ok()?
}

/// The servers that can be started or reached; notes explain why others cannot.
fn usable(
    servers: Vec<Listed>,
    options: &ServerOptions,
    notes: &Notes,
    path: &Path,
) -> anyhow::Result<Vec<Target>> {
    let mut targets = Vec::new();
    for Listed { name, start } in servers {
        match start.map_err(anyhow::Error::msg).and_then(|start| target(start, options)) {
            Ok(target) => targets.push(target.named(name)),
            Err(reason) => notes.note(&format!("skipping server `{name}`: {reason:#}")),
        }
    }
    if targets.is_empty() {
        let path = shown_path(path);
        return Err(Failure::new(format!("{path} has no server that can be used")).into());
    }
    Ok(targets)
}

/// Moves the server with this name to the front.
fn begin_with(mut targets: Vec<Target>, name: Option<&str>) -> anyhow::Result<Vec<Target>> {
    let Some(name) = name else { return Ok(targets) };
    let Some(place) = targets.iter().position(|target| target.name == name) else {
        let known = targets.iter().map(|target| &*target.name);
        return Err(UnknownName::new("server", name, known).into());
    };
    targets[..=place].rotate_right(1);
    Ok(targets)
}

fn target(start: Start, options: &ServerOptions) -> anyhow::Result<Target> {
    match start {
        Start::Command { program, arguments, environment, directory } => {
            let of_file = environment.into_iter().map(|(name, value)| (name.into(), value.into()));
            let added = options.environment.iter().cloned();
            let environment: Vec<(OsString, OsString)> = of_file.chain(added).collect();
            Ok(Target::command(Launch {
                program: program.into(),
                arguments: arguments.into_iter().map(Into::into).collect(),
                environment,
                directory: options.cwd.clone().or(directory.map(PathBuf::from)),
            }))
        }
        Start::Url { url, headers } => {
            let mut parsed = Vec::new();
            for (name, value) in headers {
                let header = name.parse().ok().zip(value.parse().ok());
                let reason = || anyhow::anyhow!("its header `{name}` cannot be sent");
                parsed.push(header.ok_or_else(reason)?);
            }
            at(&url, access(options, parsed)?)
        }
    }
}

fn at(url: &str, access: Access) -> anyhow::Result<Target> {
    Target::url(url, access).map_err(|error| {
        Failure::new("the server cannot be used")
            .because(error)
            .hint("write its URL like http://127.0.0.1:3000/mcp or ws://127.0.0.1:3000/mcp")
            .into()
    })
}

/// The headers of the configuration; headers from the command line replace those with the same
/// name.
fn access(
    options: &ServerOptions,
    headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
) -> anyhow::Result<Access> {
    let mut access = Access::default();
    for (name, value) in headers.into_iter().chain(options.headers.iter().cloned()) {
        access = access
            .header(name, value)
            .map_err(|error| Failure::new("a header cannot be sent").because(error))?;
    }
    Ok(access)
}

/// Whether it is a URL rather than a file name.
fn is_url(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| ["http", "https", "ws", "wss"].contains(&&*scheme))
}
