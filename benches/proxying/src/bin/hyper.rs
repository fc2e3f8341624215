//! A minimal reverse proxy on hyper that only forwards requests and responses: `proxying-hyper
//! SERVER`, which prints its address. The cost of plumb's HTTP without plumb's own work.

#![expect(clippy::print_stdout, reason = "standard output tells the address")]

use std::{env, io, net::TcpListener, thread};

use http::{Request, Response, Uri, header::HOST, uri::Scheme};
use hyper::{
    body::Incoming,
    header::{CONNECTION, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    client::legacy::{Client, Error, connect::HttpConnector},
    rt::{TokioExecutor, TokioIo, TokioTimer},
};
use tokio::{
    net::TcpStream,
    runtime::Builder,
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::LocalSet,
};

fn main() -> io::Result<()> {
    let usage = || io::Error::other("usage: proxying-hyper SERVER");
    let server = env::args().nth(1).ok_or_else(usage)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    // As in plumb: a runtime for each core, with its own connections to the server.
    let cores = thread::available_parallelism()?.get();
    let workers: Vec<UnboundedSender<std::net::TcpStream>> = (0..cores)
        .map(|_| {
            let (sender, streams) = unbounded_channel();
            let server = server.clone();
            thread::spawn(move || work(&server, streams));
            sender
        })
        .collect();
    for (worker, stream) in workers.iter().cycle().zip(listener.incoming()) {
        let stream = stream?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        if worker.send(stream).is_err() {
            break;
        }
    }
    Ok(())
}

fn work(server: &str, mut streams: UnboundedReceiver<std::net::TcpStream>) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client: Client<_, Incoming> = Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .http1_preserve_header_case(true)
        .build(connector);
    LocalSet::new().block_on(&runtime, async {
        while let Some(stream) = streams.recv().await {
            let Ok(stream) = TcpStream::from_std(stream) else { continue };
            let (client, server) = (client.clone(), server.to_owned());
            let service = service_fn(move |request| pass(client.clone(), server.clone(), request));
            let mut connection = http1::Builder::new();
            connection.preserve_header_case(true);
            let connection = connection.serve_connection(TokioIo::new(stream), service);
            tokio::task::spawn_local(async move {
                // It does not matter if a client disconnects early.
                let _ = connection.await;
            });
        }
    });
    Ok(())
}

async fn pass(
    client: Client<HttpConnector, Incoming>,
    server: String,
    mut request: Request<Incoming>,
) -> Result<Response<Incoming>, Error> {
    let mut parts = std::mem::take(request.uri_mut()).into_parts();
    parts.scheme = Some(Scheme::HTTP);
    parts.authority = server.parse().ok();
    *request.uri_mut() = Uri::from_parts(parts).unwrap_or_default();
    if let Ok(host) = HeaderValue::from_str(&server) {
        request.headers_mut().insert(HOST, host);
    }
    request.headers_mut().remove(CONNECTION);
    client.request(request).await
}
