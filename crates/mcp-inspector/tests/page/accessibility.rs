//! Contrast, names and roles, judged by axe-core in every view, and the page used without a mouse.

use std::{
    env,
    path::Path,
    process::{Command, Stdio},
    sync::OnceLock,
};

use fantoccini::{
    actions::{InputSource as _, KeyAction, KeyActions},
    key::Key,
};
use mcp_core::Revision;
use serde_json::{Value, json};

use crate::{
    browser::{self, Browser, Screen},
    live::Live,
    served::Served,
};

/// The text of axe-core, or nothing where it cannot be had: then the test has not been run, and says so.
fn axe() -> Option<&'static str> {
    static AXE: OnceLock<Option<String>> = OnceLock::new();
    AXE.get_or_init(install).as_deref()
}

fn install() -> Option<String> {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("axe-core");
    let script = home.join("node_modules/axe-core/axe.min.js");
    if !script.exists() {
        std::fs::create_dir_all(&home).unwrap();
        std::fs::write(home.join("package.json"), r#"{"private":true}"#).unwrap();
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "axe-core@4.11"]);
        let done = npm.current_dir(&home).stdin(Stdio::null()).stdout(Stdio::null()).status();
        if !done.is_ok_and(|status| status.success()) {
            assert!(env::var_os("CI").is_none(), "npm cannot install axe-core");
            eprintln!("skipped: npm is missing, or cannot install axe-core");
            return None;
        }
    }
    Some(std::fs::read_to_string(script).unwrap())
}

const SCREENS: [Screen; 3] = [
    Screen { width: 1280, height: 900, is_dark: false },
    Screen { width: 1280, height: 900, is_dark: true },
    Screen { width: 480, height: 900, is_dark: false },
];

/// Judges what is shown, in both themes, wide and narrow.
async fn judge(browser: &Browser, axe: &str, view: &str) {
    let is_there = browser.value("'axe' in window").await;
    if is_there != true {
        browser.page.execute(axe, Vec::new()).await.unwrap();
    }
    for screen in SCREENS {
        browser.show_on(screen).await;
        let run = "const done = arguments[0]; axe.run(document, { resultTypes: ['violations'] })
            .then(found => done(found.violations.map(({ id, impact, nodes }) =>
                ({ id, impact, at: nodes.map(node => `${node.target} ${node.html.slice(0, 160)}`) }))))";
        let violations = browser.page.execute_async(run, Vec::new()).await.unwrap();
        assert_eq!(violations, json!([]), "{view}, {screen:?}");
    }
    browser.show_on(SCREENS[0]).await;
}

#[tokio::test]
async fn axe_finds_nothing_wrong_with_the_views_of_a_conversation() {
    let Some(axe) = axe() else { return };
    let Some(browser) = browser::start().await else { return };
    let mut live = Live::begin().await;
    live.call("log-line");
    live.call("wrong-id");
    let bad = live.call("no-content") + 1;
    let listed = live.call("ajv-data") + 1;
    browser.page.goto(&live.address).await.unwrap();
    browser.has_frames(live.wire.len()).await;
    judge(&browser, axe, "frames").await;
    browser.select(bad).await;
    browser.find("plumb-finding-card").await;
    judge(&browser, axe, "a finding").await;
    browser.open_raw().await;
    judge(&browser, axe, "raw").await;
    browser.select(listed).await;
    browser.find("table.error-table").await;
    judge(&browser, axe, "listed faults").await;
    browser.open("problems").await;
    browser.find(".problem").await;
    judge(&browser, axe, "problems").await;
    browser.click(".problem .link.mono").await;
    browser.find("dialog .rule-docs").await;
    judge(&browser, axe, "a rule").await;
    browser.click("dialog header button").await;
    browser.open("session").await;
    browser.find("tr[data-tool]").await;
    judge(&browser, axe, "session").await;
    browser.open("frames").await;
    browser.press("?").await;
    browser.find("dialog kbd").await;
    judge(&browser, axe, "help").await;
    browser.click("dialog header button").await;
    browser.press("y").await;
    browser.find("dialog [data-way]").await;
    judge(&browser, axe, "copying").await;
    browser.click("dialog header button").await;
    browser.filter("nonsense:1").await;
    browser.until("document.querySelector('plumb-filter-bar [role=alert]').textContent").await;
    judge(&browser, axe, "a filter that is none").await;
    browser.filter("method:nothing").await;
    browser.has_frames(0).await;
    judge(&browser, axe, "no frames").await;
    browser.end().await;
}

#[tokio::test]
async fn axe_finds_nothing_wrong_with_speaking() {
    let Some(axe) = axe() else { return };
    let Some(browser) = browser::start().await else { return };
    let served = Served::speaking_at(Some(Revision::V2025_11_25)).await;
    browser.page.goto(&served.address).await.unwrap();
    browser.find("[data-key='tool greet']").await;
    judge(&browser, axe, "connected").await;
    browser.click("input[name='misbehave']").await;
    browser.find("[data-key='tool bad_schema'][data-worst='error']").await;
    browser.click("[data-key='tool days_between']").await;
    browser.find("plumb-composer [data-field][data-severity]").await;
    judge(&browser, axe, "a form").await;
    browser.click(".send").await;
    browser.find("plumb-call-answer table.error-table").await;
    judge(&browser, axe, "an answer").await;
    browser.click("[data-key='tool greet']").await;
    browser.until("document.querySelector('.send').textContent === 'Send'").await;
    browser.click(".send").await;
    browser.find("plumb-question-card").await;
    judge(&browser, axe, "a question").await;
    browser.click("[data-key='other raw']").await;
    judge(&browser, axe, "raw text").await;
    browser.click("[data-key='tool break_rules']").await;
    let choose = "const field = document.querySelector('plumb-composer [data-field=fault] select');
        field.value = [...field.options].find(option => option.textContent.includes('crash')).value;
        field.dispatchEvent(new Event('change')); field.dispatchEvent(new Event('input'));";
    browser.page.execute(choose, Vec::new()).await.unwrap();
    browser.until("document.querySelector('textarea[aria-label=\"whole frame\"]').value.includes('crash')").await;
    browser.click(".send").await;
    browser.find("plumb-call-list li[data-state='lost']").await;
    judge(&browser, axe, "a crash").await;
    browser.end().await;
}

async fn tap(browser: &Browser, key: Key) {
    let value = char::from(key);
    let keys = KeyActions::new("keyboard".to_owned());
    let keys = keys.then(KeyAction::Down { value }).then(KeyAction::Up { value });
    browser.page.perform_actions(keys).await.unwrap();
}

/// Goes through the page with the Tab key until everything that can be used was in focus.
async fn walk(browser: &Browser, view: &str) {
    let begin = "document.activeElement?.blur();
        const all = document.querySelectorAll('button, a[href], input, select, textarea, summary, [tabindex]');
        window.wanted = new Set([...all].filter(it => it.tabIndex >= 0 && !it.disabled && !it.closest('[inert]')
            && it.checkVisibility({ visibilityProperty: true })));
        window.ringless = new Set();
        return window.wanted.size";
    let count = browser.page.execute(begin, Vec::new()).await.unwrap().as_u64().unwrap();
    assert!(count > 4, "{view}: {count}");
    let look = "const at = document.activeElement;
        const words = it => `${it.localName} ${it.getAttribute('aria-label') ?? it.textContent.slice(0, 60)}`;
        window.wanted.delete(at);
        if (at !== document.body && getComputedStyle(at).outlineStyle === 'none') window.ringless.add(words(at));
        for (const it of window.wanted) if (!it.isConnected) window.wanted.delete(it);
        return { left: [...window.wanted].map(words), ringless: [...window.ringless] }";
    let mut state = Value::Null;
    for _ in 0..2 * count + 20 {
        tap(browser, Key::Tab).await;
        state = browser.page.execute(look, Vec::new()).await.unwrap();
        if state["left"] == json!([]) {
            break;
        }
    }
    assert_eq!(state, json!({ "left": [], "ringless": [] }), "{view}");
}

#[tokio::test]
async fn everything_is_reached_with_the_tab_key_and_seen_to_be() {
    let Some(browser) = browser::start().await else { return };
    let served = Served::speaking_at(Some(Revision::V2025_11_25)).await;
    browser.page.goto(&served.address).await.unwrap();
    browser.click("input[name='misbehave']").await;
    browser.click("[data-key='tool convert_length']").await;
    browser.find("plumb-composer [data-field]").await;
    walk(&browser, "speak").await;
    browser.open("frames").await;
    browser.select(2).await;
    walk(&browser, "frames").await;
    browser.open("problems").await;
    browser.find(".problem").await;
    walk(&browser, "problems").await;
    browser.open("session").await;
    browser.find(".sequence .message").await;
    walk(&browser, "session").await;
    browser.end().await;
}

#[tokio::test]
async fn the_page_is_used_with_keys_alone() {
    let Some(browser) = browser::start().await else { return };
    let served = Served::speaking().await;
    browser.page.goto(&served.address).await.unwrap();
    browser.find("[data-key='tool text_statistics']").await;
    let focus = |selector: &str| format!("document.querySelector({selector:?}).focus()");
    let has_focus = |selector: &str| format!("document.activeElement.matches({selector:?})");

    // A tool is chosen, its form filled and sent.
    browser.page.execute(&focus("[data-key='tool text_statistics']"), Vec::new()).await.unwrap();
    tap(&browser, Key::Enter).await;
    let text = browser.find("plumb-composer [data-field='text'] textarea").await;
    text.send_keys("one two three").await.unwrap();
    browser.until("document.querySelector('.send').textContent === 'Send'").await;
    let send = KeyActions::new("keyboard".to_owned())
        .then(KeyAction::Down { value: char::from(Key::Control) })
        .then(KeyAction::Down { value: char::from(Key::Enter) })
        .then(KeyAction::Up { value: char::from(Key::Enter) })
        .then(KeyAction::Up { value: char::from(Key::Control) });
    browser.page.perform_actions(send).await.unwrap();
    browser.find("plumb-call-answer .server-sent").await;

    // Arrows go from tab to tab, and the Tab key leaves them.
    browser.page.execute(&focus("[data-view='speak']"), Vec::new()).await.unwrap();
    tap(&browser, Key::Left).await;
    browser.until(&has_focus("[data-view='session'][aria-selected='true']")).await;
    tap(&browser, Key::Home).await;
    browser.until(&has_focus("[data-view='frames'][aria-selected='true']")).await;
    tap(&browser, Key::Tab).await;
    browser.until(&has_focus(":not([role=tab])")).await;

    // A frame is selected, opened, and left; its range of time is chosen.
    browser.page.execute("document.activeElement.blur()", Vec::new()).await.unwrap();
    tap(&browser, Key::Down).await;
    tap(&browser, Key::Down).await;
    browser.is_selected(2).await;
    tap(&browser, Key::Enter).await;
    browser.until(&has_focus("plumb-frame-detail")).await;
    browser.page.execute(&focus("plumb-overview-strip canvas"), Vec::new()).await.unwrap();
    tap(&browser, Key::Right).await;
    browser.until("!document.querySelector('.range').hidden").await;
    tap(&browser, Key::Escape).await;
    browser.until("document.querySelector('.range').hidden").await;

    // A dialog takes the focus and gives it back.
    browser.page.execute(&focus("[data-switch='calls']"), Vec::new()).await.unwrap();
    browser.page.active_element().await.unwrap().send_keys("?").await.unwrap();
    browser.until("!!document.activeElement.closest('dialog')").await;
    tap(&browser, Key::Escape).await;
    browser.until(&has_focus("[data-switch='calls']")).await;
    browser.end().await;
}
