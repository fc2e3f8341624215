use std::{
    os::unix::process::ExitStatusExt,
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp_core::{Transport, TransportError};
use mcp_transport::{ChildCommand, ChildSettings, ChildStderr, ChildTransport};

use crate::support::{message, next, rest, send_until_error, within_a_minute};

fn shell(script: &str) -> ChildCommand {
    ChildCommand::new("sh").arg("-c").arg(script)
}

fn settings() -> ChildSettings {
    let mut settings = ChildSettings::default();
    settings.exit_wait = Duration::from_millis(300);
    settings.terminate_wait = Duration::from_millis(300);
    settings
}

fn spawn(command: &ChildCommand) -> ChildTransport {
    ChildTransport::spawn(command, &settings()).unwrap()
}

fn lost(text: &str) -> Result<Option<String>, TransportError> {
    Err(TransportError::Lost(text.into()))
}

#[tokio::test]
async fn messages_go_in_and_come_out() {
    let child = spawn(&ChildCommand::new("cat"));
    for text in ["{}", "{\"a\":\n1}"] {
        child.send(message(text)).await.unwrap();
    }
    assert_eq!(next(&child).await, Ok(Some("{}".into())));
    assert_eq!(next(&child).await, Ok(Some("{\"a\": 1}".into())));
    within_a_minute(child.close()).await;
    assert_eq!(next(&child).await, Ok(None));
    assert_eq!(child.send(message("late")).await, Err(TransportError::Closed));
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_comes_back_whole() {
    const COUNT: usize = 100_000;
    let child = Arc::new(spawn(&ChildCommand::new("cat")));
    let sender = Arc::clone(&child);
    let sending = tokio::spawn(async move {
        for number in 0..COUNT {
            sender.send(message(format!("{{\"number\":{number}}}"))).await.unwrap();
        }
    });
    for number in 0..COUNT {
        assert_eq!(next(child.as_ref()).await, Ok(Some(format!("{{\"number\":{number}}}"))));
    }
    sending.await.unwrap();
    within_a_minute(child.close()).await;
}

#[tokio::test]
async fn arguments_variables_and_directory_arrive_as_they_are() {
    let command = shell("echo \"$1\"; echo \"$COLOUR\"; pwd")
        .args(["sh", "$HOME `id`; exit"])
        .env("COLOUR", "blue green")
        .current_dir("/");
    let child = spawn(&command);
    assert_eq!(next(&child).await, Ok(Some("$HOME `id`; exit".into())));
    assert_eq!(next(&child).await, Ok(Some("blue green".into())));
    assert_eq!(next(&child).await, Ok(Some("/".into())));
}

#[tokio::test]
async fn a_server_that_exits_is_heard_out_and_its_status_told() {
    let child = spawn(&shell("echo '{}'; printf '{\"cut\":'; exit 3"));
    assert_eq!(next(&child).await, Ok(Some("{}".into())));
    assert_eq!(next(&child).await, Ok(Some("{\"cut\":".into())));
    assert_eq!(next(&child).await, lost("the server exited with status 3"));
    assert_eq!(child.wait().await.unwrap().code(), Some(3));
    let error = send_until_error(&child, "{}").await;
    assert_eq!(error, TransportError::Lost("the server exited with status 3".into()));
    within_a_minute(child.close()).await;
}

#[tokio::test]
async fn a_server_that_is_killed_is_told_apart() {
    let child = spawn(&shell("kill -9 $$"));
    let Err(TransportError::Lost(text)) = next(&child).await else { panic!() };
    assert!(text.contains("signal: 9"), "{text}");
}

#[tokio::test]
async fn a_server_that_ignores_the_end_of_its_input_is_terminated() {
    let child = spawn(&shell("echo ready; while :; do sleep 0.05; done"));
    assert_eq!(next(&child).await, Ok(Some("ready".into())));
    within_a_minute(child.close()).await;
    assert_eq!(child.wait().await.unwrap().signal(), Some(15));
    assert_eq!(next(&child).await, Ok(None));
}

#[tokio::test]
async fn a_server_that_ignores_that_too_is_killed() {
    let child = spawn(&shell("trap '' TERM; echo ready; while :; do sleep 0.05; done"));
    assert_eq!(next(&child).await, Ok(Some("ready".into())));
    within_a_minute(child.close()).await;
    assert_eq!(child.wait().await.unwrap().signal(), Some(9));
}

#[tokio::test]
async fn a_server_that_says_goodbye_when_terminated_is_heard() {
    let child =
        spawn(&shell("trap 'echo goodbye; exit 0' TERM; echo ready; while :; do sleep 0.05; done"));
    assert_eq!(next(&child).await, Ok(Some("ready".into())));
    within_a_minute(child.close()).await;
    assert_eq!(rest(&child).await, ["goodbye"]);
}

#[tokio::test]
async fn a_server_that_does_not_read_is_closed_all_the_same() {
    let child = spawn(&shell("exec sleep 1000"));
    for _ in 0..3 {
        child.send(message("x".repeat(200_000))).await.unwrap();
    }
    within_a_minute(child.close()).await;
    assert_eq!(child.wait().await.unwrap().signal(), Some(15));
}

#[tokio::test]
async fn a_server_that_never_reads_is_stuck() {
    let mut settings = settings();
    settings.lines.stall_timeout = Duration::from_millis(100);
    let child = ChildTransport::spawn(&shell("exec sleep 1000"), &settings).unwrap();
    let error = send_until_error(&child, &"x".repeat(100_000)).await;
    assert!(matches!(error, TransportError::Stalled { .. }), "{error:?}");
    assert!(matches!(next(&child).await, Err(TransportError::Stalled { .. })));
    within_a_minute(child.close()).await;
}

#[tokio::test]
async fn a_grandchild_that_holds_the_output_does_not_hold_us() {
    let child = spawn(&shell("sleep 1000 & echo $!; exit 4"));
    let grandchild = next(&child).await.unwrap().unwrap();
    assert_eq!(next(&child).await, lost("the server exited with status 4"));
    assert!(signal("-TERM", &grandchild));
}

fn signal(name: &str, id: &str) -> bool {
    std::process::Command::new("kill")
        .args([name, id])
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap()
        .success()
}

#[tokio::test]
async fn a_dropped_transport_ends_the_server() {
    let child = spawn(&shell("echo $$; while :; do sleep 0.05; done"));
    let id = next(&child).await.unwrap().unwrap();
    drop(child);
    within_a_minute(async {
        // Succeeds as long as the process exists, even as a zombie.
        while signal("-0", &id) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn standard_error_is_captured_however_much_it_is() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let taken = Arc::clone(&lines);
    let command = shell(
        "echo first >&2; head -c 3000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo last >&2; echo '{}'; cat",
    )
    .stderr(ChildStderr::lines(move |line| taken.lock().unwrap().push(line.to_owned())));
    let child = spawn(&command);
    assert_eq!(next(&child).await, Ok(Some("{}".into())));
    within_a_minute(async {
        while lines.lock().unwrap().last().map(String::as_str) != Some("last") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    let lines = lines.lock().unwrap();
    assert_eq!(lines[0], "first");
    assert_eq!(lines[1].len(), 8 * 1024);
    assert_eq!(lines.len(), 3);
}

#[tokio::test]
async fn what_cannot_be_started_is_named_with_what_to_check() {
    let refused = |command: ChildCommand| {
        ChildTransport::spawn(&command, &settings()).unwrap_err().to_string()
    };
    let missing = refused(ChildCommand::new("no-such-program-anywhere"));
    assert!(
        missing.contains("`no-such-program-anywhere`") && missing.contains("PATH"),
        "{missing}"
    );
    let forbidden = refused(ChildCommand::new("/"));
    assert!(forbidden.contains("executed"), "{forbidden}");
    let nowhere = refused(ChildCommand::new("cat").current_dir("/no/such/directory"));
    assert!(nowhere.contains("/no/such/directory"), "{nowhere}");
}

/// A sender may find the pipe broken before the system reports that the server has exited.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_status_of_a_server_that_dies_at_once_is_never_lost() {
    for _ in 0..300 {
        let child = spawn(&shell("exit 3"));
        let lost = TransportError::Lost("the server exited with status 3".into());
        assert_eq!(send_until_error(&child, "{}").await, lost);
        assert_eq!(next(&child).await, Err(lost));
    }
}

#[tokio::test]
async fn a_message_that_is_too_long_is_not_sent() {
    let mut settings = settings();
    settings.lines.max_message = 10;
    let child = ChildTransport::spawn(&ChildCommand::new("cat"), &settings).unwrap();
    let refused = child.send(message("[1,2,3,4,5]")).await;
    assert_eq!(refused, Err(TransportError::TooLong { length: 11, limit: 10 }));
    child.send(message("[1,2,3,4]")).await.unwrap();
    assert_eq!(next(&child).await, Ok(Some("[1,2,3,4]".into())));
    within_a_minute(child.close()).await;
}
