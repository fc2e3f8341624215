//! Serves the inspector's page.

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};

use mcp_inspector::{InspectorClient, Log, PageAccess, Service, new_token};
use mcp_proxy::shutdown;
use mcp_rules::Engine;
use mcp_transport::Allowed;
use tokio::{net::TcpListener, runtime::Runtime};

use super::listen::is_local;
use crate::failure::Failure;

/// A page with a bound address and a token, not yet served.
pub(super) struct Page {
    runtime: Runtime,
    listener: TcpListener,
    access: PageAccess,
    address: String,
}

/// How often to check whether to stop serving.
const POLL: Duration = Duration::from_millis(200);

impl Page {
    /// Binds an address, which must be on this machine unless `insecure`.
    pub(super) fn bind(address: &str, insecure: bool) -> anyhow::Result<Page> {
        let is_local = is_local(address)?;
        if !insecure && !is_local {
            return Err(Failure::new(format!("`{address}` can be reached from other machines"))
                .hint("serve the page on 127.0.0.1, or add --insecure")
                .into());
        }
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let listener = runtime.block_on(mcp_transport::bind(address)).map_err(|error| {
            Failure::new(format!("could not listen on {address}"))
                .because(error)
                .hint("choose another port, or 0 for a free one")
        })?;
        let token =
            new_token().map_err(|_| Failure::new("the system could not provide random bytes"))?;
        let allowed = || if is_local { Allowed::loopback() } else { Allowed::anything() };
        let access = PageAccess { token: Arc::clone(&token), hosts: allowed(), origins: allowed() };
        let address = format!("http://{}/{token}/", listener.local_addr()?);
        Ok(Page { runtime, listener, access, address })
    }

    /// Prints the address of the page, and opens it in a browser if standard error is a terminal.
    pub(super) fn announce(&self, opens: bool) -> io::Result<()> {
        writeln!(io::stderr(), "plumb: the page is at {}", self.address)?;
        if opens && io::stderr().is_terminal() {
            open_browser(&self.address);
        }
        Ok(())
    }

    /// Serves until a signal arrives or `is_over` returns true.
    pub(super) fn serve(
        self,
        log: Log,
        target: String,
        engine: Arc<Engine>,
        is_over: impl Fn() -> bool,
    ) {
        let Page { runtime, listener, access, .. } = self;
        let service = Service::new(log, access, target).with_engine(engine);
        runtime.block_on(async {
            let over = async {
                while !is_over() {
                    tokio::time::sleep(POLL).await;
                }
            };
            tokio::select! {
                () = service.serve(listener, std::future::pending()) => {}
                () = shutdown::requested() => {}
                () = over => {}
            }
        });
        runtime.shutdown_background();
    }

    /// Serves until a signal arrives, with a client that talks to a server. Fails if the server
    /// could not be started.
    pub(super) fn serve_with_client(
        self,
        log: Log,
        target: String,
        engine: Arc<Engine>,
        client: &InspectorClient,
    ) -> Result<(), String> {
        let Page { runtime, listener, access, .. } = self;
        let service =
            Service::new(log, access, target).with_engine(engine).with_client(client.clone());
        let failure = runtime.block_on(async {
            client.begin();
            let failed = async {
                loop {
                    if let Some(reason) = client.start_failure() {
                        return reason;
                    }
                    tokio::time::sleep(POLL).await;
                }
            };
            let failure = tokio::select! {
                () = service.serve(listener, std::future::pending()) => None,
                () = shutdown::requested() => None,
                reason = failed => Some(reason),
            };
            client.finish().await;
            failure
        });
        runtime.shutdown_background();
        failure.map_or(Ok(()), Err)
    }

    /// Serves in the background until the process ends.
    pub(super) fn serve_aside(self, log: Log, target: String, engine: Arc<Engine>) {
        thread::spawn(move || {
            let Page { runtime, listener, access, .. } = self;
            let service = Service::new(log, access, target).with_engine(engine);
            runtime.block_on(service.serve(listener, std::future::pending()));
        });
    }
}

/// Opens a page in the default browser, if there is one.
fn open_browser(address: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(opener);
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Failure is fine: the address was printed.
    if let Ok(mut opened) = command.spawn() {
        thread::spawn(move || opened.wait());
    }
}
