//! Forms that are made from schemas, and what they send.

use mcp_inspector::{Launch, Target};
use serde_json::{Value, json};

use crate::{
    browser::{self, Browser},
    served::Served,
    typing::{answer_with, choose, send},
};

async fn begun(tool: &str) -> Option<(Browser, Served)> {
    let browser = browser::start().await?;
    let program = env!("CARGO_BIN_EXE_misbehaving-server");
    let served = Served::speaking_to(
        Target::command(Launch { program: program.into(), ..Launch::default() }),
        None,
    )
    .await;
    browser.page.goto(&served.address).await.unwrap();
    choose(&browser, &format!("tool {tool}")).await;
    Some((browser, served))
}

const PARAMS: &str = "document.querySelector('textarea[aria-label=\"params as JSON\"]').value";

/// Waits until the params as JSON have these arguments.
async fn sends(browser: &Browser, arguments: Value) {
    let wanted = serde_json::to_string(&arguments.to_string()).unwrap();
    let sorted = "(value => JSON.stringify(value, (_, it) => it && typeof it === 'object' && !Array.isArray(it) ? Object.fromEntries(Object.entries(it).sort()) : it))";
    browser
        .until(&format!(
            "{sorted}(JSON.parse({PARAMS}).arguments ?? {{}}) === {sorted}(JSON.parse({wanted}))"
        ))
        .await;
}

async fn type_into(browser: &Browser, field: &str, text: &str) {
    let input =
        format!("plumb-composer [data-field='{field}'] :is(textarea, input:not([type=checkbox]))");
    browser.find(&input).await.send_keys(text).await.unwrap();
}

#[tokio::test]
async fn an_empty_string_is_not_the_same_as_nothing() {
    let Some((browser, _served)) = begun("shapes").await else { return };
    // Defaults are there; what is not typed is left out, and what is missing is marked.
    sends(&browser, json!({ "count": 3 })).await;
    browser.find("[data-field='note'] input[aria-label='send note']").await;
    browser.until("document.querySelector('.send').textContent === 'Send anyway'").await;
    browser.click("input[aria-label='send note']").await;
    sends(&browser, json!({ "count": 3, "note": "" })).await;
    browser.until("document.querySelector('.send').textContent === 'Send'").await;
    browser.click("input[aria-label='send aside']").await;
    sends(&browser, json!({ "count": 3, "note": "", "aside": "" })).await;
    browser.click("input[aria-label='send aside']").await;
    browser.click("input[aria-label='send count']").await;
    sends(&browser, json!({ "note": "" })).await;
    browser.end().await;
}

#[tokio::test]
async fn nested_values_are_typed_and_kept_in_step_with_the_text() {
    let Some((browser, served)) = begun("shapes").await else { return };
    type_into(&browser, "note", "n").await;
    browser.click("input[aria-label='send place']").await;
    type_into(&browser, "city", "Oslo").await;
    browser.click("button[aria-label='add an entry to tags']").await;
    type_into(&browser, "1", "one").await;
    browser.page.execute("const choice = document.querySelector(\"[data-field='colour'] select\"); choice.value = '\"green\"'; choice.dispatchEvent(new Event('change'))", Vec::new()).await.unwrap();
    let all = json!({ "note": "n", "count": 3, "colour": "green", "place": { "city": "Oslo" }, "tags": ["one"] });
    sends(&browser, all.clone()).await;
    // The whole frame has them, and what is typed there goes back to the form.
    let raw = "document.querySelector('textarea[aria-label=\"whole frame\"]')";
    browser.until(&format!("{raw}.value.includes('Oslo')")).await;
    let changed = format!(
        "const raw = {raw}; raw.value = raw.value.replace('Oslo', 'Bergen'); raw.dispatchEvent(new Event('input'))"
    );
    browser.page.execute(&changed, Vec::new()).await.unwrap();
    browser
        .until("document.querySelector(\"[data-field='city'] textarea\").value === 'Bergen'")
        .await;
    // What was typed is kept for the tool, over another one and over a reload.
    choose(&browser, "tool either").await;
    browser.until(&format!("!{PARAMS}.includes('Bergen')")).await;
    browser.page.goto(&served.address).await.unwrap();
    choose(&browser, "tool shapes").await;
    browser
        .until("document.querySelector(\"[data-field='city'] textarea\")?.value === 'Bergen'")
        .await;
    browser.end().await;
}

#[tokio::test]
async fn a_choice_at_the_root_shows_the_fields_of_what_is_chosen() {
    let Some((browser, _served)) = begun("either").await else { return };
    type_into(&browser, "name", "Ada").await;
    sends(&browser, json!({ "name": "Ada" })).await;
    let choose = "const choice = document.querySelector('select[aria-label=\"kind of arguments\"]'); choice.value = '1'; choice.dispatchEvent(new Event('change'))";
    browser.page.execute(choose, Vec::new()).await.unwrap();
    type_into(&browser, "number", "7").await;
    sends(&browser, json!({ "number": 7 })).await;
    send(&browser, "Send").await;
    browser.find("plumb-call-list li[data-state='answered'][aria-current='true']").await;
    browser.end().await;
}

#[tokio::test]
async fn sending_again_warns_where_the_tool_may_change_something_and_shows_what_differs() {
    let Some((browser, _served)) = begun("counter").await else { return };
    send(&browser, "Send").await;
    answer_with(&browser, "answer 1").await;
    let row = "[...document.querySelectorAll('plumb-speak-view tr[data-kind=request]')].find(row => row.querySelector('.name').textContent.includes('counter'))?.dataset.number ?? null";
    let number = browser.until(row).await;
    browser.click(&format!("plumb-speak-view tr[data-number={number}]")).await;
    browser.until(&format!("location.hash.includes('frame={}')", number.as_str().unwrap())).await;
    browser.press("r").await;
    let dialog = browser.find("dialog[open]").await.text().await.unwrap();
    assert!(dialog.contains("counter is read-only"), "{dialog}");
    browser.click("dialog[open] button.main").await;
    let table = browser.find("plumb-call-answer table.differences").await.text().await.unwrap();
    assert!(table.contains("answer 1") && table.contains("answer 2"), "{table}");
    browser.end().await;
}
