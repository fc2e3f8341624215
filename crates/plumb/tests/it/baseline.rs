//! Baselines: known findings do not fail a run, and entries that are gone are reported.

use std::fs;

use crate::{BAD, DOUBTFUL, GOOD, Place};

const FORMATS: [&str; 5] = ["human", "json", "sarif", "junit", "github"];

/// Two traces with findings, and a baseline of them.
fn place() -> Place {
    let place = Place::new()
        .file("traces/bad.jsonl", &format!("{BAD}{GOOD}{BAD}"))
        .file("traces/doubtful.jsonl", DOUBTFUL);
    let run = place.run(&["check", "--write-baseline", "known.json", "traces"]).exits(0);
    run.prints("2 errors, 1 warning")
        .complains("note: wrote 3 findings to the baseline known.json");
    place
}

#[test]
fn the_file_can_be_reviewed() {
    let text = fs::read_to_string(place().0.path().join("known.json")).unwrap();
    insta::assert_snapshot!(text);
}

#[test]
fn writing_it_twice_gives_the_same() {
    let place = place();
    let read = || fs::read_to_string(place.0.path().join("known.json")).unwrap();
    let first = read();
    let args = ["check", "--jobs", "1", "--write-baseline", "known.json", "traces"];
    place.run(&args).exits(0);
    assert_eq!(read(), first);
}

#[test]
fn known_findings_are_neither_shown_nor_a_failure_in_any_format() {
    for format in FORMATS {
        let args =
            ["check", "--format", format, "--fail-on", "warning", "--baseline", "known.json"];
        let run = place().run(&[&args[..], &["traces"]].concat()).exits(0);
        assert!(!run.stdout.contains("is not of type"), "{format}: {}", run.stdout);
        let said = if format == "human" { &run.stdout } else { &run.stderr };
        assert!(said.contains("3 findings known from the baseline"), "{format}: {said}");
        assert!(!run.stderr.contains("no longer"), "{format}: {}", run.stderr);
    }
    let run = place().run(&["check", "--baseline", "known.json", "traces"]).exits(0);
    run.prints("no new findings in 5 messages (2 files)\n");
    let run = place().run(&["check", "-q", "--baseline", "known.json", "traces"]).exits(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
}

#[test]
fn new_findings_are_shown_and_fail_in_every_format() {
    for format in FORMATS {
        // More lines above, and one more finding of a known kind.
        let place = place().file("traces/bad.jsonl", &format!("{GOOD}{GOOD}{BAD}{BAD}{BAD}"));
        let args = ["check", "--format", format, "--baseline", "known.json", "traces"];
        let run = place.run(&args).exits(1);
        // JUnit has each message twice.
        let count = run.stdout.matches("is not of type").count();
        assert_eq!(count, 1 + usize::from(format == "junit"), "{format}: {}", run.stdout);
        place.run(&[&args[..], &["--fail-on", "never"]].concat()).exits(0);
    }
}

#[test]
fn stale_entries_are_reported_and_do_not_fail() {
    let place = place().file("traces/bad.jsonl", &format!("{GOOD}{BAD}"));
    for format in FORMATS {
        let args = ["check", "--format", format, "--baseline", "known.json", "traces"];
        let run = place.run(&args).exits(0);
        run.complains(
            "note: 1 entry of the baseline known.json no longer found, or found less often:",
        )
        .complains("traces/bad.jsonl: params-invalid (tools/call /params/name), 1 of 2")
        .complains("--write-baseline removes them");
    }
    place.run(&["check", "--write-baseline", "known.json", "traces"]).exits(0);
    let run = place.run(&["check", "--baseline", "known.json", "traces"]).exits(0);
    assert_eq!(run.stderr, "");
}

#[test]
fn unchecked_files_are_not_stale_unless_they_are_gone() {
    let place = place();
    let args = ["check", "--baseline", "known.json", "traces/bad.jsonl"];
    assert_eq!(place.run(&args).exits(0).stderr, "");
    fs::remove_file(place.0.path().join("traces/doubtful.jsonl")).unwrap();
    place.run(&args).exits(0).complains("traces/doubtful.jsonl: id-unsafe-integer");
    let missing = ["check", "--baseline", "known.json", "traces/bad.jsonl", "missing.jsonl"];
    place.run(&missing).exits(2).complains("missing.jsonl");
}

#[test]
fn it_means_the_same_from_every_directory() {
    let place = place().file("plumb.toml", "baseline = 'known.json'\n");
    let mut command = place.command(&["check", "bad.jsonl", "../traces/doubtful.jsonl"]);
    let output = command.current_dir(place.0.path().join("traces")).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stdout}");
    assert!(stdout.contains("no new findings"), "{stdout}");
    let absolute = place.0.path().join("traces");
    let args = ["check", absolute.to_str().unwrap()];
    place.run(&args).exits(0).prints("no new findings");
    place.run(&["check", "--no-baseline", "traces"]).exits(1).prints("2 errors, 1 warning");
    place.run(&["check", "--no-config", "traces"]).exits(1);
}

#[test]
fn the_configured_baseline_can_be_written_for_the_first_time() {
    let place = Place::new().file("plumb.toml", "baseline = 'known.json'\n").file("bad.jsonl", BAD);
    let run = place.run(&["check", "bad.jsonl"]).exits(2);
    run.complains("could not read the baseline `known.json`").complains("--write-baseline");
    place.run(&["check", "--write-baseline", "known.json", "bad.jsonl"]).exits(0);
    place.run(&["check", "bad.jsonl"]).exits(0).prints("no new findings");
}

#[test]
fn standard_input_can_be_known_too() {
    let place = Place::new();
    place.run_with_input(&["check", "--write-baseline", "known.json"], BAD).exits(0);
    place.run_with_input(&["check", "--baseline", "known.json", "-"], BAD).exits(0);
    let run = place.run_with_input(&["check", "--baseline", "known.json"], &BAD.repeat(2));
    run.exits(1).prints("--> -:2");
}

#[test]
fn many_stale_entries_are_truncated() {
    let place = Place::new();
    let place = (0..30).fold(place, |place, file| place.file(&format!("t/{file}.jsonl"), BAD));
    place.run(&["check", "-q", "--write-baseline", "known.json", "t"]).exits(0);
    let place = (0..30).fold(place, |place, file| place.file(&format!("t/{file}.jsonl"), GOOD));
    let run = place.run(&["check", "--baseline", "known.json", "t"]).exits(0);
    let run = run.complains("30 entries").complains("and 10 more (-v lists all)");
    assert_eq!(run.stderr.matches("0 of 1").count(), 20);
    let run = place.run(&["check", "-v", "--baseline", "known.json", "t"]).exits(0);
    assert_eq!(run.stderr.matches("0 of 1").count(), 30);
    let run = place.run(&["check", "-q", "--baseline", "known.json", "t"]).exits(0);
    assert_eq!(run.stderr, "");
}

#[test]
fn an_invalid_baseline_is_exit_code_2_before_anything_is_read() {
    let place = place()
        .file("broken.json", "{\"plumbBaseline\":1,\n\"findings\":[{]}")
        .file("other.json", "{\"name\":\"x\"}")
        .file("newer.json", "{\"plumbBaseline\":7,\"findings\":{}}");
    for (file, said) in [
        ("missing.json", "could not read the baseline `missing.json`"),
        ("traces", "could not read the baseline `traces`"),
        ("broken.json", "line 2 column"),
        ("other.json", "missing field `plumbBaseline`"),
        ("newer.json", "it has format 7"),
        ("traces/bad.jsonl", "cannot be used"),
    ] {
        let run = place.run(&["check", "--baseline", file, "traces"]).exits(2);
        assert_eq!(run.stdout, "", "{file}");
        run.complains(said).complains("caused by: ").complains("help: ");
    }
}

#[test]
fn only_a_baseline_is_overwritten() {
    let place = place();
    let run = place.run(&["check", "--write-baseline", "traces/bad.jsonl", "traces"]).exits(2);
    run.complains("is not a baseline, so it was not overwritten");
    let text = fs::read_to_string(place.0.path().join("traces/bad.jsonl")).unwrap();
    assert!(text.starts_with(BAD));
    let run = place.run(&["check", "--write-baseline", "no/such/known.json", "traces"]).exits(2);
    run.complains("could not write the baseline `no/such/known.json`");
    let run = place.run(&["check", "--write-baseline", "traces", "traces"]).exits(2);
    run.complains("could not write the baseline `traces`");
    place
        .run(&["check", "--baseline", "a", "--write-baseline", "b"])
        .exits(2)
        .complains("--baseline");
}

#[test]
fn a_baseline_of_half_the_findings_is_not_written() {
    let place = Place::new().file("bad.jsonl", BAD);
    let args = ["check", "--write-baseline", "known.json", "bad.jsonl", "missing.jsonl"];
    place.run(&args).exits(2).complains("missing.jsonl");
    assert!(!place.0.path().join("known.json").exists());
}
