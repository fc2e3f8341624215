use serde_json::json;

use crate::{browser, served::Served};

fn client(message: &serde_json::Value) -> String {
    json!({ "ts": "2026-01-01T10:00:00Z", "from": "client", "msg": message }).to_string()
}

fn server(message: &serde_json::Value) -> String {
    json!({ "ts": "2026-01-01T10:00:00.250Z", "from": "server", "msg": message }).to_string()
}

/// A conversation in which a server does a lot wrong.
fn faulty() -> Vec<String> {
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
    let welcome = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": { "name": "s", "version": "1" } });
    let schema = json!({ "type": "object", "properties": { "a": { "type": "number" } } });
    vec![
        client(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello })),
        server(&json!({ "jsonrpc": "2.0", "id": 1, "result": welcome })),
        client(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })),
        json!({ "from": "server", "raw": "Loading <b>model</b> weights…" }).to_string(),
        client(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" })),
        server(
            &json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": [{ "name": "add", "inputSchema": schema }] } }),
        ),
        client(
            &json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "add", "arguments": { "a": "x" } } }),
        ),
        server(
            &json!({ "jsonrpc": "2.0", "id": 3, "error": { "code": -32602, "message": "Invalid params", "data": [
            { "instancePath": "/a", "schemaPath": "#/properties/a/type", "keyword": "type", "params": { "type": "number" }, "message": "must be number" },
        ] } }),
        ),
        client(
            &json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": { "name": "add", "arguments": {} } }),
        ),
        server(&json!({ "jsonrpc": "2.0", "id": "4", "result": { "content": [] } })),
        client(
            &json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": { "name": "add", "arguments": {} } }),
        ),
        server(
            &json!({ "jsonrpc": "2.0", "id": 5, "result": { "content": [{ "type": "txt", "text": "äöü" }] } }),
        ),
        client(
            &json!({ "jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": { "name": "add", "arguments": {} } }),
        ),
        server(&json!({ "jsonrpc": "2.0", "id": 6, "result": {} })),
    ]
}

#[tokio::test]
async fn a_faulty_conversation_is_shown_row_by_row() {
    let Some(browser) = browser::start().await else { return };
    let lines = faulty();
    let served = Served::new(&lines).await;
    let page = &browser.page;
    page.goto(&served.address).await.unwrap();
    let rows = "document.querySelectorAll('tr[data-number]').length";
    browser.until(&format!("{rows} === {}", lines.len())).await;
    let first = browser.find("tr[data-number='1'] .name").await.text().await.unwrap();
    assert_eq!(first, "initialize");

    // A line that is no message keeps its exact text, and markup in it stays text.
    browser.click("tr[data-number='4'][data-kind='text']").await;
    let raw = browser.find("plumb-raw-view pre").await.text().await.unwrap();
    assert_eq!(raw, "Loading <b>model</b> weights…");
    browser.find("plumb-finding-card[data-rule='stdout-non-json']").await;

    // What a server lists is a table with the value from the request.
    browser.click("tr[data-number='8']").await;
    let row = browser.find("table.error-table tr[data-path='/a']").await.text().await.unwrap();
    assert!(row.contains("must be number") && row.contains("\"x\""), "{row}");
    browser.click("table.error-table tr[data-path='/a'] button").await;
    browser.until("document.querySelector('tr[aria-selected=true]').dataset.number === '7'").await;

    // A wrong id is linked with the request that is still open, and `p` leads back.
    browser.click("tr[data-number='10']").await;
    let card = browser.find("plumb-finding-card[data-rule='response-id-type-mismatch']").await;
    assert!(card.text().await.unwrap().contains("except for its type"));
    browser.click("button[data-related='9']").await;
    browser.until("document.querySelector('tr[aria-selected=true]').dataset.number === '9'").await;

    // One finding at the byte, and the raw text is what was on the wire.
    browser.click("tr[data-number='12']").await;
    let card = browser.find("plumb-finding-card[data-rule='result-invalid']").await;
    assert!(card.text().await.unwrap().contains("/result/content/0/type"));
    browser.click("button[data-tab='raw']").await;
    let marked = browser.find("plumb-raw-view mark").await.text().await.unwrap();
    assert_eq!(marked, "\"txt\"");
    let raw = browser.find("plumb-raw-view pre").await.text().await.unwrap();
    assert!(lines[11].contains(&raw), "{raw}");

    // Nothing says that a result without content is fine.
    browser.click("tr[data-number='14'][data-worst='error']").await;
    browser.find("plumb-finding-card[data-severity='error']").await;
    let shown = browser.find("plumb-frame-detail").await.text().await.unwrap();
    assert!(!shown.to_lowercase().contains("success"), "{shown}");
    browser.end().await;
}

#[tokio::test]
async fn keys_filters_and_reloads_keep_their_promises() {
    let Some(browser) = browser::start().await else { return };
    let mut served = Served::new(&faulty()).await;
    let page = &browser.page;
    page.goto(&served.address).await.unwrap();
    browser.find("tr[data-number='14']").await;

    // `n` visits every finding in order.
    let selected = "Number(document.querySelector('tr[aria-selected=true]')?.dataset.number)";
    for expected in [4, 7, 10, 12, 14] {
        browser.press("n").await;
        browser.until(&format!("{selected} === {expected}")).await;
    }
    browser.press("k").await;
    browser.until(&format!("{selected} === 13")).await;
    browser.press("p").await;
    browser.until(&format!("{selected} === 14")).await;

    // Filters narrow, by facts and by text; an unknown term is an error.
    let count = "document.querySelectorAll('tr[data-number]').length";
    browser.press("/").await;
    browser.until("document.activeElement.matches('plumb-filter-bar input')").await;
    browser.filter("kind:text").await;
    browser.until(&format!("{count} === 1")).await;
    browser.filter("dir:server -rule:result").await;
    browser.until(&format!("{count} === 5")).await;
    browser.filter("weights").await;
    browser.until(&format!("{count} === 1")).await;
    browser.filter("colour:red").await;
    let alert =
        browser.until("document.querySelector('plumb-filter-bar [role=alert]').textContent").await;
    assert!(alert.as_str().unwrap().contains("unknown term \"colour:\""));

    // A reload shows the same frame through the same filter, and new frames come by themselves.
    browser.filter("method:tools/call").await;
    browser.until(&format!("{count} < 14")).await;
    browser.click("tr[data-number='11']").await;
    browser.until("location.hash.includes('frame=11')").await;
    page.refresh().await.unwrap();
    browser.until(&format!("{selected} === 11")).await;
    assert!(page.current_url().await.unwrap().as_str().contains("filter="));
    served.add(&[client(
        &json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "add" } }),
    )]);
    browser.find("tr[data-number='15']").await;
    browser.end().await;
}

/// The longest time between two frames of the screen while the list is scrolled through.
const SCROLL: &str = "
    const box = document.querySelector('.frames');
    box.scrollTop = 0;
    let [last, longest, steps] = [0, 0, 0];
    const step = now => {
        if (steps > 3) longest = Math.max(longest, now - last);
        last = now;
        box.scrollTop += box.scrollHeight / 60;
        steps += 1;
        if (steps < 60) requestAnimationFrame(step); else done(longest);
    };
    requestAnimationFrame(step);";

#[tokio::test]
async fn fifty_thousand_frames_scroll_without_a_stall() {
    let Some(browser) = browser::start().await else { return };
    let ask = |id: usize| client(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
    let answer = |id: usize| server(&json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
    let lines: Vec<String> = (0..25_000).flat_map(|id| [ask(id), answer(id)]).collect();
    let served = Served::new(&lines).await;
    browser.page.goto(&served.address).await.unwrap();
    browser.has_frames(50_000).await;
    // Other programs may hold the browser up now and then, so the best of several runs counts.
    let mut best = f64::INFINITY;
    for _ in 0..30 {
        best = best.min(browser.awaited(SCROLL).await.as_f64().unwrap());
        if best < 200.0 {
            break;
        }
    }
    assert!(best < 200.0, "{best} ms");
    browser.find("tr[data-number='50000']").await;
    browser.end().await;
}

#[tokio::test]
async fn fifty_thousand_frames_and_hostile_text_leave_the_page_alive() {
    let Some(browser) = browser::start().await else { return };
    let evil = "<script>window.__owned = 1</script><img src=x onerror='window.__owned=1'>\u{202e}";
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let mut lines = vec![
        client(
            &json!({ "jsonrpc": "2.0", "id": evil, "method": evil, "params": { "name": evil } }),
        ),
        format!(r#"{{"from":"server","msg":{deep}}}"#),
        json!({ "from": "server", "raw": "x".repeat(3 << 20) }).to_string(),
    ];
    lines.extend(
        (0..50_000).map(|id| client(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }))),
    );
    let served = Served::new(&lines).await;
    let page = &browser.page;
    page.goto(&served.address).await.unwrap();
    browser.until("document.querySelector('.list-foot').textContent.startsWith('50003')").await;
    for frame in [1, 2, 3] {
        page.execute(&format!("location.hash = 'frame={frame}'"), Vec::new()).await.unwrap();
        let title = format!(
            "document.querySelector('plumb-frame-detail h2')?.textContent.startsWith('#{frame} ')"
        );
        browser.until(&title).await;
    }
    assert_eq!(
        page.execute("return window.__owned ?? null", Vec::new()).await.unwrap(),
        json!(null)
    );
    let rows =
        page.execute("return document.querySelectorAll('tr[data-number]').length", Vec::new());
    assert!(rows.await.unwrap().as_u64().unwrap() < 200, "only what is in sight exists");
    page.execute("document.querySelector('.frames').scrollTop = 600000", Vec::new()).await.unwrap();
    browser.until("document.querySelector(\"tr[data-number='25010']\") !== null").await;
    browser.end().await;
}

/// A conversation over HTTP, slow and partly refused.
fn over_http() -> Vec<String> {
    let sent = |exchange: u64, message: serde_json::Value| {
        json!({ "ts": "2026-01-01T10:00:00Z", "from": "client", "msg": message,
            "http": { "exchange": exchange, "method": "POST", "url": "/mcp", "headers": { "host": "h:1", "content-type": "application/json", "accept": "application/json, text/event-stream", "x-note": "it's" } } })
        .to_string()
    };
    let received = |second: u64, exchange: u64, status: u16, message: serde_json::Value| {
        json!({ "ts": format!("2026-01-01T10:00:0{second}Z"), "from": "server", "msg": message,
            "http": { "exchange": exchange, "status": status, "headers": { "content-type": "application/json" } } })
        .to_string()
    };
    vec![
        sent(1, json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })),
        received(
            0,
            1,
            200,
            json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [{ "name": "add", "inputSchema": { "type": "object", "properties": { "a": { "type": "number" } } } }] } }),
        ),
        sent(
            2,
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "add", "arguments": { "a": 1 } } }),
        ),
        received(
            3,
            2,
            404,
            json!({ "jsonrpc": "2.0", "id": 2, "error": { "code": -32001, "message": "session not found" } }),
        ),
    ]
}

#[tokio::test]
async fn rows_are_filtered_by_status_and_time_and_highlighted_apart_from_that() {
    let Some(browser) = browser::start().await else { return };
    let served = Served::new(&over_http()).await;
    browser.page.goto(&served.address).await.unwrap();
    browser.has_frames(4).await;
    let shown = "JSON.stringify([...document.querySelectorAll('tr[data-number]')].map(row => Number(row.dataset.number)))";
    for (filter, expected) in [
        ("status:404", "[4]"),
        ("status:2", "[2]"),
        ("slow:>500ms", "[3,4]"),
        ("slow:>5s", "[]"),
        ("tool:add dir:client", "[3]"),
        ("-kind:request", "[2,4]"),
        ("id:2 sev:none kind:request", "[3]"),
        ("\"session not found\"", "[4]"),
    ] {
        browser.filter(filter).await;
        browser.until(&format!("{shown} === '{expected}'")).await;
    }
    browser.filter("kind:fish").await;
    browser.until("document.querySelector('plumb-filter-bar [role=alert]').textContent.includes('kind: is one of')").await;
    browser.filter("").await;
    browser.has_frames(4).await;
    // What is highlighted hides nothing, and a reload keeps it.
    browser.press("h").await;
    let input = browser.find("input[aria-label='highlight']").await;
    input.send_keys("not dir:server").await.unwrap();
    let marked = "JSON.stringify([...document.querySelectorAll('tr[data-highlight]')].map(row => Number(row.dataset.number)))";
    browser.until(&format!("{marked} === '[4]'")).await;
    browser.page.refresh().await.unwrap();
    browser.has_frames(4).await;
    browser.until(&format!("{marked} === '[4]'")).await;
    browser.end().await;
}

#[tokio::test]
async fn a_frame_shows_its_http_and_its_schemas_and_is_copied() {
    let Some(browser) = browser::start().await else { return };
    let lines = over_http();
    let served = Served::new(&lines).await;
    browser.page.goto(&served.address).await.unwrap();
    browser.has_frames(4).await;
    browser.select(3).await;
    browser.click("button[data-tab='http']").await;
    let http = browser.find("plumb-frame-detail [role=tabpanel]").await.text().await.unwrap();
    assert!(http.contains("POST /mcp") && http.contains("x-note"), "{http}");
    browser.click("button[data-tab='schema']").await;
    let schema = browser.find("[data-schema='inputSchema of add']").await.text().await.unwrap();
    assert!(schema.contains("\"number\"") && schema.contains("#2"), "{schema}");
    browser.find("[data-schema^='CallToolRequestParams of ']").await;

    // Without leave to use the clipboard, what is copied is shown.
    let refused = "Object.defineProperty(navigator.clipboard, 'writeText', { value: () => Promise.reject(new Error('no')) })";
    browser.page.execute(refused, Vec::new()).await.unwrap();
    browser.press("y").await;
    let message = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "add", "arguments": { "a": 1 } } });
    let copied = "(document.querySelector('dialog textarea')?.value ?? null)";
    for (way, expected) in
        [("t", message.to_string()), ("n", message.to_string()), ("l", lines[2].clone())]
    {
        browser.click(&format!("dialog button[data-way='{way}']")).await;
        browser.until(&format!("{copied} === {}", json!(expected))).await;
    }
    browser.click("dialog button[data-way='c']").await;
    let curl = browser.until(&format!("{copied}?.startsWith('curl') && {copied}")).await;
    let curl = curl.as_str().unwrap();
    assert!(curl.contains("-X 'POST'") && curl.contains(r"x-note: it'\''s"), "{curl}");
    assert!(curl.contains(&format!("--data-binary '{message}'")), "{curl}");
    browser.end().await;
}

#[tokio::test]
async fn what_was_dropped_is_said_and_a_range_of_time_can_be_chosen() {
    let Some(browser) = browser::start().await else { return };
    let lines: Vec<String> = (0..300)
        .map(|second| {
            let time = format!("2026-01-01T10:0{}:{:02}Z", second / 60, second % 60);
            let message = json!({ "jsonrpc": "2.0", "id": second, "method": "ping" });
            json!({ "ts": time, "from": "client", "msg": message }).to_string()
        })
        .collect();
    let served = Served::keeping(&lines, 100).await;
    browser.page.goto(&served.address).await.unwrap();
    browser.has_frames(100).await;
    let foot = browser.find(".list-foot").await.text().await.unwrap();
    assert!(foot.contains("200 older ones dropped"), "{foot}");
    // Half of the strip is half of the time.
    let drag = "const canvas = document.querySelector('plumb-overview-strip canvas');
        const box = canvas.getBoundingClientRect();
        const at = (kind, part) => canvas.dispatchEvent(new PointerEvent(kind, { bubbles: true, pointerId: 1, clientX: box.left + box.width * part, clientY: box.top + 5 }));
        canvas.setPointerCapture = () => {};
        at('pointerdown', 0.5); at('pointermove', 0.75); at('pointermove', 1); at('pointerup', 1);";
    browser.page.execute(drag, Vec::new()).await.unwrap();
    let count = "parseInt(document.querySelector('.list-foot').textContent)";
    browser.until(&format!("{count} > 40 && {count} < 60")).await;
    browser.press(&char::from(fantoccini::key::Key::Escape).to_string()).await;
    browser.has_frames(100).await;
    browser.end().await;
}
