use mcp_rules::{Engine, Settings};
use mcp_schema::Schemas;

use super::*;
use crate::Kind;

fn add(log: &Log, number: u64, line: &str) {
    LineReader::new(&Limits::default()).read(line.as_bytes(), |line| {
        log.append(number, line, &[], |_| {});
    });
}

fn row(log: &Log, number: u64) -> Row {
    log.frame(number, |frame| frame.row.clone()).unwrap()
}

#[test]
fn requests_and_answers_are_paired_by_the_spelling_of_their_ids() {
    let log = Log::new(LogLimits::default());
    add(&log, 1, r#"{"ts":"2026-01-01T00:00:00Z","from":"client","msg":{"id":1,"method":"ping"}}"#);
    add(
        &log,
        2,
        r#"{"ts":"2026-01-01T00:00:01Z","from":"client","msg":{"id":"1","method":"ping"}}"#,
    );
    add(&log, 3, r#"{"ts":"2026-01-01T00:00:03Z","from":"server","msg":{"id":"1","result":{}}}"#);
    add(&log, 4, r#"{"ts":"2026-01-01T00:00:04Z","from":"client","msg":{"id":1,"result":{}}}"#);
    assert_eq!((row(&log, 2).pair, row(&log, 2).took), (Some(3), Some(2000)));
    assert_eq!((row(&log, 3).pair, row(&log, 3).took), (Some(2), Some(2000)));
    assert_eq!(row(&log, 1).pair, None);
    assert_eq!(row(&log, 4).pair, None, "a side does not answer itself");
}

#[test]
fn what_is_kept_has_a_limit() {
    let log = Log::new(LogLimits { bytes: 1 << 20, frames: 1000 });
    for number in 1..=5000 {
        add(&log, number, r#"{"from":"client","msg":{"id":1,"method":"ping"}}"#);
    }
    let Summary { first, next, .. } = log.summary();
    assert_eq!((first, next), (4001, 5001));
    let line = format!(r#"{{"from":"client","raw":"{}"}}"#, "x".repeat(400_000));
    for number in 5001..=5010 {
        add(&log, number, &line);
    }
    let Summary { first, next, bytes } = log.summary();
    assert_eq!(next, 5011);
    assert!(first >= 5008 && bytes <= 1 << 20, "{first} {bytes}");
}

#[test]
fn readers_get_every_row_as_it_is_now() {
    let log = Log::new(LogLimits::default());
    add(&log, 1, r#"{"from":"client","msg":{"id":1,"method":"ping"}}"#);
    let first = log.since(0, 100);
    assert_eq!((first.rows.len(), first.rows[0].pair), (1, None));
    add(&log, 2, r#"{"from":"server","msg":{"id":1,"result":{}}}"#);
    let news = log.since(first.cursor, 100);
    let numbers: Vec<_> = news.rows.iter().map(|row| (row.number, row.pair)).collect();
    assert_eq!(numbers, [(1, Some(2)), (2, Some(1))]);
    assert!(log.since(news.cursor, 100).rows.is_empty());
    log.begin_anew();
    assert!(log.since(news.cursor, 100).is_behind);
}

#[test]
fn findings_are_counted_on_their_frame_and_by_rule() {
    let engine = Engine::new(Schemas::embedded(), Settings::default());
    let mut observer = mcp_rules::Observer::new(&engine, mcp_rules::RecordingInfo::default());
    let log = Log::new(LogLimits::default());
    let mut reader = LineReader::new(&Limits::default());
    for number in 1..=3 {
        reader.read(br#"{"from":"server","raw":"a log line"}"#, |line| {
            let ruling = observer.decide(number, line, |_| Some(false));
            log.append(number, line, &ruling.messages, |_| {});
            log.add_findings(ruling.findings().cloned());
        });
    }
    assert_eq!(row(&log, 2).rules, ["stdout-non-json"]);
    assert_eq!((row(&log, 2).kind, row(&log, 2).worst), (Kind::Text, Some("error")));
    let problems = log.problems();
    assert_eq!((problems[0].count, &*problems[0].frames), (3, &[1, 2, 3][..]));
}
