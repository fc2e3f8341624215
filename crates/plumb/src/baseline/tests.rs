use std::{
    fs,
    path::{Path, PathBuf},
};

use mcp_core::Side;
use mcp_rules::{Finding, SchemaFault, Severity};
use serde_json::Value;

use super::Baseline;
use crate::{failure, style::Palette, text::visible};

/// A directory with two traces, to make baselines for.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("traces")).unwrap();
        for file in ["traces/a.jsonl", "traces/b.jsonl"] {
            fs::write(root.path().join(file), "").unwrap();
        }
        Place(root)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a baseline of what was found in each file, and reads it.
    fn written(&self, files: &[(&str, &[Finding])]) -> Baseline {
        let path = self.path("baseline.json");
        let mut recorded = Baseline::recording(&path).unwrap();
        for (file, findings) in files {
            recorded.enter(Some(&self.path(file)));
            assert!(findings.iter().all(|finding| !recorded.knows(finding)));
            recorded.leave();
        }
        recorded.write().unwrap();
        Baseline::load(&path).unwrap()
    }

    #[track_caller]
    fn check_rejected(&self, text: &str, expected: &str) {
        let path = self.path("broken.json");
        fs::write(&path, text).unwrap();
        let error = anyhow::Error::from(Baseline::load(&path).unwrap_err());
        let said = failure::describe(&error, &Palette::plain());
        assert!(said.contains("broken.json` cannot be used"), "{said}");
        assert!(said.contains(expected), "{said}");
        assert!(said.contains("help: "), "{said}");
    }
}

fn found(rule: &str, place: &str, message: &str) -> Finding {
    let mut finding = Finding::new(mcp_rules::rule(rule).unwrap(), Severity::Error, message);
    finding.from = Some(Side::Server);
    finding.method = Some("tools/list");
    finding.pointer = Some(place.into());
    finding.schema = (!place.is_empty()).then(|| SchemaFault {
        instance_path: place.into(),
        schema_path: String::new(),
        keyword: String::new(),
        params: Value::Null,
    });
    finding
}

fn three() -> [Finding; 3] {
    [
        found("result-invalid", "/result/tools/7", "\"name\" is missing"),
        found("result-invalid", "/result/tools/9", "\"name\" is missing"),
        found("method-unknown", "", "no revision knows \"x\""),
    ]
}

#[test]
fn it_is_sorted_and_contains_nothing_from_the_traffic() {
    let place = Place::new();
    place.written(&[("traces/b.jsonl", &three()[..1]), ("traces/a.jsonl", &three())]);
    let text = fs::read_to_string(place.path("baseline.json")).unwrap();
    insta::assert_snapshot!(text);
    assert!(!text.contains("missing"), "{text}");
}

#[test]
fn a_finding_is_known_as_often_as_it_was_recorded() {
    let place = Place::new();
    let mut known = place.written(&[("traces/a.jsonl", &three())]);
    known.enter(Some(&place.path("traces/a.jsonl")));
    let [first, second, third] = three();
    assert!(known.knows(&first) && known.knows(&second) && known.knows(&third));
    assert!(!known.knows(&first), "one more than there was");
    known.leave();
    assert_eq!(known.stale(), []);
    known.enter(Some(&place.path("traces/b.jsonl")));
    assert!(!known.knows(&first), "another file");
}

#[test]
fn a_file_named_twice_is_known_twice() {
    let place = Place::new();
    let mut known = place.written(&[("traces/a.jsonl", &three()[2..])]);
    for _ in 0..2 {
        known.enter(Some(&place.path("traces/a.jsonl")));
        assert!(known.knows(&three()[2]));
        known.leave();
    }
}

#[test]
fn entries_that_no_longer_occur_are_stale() {
    let place = Place::new();
    let mut known =
        place.written(&[("traces/a.jsonl", &three()), ("traces/b.jsonl", &three()[..1])]);
    known.enter(Some(&place.path("traces/a.jsonl")));
    assert!(known.knows(&three()[0]));
    assert_eq!(known.stale(), [], "not at the end yet");
    known.leave();
    let stale: Vec<_> = (known.stale().iter())
        .map(|stale| (stale.file.to_owned(), stale.rule.to_owned(), stale.seen, stale.count))
        .collect();
    let a = "traces/a.jsonl".to_owned();
    assert!(stale.contains(&(a.clone(), "result-invalid".to_owned(), 1, 2)), "{stale:?}");
    assert!(stale.contains(&(a, "method-unknown".to_owned(), 0, 1)), "{stale:?}");
    assert_eq!(stale.len(), 2, "the other file was not looked at");
    fs::remove_file(place.path("traces/b.jsonl")).unwrap();
    assert_eq!(known.stale().len(), 3, "the other file is gone");
}

#[test]
fn standard_input_has_a_name_too() {
    let place = Place::new();
    let path = place.path("baseline.json");
    let mut recorded = Baseline::recording(&path).unwrap();
    recorded.enter(None);
    recorded.knows(&three()[2]);
    recorded.leave();
    assert_eq!(recorded.write().unwrap(), 1);
    let mut known = Baseline::load(&path).unwrap();
    assert_eq!(known.stale(), [], "it was not looked at");
    known.enter(None);
    assert!(known.knows(&three()[2]));
}

#[test]
fn entries_of_two_branches_add_up() {
    let place = Place::new();
    place.written(&[("traces/a.jsonl", &three()[2..])]);
    let text = fs::read_to_string(place.path("baseline.json")).unwrap();
    let line = text.lines().nth(1).unwrap();
    let merged = text.replace(line, &format!("{line},\n{line}"));
    fs::write(place.path("baseline.json"), merged).unwrap();
    let mut known = Baseline::load(&place.path("baseline.json")).unwrap();
    known.enter(Some(&place.path("traces/a.jsonl")));
    assert!(known.knows(&three()[2]) && known.knows(&three()[2]) && !known.knows(&three()[2]));
}

#[test]
fn rules_that_are_gone_do_not_matter() {
    let place = Place::new();
    let text = r#"{"plumbBaseline":1,"findings":[
{"file":"traces/a.jsonl","rule":"no-such-rule","fingerprint":"0123456789abcdef","count":3}
]}"#;
    fs::write(place.path("old.json"), text).unwrap();
    let mut known = Baseline::load(&place.path("old.json")).unwrap();
    known.enter(Some(&place.path("traces/a.jsonl")));
    known.leave();
    assert_eq!(known.stale().len(), 1);
}

#[test]
fn an_empty_one_is_written_and_read() {
    let place = Place::new();
    let known = place.written(&[("traces/a.jsonl", &[])]);
    assert_eq!(known.stale(), []);
}

#[test]
fn invalid_baselines_are_rejected() {
    let place = Place::new();
    place.check_rejected("", "EOF");
    place.check_rejected("[]", "");
    place.check_rejected("{}", "missing field `plumbBaseline`");
    place.check_rejected("{\"plumbBaseline\":1}", "missing field `findings`");
    place.check_rejected("{\"plumbBaseline\":2,\"rows\":{}}", "it has format 2");
    place.check_rejected("{\"plumbBaseline\":1,\"findings\":[{}]}", "missing field `file`");
    place.check_rejected("<<<<<<< HEAD\n", "expected value at line 1 column 1");
    place.check_rejected("\u{feff}{}", "expected value");
    let row = |from: &str, to: &str| {
        let row = r#"{"file":"a","rule":"b","fingerprint":"0123456789abcdef","count":1}"#;
        format!(r#"{{"plumbBaseline":1,"findings":[{}]}}"#, row.replace(from, to))
    };
    place.check_rejected(&row("0123", "zzzz"), "`zzzz456789abcdef` is not a fingerprint");
    place.check_rejected(&row(":1}", ":0}"), "nonzero");
    place.check_rejected(&row(":1}", ":-1}"), "invalid value");
    place.check_rejected(&row(":1}", ":\"1\"}"), "invalid type");
    place.check_rejected(&row("\"rule\"", "\"rules\""), "unknown field `rules`");
    place.check_rejected(&"[".repeat(100_000), "invalid type");
}

#[test]
fn binary_files_are_rejected() {
    let place = Place::new();
    let path = place.path("binary.json");
    fs::write(&path, b"\x7fELF\x00\xff\n").unwrap();
    let error = Baseline::load(&path).unwrap_err();
    assert!(error.to_string().contains("cannot be used"), "{error}");
    fs::File::create(&path).unwrap().set_len(64 * 1024 * 1024 + 1).unwrap();
    let error = anyhow::Error::from(Baseline::load(&path).unwrap_err());
    let said = failure::describe(&error, &Palette::plain());
    assert!(said.contains("it is larger than 67,108,864 bytes"), "{said}");
}

#[test]
fn too_many_entries_are_not_written() {
    let place = Place::new();
    let path = place.path("baseline.json");
    let mut recorded = Baseline::recording(&path).unwrap();
    recorded.enter(Some(&place.path("traces/a.jsonl")));
    let mut finding = three()[2].clone();
    for number in 0..=super::MAX_ENTRIES {
        finding.message =
            (0..17).map(|bit| if number >> bit & 1 == 0 { 'a' } else { 'b' }).collect();
        recorded.knows(&finding);
    }
    let error = recorded.write().unwrap_err().to_string();
    assert!(error.contains("more than 100,000 different findings"), "{error}");
    assert!(!path.exists());
}

#[test]
fn names_that_would_move_the_cursor_do_not() {
    let place = Place::new();
    let text = r#"{"plumbBaseline":1,"findings":[
{"file":"gone\u001b[2J","rule":"x\ny","fingerprint":"0123456789abcdef","count":1}
]}"#;
    fs::write(place.path("odd.json"), text).unwrap();
    let known = Baseline::load(&place.path("odd.json")).unwrap();
    let stale = known.stale();
    assert_eq!(stale.len(), 1);
    assert_eq!(visible(&stale[0].to_string()), "gone␛[2J: x␊y, 0 of 1");
}

#[test]
fn unreadable_baselines_are_reported() {
    let place = Place::new();
    for path in [place.path("missing.json"), place.path("traces")] {
        let error = anyhow::Error::from(Baseline::load(&path).unwrap_err());
        let said = failure::describe(&error, &Palette::plain());
        assert!(said.starts_with("error: could not read the baseline `"), "{said}");
        assert!(said.contains("caused by") && said.contains("--write-baseline"), "{said}");
    }
}

#[test]
fn only_a_baseline_is_overwritten() {
    let place = Place::new();
    fs::write(place.path("trace.jsonl"), "{\"from\":\"client\"}\n").unwrap();
    let error = Baseline::recording(&place.path("trace.jsonl")).unwrap_err().to_string();
    assert!(error.contains("is not a baseline, so it was not overwritten"), "{error}");
    let error = Baseline::recording(&place.path("no/such/baseline.json")).unwrap_err();
    assert!(error.to_string().contains("could not write the baseline"), "{error}");
    place.written(&[("traces/a.jsonl", &three())]);
    let again = Baseline::recording(&place.path("baseline.json")).unwrap();
    assert_eq!(again.write().unwrap(), 0);
    assert!(Baseline::recording(Path::new("/dev/null")).is_ok());
}
