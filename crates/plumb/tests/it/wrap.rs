//! `plumb wrap`: the configuration of a client, there and back.

use std::fs;

use super::Place;

const CONFIG: &str = r#"{
  // servers I use
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"],
      "env": { "SECRET": "s3cr3t" },
    },
    "remote": { "url": "https://mcp.example/mcp" },
    "private": { "url": "https://mcp.example/mcp", "headers": { "Authorization": "Bearer x" } }
  }
}
"#;

fn place() -> Place {
    Place::new().file("config.json", CONFIG)
}

impl Place {
    fn config(&self) -> String {
        fs::read_to_string(self.0.path().join("config.json")).unwrap()
    }
}

#[test]
fn there_and_back_again() {
    let place = place();
    let run = place
        .run(&["wrap", "config.json", "--plumb", "/opt/plumb", "--", "--record", "/tmp/t"])
        .exits(0);
    insta::assert_snapshot!(run.stdout + "\n" + &place.config());
    place
        .run(&["wrap", "config.json"])
        .exits(0)
        .prints("files: already wrapped")
        .prints("nothing to change");
    place.run(&["wrap", "--undo", "config.json"]).exits(0).prints("files: unwrapped");
    assert_eq!(place.config(), CONFIG);
    place.run(&["wrap", "--undo", "config.json"]).exits(0).prints("files: not wrapped");
}

#[test]
fn this_program_is_the_proxy_unless_told_otherwise() {
    let place = place();
    place
        .run(&["wrap", "config.json", "files", "--", "--record=traces"])
        .exits(0)
        .prints("`traces` is relative");
    let own = serde_json::to_string(env!("CARGO_BIN_EXE_plumb")).unwrap();
    assert!(place.config().contains(&format!("\"command\": {own}")), "{}", place.config());
}

#[test]
fn a_dry_run_shows_the_difference_and_changes_nothing() {
    let place = place();
    let run = place
        .run(&["wrap", "--dry-run", "--plumb", "plumb", "config.json", "files", "remote"])
        .exits(0);
    assert!(!run.stdout.contains("s3cr3t"));
    insta::assert_snapshot!(run.stdout + "\n" + &run.stderr);
    assert_eq!(place.config(), CONFIG);
}

#[test]
fn what_cannot_be_wrapped_is_refused_and_nothing_changes() {
    let place = place();
    place
        .run(&["wrap", "config.json", "files", "private"])
        .exits(2)
        .complains("`private` cannot be wrapped: it sends headers")
        .complains("nothing was changed");
    place.run(&["wrap", "config.json", "file"]).exits(2).complains("did you mean `files`?");
    place.run(&["wrap", "config.json", "--", "--"]).exits(2).complains("leave them out");
    place.run(&["wrap", "missing.json"]).exits(2).complains("could not read missing.json");
    place.run(&["wrap", "."]).exits(2).complains("not a regular file");
    assert_eq!(place.config(), CONFIG);
    let place = Place::new().file("a.json", "{\"mcpServers\": {").file("b.json", "{}");
    place.run(&["wrap", "a.json"]).exits(2).complains("a.json cannot be used").complains("line 1");
    place.run(&["wrap", "b.json"]).exits(2).complains("not the configuration of a client");
}

/// What the client starts afterwards is the proxy, with the server behind it.
#[cfg(unix)]
#[test]
fn a_wrapped_server_runs() {
    let place = Place::new().file("config.json", r#"{"mcpServers":{"echo":{"command":"cat"}}}"#);
    place.run(&["wrap", "config.json", "--", "--quiet", "--record", "t.jsonl"]).exits(0);
    let config: serde_json::Value = serde_json::from_str(&place.config()).unwrap();
    let server = &config["mcpServers"]["echo"];
    assert_eq!(server["command"], env!("CARGO_BIN_EXE_plumb"));
    let args: Vec<&str> =
        server["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    let line = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    let run = place.run_with_input(&args, line).exits(0);
    assert_eq!(run.stdout, line);
    place.run(&["tail", "--no-follow", "t.jsonl"]).exits(0).prints("notifications/initialized");
}
