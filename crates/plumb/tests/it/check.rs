//! `plumb check`: input, output and exit codes.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    process::Stdio,
};

use super::{BAD, DOUBTFUL, GOOD, Place};

fn place() -> Place {
    Place::new().file("good.jsonl", GOOD).file("bad.jsonl", BAD).file("doubtful.jsonl", DOUBTFUL)
}

#[test]
fn a_clean_trace_is_success() {
    let run = place().run(&["check", "good.jsonl"]).exits(0);
    assert_eq!(run.stdout, "no findings in 2 messages (1 file)\n");
    assert_eq!(run.stderr, "");
}

#[test]
fn an_error_is_exit_code_1() {
    let run = place().run(&["check", "bad.jsonl"]).exits(1);
    run.prints("error[params-invalid]").prints("--> bad.jsonl:1");
}

#[test]
fn a_warning_fails_only_when_asked_to() {
    place().run(&["check", "doubtful.jsonl"]).exits(0).prints("warning[id-unsafe-integer]");
    place().run(&["check", "--fail-on", "warning", "doubtful.jsonl"]).exits(1);
    place().run(&["check", "--fail-on", "error", "doubtful.jsonl"]).exits(0);
    place().run(&["check", "--fail-on", "never", "bad.jsonl"]).exits(0).prints("1 error");
    place().run(&["check", "--fail-on", "never", "missing.jsonl"]).exits(2);
}

#[test]
fn rules_can_be_set() {
    place().run(&["check", "--rule", "params-invalid=warn", "bad.jsonl"]).exits(0);
    let run = place().run(&["check", "--rule", "params-invalid=off", "bad.jsonl"]).exits(0);
    run.prints("no findings");
    place().run(&["check", "--rule", "id-unsafe-integer=error", "doubtful.jsonl"]).exits(1);
}

#[test]
fn standard_input_is_read_with_or_without_a_dash() {
    for args in [&["check"][..], &["check", "-"]] {
        let run = Place::new().run_with_input(args, BAD).exits(1);
        run.prints("--> -:1");
    }
}

#[test]
fn json_is_one_finding_per_line_and_nothing_else() {
    let run = place().run(&["check", "--format", "json", "bad.jsonl", "good.jsonl"]).exits(1);
    assert_eq!(run.stderr, "");
    let lines: Vec<serde_json::Value> =
        (run.stdout.lines()).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["file"], "bad.jsonl");
    assert_eq!(lines[0]["rule"], "params-invalid");
    assert_eq!(lines[0]["line"], 1);
    assert_eq!(lines[0]["instancePath"], "/params/name");
    assert_eq!(lines[0]["pointer"], "/params/name");
}

#[test]
fn every_format_says_the_same() {
    for format in ["human", "json", "sarif", "junit", "github"] {
        let run = place().run(&["check", "--format", format, "bad.jsonl"]).exits(1);
        run.prints("params-invalid").prints("bad.jsonl");
    }
}

#[test]
fn findings_beyond_the_limit_are_counted() {
    let place = Place::new().file("many.jsonl", &BAD.repeat(5));
    let run = place.run(&["check", "--max-findings", "2", "many.jsonl"]).exits(1);
    assert_eq!(run.stdout.matches("error[params-invalid]").count(), 2);
    run.prints("5 errors in 5 messages").prints("3 findings not shown");
}

#[test]
fn a_flood_is_cut_for_people_and_complete_for_programs() {
    let place = Place::new()
        .file("many.jsonl", &format!("{}{DOUBTFUL}", BAD.repeat(30)))
        .file("more.jsonl", &BAD.repeat(11));
    let run = place.run(&["check", "many.jsonl", "more.jsonl"]).exits(1);
    assert_eq!(run.stdout.matches("--> many.jsonl").count(), 11);
    assert_eq!(run.stdout.matches("--> more.jsonl").count(), 10);
    let run = run
        .prints("error[params-invalid] by the client: 20 more like this in many.jsonl")
        .prints("error[params-invalid] by the client: 1 more like this in more.jsonl\n")
        .prints("warning[id-unsafe-integer]")
        .prints("41 errors, 1 warning in 42 messages (2 files): 42 by the client")
        .prints("21 findings not shown");
    assert_eq!(run.stdout.matches("--max-findings all").count(), 1);
    let all = ["check", "--max-findings", "all", "many.jsonl", "more.jsonl"];
    let run = place.run(&all).exits(1);
    assert_eq!(run.stdout.matches("error[params-invalid]").count(), 41);
    assert!(!run.stdout.contains("not shown") && !run.stdout.contains("more like this"));
    for format in ["json", "sarif", "junit", "github"] {
        let run = place.run(&["check", "--format", format, "many.jsonl"]).exits(1);
        assert!(run.stdout.matches("7 is not of type").count() >= 30, "{format}");
        assert!(!run.stdout.contains("more like this"), "{format}");
    }
    place.run(&["check", "--max-findings", "few"]).exits(2).complains("use a number or `all`");
}

#[test]
fn the_side_at_fault_is_named_in_every_format() {
    for (format, said) in [
        ("human", "error[params-invalid] by the client: "),
        ("json", "\"atFault\":\"client\""),
        ("sarif", "\"atFault\": \"client\""),
        ("junit", "at fault: client"),
        ("github", "title=params-invalid by the client::"),
    ] {
        place().run(&["check", "--format", format, "bad.jsonl"]).exits(1).prints(said);
    }
}

/// The same id twice, with an answer in between.
const REUSED: &str = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}}
{"from":"server","msg":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}}
{"from":"client","msg":{"jsonrpc":"2.0","method":"notifications/initialized"}}
{"from":"client","msg":{"jsonrpc":"2.0","id":2,"method":"ping"}}
{"from":"server","msg":{"jsonrpc":"2.0","id":2,"result":{}}}
"#;

#[test]
fn the_line_that_explains_a_finding_is_shown() {
    let again = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":2,"method":"ping"}}"#;
    let answer = r#"{"from":"server","msg":{"jsonrpc":"2.0","id":2,"result":{}}}"#;
    // Far apart, so that the line has to be read again.
    let trace = format!("{REUSED}{}{again}\n{answer}\n", "\n".repeat(700_000));
    let place = Place::new().file("reused.jsonl", &trace);
    let run = place.run(&["check", "reused.jsonl"]).exits(1);
    run.prints("error[request-id-reused] by the client")
        .prints("(ping, id 2): reused.jsonl:4\n")
        .prints("\n     4 | {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n");
    let run = place.run_with_input(&["check", "-"], &trace).exits(1);
    run.prints("= note: line 4: ");
    let run = place.run(&["check", "--format", "json", "reused.jsonl"]).exits(1);
    run.prints("\"related\":{\"line\":4,");
    let run = place.run(&["check", "--format", "sarif", "reused.jsonl"]).exits(1);
    let log: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let related = &log["runs"][0]["results"][0]["relatedLocations"][0];
    assert_eq!(related["physicalLocation"]["region"]["startLine"], 4);
    for format in ["junit", "github"] {
        place.run(&["check", "--format", format, "reused.jsonl"]).exits(1).prints("line 4: ");
    }
}

#[test]
fn a_finding_made_later_is_shown_on_its_own_line() {
    let open = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":3,"method":"ping"}}"#;
    let later = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":4,"method":"ping"}}"#;
    let answer = r#"{"from":"server","msg":{"jsonrpc":"2.0","id":4,"result":{}}}"#;
    let trace = format!("{REUSED}{open}\n{later}\n{answer}\n");
    let place = Place::new().file("open.jsonl", &trace);
    let run = place.run(&["check", "open.jsonl"]).exits(0);
    run.prints("warning[request-unanswered] by the server: ")
        .prints("--> open.jsonl:6 (client → server, 2025-11-25, ping, id 3)")
        .prints("\n6 | {\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\n");
    let run = place.run_with_input(&["check", "-"], &trace).exits(0);
    run.prints("--> -:6 (client → server, 2025-11-25)\n = help: ");
}

#[test]
fn a_recording_can_be_declared_to_start_at_the_beginning() {
    let answer = "{\"from\":\"server\",\"msg\":{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}}\n";
    let place = Place::new().file("t.jsonl", answer);
    place.run(&["check", "t.jsonl"]).exits(0).prints("no findings");
    let run = place.run(&["check", "--from-start", "t.jsonl"]).exits(1);
    run.prints("error[response-unknown-id]");
    let place = place.file("plumb.toml", "from_start = true\n");
    place.run(&["check", "t.jsonl"]).exits(1).prints("error[response-unknown-id]");
}

#[test]
fn a_line_too_long_to_be_checked_is_shown_if_it_can_be_read_again() {
    let place = Place::new()
        .file("plumb.toml", "[limits]\nmessage_bytes = 60\n")
        .file("long.ndjson", &format!("{}\n", "x".repeat(700_000)));
    place.run(&["check", "long.ndjson"]).exits(0).prints("1 | xxxxxxxx");
    let run = place.run_with_input(&["check"], &"x".repeat(700_000));
    run.exits(0).prints("--> -:1");
}

#[test]
fn quiet_prints_findings_only() {
    let run = place().run(&["check", "-q", "good.jsonl"]).exits(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
}

#[test]
fn verbose_prints_the_settings_in_use() {
    let run = place().run(&["check", "-v", "good.jsonl"]).exits(0);
    run.complains("configuration: none")
        .complains("schema of 2025-11-25: embedded")
        .complains(" with 2 messages in 1 file, in ");
}

#[test]
fn colours_can_be_forced_and_disabled() {
    let coloured = place().run(&["check", "--color", "always", "bad.jsonl"]).exits(1);
    coloured.prints("\x1b[");
    let plain = place().run(&["check", "bad.jsonl"]).exits(1);
    assert!(!plain.stdout.contains('\x1b'));
}

#[test]
fn a_missing_file_is_exit_code_2_and_the_others_are_checked() {
    let run = place().run(&["check", "missing.jsonl", "bad.jsonl"]).exits(2);
    run.prints("params-invalid").complains("error: ").complains("missing.jsonl");
}

#[test]
fn an_unusable_schema_is_a_warning_unless_it_is_required() {
    let place = place().file("broken.json", "{");
    let args = ["check", "--schema", "2025-11-25=broken.json", "good.jsonl"];
    let run = place.run(&args).exits(0);
    run.complains("warning: ").complains("broken.json").complains("embedded");
    let mut required = args.to_vec();
    required.push("--schema-required");
    place.run(&required).exits(2).complains("broken.json").complains("help: ");
}

#[test]
fn quiet_hides_no_warning_about_a_schema() {
    let place = place().file("broken.json", "{");
    let args = ["check", "-q", "--schema", "2025-11-25=broken.json", "good.jsonl"];
    place.run(&args).exits(0).complains("warning: ").complains("broken.json");
}

#[test]
fn a_schema_may_be_named_by_a_file_url() {
    let place = place().file("my broken.json", "{");
    let folder = place.0.path().display().to_string();
    for host in ["", "localhost"] {
        let schema = format!("2025-11-25=file://{host}{folder}/my%20broken.json");
        let run = place.run(&["check", "--schema", &schema, "good.jsonl"]).exits(0);
        run.complains("my broken.json is not JSON");
    }
    let elsewhere = ["check", "--schema", "file://server/x.json", "good.jsonl"];
    place.run(&elsewhere).exits(2).complains("of the host `server`");
}

#[test]
fn what_a_schema_cannot_change_is_reported() {
    let schema = r#"{"$defs": {
        "EmptyResult": {"type": "object"},
        "RequestId": {"type": ["string", "integer", "null"]},
        "GrepRequest": {"properties": {"method": {"const": "tools/grep"}}}
    }}"#;
    let place = place().file("mine.json", schema);
    let run = place.run(&["check", "-q", "--schema", "2025-11-25=mine.json", "good.jsonl"]);
    let run = run.exits(0).complains("warning: `GrepRequest` has no effect");
    run.complains("warning: `RequestId` does not change the envelope").complains("mine.json");
}

#[test]
fn a_custom_schema_is_used() {
    let root = env!("CARGO_MANIFEST_DIR");
    let ours = format!("{root}/../mcp-schema/revisions/2025-11-25/schema.json");
    let text = fs::read_to_string(ours).unwrap();
    let place = place().file("mine.json", &text);
    let run = place.run(&["check", "-v", "--schema", "2025-11-25=mine.json", "bad.jsonl"]);
    run.exits(1).complains("schema of 2025-11-25: mine.json").prints("params-invalid");
}

#[test]
fn unknown_options_and_values_are_usage_errors() {
    place().run(&["check", "--formt", "json"]).exits(2).complains("--format");
    place().run(&["check", "--format", "xml"]).exits(2).complains("possible values");
    place().run(&["check", "--revision", "2025-11-26"]).exits(2).complains("2025-11-25");
    let run = place().run(&["check", "--rule", "param-invalid=off"]).exits(2);
    run.complains("did you mean `params-invalid`?");
    let run = place().run(&["check", "--profile", "spce", "good.jsonl"]).exits(2);
    run.complains("did you mean `spec`?");
}

#[test]
fn a_recording_of_one_side_says_nothing_about_when_the_other_answered() {
    let place = Place::new().file(
        "client.ndjson",
        concat!(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
            "\n",
        ),
    );
    let run = place.run(&["check", "--from", "client", "client.ndjson"]);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    assert!(!run.stdout.contains("warning["), "{}", run.stdout);
}

#[test]
fn results_without_their_requests_are_counted() {
    let place =
        Place::new().file("server.ndjson", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    let run = place.run(&["check", "--from", "server", "server.ndjson"]);
    assert_eq!(run.code, Some(0));
    assert!(run.stdout.contains("1 message checked only in part"), "{}", run.stdout);
}

#[test]
fn piped_input_is_checked_as_it_arrives() {
    let place = Place::new();
    let mut command = place.command(&["check", "--format", "json", "--jobs", "2", "-"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(BAD.as_bytes()).unwrap();
    stdin.flush().unwrap();
    // The pipe stays open: the finding must not wait for its end.
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.contains("params-invalid"), "{first}");
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}
