use std::{
    fs::File,
    io::{self, Write as _},
    path::Path,
    sync::Arc,
    time::Duration,
};

use mcp_proxy::{
    mock::{Playback, Script, ScriptBuilder, converse, http_service},
    shutdown,
};
use mcp_recording::{LineStream, MAX_LINE, Piece};
use mcp_rules::{Limits, LineReader};
use mcp_transport::{
    Allowed, LineSettings,
    http::server::{HttpSettings, ServeSettings, serve},
    stdio,
};

use super::{Outcome, listen::is_local};
use crate::{
    args::MockArgs,
    failure::Failure,
    text::{counted, shown_path},
};

/// Runs `plumb mock`.
pub(crate) fn mock(args: &MockArgs) -> anyhow::Result<Outcome> {
    if let Some(address) = args.listen.as_deref()
        && !args.insecure
        && !is_local(address)?
    {
        return Err(Failure::new(format!("`{address}` can be reached from other machines"))
            .hint("listen on 127.0.0.1, or add --insecure")
            .into());
    }
    let script = Arc::new(read(&args.trace, (args.memory as usize).saturating_mul(1 << 20))?);
    let answers = counted(script.answers() as u64, "recorded answer");
    // Standard output belongs to the client.
    let _ = writeln!(io::stderr(), "plumb: {answers} in {}", shown_path(&args.trace));
    let patience = Duration::from_secs(args.answer_wait.into());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(async {
        match args.listen.as_deref() {
            Some(address) => serve_http(address, args.insecure, script, patience).await,
            None => serve_stdio(script, patience).await,
        }
    });
    // A thread may still be reading from the terminal.
    runtime.shutdown_background();
    outcome.map(|()| Outcome::Clean)
}

async fn serve_stdio(script: Arc<Script>, patience: Duration) -> anyhow::Result<()> {
    let transport = Arc::new(stdio(&LineSettings::default()));
    let conversation = converse(transport, Arc::new(Playback::new(script)), patience);
    tokio::select! {
        biased;
        () = shutdown::requested() => Ok(()),
        outcome = conversation => Ok(outcome?),
    }
}

async fn serve_http(
    address: &str,
    beyond: bool,
    script: Arc<Script>,
    patience: Duration,
) -> anyhow::Result<()> {
    let listener = mcp_transport::bind(address).await?;
    let address = listener.local_addr()?;
    let _ = writeln!(io::stderr(), "plumb: listening on http://{address}");
    let mut settings = HttpSettings::default();
    if beyond {
        settings.hosts = Allowed::anything();
    }
    let service = http_service(script, settings, patience);
    let stop = service.clone().drain_after(shutdown::requested());
    serve(listener, service.clone(), ServeSettings::default(), stop).await;
    service.close();
    Ok(())
}

fn read(path: &Path, limit: usize) -> anyhow::Result<Script> {
    let name = shown_path(path);
    let unreadable =
        |error: io::Error| Failure::new(format!("could not read {name}")).because(error);
    let mut lines = LineStream::new(File::open(path).map_err(unreadable)?, MAX_LINE);
    let mut limits = Limits::default();
    limits.message_bytes = MAX_LINE;
    let mut reader = LineReader::new(&limits);
    let mut builder = ScriptBuilder::new(limit);
    let unusable = |error| Failure::new(format!("{name} cannot be served")).because(error);
    let mut text = Vec::new();
    loop {
        let piece = match lines.next(&mut text).map_err(unreadable)? {
            Some(piece) => piece,
            None => match lines.rest(&mut text) {
                Some(piece) => piece,
                None => break,
            },
        };
        let line = text.trim_ascii();
        if piece == Piece::Line && !line.is_empty() {
            reader.read(line, |line| builder.add(line)).map_err(unusable)?;
        }
    }
    Ok(builder.finish().map_err(unusable)?)
}
