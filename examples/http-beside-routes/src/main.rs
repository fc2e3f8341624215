//! How do I add MCP to an existing web server?
//!
//! ```sh
//! cargo run -p example-http-beside-routes -- 8080
//! cargo run -p example-client -- --call visits '{}' http://127.0.0.1:8080/mcp
//! ```
//!
//! Port 0, the default, is any free one. Ctrl-C stops it once running requests are done.
#![expect(clippy::print_stdout, reason = "says where it listens")]

use std::{
    env,
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::{Router, extract::State, routing::get};
use mcp_sdk::{
    NoArguments, Server,
    transport::http::server::{HttpSettings, ServeSettings, serve},
};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let port: u16 = env::args().nth(1).as_deref().unwrap_or("0").parse()?;
    let visits = Arc::new(AtomicU64::new(0));

    let seen = Arc::clone(&visits);
    let server = Server::builder("visits", "1.0.0")
        .tool("visits", "How often the page was visited", move |_: NoArguments, _| {
            let visits = seen.load(Ordering::Relaxed);
            async move { Ok(visits.to_string()) }
        })
        .build()?;

    let service = server.http_service(HttpSettings::default());
    let router = Router::new()
        .route("/", get(visit))
        .with_state(visits)
        .route_service("/mcp", service.clone());
    let listener = mcp_sdk::transport::bind((Ipv4Addr::LOCALHOST, port)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    // `axum::serve` has no time limits: slow heads, idle connections and clients that do not read
    // would stay forever. This serves any router, with the limits of `ServeSettings`.
    let stop = async { drop(tokio::signal::ctrl_c().await) };
    // Open streams would hold up the shutdown; the service ends them first.
    let stop = service.clone().drain_after(stop);
    serve(listener, router, ServeSettings::default(), stop).await;
    service.close();
    Ok(())
}

async fn visit(State(visits): State<Arc<AtomicU64>>) -> String {
    format!("visit number {}\n", visits.fetch_add(1, Ordering::Relaxed) + 1)
}
