//! A server that was started here: what it does besides answering.

use mcp_inspector::{Launch, Target};
use serde_json::{Value, json};

use crate::{
    browser::{self, Browser},
    served::Served,
};

/// The page of a conversation with the misbehaving server, and a browser that shows it.
async fn begun() -> Option<(Browser, Served)> {
    let browser = browser::start().await?;
    let program = env!("CARGO_BIN_EXE_misbehaving-server");
    let launch = Launch { program: program.into(), ..Launch::default() };
    let targets = vec![Target::command(launch), Target::demo()];
    let served = Served::speaking_to_one_of(targets, None).await;
    browser.page.goto(&served.address).await.unwrap();
    browser.find("[data-key='tool good']").await;
    Some((browser, served))
}

/// Sends a request through the page's own address, and returns its id.
async fn call(browser: &Browser, tool: &str, arguments: Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments }).to_string();
    let body = json!({ "method": "tools/call", "params": params }).to_string();
    request(browser, &body).await
}

async fn request(browser: &Browser, body: &str) -> String {
    let sent = browser
        .awaited(&format!(
            "fetch('api/speak/request', {{ method: 'POST', headers: {{ 'content-type': 'application/json' }}, body: {} }}).then(it => it.json()).then(done)",
            json!(body)
        ))
        .await;
    sent["id"].as_str().unwrap().to_owned()
}

/// Waits until a call is as told in the list of calls.
async fn is(browser: &Browser, id: &str, state: &str) {
    browser.find(&format!("plumb-call-list li[data-id='{id}'][data-state='{state}']")).await;
}

/// The row of the list that a script finds, as its number.
async fn row(browser: &Browser, condition: &str) -> u64 {
    let rows = "[...document.querySelectorAll('plumb-speak-view tr[data-number]')]";
    let number = format!("Number({rows}.find(row => {condition})?.dataset.number) || null");
    browser.until(&number).await.as_u64().unwrap()
}

#[tokio::test]
async fn another_server_can_be_chosen() {
    let Some((browser, _served)) = begun().await else { return };
    let choose = "(box => { box.value = 'demo'; box.dispatchEvent(new Event('change')); return box.value })(document.querySelector('plumb-connect-bar select'))";
    assert_eq!(browser.value(choose).await, "demo");
    let button = browser.find("plumb-connect-bar button.main").await;
    assert_eq!(button.text().await.unwrap(), "Connect");
    button.click().await.unwrap();
    browser.find("[data-key='tool greet']").await;
    browser.until("document.querySelector(\"[data-key='tool good']\") === null").await;
    browser.end().await;
}

#[tokio::test]
async fn the_first_row_is_initialize_and_the_second_its_answer() {
    let Some((browser, _served)) = begun().await else { return };
    browser.open("frames").await;
    for (number, expected) in
        [(1, "initialize"), (2, "↩ initialize"), (3, "notifications/initialized")]
    {
        let name = browser.find(&format!("tr[data-number='{number}'] .name")).await;
        assert_eq!(name.text().await.unwrap(), expected);
    }
    browser.end().await;
}

#[tokio::test]
async fn standard_error_is_listed_in_the_order_of_time() {
    let Some((browser, _served)) = begun().await else { return };
    // It answers after the next request only.
    let first = call(&browser, "standard-error", json!({})).await;
    let errors = row(&browser, "row.dataset.kind === 'stderr'").await;
    let next = request(&browser, &json!({ "method": "ping" }).to_string()).await;
    is(&browser, &first, "answered").await;
    let of = |kind: &str, id: &str| {
        format!("row.dataset.kind === '{kind}' && row.querySelector('.id').textContent === '{id}'")
    };
    let call = row(&browser, &of("request", &first)).await;
    let ping = row(&browser, &of("request", &next)).await;
    let answer = row(&browser, &of("result", &first)).await;
    assert!(call < errors && errors < ping && ping < answer, "{call} {errors} {ping} {answer}");
    browser.open("frames").await;
    browser.select(errors).await;
    assert_eq!(browser.raw().await, "warning: about to answer");
    browser.end().await;
}

#[tokio::test]
async fn a_crash_says_how_and_why_and_everything_stays() {
    let Some((browser, served)) = begun().await else { return };
    let hanging = call(&browser, "hang", json!({})).await;
    is(&browser, &hanging, "pending").await;
    let rows = browser.until("parseInt(document.querySelector('.list-foot')?.textContent)").await;
    let crashed = call(&browser, "crash", json!({})).await;
    let why = "the server exited with code 7: fatal: the database is gone";
    browser
        .until(&format!(
            "document.querySelector('plumb-connect-bar .reason').textContent === {why:?}"
        ))
        .await;
    for id in [&hanging, &crashed] {
        is(&browser, id, "lost").await;
        browser.click(&format!("plumb-call-list li[data-id='{id}'] button.call")).await;
        browser
            .until(&format!(
                "document.querySelector('plumb-call-answer').textContent.includes({why:?})"
            ))
            .await;
    }
    let exit = row(&browser, "row.dataset.kind === 'exit'").await;
    browser.find(&format!("tr[data-number='{exit}']")).await;
    let preview =
        format!("document.querySelector(\"tr[data-number='{exit}'] .preview\").textContent");
    assert_eq!(browser.value(&preview).await, "exited with code 7");
    let last = row(&browser, "row.dataset.kind === 'stderr'").await;
    // The call, the line and the exit have come; all others are there still.
    assert!(last > rows.as_u64().unwrap());
    assert!(served.log.frame(1, |frame| frame.row.method.clone()).is_some());
    browser.open("frames").await;
    browser
        .until(&format!(
            "parseInt(document.querySelector('.list-foot')?.textContent) >= {rows} + 3"
        ))
        .await;
    let first = browser.find("tr[data-number='1'] .name").await.text().await.unwrap();
    assert_eq!(first, "initialize");
    browser.end().await;
}

#[tokio::test]
async fn malformed_frames_and_hanging_calls_hold_up_nothing() {
    let Some((browser, _served)) = begun().await else { return };
    let hanging = call(&browser, "hang", json!({})).await;
    for tool in
        ["log-line", "no-jsonrpc", "result-and-error", "wrong-id", "id-of-another-type", "deep"]
    {
        call(&browser, tool, json!({})).await;
    }
    let mut fastest = i64::MAX;
    for _ in 0..5 {
        let id = call(&browser, "good", json!({})).await;
        is(&browser, &id, "answered").await;
        let took = browser
            .awaited(&format!("fetch('api/speak').then(it => it.json()).then(it => done(it.calls.find(call => call.id === '{id}').tookMs))"))
            .await;
        fastest = fastest.min(took.as_i64().unwrap());
    }
    assert!(fastest < 200, "{fastest} ms");
    is(&browser, &hanging, "pending").await;
    // Its timer grows.
    let since = format!(
        "document.querySelector(\"plumb-call-list li[data-id='{hanging}'] [data-since]\").textContent"
    );
    let then = browser.value(&since).await;
    browser.until(&format!("{since} !== {then}")).await;
    browser.click(&format!("plumb-call-list li[data-id='{hanging}'] .cancel")).await;
    is(&browser, &hanging, "cancelled").await;
    browser.end().await;
}

#[tokio::test]
async fn floods_of_ten_thousand_messages_are_all_listed() {
    let Some((browser, _served)) = begun().await else { return };
    for round in 1..=3 {
        let flood = call(&browser, "flood", json!({ "count": 10_000 })).await;
        is(&browser, &flood, "answered").await;
        browser
            .until(&format!(
                "parseInt(document.querySelector('.list-foot')?.textContent) >= {}",
                round * 10_000
            ))
            .await;
    }
    let good = call(&browser, "good", json!({})).await;
    is(&browser, &good, "answered").await;
    let rows = browser.value("document.querySelectorAll('tr[data-number]').length").await;
    assert!(rows.as_u64().unwrap() < 200, "only what is in sight exists");
    browser.end().await;
}
