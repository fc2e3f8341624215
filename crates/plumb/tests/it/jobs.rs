//! The number of threads affects nothing but the run time.

use std::{fmt::Write as _, fs, path::Path};

use crate::{BAD, DOUBTFUL, GOOD, Place};

/// Runs with one thread and with several, and compares.
#[track_caller]
fn check(place: &Place, args: &[&str]) {
    let run = |jobs: &str| {
        let run = place.run(&[&["check", "--jobs", jobs], args].concat());
        (run.code, without_time(&run.stdout), run.stderr)
    };
    let alone = run("1");
    assert!(alone.1.contains("params-invalid"), "{}", alone.1);
    for jobs in ["2", "7"] {
        assert_eq!(run(jobs), alone, "{jobs} {args:?}");
    }
}

/// How long it took differs from run to run.
fn without_time(report: &str) -> String {
    let lines = report.lines().filter(|line| !line.contains("MB/s") && !line.contains(" ms"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A file of several chunks, with messages as values and as text, of several sessions.
fn large() -> String {
    let mut text = String::new();
    for number in 0..6000 {
        let session = number % 5;
        let name = if number % 997 == 0 { "7" } else { "\"a\"" };
        let filler = "x".repeat(number % 300);
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":{name},"arguments":{{"a":"{filler}"}}}}}}"#
        );
        let content = match number % 3 {
            0 => format!(r#""msg":{message}"#),
            1 => format!(r#""raw":{message:?}"#),
            _ => format!(
                r#""http":{{"exchange":{number},"method":"POST","url":"/mcp"}},"raw":{message:?}"#
            ),
        };
        writeln!(text, r#"{{"from":"client","session":"{session}",{content}}}"#).unwrap();
    }
    text
}

#[test]
fn one_large_file_gives_the_same_report() {
    let place = Place::new().file("large.jsonl", &large());
    for format in ["human", "json", "sarif", "junit", "github"] {
        check(&place, &["--format", format, "large.jsonl"]);
    }
    check(&place, &["--format", "json", "--max-findings", "3", "large.jsonl"]);
}

#[test]
fn many_files_give_the_same_report_in_the_same_order() {
    let mut place = Place::new().file("many/050-large.jsonl", &large()).file("many/051.jsonl", "");
    for number in 0..120 {
        let text = match number % 4 {
            0 => format!("{GOOD}{BAD}"),
            1 => format!("{BAD}no JSON\n{GOOD}"),
            2 => DOUBTFUL.to_owned(),
            _ => GOOD.repeat(number),
        };
        place = place.file(&format!("many/{number:03}.jsonl"), &text);
    }
    for format in ["human", "json", "junit"] {
        check(&place, &["--format", format, "many"]);
        // Unreadable files are reported, and do not affect the rest.
        check(&place, &["--format", format, "many", "missing.jsonl", "many/000.jsonl"]);
    }
}

#[test]
fn every_trace_gives_the_same_report() {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
    let traces = fs::canonicalize(traces).unwrap();
    check(&Place::new(), &["--format", "json", traces.to_str().unwrap()]);
}
