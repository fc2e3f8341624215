//! Tests a client.

use std::{fmt::Write as _, sync::Arc};

use mcp_probe::{
    Report, Reporter, Settings, Target,
    client::{
        self, ClientOverview, ClientRun, ClientRunError, ClientSettings, ClientUnderTest,
        ConnectVia,
    },
};
use mcp_rules::Engine;

use crate::{
    args::{TestArgs, TestServerArgs},
    commands::Outcome,
    failure::Failure,
    text::visible_lines,
};

/// The hidden command that clients start.
const SERVER_COMMAND: &str = "test-server";

/// Runs as the server that a client under test starts.
pub(crate) fn test_server(args: &TestServerArgs) -> anyhow::Result<Outcome> {
    client::relay(&args.address, &args.token).map_err(|error| {
        Failure::new("could not reach the test that this server belongs to").because(error)
    })?;
    Ok(Outcome::Clean)
}

/// Tests the client that `target` starts.
pub(super) async fn run(
    args: &TestArgs,
    target: &Target,
    engine: Arc<Engine>,
    settings: Settings,
    reporter: &mut dyn Reporter,
) -> anyhow::Result<Report> {
    let Target::Command(launch) = target else {
        let failure = Failure::new("no client to test");
        return Err(failure.hint("give the command that starts it after `--`").into());
    };
    let own = std::env::current_exe()?;
    let client = ClientUnderTest {
        launch: launch.clone(),
        connect_via: if args.stdio { ConnectVia::OwnStreams } else { ConnectVia::CommandOrUrl },
        server: vec![own.into(), SERVER_COMMAND.into()],
    };
    let settings = ClientSettings {
        limits: settings.limits,
        idle: args.idle,
        only: settings.only,
        skip: settings.skip,
        revisions: settings.revisions,
    };
    ClientRun::new(client, engine, settings).run(reporter).await.map_err(untestable)
}

/// The name of a client, and lines that describe its behaviour.
pub(super) fn describe(overview: &ClientOverview) -> (String, Vec<String>) {
    let Some((_, normal)) = overview.normal.last_key_value() else { return Default::default() };
    let text = |name: &str| normal.client[name].as_str().unwrap_or("?");
    let name = format!("{} {}", text("name"), text("version"));
    let revisions: Vec<&str> = overview.normal.keys().map(|revision| revision.as_str()).collect();
    let mut lines = vec![format!("speaks {} over {}", revisions.join(", "), overview.wire)];
    for (revision, reason) in &overview.refused {
        lines.push(format!("not {revision}: {reason}"));
    }
    let requests: Vec<&str> = normal.requests.iter().map(String::as_str).collect();
    let mut habits = match &requests[..] {
        [] => "sends no requests".to_owned(),
        _ => format!("requests {}", requests.join(", ")),
    };
    let _ = write!(habits, " and {}", if normal.exits { "exits" } else { "stays" });
    lines.push(habits);
    (name, lines)
}

fn untestable(error: ClientRunError) -> anyhow::Error {
    let message = error.to_string();
    match error {
        ClientRunError::Start(error) => Failure::new(message)
            .because(error)
            .hint("give the command that starts it after `--`; no shell is involved")
            .into(),
        ClientRunError::NoContact { exit, stderr } => {
            let mut hint = "write {server} where it takes the command of a server, {url} where it \
                takes a URL, or let it read PLUMB_SERVER or PLUMB_URL; --stdio if it speaks over \
                its own standard streams"
                .to_owned();
            for said in exit.into_iter().chain(last_words(&stderr)) {
                let _ = write!(hint, "\n{said}");
            }
            Failure::new(message).hint(hint).into()
        }
        ClientRunError::NoRevision { stderr, .. } => {
            let failure = Failure::new(message);
            match last_words(&stderr) {
                Some(said) => failure.hint(said).into(),
                None => failure.into(),
            }
        }
        _ => Failure::new(message).into(),
    }
}

fn last_words(stderr: &str) -> Option<String> {
    let said: Vec<&str> = stderr.trim_end().lines().rev().take(5).collect();
    let said: Vec<&str> = said.into_iter().rev().collect();
    (!said.is_empty()).then(|| format!("its standard error: {}", visible_lines(&said.join("\n"))))
}
