//! The program as users run it: arguments in, output and exit code out.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod bad_input;
mod baseline;
#[cfg(unix)]
mod bridges;
mod check;
mod commands;
mod compat;
mod config;
#[cfg(unix)]
mod continuous;
mod diff;
#[cfg(unix)]
mod drain_web_socket;
mod har;
mod help;
mod hostile;
mod inspect;
mod jobs;
#[cfg(unix)]
mod kills;
#[cfg(unix)]
mod lock;
mod mock;
#[cfg(unix)]
mod proxy;
#[cfg(unix)]
mod proxy_limits;
mod proxy_operation;
#[cfg(unix)]
mod proxy_policy;
mod readme;
mod redact;
#[cfg(unix)]
#[path = "../../../mcp-proxy/tests/it/redis_server.rs"]
#[allow(dead_code, reason = "the tests of `mcp-proxy` use all of it")]
mod redis_server;
#[cfg(unix)]
mod replay;
#[cfg(unix)]
mod replicas;
mod tail;
mod test_client;
mod test_command;
#[cfg(unix)]
mod test_servers;
#[cfg(unix)]
mod upstreams;
#[cfg(unix)]
mod web_socket;
mod wrap;

use std::{
    fs,
    io::Write as _,
    process::{Command, Stdio},
};

use tempfile::TempDir;

const GOOD: &str = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}
{"from":"server","msg":{"jsonrpc":"2.0","id":1,"result":{}}}
"#;

/// An error: the name of a tool is a number.
const BAD: &str = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":7}}}
"#;

/// A warning: not every peer can represent that id.
const DOUBTFUL: &str = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}}
"#;

/// An empty directory to run in, away from every plumb.toml.
struct Place(TempDir);

struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn file(self, name: &str, text: &str) -> Place {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plumb"));
        command
            .args(args)
            .current_dir(self.0.path())
            .env_remove("CLICOLOR_FORCE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        self.run_with_input(args, "")
    }

    fn run_with_input(&self, args: &[&str], input: &str) -> Run {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        // It may exit before it has read everything.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Run {
    #[track_caller]
    fn exits(self, code: i32) -> Run {
        let Run { stdout, stderr, .. } = &self;
        assert_eq!(self.code, Some(code), "stdout:\n{stdout}\nstderr:\n{stderr}");
        self
    }

    #[track_caller]
    fn complains(self, text: &str) -> Run {
        assert!(self.stderr.contains(text), "stderr:\n{}", self.stderr);
        self
    }

    #[track_caller]
    fn prints(self, text: &str) -> Run {
        assert!(self.stdout.contains(text), "stdout:\n{}", self.stdout);
        self
    }
}
