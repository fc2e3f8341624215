//! Lines too long to be judged, between standard streams.

use std::{
    io::Write,
    sync::{Arc, Mutex},
};

use mcp_proxy::{
    Policy,
    stdio::{StdioSettings, run_over},
};
use serde_json::{Value, json};

use crate::support::Recording;

/// The output that the client received.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_for_a_line_that_is_too_long_is_told_by_name() {
    let long = "x".repeat(2000);
    let requests = format!(
        "{}\n{{\"method\":\"a\",\"params\":{{\"b\":\"{long}\"}},\"id\":2}}\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
    );
    let answer = format!(r#"{{"result":{{"b":"{long}"}},"jsonrpc":"2.0","id":1}}"#);
    let script = format!("read line; echo '{answer}'; cat >&2");
    let recording = Recording::new(Policy::enforce());
    let (tap, output) = (recording.tap.clone(), Output::default());
    let got = output.clone();
    let mut settings = StdioSettings::default();
    settings.max_line = 1000;
    tokio::task::spawn_blocking(move || {
        let streams = (std::io::Cursor::new(requests), output);
        run_over(&"sh".into(), &["-c".into(), script.into()], streams, &tap, &settings).unwrap();
    })
    .await
    .unwrap();
    let got = String::from_utf8(got.0.lock().unwrap().clone()).unwrap();
    let mut answers: Vec<Value> =
        got.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    answers.sort_by_key(|answer| answer["id"].as_i64());
    let told: Vec<_> =
        answers.iter().map(|answer| (&answer["id"], &answer["error"]["code"])).collect();
    assert_eq!(told, [(&json!(1), &json!(-32603)), (&json!(2), &json!(-32600))], "{got}");
    recording.finish().await.assert_same();
}
