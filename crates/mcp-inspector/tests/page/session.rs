//! The view of the session, and calls in one row.

use crate::{browser, live::Live};

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
