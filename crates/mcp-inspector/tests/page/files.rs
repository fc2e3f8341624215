//! Recordings that leave the page and come back.

use std::fs;

use fantoccini::Locator;
use serde_json::{Value, json};

use crate::{
    browser::{self, Browser},
    live::Live,
    served::Served,
};

/// Saves what an address of the page has, in a file.
async fn save(browser: &Browser, address: &str, name: &str) -> std::path::PathBuf {
    let text =
        browser.awaited(&format!("fetch('{address}').then(it => it.text()).then(done)")).await;
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(name);
    fs::write(&file, text.as_str().unwrap()).unwrap();
    file
}

/// Opens a file with the button.
async fn choose(browser: &Browser, file: &std::path::Path) {
    let input = browser.page.find(Locator::Css("plumb-file-import input")).await.unwrap();
    input.send_keys(file.to_str().unwrap()).await.unwrap();
}

#[tokio::test]
async fn what_is_exported_and_dropped_on_the_page_has_the_same_rows() {
    let Some(browser) = browser::start().await else { return };
    let mut live = Live::begin().await;
    for tool in ["good", "log-line", "wrong-id", "second-answer", "no-jsonrpc"] {
        live.call(tool);
    }
    live.call_last("truncated");
    browser.page.goto(&live.address).await.unwrap();
    browser.has_frames(live.wire.len()).await;
    let before = browser.rows().await;
    assert_eq!(before.as_array().unwrap().len(), live.wire.len());
    let dropped = "fetch('api/recording?everything=true').then(it => it.blob()).then(blob => {
        const given = new DataTransfer();
        given.items.add(new File([blob], 'saved.jsonl'));
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: given, bubbles: true, cancelable: true }));
        done(true);
    })";
    browser.awaited(dropped).await;
    browser.until("location.pathname.endsWith('/imports/1/')").await;
    browser.has_frames(live.wire.len()).await;
    assert_eq!(browser.rows().await, before);
    browser.until("document.title.startsWith('saved.jsonl')").await;

    // Another file can be opened from there, and there is a way back.
    let again = save(&browser, "api/recording", "masked.jsonl").await;
    choose(&browser, &again).await;
    browser.until("location.pathname.endsWith('/imports/2/')").await;
    browser.has_frames(live.wire.len()).await;
    let verdicts = |rows: &Value| -> Vec<Value> {
        rows.as_array().unwrap().iter().map(|row| json!([row[0], row[3], row[7]])).collect()
    };
    assert_eq!(verdicts(&browser.rows().await), verdicts(&before));
    browser.click("a.back").await;
    browser.until("location.pathname.split('/').length === 3").await;
    browser.has_frames(live.wire.len()).await;

    // A file that is none of these says so, and nothing else changes.
    let broken = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("picture.png");
    fs::write(&broken, b"\x89PNG\r\n\x1a\n").unwrap();
    choose(&browser, &broken).await;
    let alert = browser
        .until("document.querySelector('plumb-file-import [role=alert]').textContent || null")
        .await;
    assert!(
        alert.as_str().unwrap().contains("picture.png: the file is neither a recording"),
        "{alert}"
    );
    assert_eq!(browser.rows().await, before);
    // The browser notes the refusal of the request.
    browser.end_noting("422").await;
}

#[tokio::test]
async fn http_is_exported_as_a_capture_that_can_be_opened() {
    let Some(browser) = browser::start().await else { return };
    let head = json!({ "host": "h", "content-type": "application/json", "accept": "application/json, text/event-stream" });
    let lines = [
        json!({ "ts": "2026-01-01T10:00:00Z", "from": "client", "http": { "exchange": 1, "method": "POST", "url": "/mcp", "headers": head },
            "msg": { "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "a" } } }),
        json!({ "ts": "2026-01-01T10:00:01Z", "from": "server", "http": { "exchange": 1, "status": 200, "headers": { "content-type": "text/event-stream" } } }),
        json!({ "ts": "2026-01-01T10:00:02Z", "from": "server", "http": { "exchange": 1, "sse": { "event": "message" } },
            "msg": { "jsonrpc": "2.0", "id": 1, "result": { "content": [{ "type": "txt" }] } } }),
    ];
    let served = Served::new(&lines.map(|line| line.to_string())).await;
    browser.page.goto(&served.address).await.unwrap();
    browser.has_frames(3).await;
    // Names and findings: a capture does not say when events came.
    let facts = "[...document.querySelectorAll('tr[data-number]')].map(row => [row.dataset.kind, row.querySelector('.name').textContent, row.querySelector('.verdict').textContent])";
    let before = browser.value(facts).await;
    browser.open("session").await;
    browser.find("a[download='recording.har']").await;
    let har = save(&browser, "api/har", "saved.har").await;
    choose(&browser, &har).await;
    browser.until("location.pathname.endsWith('/imports/1/')").await;
    browser.has_frames(3).await;
    assert_eq!(browser.value(facts).await, before);
    browser.end().await;
}

#[tokio::test]
async fn a_report_is_read_from_disk_without_network_and_script() {
    let Some(browser) = browser::start().await else { return };
    let mut live = Live::begin().await;
    let hostile = live.call("hostile");
    let bad = live.call("bad-content");
    browser.page.goto(&live.address).await.unwrap();
    browser.has_frames(live.wire.len()).await;
    let report = save(&browser, "api/report", "report.html").await;
    browser.page.goto(&format!("file://{}", report.display())).await.unwrap();
    let frames = "document.querySelectorAll('details.frame').length";
    assert_eq!(browser.value(frames).await, live.wire.len());
    assert_eq!(browser.value("document.scripts.length + document.images.length").await, 0);
    assert_eq!(browser.value("window.__owned ?? 'no'").await, "no");
    assert_eq!(browser.value("performance.getEntriesByType('resource').length").await, 0);
    // The style is allowed, so it has an effect.
    let shown = format!(
        "getComputedStyle(document.querySelector('#frame-{} .finding')).borderInlineStartWidth",
        bad + 1
    );
    assert_eq!(browser.value(&shown).await, "4px");
    let text = browser
        .value(&format!("document.querySelector('#frame-{} pre').textContent", hostile + 1))
        .await;
    assert!(text.as_str().unwrap().contains("<script>window.__owned = 1</script>"), "{text}");
    let marked = browser
        .value(&format!("document.querySelector('#frame-{} mark').textContent", bad + 1))
        .await;
    assert_eq!(marked, "\"txt\"");
    browser.click("a[href='#rule-result-invalid']").await;
    // What a link leads to is open.
    let rule = "document.querySelector(':target')?.closest('details')";
    browser.until(&format!("{rule}?.open && {rule}.textContent.includes('result-invalid')")).await;
    browser.end().await;
}
