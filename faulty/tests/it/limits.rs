//! The time limit holds whatever a server does, and is not held against the server.

use std::{sync::Arc, time::Duration};

use mcp_probe::{Limits, Outcome, RunError, Settings};

use crate::server::{Wire, findings, settings, test};

/// A timeout so long that only the overall limit applies.
const FOR_EVER: Duration = Duration::from_secs(24 * 60 * 60);

fn limited(seconds: u64, only: &[&str]) -> Settings {
    let settings = settings("2025-11-25", only);
    let time = Duration::from_secs(seconds);
    let limits =
        Limits { time, start: FOR_EVER, answer: FOR_EVER, exit: FOR_EVER, ..settings.limits };
    Settings { limits, ..settings }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_hangs_does_not_hold_up_the_report() {
    for wire in [Wire::Stdio, Wire::Http] {
        let settings = limited(15, &["tools/status"]);
        let report = test(Some("tool-hangs"), wire, settings).await.unwrap();
        assert!(report.out_of_time);
        let cut = report.results.iter().filter(|result| {
            result.outcome == Outcome::Skipped("the time limit was reached".to_owned())
        });
        assert!(cut.count() > 1, "{:?}", report.results);
        assert_eq!(findings(&report), []);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    use mcp_probe::{Event, Launch, Run, Target};

    let arguments = ["-c", "cat > /dev/null"].map(Into::into).to_vec();
    let launch = Launch { program: "sh".into(), arguments, ..Launch::default() };
    let settings = Settings { revisions: Vec::new(), ..limited(1, &[]) };
    let run = Run::new(Target::Command(launch), Arc::clone(&crate::server::ENGINE), settings);
    let mut ignored = |_: &Event<'_>| {};
    let Err(RunError::Unreachable { reason, .. }) = run.run(&mut ignored).await else {
        panic!("it says nothing");
    };
    assert_eq!(reason, "the time limit was reached before it answered");
}
