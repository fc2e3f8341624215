//! `plumb.toml`: finding, applying and rejecting it.

use super::{BAD, DOUBTFUL, Place};

#[test]
fn the_file_is_found_in_parents_and_applied() {
    let place = Place::new()
        .file("plumb.toml", "[rules]\nparams-invalid = 'off'\n")
        .file("deep/er/bad.jsonl", BAD);
    let mut command = place.command(&["check", "bad.jsonl"]);
    let output = command.current_dir(place.0.path().join("deep/er")).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_command_line_wins() {
    let place = Place::new()
        .file("plumb.toml", "format = 'json'\nfail_on = 'warning'\n")
        .file("doubtful.jsonl", DOUBTFUL);
    place.run(&["check", "doubtful.jsonl"]).exits(1).prints("{\"file\":");
    let run = place.run(&["check", "--format", "human", "--fail-on", "error", "doubtful.jsonl"]);
    run.exits(0).prints("warning[");
}

#[test]
fn patterns_and_layers_are_applied() {
    let place = Place::new()
        .file("plumb.toml", "[rules]\n'params-*' = 'off'\n'layer:json' = 'error'\n")
        .file("bad.jsonl", BAD)
        .file("doubtful.jsonl", DOUBTFUL);
    place.run(&["check", "bad.jsonl"]).exits(0).prints("no findings");
    place.run(&["check", "doubtful.jsonl"]).exits(1).prints("error[id-unsafe-integer]");
    place.run(&["check", "--rule", "*=off", "doubtful.jsonl", "bad.jsonl"]).exits(0);
    place.run(&["check", "--rule", "layer:schema=error", "bad.jsonl"]).exits(1);
    let run = place.run(&["check", "--rule", "layer:htp=off", "bad.jsonl"]).exits(2);
    run.complains("did you mean `http`?");
}

#[test]
fn settings_without_effect_are_reported_even_with_quiet() {
    let place = Place::new()
        .file("plumb.toml", "profile = 'jsonrpc'\n[rules]\nparams-invalid = 'off'\n")
        .file("doubtful.jsonl", DOUBTFUL);
    let run = place.run(&["check", "-q", "--rule", "wheather-*=off", "doubtful.jsonl"]).exits(0);
    run.complains("warning: no rule matches `wheather-*`")
        .complains("`params-invalid` has no effect: the profile `jsonrpc` excludes that layer");
    let args = ["check", "--profile", "spec", "--revision", "2025-11-25"];
    let run = place.run(&[&args[..], &["--rule", "batch-mixed=off", "doubtful.jsonl"]].concat());
    run.exits(0).complains("`batch-mixed` has no effect: it does not apply to 2025-11-25");
    let run = place.run(&["check", "--no-config", "doubtful.jsonl"]).exits(0);
    assert_eq!(run.stderr, "");
}

#[test]
fn a_profile_can_know_more_methods() {
    let place = Place::new()
        .file(
            "plumb.toml",
            "[profiles.house]\nextends = 'erlmcp'\nrequests = ['weather/forecast']\n\
             notifications = ['notifications/weather']\n",
        )
        .file(
            "own.ndjson",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"weather/forecast\",\"params\":{}}\n\
             {\"jsonrpc\":\"2.0\",\"method\":\"notifications/weather\"}\n",
        );
    place.run(&["check", "--profile", "house", "own.ndjson"]).exits(0).prints("no findings");
    let run = place.run(&["check", "--profile", "erlmcp", "own.ndjson"]).exits(1);
    run.prints("error[method-unknown]");
}

#[test]
fn another_file_or_none_can_be_chosen() {
    let place = Place::new()
        .file("plumb.toml", "[rules]\nparams-invalid = 'off'\n")
        .file("other.toml", "[rules]\nparams-invalid = 'warning'\n")
        .file("bad.jsonl", BAD);
    place.run(&["check", "bad.jsonl"]).exits(0).prints("no findings");
    place.run(&["check", "--config", "other.toml", "bad.jsonl"]).exits(0).prints("1 warning");
    place.run(&["check", "--no-config", "bad.jsonl"]).exits(1).prints("1 error");
}

#[test]
fn faults_are_shown_with_their_place() {
    let place = Place::new()
        .file("plumb.toml", "profil = 'spec'\n\n[rules]\nparam-invalid = 'off'\n")
        .file("bad.jsonl", BAD);
    let run = place.run(&["check", "bad.jsonl"]).exits(2);
    assert_eq!(run.stdout, "");
    run.complains("plumb.toml:1:1")
        .complains("did you mean `profile`?")
        .complains("plumb.toml:4:1")
        .complains("did you mean `params-invalid`?");
}

#[test]
fn a_file_that_is_not_toml_is_rejected() {
    let place = Place::new().file("plumb.toml", "[rules\n").file("bad.jsonl", BAD);
    place.run(&["check", "bad.jsonl"]).exits(2).complains("plumb.toml:1");
}

#[test]
fn a_missing_file_is_named() {
    let run = Place::new().run(&["check", "--config", "nowhere.toml"]).exits(2);
    run.complains("could not read the configuration `nowhere.toml`").complains("caused by");
}

#[test]
fn a_custom_profile_can_be_chosen() {
    let file = "[profiles.house]\nextends = 'spec'\nrules = { id-unsafe-integer = 'error' }\n";
    let place = Place::new().file("plumb.toml", file).file("doubtful.jsonl", DOUBTFUL);
    place.run(&["check", "doubtful.jsonl"]).exits(0);
    place.run(&["check", "--profile", "house", "doubtful.jsonl"]).exits(1);
}
