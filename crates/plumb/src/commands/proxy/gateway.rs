use std::{io, sync::Arc, time::Duration};

use mcp_core::MemoryBudget;
use mcp_proxy::{
    ProxiedServer, ProxiedServerSettings, Routes, Tap,
    http::{Replica, SessionSeal},
    shutdown::{Drain, Phase},
};
use mcp_transport::http::server::{Servable, ServeSettings, Worker, serve_on, serve_tls_on};
use tokio::net::TcpListener;

use super::{
    admin::Admin,
    listener::{ListenerPlan, serve_until_drained},
    program::is_there,
    servers::{Server, Target},
    sharing::Sharing,
    workers::Workers,
};
use crate::{
    args::{LogFormat, ProxyArgs},
    failure::Failure,
};

/// A gateway for clients over HTTP and WebSocket, checked and ready to run.
#[derive(Debug)]
pub(super) struct GatewayPlan<'a> {
    listener: ListenerPlan,
    inside: Inside,
    drain: Drain,
    /// How other replicas find sessions of this one.
    sharing: Option<(Sharing<'a>, SessionSeal)>,
}

/// The service that clients reach.
#[derive(Debug)]
enum Inside {
    One(ProxiedServer),
    Several(Routes),
}

impl<'a> GatewayPlan<'a> {
    /// Checks the arguments. Each server comes with the tap for its traffic.
    pub(super) fn new(
        listen: &str,
        args: &ProxyArgs,
        servers: &[(Server, Tap)],
        limit: usize,
        admin: &Admin,
        (drain, sharing): (&Drain, Option<Sharing<'a>>),
    ) -> anyhow::Result<GatewayPlan<'a>> {
        let listener = ListenerPlan::new(listen, args)?;
        let sharing = match sharing.filter(Sharing::has_sessions_here) {
            Some(_) if listener.tls.is_some() => {
                return Err(Failure::new("replicas reach each other without TLS")
                    .hint("leave out --tls-cert, and terminate TLS in front of the replicas")
                    .into());
            }
            Some(sharing) => {
                let seal = sharing.seal()?;
                Some((sharing, seal))
            }
            None => None,
        };
        let mut settings = ProxiedServerSettings::default();
        settings.hosts = listener.hosts.clone();
        settings.origins = listener.origins.clone();
        settings.token.clone_from(&listener.token);
        settings.secure = listener.tls.is_some();
        settings.max_message = limit;
        settings.drain = drain.clone();
        settings.log_stderr = args.log_format == LogFormat::Json;
        settings.max_children = args.max_children.into();
        settings.answer_timeout = Duration::from_secs(args.answer_timeout.into());
        let room = usize::try_from(args.max_buffered).unwrap_or(usize::MAX);
        settings.room = MemoryBudget::new(room);
        settings.exit_wait = Duration::from_secs(args.exit_wait.into());
        if let [(server @ Server { prefix: None, .. }, tap)] = servers {
            settings.sessions = admin.sessions(None);
            let inside = Inside::One(entrance(server, tap, &settings)?);
            return Ok(GatewayPlan { listener, inside, drain: drain.clone(), sharing });
        }
        let mut routes = Vec::new();
        for (server, tap) in servers {
            let Some(prefix) = server.prefix.clone() else { continue };
            settings.name = server.name();
            settings.sessions = admin.sessions(server.name());
            routes.push((prefix, entrance(server, tap, &settings)?));
        }
        let inside = Inside::Several(Routes::new(routes, settings));
        Ok(GatewayPlan { listener, inside, drain: drain.clone(), sharing })
    }

    /// Serves clients until the proxy is asked to stop, then ends the servers that were started for
    /// them.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let workers = Workers::start()?;
        let served = runtime.block_on(async {
            let GatewayPlan { listener: plan, mut inside, drain, sharing } = self;
            let listener = plan.open().await?;
            if let Some((sharing, seal)) = sharing {
                let address = sharing.address(listener.local_addr()?)?;
                let replica = Arc::new(Replica::new(address, seal, plan.token.as_deref()));
                inside = match inside {
                    Inside::One(entrance) => Inside::One(entrance.as_replica(replica)),
                    Inside::Several(routes) => Inside::Several(routes.as_replica(&replica)),
                };
            }
            match inside {
                Inside::One(entrance) => {
                    let begin = || entrance.drain();
                    let serving = workers.serving(|| entrance.with_own_connections());
                    welcome(listener, plan, serving, begin, &drain).await;
                    tokio::select! {
                        () = entrance.close() => {}
                        () = drain.reached(Phase::Forced) => {}
                    }
                }
                Inside::Several(routes) => {
                    let begin = || routes.drain();
                    let serving = workers.serving(|| routes.with_own_connections());
                    welcome(listener, plan, serving, begin, &drain).await;
                    tokio::select! {
                        () = routes.close() => {}
                        () = drain.reached(Phase::Forced) => {}
                    }
                }
            }
            Ok(())
        });
        workers.end();
        served
    }
}

async fn welcome<S: Servable>(
    listener: TcpListener,
    plan: ListenerPlan,
    workers: Vec<Worker<S>>,
    begin_drain: impl FnOnce(),
    drain: &Drain,
) {
    let mut settings = ServeSettings::default();
    settings.keep_header_case = true;
    settings.max_connections = plan.max_connections;
    serve_until_drained(drain, settings, async |settings, stop| {
        let stop = async {
            stop.await;
            begin_drain();
        };
        match plan.tls {
            Some(tls) => serve_tls_on(listener, tls, workers, settings, stop).await,
            None => serve_on(listener, workers, settings, stop).await,
        }
    })
    .await;
}

fn entrance(
    server: &Server,
    tap: &Tap,
    settings: &ProxiedServerSettings,
) -> anyhow::Result<ProxiedServer> {
    match &server.target {
        Target::Url(url) => {
            ProxiedServer::to_url(url, &server.access, tap, settings).map_err(|error| {
                Failure::new("the server cannot be used")
                    .because(error)
                    .hint("write its URL like http://127.0.0.1:3000/mcp or ws://127.0.0.1:3000/mcp")
                    .into()
            })
        }
        Target::Command(command) => {
            let (program, arguments) =
                command.split_first().ok_or_else(|| io::Error::other("a server has no command"))?;
            if !is_there(program) {
                let message =
                    format!("cannot start `{}`: there is no such program", program.display());
                return Err(Failure::new(message)
                    .hint("check the spelling, and that it is installed and in PATH, or give its full path")
                    .into());
            }
            Ok(ProxiedServer::to_command(program, arguments, tap, settings))
        }
    }
}
