//! Attacks on `plumb mock`.

use std::{io::Write as _, thread, time::Duration};

use crate::{
    attacks::folder::{Folder, text},
    outcome::Outcome,
    process::Program,
    stage::Stage,
};

/// Short requests for a long answer, which is not read.
pub(crate) fn answers_unread(stage: &Stage) -> anyhow::Result<Outcome> {
    let folder = Folder::new("mock")?;
    let long = "x".repeat(4 << 20);
    let recording = format!(
        "{}\n{}\n",
        r#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}"#,
        format_args!(
            r#"{{"from":"server","msg":{{"jsonrpc":"2.0","id":1,"result":{{"x":"{long}"}}}}}}"#
        ),
    );
    let file = folder.write("trace.jsonl", &recording)?;
    let mut mock = Program::start(stage, "plumb", &["mock", text(&file)?])?;
    let mut input = mock.stdin()?;
    // At some point the program stops reading; its end unblocks the writer.
    let writer = thread::spawn(move || {
        for id in 0..2_000 {
            let ask = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"}}\n");
            if input.write_all(ask.as_bytes()).is_err() {
                break;
            }
        }
    });
    thread::sleep(Duration::from_secs(stage.times(5, 2) as u64));
    let peak = mock.peak()?;
    drop(mock);
    let _ = writer.join();
    Ok(Outcome::new().memory(peak, 128))
}
