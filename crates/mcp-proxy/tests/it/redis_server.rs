//! A real Redis on a free port.

use std::{
    ffi::OsStr,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
};

use mcp_proxy::store::{RedisStore, StoreSettings};
use tempfile::TempDir;

/// A server of our own, which ends with the test.
pub(crate) struct RedisServer {
    child: Child,
    port: u16,
    folder: TempDir,
    options: Vec<String>,
}

impl RedisServer {
    /// Starts one; `None`, with a word about it, if none is installed.
    pub(crate) fn start() -> Option<RedisServer> {
        RedisServer::start_with(|_, port| vec!["--port".into(), port.to_string()])
    }

    /// Starts one with the options for its folder and port.
    pub(crate) fn start_with(
        options: impl FnOnce(&Path, u16) -> Vec<String>,
    ) -> Option<RedisServer> {
        let is_there = Command::new("redis-server").arg("--version").output().is_ok();
        if !is_there {
            assert!(
                std::env::var_os("CI").as_deref() != Some(OsStr::new("true")),
                "redis-server is not installed"
            );
            eprintln!("skipped: redis-server is not installed");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let options = options(folder.path(), port);
        let child = launch(&options, &folder);
        Some(RedisServer { child, port, folder, options })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }

    pub(crate) fn store(&self, settings: StoreSettings) -> RedisStore {
        RedisStore::new(&self.url(), settings).unwrap()
    }

    /// Ends it, as a crash would. What was stored is on disk.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn restart(&mut self) {
        self.child = launch(&self.options, &self.folder);
    }

    /// What the client program prints.
    pub(crate) fn ask(&self, arguments: &[&str]) -> String {
        let port = self.port.to_string();
        let output = Command::new("redis-cli").arg("-p").arg(port).args(arguments).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn launch(options: &[String], folder: &TempDir) -> Child {
    let mut child = Command::new("redis-server")
        .args(options)
        .args(["--bind", "127.0.0.1", "--save", ""])
        .args(["--appendonly", "yes", "--appendfsync", "always", "--dir"])
        .arg(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("Ready to accept connections")));
    // It may say more, and must not wait for a reader.
    std::thread::spawn(move || said.for_each(drop));
    child
}
