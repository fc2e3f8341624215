//! The contestants: programs between client and server.

use std::{
    fs,
    io::{self, BufRead as _, BufReader},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use crate::process::Process;

/// The paths of the programs.
#[derive(Debug, Clone)]
pub struct Programs {
    /// `plumb`.
    pub plumb: PathBuf,
    /// `proxying-echo`.
    pub echo: PathBuf,
    /// `proxying-copy`.
    pub copy: PathBuf,
    /// `proxying-hyper`.
    pub hyper: PathBuf,
    /// `nginx`, if installed.
    pub nginx: Option<PathBuf>,
    /// The folder of `scripts/proxy-bench-peers` with `node_modules` and `venv`, if present.
    pub peers: Option<PathBuf>,
}

/// The modes of plumb.
pub const MODES: [(&str, &[&str]); 3] = [
    ("plumb, all rules off", &["-q", "--rule", "*=off"]),
    ("plumb, observing", &["-q"]),
    ("plumb, enforcing", &["-q", "--enforce"]),
];

/// A listening program and its address.
#[derive(Debug)]
pub struct Listening {
    /// `None` if the client connects to the server directly.
    pub process: Option<Process>,
    /// Host and port.
    pub address: String,
}

impl Programs {
    /// Starts the server for HTTP.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn server(&self) -> io::Result<(Process, String)> {
        start_ours(Command::new(&self.echo).arg("http"))
    }

    /// Starts all contestants between an HTTP client and an HTTP server.
    ///
    /// # Errors
    ///
    /// If one of them cannot be started.
    pub fn before(
        &self,
        server: &str,
        scratch: &Path,
    ) -> io::Result<Vec<(&'static str, Listening)>> {
        let mut all = vec![("nothing", Listening { process: None, address: server.to_owned() })];
        if let Some(nginx) = &self.nginx {
            all.push(("nginx", start_nginx(nginx, server, scratch)?));
        }
        let (process, address) = start_ours(Command::new(&self.hyper).arg(server))?;
        all.push(("hyper alone", Listening { process: Some(process), address }));
        for (name, options) in MODES {
            let upstream = format!("http://{server}");
            let mut command = Command::new(&self.plumb);
            command.args(["proxy", "--listen", "127.0.0.1:0", "--upstream", &upstream]);
            all.push((name, start_plumb(command.args(options))?));
        }
        Ok(all)
    }

    /// Starts all bridges between an HTTP client and a stdio server, with the path that they serve.
    ///
    /// # Errors
    ///
    /// If one of them cannot be started.
    pub fn bridges(&self) -> io::Result<Vec<(&'static str, Listening)>> {
        let echo = self.echo.to_string_lossy();
        let mut all = Vec::new();
        for (name, options) in MODES {
            let mut command = Command::new(&self.plumb);
            command.args(["proxy", "--listen", "127.0.0.1:0"]).args(options);
            command.args(["--", &echo, "stdio"]);
            all.push((name, start_plumb(&mut command)?));
        }
        let Some(peers) = &self.peers else { return Ok(all) };
        let port = free_port()?;
        let mut node = Command::new(peers.join("node_modules/.bin/mcp-proxy"));
        node.args([
            "--host",
            "127.0.0.1",
            "--port",
            &port,
            "--server",
            "stream",
            "--",
            &echo,
            "stdio",
        ]);
        all.push(("mcp-proxy (npm)", start_other(&mut node, &port)?));
        let port = free_port()?;
        let mut gateway = Command::new(peers.join("node_modules/.bin/supergateway"));
        gateway.args(["--stdio", &format!("{echo} stdio"), "--port", &port, "--logLevel", "none"]);
        gateway.args(["--outputTransport", "streamableHttp", "--stateful"]);
        all.push(("supergateway (npm)", start_other(&mut gateway, &port)?));
        let port = free_port()?;
        let mut python = Command::new(peers.join("venv/bin/mcp-proxy"));
        python.args(["--host", "127.0.0.1", "--port", &port, "--", &echo, "stdio"]);
        all.push(("mcp-proxy (PyPI)", start_other(&mut python, &port)?));
        Ok(all)
    }

    /// The commands of the stdio server, by itself and behind plumb.
    pub fn on_streams(&self) -> Vec<(&'static str, Command)> {
        let mut direct = Command::new(&self.echo);
        direct.arg("stdio");
        let mut copied = Command::new(&self.copy);
        copied.arg(&self.echo).arg("stdio");
        let mut all = vec![("nothing", direct), ("a plain copy", copied)];
        for (name, options) in MODES {
            let mut command = Command::new(&self.plumb);
            command.arg("proxy").args(options).arg("--").arg(&self.echo).arg("stdio");
            all.push((name, command));
        }
        for (_, command) in &mut all {
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
        }
        all
    }
}

/// Starts a program of ours, which prints its address.
fn start_ours(command: &mut Command) -> io::Result<(Process, String)> {
    let mut process = Process::start(command.stdout(Stdio::piped()))?;
    let output = process.child().stdout.take().ok_or_else(|| io::Error::other("no pipe"))?;
    let mut address = String::new();
    BufReader::new(output).read_line(&mut address)?;
    Ok((process, address.trim().to_owned()))
}

fn start_plumb(command: &mut Command) -> io::Result<Listening> {
    let mut process = Process::start(command.stderr(Stdio::piped()))?;
    let errors = process.child().stderr.take().ok_or_else(|| io::Error::other("no pipe"))?;
    let mut lines = BufReader::new(errors).lines();
    let address = loop {
        let line = lines.next().ok_or_else(|| io::Error::other("plumb does not listen"))??;
        if let Some(address) = line.strip_prefix("plumb: listening on http://") {
            break address.trim_end_matches("/mcp").to_owned();
        }
    };
    thread::spawn(move || lines.for_each(drop));
    Ok(Listening { process: Some(process), address })
}

fn start_other(command: &mut Command, port: &str) -> io::Result<Listening> {
    let process = Process::start(command.stdout(Stdio::null()).stderr(Stdio::null()))?;
    let address = format!("127.0.0.1:{port}");
    wait_for(&address)?;
    Ok(Listening { process: Some(process), address })
}

fn start_nginx(nginx: &Path, server: &str, scratch: &Path) -> io::Result<Listening> {
    let port = free_port()?;
    let folder = scratch.display();
    let settings = format!(
        "daemon off; pid {folder}/pid; error_log stderr crit; worker_processes auto;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    keepalive_requests 100000000;
    upstream echo {{ server {server}; keepalive 64; keepalive_requests 100000000; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://echo;
            proxy_http_version 1.1;
            proxy_set_header Connection \"\";
            proxy_buffering off;
        }}
    }}
}}
"
    );
    let file = scratch.join("nginx.conf");
    fs::write(&file, settings)?;
    let mut command = Command::new(nginx);
    start_other(command.arg("-p").arg(scratch).arg("-c").arg(&file), &port)
}

fn free_port() -> io::Result<String> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string())
}

fn wait_for(address: &str) -> io::Result<()> {
    for _ in 0..300 {
        if TcpStream::connect(address).is_ok() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(100));
    }
    Err(io::Error::other(format!("nobody listens on {address}")))
}
