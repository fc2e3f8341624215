//! The view of the session, and calls in one row.

use serde_json::json;

use crate::{browser, live::Live, served::Served};

#[tokio::test]
async fn the_session_says_who_takes_part_and_what_tools_weigh() {
    let Some(browser) = browser::start().await else { return };
    let mut live = Live::begin().await;
    live.call("good");
    let hanging = live.call("wrong-id");
    browser.page.goto(&live.address).await.unwrap();
    browser.has_frames(live.wire.len()).await;
    browser.open("session").await;
    let text = |selector: String| {
        let browser = &browser;
        async move { browser.find(&selector).await.text().await.unwrap() }
    };
    assert_eq!(text("[data-fact='revision']".to_owned()).await, "2025-06-18");
    assert!(text("[data-party='client']".to_owned()).await.contains("\"tester\""));
    assert!(text("[data-party='server']".to_owned()).await.contains("listChanged"));
    let good = text("tr[data-tool='good']".to_owned()).await;
    let definition = "{\"description\":\"A fault.\",\"inputSchema\":{\"properties\":{\"count\":{\"type\":\"number\"}},\"type\":\"object\"},\"name\":\"good\"}";
    assert!(good.contains(&format!("{} B", definition.len())), "{good}");
    assert!(text("[data-list='pending']".to_owned()).await.contains(&format!("#{hanging} ")));
    assert!(browser.value("document.querySelectorAll('.plot .point').length > 2").await == true);
    browser.click("[data-list='pending'] button").await;
    browser.is_open(hanging).await;
    browser.end().await;
}

#[tokio::test]
async fn subscriptions_are_listed_while_they_are_open() {
    let Some(browser) = browser::start().await else { return };
    let line = |from: &str, msg: serde_json::Value| json!({ "from": from, "msg": msg }).to_string();
    let ask = |id: u64, method: &str, params: serde_json::Value| {
        line("client", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    };
    let done = |id: u64| line("server", json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
    let error = json!({ "code": -32002, "message": "no such resource" });
    let wanted = json!({ "toolsListChanged": true });
    let served = Served::new(&[
        ask(1, "resources/subscribe", json!({ "uri": "notes://kept" })),
        done(1),
        ask(2, "resources/subscribe", json!({ "uri": "notes://left" })),
        done(2),
        ask(3, "resources/subscribe", json!({ "uri": "notes://refused" })),
        line("server", json!({ "jsonrpc": "2.0", "id": 3, "error": error })),
        ask(4, "resources/unsubscribe", json!({ "uri": "notes://left" })),
        done(4),
        ask(5, "subscriptions/listen", json!({ "notifications": wanted })),
        ask(6, "subscriptions/listen", json!({ "notifications": { "promptsListChanged": true } })),
        done(6),
    ])
    .await;
    browser.page.goto(&served.address).await.unwrap();
    browser.has_frames(11).await;
    browser.open("session").await;
    let list = browser.find("[data-fact='subscriptions']").await.text().await.unwrap();
    assert!(list.contains("notes://kept"), "{list}");
    assert!(list.contains("#9: ") && list.contains("toolsListChanged"), "{list}");
    for closed in ["notes://left", "notes://refused", "promptsListChanged"] {
        assert!(!list.contains(closed), "{list}");
    }
    browser.end().await;
}

#[tokio::test]
async fn a_switch_shows_calls_in_one_row() {
    let Some(browser) = browser::start().await else { return };
    let mut live = Live::begin().await;
    let call = live.call("no-content");
    browser.page.goto(&live.address).await.unwrap();
    browser.has_frames(live.wire.len()).await;
    browser.click("button[data-switch='calls']").await;
    let (request, answer) = (call, call + 1);
    let row = format!("tr[data-number='{request}'][data-answer='{answer}'][data-worst='error']");
    browser.find(&row).await;
    let gone = format!("document.querySelector(\"tr[data-number='{answer}']\") === null");
    browser.until(&gone).await;
    browser.click("button[data-switch='calls'][aria-pressed='true']").await;
    browser.find(&format!("tr[data-number='{answer}']")).await;
    browser.end().await;
}
