use std::{
    ffi::{OsStr, OsString},
    io,
    path::PathBuf,
    process::Stdio,
    time::Duration,
};

use mcp_core::TransportError;
use tokio::process::{Child, Command};

use super::ChildStderr;
use crate::lines::LineSettings;

/// How to start a server. It is started directly, not through a shell, so arguments are passed
/// unchanged.
#[derive(Debug, Clone)]
pub struct ChildCommand {
    program: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    directory: Option<PathBuf>,
    pub(super) stderr: ChildStderr,
}

impl ChildCommand {
    /// Starts `program`, a path or a name that is looked up in `PATH`.
    pub fn new(program: impl Into<OsString>) -> Self {
        ChildCommand {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            directory: None,
            stderr: ChildStderr::Inherit,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable in addition to the inherited ones.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Starts it in this directory.
    #[must_use]
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets where its standard error goes. By default it is inherited.
    #[must_use]
    pub fn stderr(mut self, stderr: ChildStderr) -> Self {
        self.stderr = stderr;
        self
    }

    pub(super) fn start(&self) -> Result<Child, TransportError> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(self.stderr.stdio())
            .kill_on_drop(true);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command.spawn().map_err(|error| self.explain(&error))
    }

    fn explain(&self, error: &io::Error) -> TransportError {
        let program = OsStr::display(&self.program);
        if let Some(directory) = self.directory.as_ref().filter(|directory| !directory.is_dir()) {
            return TransportError::Connect(format!(
                "cannot start `{program}`: the directory `{}` does not exist",
                directory.display()
            ));
        }
        TransportError::Connect(match error.kind() {
            io::ErrorKind::NotFound => format!(
                "cannot start `{program}`: there is no such program; check that it is spelled right, \
                 installed, and in PATH or given with its full path"
            ),
            io::ErrorKind::PermissionDenied => format!(
                "cannot start `{program}`: permission denied; check that it is a program and may be \
                 executed"
            ),
            _ => format!("cannot start `{program}`: {error}"),
        })
    }
}

/// The limits of a [`ChildTransport`](super::ChildTransport).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ChildSettings {
    /// The limits of the two pipes.
    pub lines: LineSettings,
    /// How long the server may take to exit after its input is closed, before it is sent SIGTERM.
    /// Default: 2 seconds.
    pub exit_wait: Duration,
    /// How long it may take after that, before it is killed. Default: 2 seconds.
    pub terminate_wait: Duration,
    /// Maximum length of a captured line of standard error in bytes; the rest is dropped. Default:
    /// 8 KiB.
    pub max_stderr_line: usize,
}

impl Default for ChildSettings {
    fn default() -> Self {
        ChildSettings {
            lines: LineSettings::default(),
            exit_wait: Duration::from_secs(2),
            terminate_wait: Duration::from_secs(2),
            max_stderr_line: 8 * 1024,
        }
    }
}
