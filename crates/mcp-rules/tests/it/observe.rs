//! Runs a file through the engine as `plumb check` does, line by line.

use mcp_rules::{Engine, Finding, Findings, LineReader, Observer, RecordingInfo, Routed, Settings};
use mcp_schema::Schemas;

/// The findings in `file`, in order.
pub(crate) fn observe(file: &[u8], settings: Settings, info: RecordingInfo) -> Vec<Finding> {
    let engine = Engine::new(Schemas::embedded(), settings);
    let mut observer = Observer::new(&engine, info);
    let mut found = follow_lines(&engine, &mut observer, file, |_| ());
    let mut judged = Vec::new();
    observer.finish(&mut judged);
    found.extend(judged.into_iter().flat_map(|judged| judged.findings));
    found
}

/// The findings in `file` if every session is saved and restored between any two lines.
pub(crate) fn observe_restored(file: &[u8], settings: Settings) -> Vec<Finding> {
    let engine = Engine::new(Schemas::embedded(), settings);
    let mut observer = Observer::new(&engine, RecordingInfo::default());
    let mut found = follow_lines(&engine, &mut observer, file, |observer| {
        for (_, session) in observer.sessions_mut() {
            let saved = serde_json::to_string(session).expect("sessions can be saved");
            *session = serde_json::from_str(&saved).expect("what was saved can be restored");
        }
    });
    let mut judged = Vec::new();
    observer.finish(&mut judged);
    found.extend(judged.into_iter().flat_map(|judged| judged.findings));
    found
}

/// The number of messages in `file`, and of results without a request.
pub(crate) fn counts(file: &[u8]) -> (u64, u64) {
    let engine = Engine::new(Schemas::embedded(), Settings::default());
    let mut observer = Observer::new(&engine, RecordingInfo::default());
    follow_lines(&engine, &mut observer, file, |_| ());
    observer.finish(&mut Vec::new());
    (observer.messages(), observer.unmatched_results())
}

/// The findings in `file` if more may follow.
pub(crate) fn observe_open(file: &[u8], settings: Settings, info: RecordingInfo) -> Vec<Finding> {
    let engine = Engine::new(Schemas::embedded(), settings);
    let mut observer = Observer::new(&engine, info);
    follow_lines(&engine, &mut observer, file, |_| ())
}

fn follow_lines<'e>(
    engine: &'e Engine,
    observer: &mut Observer<'e>,
    file: &[u8],
    mut between: impl FnMut(&mut Observer<'e>),
) -> Vec<Finding> {
    let mut findings = Findings::new(engine.settings());
    let mut found = Vec::new();
    let mut judged = Vec::new();
    let mut reader = LineReader::new(&engine.settings().limits);
    let file = file.strip_suffix(b"\n").unwrap_or(file);
    for (position, line) in file.split(|byte| *byte == b'\n').enumerate() {
        let number = position as u64 + 1;
        between(observer);
        reader.read(line, |line| {
            if let Routed::Judge(followed) = observer.follow(number, line, &mut judged) {
                findings.set_line(number);
                line.judge(engine, &followed, &mut findings);
                found.extend(findings.take());
            }
        });
        found.extend(judged.drain(..).flat_map(|judged| judged.findings));
    }
    found
}
