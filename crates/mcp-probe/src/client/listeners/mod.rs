//! The ways by which a client can reach the test server.

mod http;
mod lines;
mod link;
mod outlet;

use std::{ffi::OsString, io, net::SocketAddr, sync::Arc};

use tokio::task::JoinSet;

pub use self::link::relay;
pub(crate) use self::outlet::Outlet;
use super::play::Plays;

/// The listeners through which a client can reach the server; closed when dropped.
#[derive(Debug)]
pub(crate) struct Listeners {
    link: link::Address,
    http: SocketAddr,
    tasks: JoinSet<()>,
}

impl Listeners {
    /// Listens on free ports of the loopback interface.
    pub(crate) async fn open(plays: &Arc<Plays>) -> io::Result<Listeners> {
        let mut tasks = JoinSet::new();
        let (link, serving) = link::listen(Arc::clone(plays)).await?;
        tasks.spawn(serving);
        let (http, serving) = http::listen(Arc::clone(plays)).await?;
        tasks.spawn(serving);
        Ok(Listeners { link, http, tasks })
    }

    /// The command that starts the server.
    pub(crate) fn command(&self, server: &[OsString]) -> Vec<OsString> {
        let mut command = server.to_vec();
        command.extend(self.link.words());
        command
    }

    /// The URL of the server.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.http)
    }

    /// Also serves the client's own standard streams.
    pub(crate) fn streams(
        &mut self,
        plays: &Arc<Plays>,
        input: tokio::process::ChildStdin,
        output: tokio::process::ChildStdout,
    ) {
        self.tasks.spawn(lines::talk_over_streams(Arc::clone(plays), input, output));
    }
}
