//! A conversation as a self-contained HTML file without scripts.

mod frames;
mod markup;
mod problems;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use ring::digest::{SHA256, digest};

use self::{frames::Chosen, markup::Markup};
use crate::Log;

const STYLE: &str = include_str!("report.css");

/// Renders the report about a log; `before` is the number of frames dropped before its first.
pub(crate) fn html(log: &Log, target: &str, before: u64) -> String {
    let problems = log.problems();
    let summary = log.summary();
    let kept = summary.next - summary.first;
    let chosen = Chosen::of(log);
    let mut page = Markup::default();
    begin(&mut page, target);
    let findings: u64 = problems.iter().map(|problem| problem.count).sum();
    page.raw("<p class=\"facts\">");
    page.text(&format!("{kept} frames, {findings} findings of {} kinds.", problems.len()));
    let gone = before + summary.first - 1;
    if gone > 0 {
        page.text(&format!(" {gone} older frames had been dropped from the log."));
    }
    let left_out = kept - chosen.count();
    if left_out > 0 {
        page.text(&format!(" {left_out} frames without findings are not shown."));
    }
    page.raw("</p>\n");
    problems::write(&mut page, &problems, &chosen, before);
    page.raw("<h2>Frames</h2>\n");
    chosen.write(&mut page, log, before);
    problems::write_rules(&mut page, &problems);
    page.raw("</main>\n</body>\n</html>\n");
    page.into_string()
}

fn begin(page: &mut Markup, target: &str) {
    let hash = BASE64_STANDARD.encode(digest(&SHA256, STYLE.as_bytes()));
    page.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-");
    page.raw(&hash);
    page.raw("'; base-uri 'none'; form-action 'none'\">\n");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    page.text(target);
    page.raw(" · plumb report</title>\n<style>");
    page.raw(STYLE);
    page.raw("</style>\n</head>\n<body>\n<header><h1>plumb report</h1><p><code>");
    page.text(target);
    page.raw("</code></p></header>\n<main>\n");
}

#[cfg(test)]
mod tests {
    use mcp_rules::{Engine, Settings};
    use mcp_schema::Schemas;

    use super::*;
    use crate::{LogLimits, import};

    fn report(lines: &[&str]) -> String {
        let engine = Engine::new(Schemas::embedded(), Settings::default());
        let log = Log::new(LogLimits::default());
        import::follow(&log, &engine, lines.join("\n").as_bytes()).unwrap();
        html(&log, "a <b>target</b>", 0)
    }

    #[test]
    fn text_of_peers_is_never_markup() {
        let evil = r#"<script>alert(1)</script>\" onclick='x' \u202e&lt;"#;
        let page = report(&[
            &format!(
                r#"{{"from":"client","msg":{{"jsonrpc":"2.0","id":"{evil}","method":"{evil}"}}}}"#
            ),
            r#"{"from":"server","raw":"</pre><img src=x onerror=alert(1)>\u202e"}"#,
        ]);
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("onclick='"));
        assert!(!page.contains('\u{202e}'));
        assert!(page.contains("&lt;/pre&gt;&lt;img src=x onerror=alert(1)&gt;"));
        assert!(page.contains("a &lt;b&gt;target&lt;/b&gt;"));
    }

    #[test]
    fn findings_are_marked_in_the_text_and_linked() {
        let page = report(&[
            r#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}}"#,
            r#"{"from":"server","msg":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"txt","text":"ä"}]}}}"#,
        ]);
        assert!(page.contains("<mark>&quot;txt&quot;</mark>"), "{page}");
        assert!(page.contains("href=\"#frame-2\"") && page.contains("id=\"frame-2\""));
        assert!(
            page.contains("href=\"#rule-result-invalid\"")
                && page.contains("id=\"rule-result-invalid\"")
        );
    }

    #[test]
    fn the_policy_allows_the_style_and_nothing_else() {
        let page = report(&[r#"{"from":"server","raw":"x"}"#]);
        let policy = page.split("content=\"default-src ").nth(1).unwrap();
        let policy = policy.split('"').next().unwrap();
        assert!(policy.starts_with("'none'; style-src 'sha256-"), "{policy}");
        assert!(!page.contains("http-equiv=\"refresh\"") && !page.contains(" src="));
    }
}
