//! What a server does wrong, and what the page says about it.

use serde_json::json;

use crate::{
    browser::{self, Browser},
    live::Live,
};

/// A conversation in which these tools were called, open in a browser, and the frames of the calls.
async fn shown(tools: &[&str]) -> Option<(Browser, Live, Vec<u64>)> {
    let browser = browser::start().await?;
    let mut live = Live::begin().await;
    browser.page.goto(&live.address).await.unwrap();
    let calls = tools.iter().map(|tool| live.call(tool)).collect();
    browser.has_frames(live.wire.len()).await;
    Some((browser, live, calls))
}

#[tokio::test]
async fn nothing_is_asked_of_others_and_nobody_must_log_in() {
    let Some((browser, live, _)) = shown(&["good"]).await else { return };
    let foreign = "performance.getEntriesByType('resource').map(it => it.name).filter(name => !name.startsWith(location.origin))";
    assert_eq!(browser.value(foreign).await, json!([]));
    assert_eq!(browser.value("document.querySelectorAll('[type=password]').length").await, 0);
    assert!(browser.page.current_url().await.unwrap().as_str().starts_with(&live.address));
    browser.end().await;
}

#[tokio::test]
async fn every_frame_on_the_wire_is_a_row_and_initialize_is_the_first() {
    let Some((browser, live, _)) = shown(&["good", "log-line", "second-answer"]).await else {
        return;
    };
    let numbers =
        "[...document.querySelectorAll('tr[data-number]')].map(row => Number(row.dataset.number))";
    let expected: Vec<usize> = (1..=live.wire.len()).collect();
    assert_eq!(browser.value(numbers).await, json!(expected));
    assert_eq!(browser.find("tr[data-number='1'] .name").await.text().await.unwrap(), "initialize");
    browser.end().await;
}

#[tokio::test]
async fn raw_is_what_was_on_the_wire() {
    let tools = ["log-line", "bad-content", "hostile", "deep", "no-jsonrpc"];
    let Some((browser, live, _)) = shown(&tools).await else { return };
    for (index, line) in live.wire.iter().enumerate() {
        let number = index + 1;
        browser.select(number as u64).await;
        browser.open_raw().await;
        let shown = browser.raw().await;
        // What cannot be seen is shown by its code.
        let wire = String::from_utf8(line.clone()).unwrap();
        assert_eq!(shown, wire.replace('\u{202e}', "U+202E"), "#{number}");
        let saved = format!(
            "fetch('api/frames/{number}/text').then(it => it.text()).then(it => {{ window.saved = it }}), true"
        );
        browser.until(&saved).await;
        let text = serde_json::to_string(&wire).unwrap();
        browser.until(&format!("window.saved === {text}")).await;
    }
    browser.end().await;
}

#[tokio::test]
async fn a_log_line_is_a_row_with_its_exact_text() {
    let Some((browser, _live, calls)) = shown(&["log-line"]).await else { return };
    let number = calls[0] + 1;
    browser.find(&format!("tr[data-number='{number}'][data-kind='text']")).await;
    browser.select(number).await;
    assert_eq!(browser.raw().await, "INFO  Loading <b>model</b> weights…");
    browser.card("stdout-non-json").await;
    browser.end().await;
}

#[tokio::test]
async fn a_wrong_id_is_linked_to_the_open_request_and_p_returns() {
    let Some((browser, _live, calls)) = shown(&["wrong-id"]).await else { return };
    let (call, answer) = (calls[0], calls[0] + 1);
    browser.find(&format!("tr[data-number='{answer}'][data-worst='error']")).await;
    browser.select(answer).await;
    let card = browser.card("response-unknown-id").await;
    assert!(card.contains(&format!("#{call}")), "{card}");
    browser.click(&format!("button[data-related='{call}']")).await;
    browser.is_selected(call).await;
    browser.press("p").await;
    browser.is_selected(answer).await;
    browser.end().await;
}

#[tokio::test]
async fn an_id_of_another_type_is_said_to_be_one() {
    let Some((browser, _live, calls)) = shown(&["id-of-another-type"]).await else { return };
    browser.select(calls[0] + 1).await;
    let card = browser.card("response-id-type-mismatch").await;
    assert!(card.contains("except for its type"), "{card}");
    browser.find(&format!("button[data-related='{}']", calls[0])).await;
    browser.end().await;
}

#[tokio::test]
async fn a_result_without_content_is_an_error_and_nothing_says_success() {
    let Some((browser, _live, calls)) = shown(&["no-content"]).await else { return };
    browser.find(&format!("tr[data-number='{}'][data-worst='error']", calls[0] + 1)).await;
    for view in ["frames", "problems", "session"] {
        browser.open(view).await;
        browser.select(calls[0] + 1).await;
        browser.find("plumb-finding-card[data-severity='error']").await;
        let page = browser.find("body").await.text().await.unwrap().to_lowercase();
        assert!(!page.contains("success"), "{page}");
    }
    browser.end().await;
}

#[tokio::test]
async fn bad_content_is_one_finding_at_its_place() {
    let Some((browser, _live, calls)) = shown(&["bad-content"]).await else { return };
    browser.select(calls[0] + 1).await;
    let card = browser.card("result-invalid").await;
    assert!(card.contains("/result/content/0/type"), "{card}");
    assert_eq!(browser.value("document.querySelectorAll('plumb-finding-card').length").await, 1);
    browser.open_raw().await;
    assert_eq!(browser.find("plumb-raw-view mark").await.text().await.unwrap(), "\"txt\"");
    browser.end().await;
}

#[tokio::test]
async fn listed_faults_are_a_table_with_the_value_that_was_sent() {
    let Some(browser) = browser::start().await else { return };
    let mut live = Live::begin().await;
    browser.page.goto(&live.address).await.unwrap();
    for tool in ["ajv-data", "zod-data"] {
        let call = live.call_with(tool, &json!({ "count": "three" }));
        browser.click(&format!("tr[data-number='{}']", call + 1)).await;
        browser.is_open(call + 1).await;
        let row = browser.find("table.error-table tr[data-path='/count']").await;
        let words = row.text().await.unwrap();
        assert!(words.contains("\"three\"") && words.to_lowercase().contains("number"), "{words}");
        browser.click("table.error-table tr[data-path='/count'] button").await;
        browser.is_selected(call).await;
    }
    // Anything else is a tree, never hidden.
    let call = live.call("other-data");
    browser.has_frames(live.wire.len()).await;
    browser.select(call + 1).await;
    let tree = browser.find("plumb-json-tree").await.text().await.unwrap();
    assert!(tree.contains("count the other way"), "{tree}");
    browser.end().await;
}

#[tokio::test]
async fn a_bad_tool_is_named_and_the_place_in_it_is_pointed_at() {
    let Some((browser, live, _)) = shown(&["good"]).await else { return };
    let is_listing = |line: &&Vec<u8>| {
        let message = serde_json::from_slice::<serde_json::Value>(line);
        message.is_ok_and(|message| message["result"]["tools"].is_array())
    };
    let listings = live.wire.iter().zip(1..).filter(|(line, _)| is_listing(line));
    let expected =
        [("bad-input-schema", "/inputSchema/type"), ("misspelt-type", "/properties/city/type")];
    for ((_, number), (tool, place)) in listings.zip(expected) {
        browser.select(number).await;
        browser.find(&format!("plumb-finding-card [data-subject='{tool}']")).await;
        let cards = browser.value("document.querySelectorAll('plumb-finding-card').length").await;
        assert_eq!(cards, 1, "{tool}");
        let card = browser.find("plumb-finding-card").await.text().await.unwrap();
        assert!(card.contains(place), "{card}");
    }
    // The others stay usable.
    let answer = live.wire.len() - 2; // before a `ping` and its answer
    let worst = format!("document.querySelector(\"tr[data-number='{answer}']\").dataset.worst");
    assert_eq!(browser.value(&format!("{worst} ?? 'none'")).await, "none");
    browser.end().await;
}

#[tokio::test]
async fn an_output_mismatch_is_laid_to_the_servers_result() {
    let Some((browser, _live, calls)) = shown(&["output-mismatch"]).await else { return };
    browser.select(calls[0] + 1).await;
    let card = browser.find("plumb-finding-card").await.text().await.unwrap();
    assert!(card.contains("by the server"), "{card}");
    assert!(card.contains("/result/structuredContent/sum"), "{card}");
    assert!(!card.contains("-32602"), "{card}");
    browser.end().await;
}

#[tokio::test]
async fn each_malformed_frame_is_a_row_with_its_own_finding() {
    let Some((browser, mut live, calls)) = shown(&["result-and-error", "no-jsonrpc"]).await else {
        return;
    };
    let truncated = live.call_last("truncated");
    browser.has_frames(live.wire.len()).await;
    browser.select(calls[0] + 1).await;
    browser.card("response-result-and-error").await;
    browser.select(calls[1] + 1).await;
    browser.card("jsonrpc-version-invalid").await;
    browser.select(truncated + 1).await;
    browser.find("plumb-finding-card").await;

    // The mark ends at the last byte that was received.
    browser.open_raw().await;
    let raw = browser.raw().await;
    assert_eq!(raw.as_bytes(), live.wire.last().unwrap());
    let last = "(() => { const pre = document.querySelector('plumb-raw-view pre'); return pre.lastChild.nodeName; })()";
    assert_eq!(browser.value(last).await, "MARK");
    browser.end().await;
}

#[tokio::test]
async fn a_second_answer_is_linked_to_the_first() {
    let Some((browser, _live, calls)) = shown(&["second-answer"]).await else { return };
    // The test asks something else in between.
    browser.select(calls[0] + 3).await;
    browser.card("response-duplicate").await;
    browser.click(&format!("button[data-related='{}']", calls[0] + 1)).await;
    browser.is_selected(calls[0] + 1).await;
    browser.end().await;
}

#[tokio::test]
async fn bad_progress_and_a_bad_log_level_are_one_finding_each() {
    let Some((browser, _live, calls)) = shown(&["bad-progress", "bad-log-level"]).await else {
        return;
    };
    for (call, rule) in calls.iter().zip(["progress-token-unknown", "log-level-invalid"]) {
        browser.select(call + 1).await;
        browser.card(rule).await;
        let cards = browser.value("document.querySelectorAll('plumb-finding-card').length").await;
        assert_eq!(cards, 1, "{rule}");
    }
    browser.end().await;
}

#[tokio::test]
async fn a_hostile_server_does_not_break_the_page() {
    let Some((browser, mut live, calls)) = shown(&["hostile", "huge", "deep"]).await else {
        return;
    };
    live.call_with("flood", &json!({ "count": 10_000 }));
    browser.has_frames(live.wire.len()).await;
    for call in calls {
        browser.select(call + 1).await;
        browser.open_raw().await;
    }
    assert_eq!(browser.value("window.__owned ?? 'no'").await, "no");
    let rows = browser.value("document.querySelectorAll('tr[data-number]').length").await;
    assert!(rows.as_u64().unwrap() < 200, "only what is in sight exists");
    let call = live.call("good");
    browser.select(call + 1).await;
    browser.end().await;
}

#[tokio::test]
async fn a_finding_leads_to_its_bytes_and_to_its_rule_and_problems_to_their_frames() {
    let Some((browser, _live, calls)) = shown(&["bad-content", "no-content", "bad-content"]).await
    else {
        return;
    };
    browser.open("problems").await;
    let problem = "li.problem[data-rule='result-invalid']";
    let words = browser.find(problem).await.text().await.unwrap();
    assert!(words.contains("by the server") && words.contains("3×"), "{words}");
    browser.click(&format!("{problem} .frames-of button")).await;
    browser.is_open(calls[0] + 1).await;

    // Pointing at it marks the bytes, and a click goes there.
    let card = "plumb-finding-card[data-rule='result-invalid']";
    browser.open_raw().await;
    let point = format!(
        "document.querySelector(\"{card}\").dispatchEvent(new PointerEvent('pointerenter'))"
    );
    browser.page.execute(&point, Vec::new()).await.unwrap();
    browser.find("plumb-raw-view mark.hot").await;
    browser.click("button[data-tab='message']").await;
    browser.click(&format!("{card} .says button.link")).await;
    assert_eq!(browser.find("plumb-raw-view mark.hot").await.text().await.unwrap(), "\"txt\"");

    browser.click(&format!("{card} button.link.mono")).await;
    let docs = browser.find("dialog .rule-docs").await.text().await.unwrap();
    let text = mcp_rules::rule("result-invalid").unwrap().docs;
    let first = text.lines().find(|line| line.len() > 20 && !line.starts_with('#')).unwrap();
    assert!(docs.contains(first.split('`').next().unwrap().trim()), "{docs}");
    browser.end().await;
}
