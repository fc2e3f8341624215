//! Speaking to a server from the page.

use mcp_core::Revision;

use crate::{
    browser::{self, Browser},
    served::Served,
};

const RAW: &str = "textarea[aria-label=\"whole frame\"]";

/// The page, connected, with a tool chosen.
async fn with_tool(browser: &Browser, served: &Served, tool: &str) {
    browser.page.goto(&served.address).await.unwrap();
    choose(browser, &format!("tool {tool}")).await;
}

async fn choose(browser: &Browser, key: &str) {
    browser.click(&format!("[data-key=\"{key}\"]")).await;
}

async fn fill(browser: &Browser, field: &str, text: &str) {
    let input =
        format!("plumb-composer [data-field='{field}'] :is(textarea, input:not([type=checkbox]))");
    let input = browser.find(&input).await;
    input.clear().await.unwrap();
    input.send_keys(text).await.unwrap();
}

async fn send(browser: &Browser, words: &str) {
    browser.until(&format!("document.querySelector('.send').textContent === '{words}'")).await;
    browser.click(".send").await;
}

async fn answer_with(browser: &Browser, words: &str) {
    let text = "document.querySelector('plumb-call-answer').textContent";
    browser.until(&format!("{text}.includes({words:?})")).await;
}

#[tokio::test]
async fn a_tool_is_called_through_its_form_and_faults_are_marked_first() {
    let Some(browser) = browser::start().await else { return };
    let served = Served::speaking().await;
    with_tool(&browser, &served, "days_between").await;
    let names = browser.until(
        "[...document.querySelectorAll('plumb-composer [data-field]')].map(it => it.dataset.field).filter(Boolean)",
    );
    let names: Vec<String> = serde_json::from_value(names.await).unwrap();
    let [first, second] = &names[..] else { panic!("{names:?}") };

    // What is wrong is marked at its field before anything is sent.
    fill(&browser, first, "yesterday").await;
    fill(&browser, second, "2026-01-03").await;
    browser.find(&format!("[data-field='{first}'][data-severity] .field-findings p")).await;
    send(&browser, "Send anyway").await;

    // The server's faults are a table, which leads to the argument.
    let row = format!("plumb-call-answer table.error-table tr[data-path='/{first}']");
    let text = browser.find(&row).await.text().await.unwrap();
    assert!(text.contains("\"yesterday\""), "{text}");
    let shown = browser.find("plumb-call-answer").await.text().await.unwrap();
    assert!(!shown.to_lowercase().contains("success"), "{shown}");
    browser.click(&format!("{row} button")).await;
    let pointed = browser.find("plumb-speak-view plumb-json-tree .pointed").await;
    assert_eq!(pointed.text().await.unwrap(), "\"yesterday\"");

    fill(&browser, first, "2026-01-01").await;
    send(&browser, "Send").await;
    answer_with(&browser, "2 days").await;
    browser.end().await;
}

#[tokio::test]
async fn text_that_is_not_json_is_sent_as_it_is() {
    let Some(browser) = browser::start().await else { return };
    let served = Served::speaking().await;
    browser.page.goto(&served.address).await.unwrap();
    browser.find("[data-key='tool greet']").await;
    choose(&browser, "other raw").await;
    browser.find(RAW).await.send_keys("{not json").await.unwrap();
    send(&browser, "Send").await;
    let row = "plumb-speak-view tr[data-from='client'][data-kind='text']";
    browser.click(row).await;
    let raw = browser.find("plumb-speak-view plumb-frame-detail plumb-raw-view pre").await;
    assert_eq!(raw.text().await.unwrap(), "{not json");
    browser.end().await;
}

#[tokio::test]
async fn a_waiting_call_holds_up_nothing_and_questions_are_answered_by_hand() {
    let Some(browser) = browser::start().await else { return };
    // Before 2026-07-28 questions are requests of the server.
    let served = Served::speaking_at(Some(Revision::V2025_11_25)).await;
    // The call waits for as long as its question is not answered.
    with_tool(&browser, &served, "greet").await;
    send(&browser, "Send").await;
    browser.find("plumb-question-card").await;
    browser.find("plumb-call-list li[data-state='pending'] .cancel").await;

    choose(&browser, "other ping").await;
    send(&browser, "Send").await;
    browser.find("plumb-call-list li[data-state='answered'][aria-current='true']").await;

    let name = "plumb-question-card [data-field='name'] textarea";
    let input = browser.find(name).await;
    input.clear().await.unwrap();
    input.send_keys("Ada").await.unwrap();
    browser.click("plumb-question-card button.main").await;
    browser.until("document.querySelector('plumb-question-card') === null").await;
    browser
        .until("document.querySelector(\"plumb-call-list li[data-state='pending']\") === null")
        .await;

    // Another is cancelled.
    choose(&browser, "tool greet").await;
    send(&browser, "Send").await;
    browser.click("plumb-call-list .cancel").await;
    browser.find("plumb-call-list li[data-state='cancelled']").await;
    browser.end().await;
}

#[tokio::test]
async fn a_frame_is_sent_again_with_its_meta_and_compared() {
    let Some(browser) = browser::start().await else { return };
    let served = Served::speaking().await;
    browser.page.goto(&served.address).await.unwrap();
    browser.find("[data-key='tool greet']").await;
    choose(&browser, "other method").await;
    browser.find("input[aria-label=method]").await.send_keys("ping").await.unwrap();
    let params = browser.find("textarea[aria-label=\"params as JSON\"]").await;
    params.clear().await.unwrap();
    params.send_keys("{\"_meta\":{\"example.com/trace\":\"abc\"}}").await.unwrap();
    let raw = format!("document.querySelector({RAW:?}).value");
    browser.until(&format!("{raw}.includes('example.com/trace')")).await;
    browser.click(".send").await;
    let row = "[...document.querySelectorAll('plumb-speak-view tr[data-number]')].findLast(row => row.querySelector('.name').textContent === 'ping')";
    browser.until(&format!("{row} !== undefined")).await;
    let first = browser.until(&format!("Number({row}.dataset.number)")).await;
    browser.click(&format!("plumb-speak-view tr[data-number='{first}']")).await;
    browser.until(&format!("location.hash.includes('frame={first}')")).await;
    browser.press("r").await;
    browser.find("plumb-call-answer [data-same]").await;
    let second = browser
        .until(&format!("Number({row}.dataset.number) > {first} && Number({row}.dataset.number)"))
        .await;
    let text = format!(
        "fetch('api/frames/{second}').then(it => it.json()).then(it => {{ window.__again = it.text; }})"
    );
    browser.page.execute(&text, Vec::new()).await.unwrap();
    let again = browser.until("window.__again ?? null").await;
    assert!(again.as_str().unwrap().contains("\"example.com/trace\":\"abc\""), "{again}");
    browser.end().await;
}

#[tokio::test]
async fn faults_are_the_same_table_in_errors_and_in_results() {
    let Some(browser) = browser::start().await else { return };
    let served = Served::speaking().await;
    with_tool(&browser, &served, "convert_length").await;
    let params = browser.find("textarea[aria-label=\"params as JSON\"]").await;
    params.clear().await.unwrap();
    let wrong = r#"{"name":"convert_length","arguments":{"value":"x","from":"mile","to":"inch"}}"#;
    params.send_keys(wrong).await.unwrap();
    let table = "[...document.querySelectorAll('plumb-call-answer table.error-table tbody tr')].map(row => [row.dataset.path, row.cells[4].textContent])";
    let mut tables = Vec::new();
    for kind in ["error", "result"] {
        send(&browser, "Send anyway").await;
        let is_new = format!(
            "document.querySelector('plumb-call-answer').textContent.includes('{}')",
            if kind == "error" { "-32602" } else { "isError" }
        );
        browser.until(&is_new).await;
        browser.find("plumb-call-answer table.error-table").await;
        tables.push(browser.value(table).await);
        browser
            .page
            .execute("document.querySelector('input[name=toolResults]').click()", Vec::new())
            .await
            .unwrap();
        browser
            .until(&format!(
                "document.querySelector('input[name=toolResults]').checked === {}",
                kind == "error"
            ))
            .await;
    }
    assert_eq!(tables[0], tables[1]);
    assert_eq!(tables[0], serde_json::json!([["/to", "\"inch\""], ["/value", "\"x\""]]));
    browser.end().await;
}
