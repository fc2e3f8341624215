//! HAR captures as input of `plumb check`.

use super::{GOOD, Place};

/// A call with a wrong name, its answer as a stream, and a picture.
pub(super) const CAPTURE: &str = r#"{
  "log": {
    "version": "1.2",
    "creator": { "name": "test", "version": "1" },
    "entries": [
      {
        "startedDateTime": "2025-11-25T10:00:00.000Z",
        "time": 12.5,
        "request": {
          "method": "POST",
          "url": "https://h.example/mcp",
          "headers": [
            { "name": "Content-Type", "value": "application/json" },
            { "name": "Accept", "value": "application/json, text/event-stream" },
            { "name": "MCP-Protocol-Version", "value": "2025-11-25" }
          ],
          "postData": {
            "mimeType": "application/json",
            "text": "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":7}}"
          }
        },
        "response": {
          "status": 200,
          "headers": [{ "name": "Content-Type", "value": "text/event-stream" }],
          "content": {
            "mimeType": "text/event-stream",
            "text": "data: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":{}}}\n\n"
          }
        }
      },
      {
        "startedDateTime": "2025-11-25T10:00:01.000Z",
        "time": 1,
        "request": { "method": "GET", "url": "https://h.example/logo.png", "headers": [] },
        "response": { "status": 200, "headers": [], "content": { "text": "iVBO", "encoding": "base64" } }
      }
    ]
  }
}
"#;

#[test]
fn a_capture_is_checked_like_a_recording() {
    let place = Place::new().file("capture.har", CAPTURE).file("renamed.json", CAPTURE);
    let run = place.run(&["check", "capture.har"]).exits(1);
    insta::assert_snapshot!(run.stdout.clone() + "\n" + &run.stderr);
    let renamed = place.run(&["check", "renamed.json"]).exits(1);
    assert_eq!(renamed.stdout.replace("renamed.json", "capture.har"), run.stdout);
    let piped = place.run_with_input(&["check", "-"], CAPTURE).exits(1);
    assert!(piped.stdout.contains("params-invalid"), "{}", piped.stdout);
}

#[test]
fn captures_in_folders_are_found() {
    let place = Place::new().file("traces/capture.har", CAPTURE).file("traces/good.jsonl", GOOD);
    place.run(&["check", "traces"]).exits(1).prints("(2 files)");
}

#[test]
fn a_broken_capture_does_not_hide_the_rest() {
    let broken = &CAPTURE[..CAPTURE.len() - 20];
    let place = Place::new()
        .file("broken.har", broken)
        .file("empty.har", "")
        .file("none.har", "{\"log\":{\"version\":\"1.2\"}}")
        .file("good.jsonl", GOOD);
    place
        .run(&["check", "broken.har", "good.jsonl"])
        .exits(2)
        .complains("could not read broken.har")
        .complains("not a HAR capture")
        .prints("in 2 messages");
    place.run(&["check", "none.har"]).exits(2).complains("`log.entries`");
    place.run(&["check", "empty.har"]).exits(2).complains("not a HAR capture");
}

#[test]
fn a_capture_beyond_the_limit_is_refused() {
    let place = Place::new()
        .file("capture.har", CAPTURE)
        .file("plumb.toml", "[limits]\nmessage_bytes = 100\n");
    place.run(&["check", "capture.har"]).exits(2).complains("larger than 800 bytes");
}
