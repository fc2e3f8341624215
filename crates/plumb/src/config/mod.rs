//! `plumb.toml`: a project's configuration of `plumb check` and `plumb proxy`.
//!
//! ```toml
//! revision = "2025-11-25"        # or "auto"
//! from_start = true              # recordings begin where their sessions begin
//! profile = "house"              # a built-in one, or one from below
//! format = "human"
//! fail_on = "warning"            # or "error", "never"
//! max_findings = 200             # or "all"
//! baseline = "plumb-baseline.json"    # relative to this file
//! schema = ["2025-11-25=schemas/mine.json"]   # relative to this file
//! schema_required = true
//! allowed_origins = ["https://app.example.com"]   # for `origin-not-rejected`
//!
//! [rules]
//! method-unknown = "off"
//! "capability-*" = "warning"     # a name takes precedence over a pattern
//! "layer:http" = "off"
//!
//! [limits]
//! message_bytes = 1048576
//!
//! [proxy]
//! enforce = true                 # or false, "client", "server": whose messages are held back
//! bad_tools = "filter"           # remove them from their list; or "reject" the list, or "pass" it
//!
//! [proxy.rules]                  # off, warn or reject, for messages of both sides
//! method-unknown = "warn"
//!
//! [proxy.server.rules]           # only for those of the server; takes precedence over [proxy.rules]
//! "layer:http" = "warn"
//!
//! [profiles.house]
//! extends = "spec"
//! rules = { id-unsafe-integer = "error" }
//! requests = ["weather/forecast"]             # known besides those of the revision
//! notifications = ["notifications/weather"]
//!
//! [[proxy.upstream]]             # for `plumb proxy --listen`, unless the command line names a server
//! prefix = "/files"              # if there are several
//! url = "https://files.example.com/mcp"       # http, https, ws or wss
//! auth_token_file = "files.token"             # relative to this file
//! header_file = "files.headers"               # lines of `Name: value`
//! ca = "files.pem"                            # trusted instead of the system's certificates
//!
//! [[proxy.upstream]]
//! prefix = "/git"
//! command = ["git-server", "--stdio"]
//!
//! [test]                         # for `plumb test` and `plumb lock`: settings for all servers
//! allow_writes = true
//! time_limit = 60                # seconds
//! skip_tools = ["wipe"]
//!
//! [test.arguments]               # for tools that need real ones
//! search = [{ query = "rust", limit = 3 }]
//!
//! [test.servers.files]           # `plumb test files`; all of the above can be set here too
//! command = ["files-server", "--stdio"]
//! env = { LOG = "debug" }
//! lock = "files.lock"            # relative to this file, as `cwd` and `baseline` are
//!
//! [test.servers.remote]
//! url = "https://example.com/mcp"
//! header_env = { Authorization = "REMOTE_TOKEN" }  # from the environment
//! ```
//!
//! Anything not understood is an error, and a setting without effect is a warning: a setting that
//! silently does nothing is worse than none.

mod fault;
mod profiles;
mod proxy;
mod reader;
mod test;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use mcp_rules::Limits;

pub(crate) use fault::ConfigError;
pub(crate) use profiles::{Profiles, ResolvedProfile};
pub(crate) use proxy::{ProxyConfig, UpstreamConfig};
pub(crate) use test::{ServerConfig, TestConfig, TestOptions};

use crate::{
    args::{FailOn, Format, JudgingArgs, MaxFindings, RevisionChoice},
    levels::Levels,
};

/// The file name to look for in the working directory and its parents.
pub(crate) const FILE_NAME: &str = "plumb.toml";

/// The contents of a `plumb.toml`; settings that it leaves out are `None` or empty.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// Where it was read from.
    pub(crate) path: Option<PathBuf>,
    pub(crate) revision: Option<RevisionChoice>,
    pub(crate) from_start: Option<bool>,
    /// Known to exist, either built in or in `profiles`.
    pub(crate) profile: Option<String>,
    pub(crate) format: Option<Format>,
    pub(crate) fail_on: Option<FailOn>,
    pub(crate) max_findings: Option<MaxFindings>,
    /// Relative to the file.
    pub(crate) baseline: Option<PathBuf>,
    /// As on the command line.
    pub(crate) schemas: Vec<String>,
    pub(crate) schema_required: Option<bool>,
    pub(crate) allowed_origins: Vec<String>,
    pub(crate) levels: Levels,
    pub(crate) limits: Limits,
    pub(crate) profiles: Profiles,
    pub(crate) proxy: ProxyConfig,
    pub(crate) test: TestConfig,
}

/// Why a configuration could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    #[error("could not read the configuration `{path}`")]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("could not determine the working directory")]
    WorkingDirectory(#[source] io::Error),
    #[error(transparent)]
    Invalid(#[from] ConfigError),
}

impl Config {
    /// Reads the configuration chosen by the arguments.
    pub(crate) fn chosen(args: &JudgingArgs) -> Result<Config, LoadError> {
        Config::from_choice(args.config.as_deref(), args.no_config)
    }

    /// Reads the file at `path`, or searches for one unless `none` is set.
    pub(crate) fn from_choice(path: Option<&Path>, none: bool) -> Result<Config, LoadError> {
        match (path, none) {
            (Some(path), _) => Config::load(path),
            (None, true) => Ok(Config::default()),
            (None, false) => Config::find(),
        }
    }

    /// Reads the file at `path`.
    pub(crate) fn load(path: &Path) -> Result<Config, LoadError> {
        let text = fs::read_to_string(path)
            .map_err(|source| LoadError::Read { path: path.to_owned(), source })?;
        Ok(Config::read(path, text)?)
    }

    /// Reads `text`, the content of the file at `path`.
    pub(crate) fn read(path: &Path, text: String) -> Result<Config, ConfigError> {
        let mut config =
            reader::read(&text).map_err(|faults| ConfigError::new(path, text, faults))?;
        config.path = Some(path.to_owned());
        Ok(config)
    }

    /// Reads the file in the working directory or its nearest parent; the default if there is none.
    pub(crate) fn find() -> Result<Config, LoadError> {
        let here = std::env::current_dir().map_err(LoadError::WorkingDirectory)?;
        match find_upwards(&here) {
            // Use the short name if possible, since it appears in messages.
            Some(path) if path.parent() == Some(&here) => Config::load(Path::new(FILE_NAME)),
            Some(path) => Config::load(&path),
            None => Ok(Config::default()),
        }
    }

    /// The directory that paths in the file are relative to.
    pub(crate) fn directory(&self) -> &Path {
        self.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""))
    }
}

fn find_upwards(start: &Path) -> Option<PathBuf> {
    start
        .ancestors()
        .map(|directory| directory.join(FILE_NAME))
        .find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests;

/// Parses `text`, for tests in other modules.
#[cfg(test)]
#[track_caller]
pub(crate) fn parse(text: &str) -> Config {
    reader::read(text).expect("a valid configuration")
}
