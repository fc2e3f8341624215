//! Chromium, driven through `chromedriver`.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use fantoccini::{
    Client, ClientBuilder, Locator, elements::Element, key::Key, wd::WebDriverCompatibleCommand,
};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, SemaphorePermit};
use url::{ParseError, Url};

/// How long something may take to become visible.
const PATIENCE: Duration = Duration::from_secs(20);

/// A browser with one page. Ends with its driver.
pub(crate) struct Browser {
    pub(crate) page: Client,
    driver: Child,
    _turn: SemaphorePermit<'static>,
}

/// Browsers at a time: each takes some hundred megabytes.
static TURNS: Semaphore = Semaphore::const_new(2);

/// The browser, or nothing where there is none: then the test has not been run, and says so.
pub(crate) async fn start() -> Option<Browser> {
    let turn = TURNS.acquire().await.unwrap();
    let Some((driver, port)) = driver() else {
        assert!(
            std::env::var_os("CI").is_none(),
            "there is no chromedriver: install chromium-driver"
        );
        eprintln!("skipped: there is no chromedriver; install the package chromium-driver");
        return None;
    };
    let options = json!({
        "goog:chromeOptions": { "args": ["--headless=new", "--no-sandbox", "--window-size=1280,900"] },
        "goog:loggingPrefs": { "browser": "ALL" },
    });
    let Value::Object(options) = options else { unreachable!() };
    let address = format!("http://127.0.0.1:{port}");
    let mut builder = ClientBuilder::new(HttpConnector::new());
    let page = builder.capabilities(options).connect(&address).await.unwrap();
    Some(Browser { page, driver, _turn: turn })
}

/// A driver and its port, if there is one. Two that start at once may choose the same port: then one
/// of them ends, and is started again.
fn driver() -> Option<(Child, u16)> {
    loop {
        let mut command = Command::new("chromedriver");
        let mut driver = command.arg("--port=0").stdout(Stdio::piped()).spawn().ok()?;
        let output = BufReader::new(driver.stdout.take()?);
        let port = output.lines().map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("successfully on port ")?;
            port.trim_end_matches('.').parse::<u16>().ok()
        });
        if let Some(port) = port {
            return Some((driver, port));
        }
        let _ = driver.wait();
    }
}

/// Everything that the page has written to its console, and what it was refused.
#[derive(Debug)]
struct BrowserLog;

impl WebDriverCompatibleCommand for BrowserLog {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(r#"{"type":"browser"}"#.to_owned()))
    }
}

/// A command of the protocol of Chromium's own tools.
#[derive(Debug)]
struct DevTools {
    command: &'static str,
    params: Value,
}

impl WebDriverCompatibleCommand for DevTools {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &Url) -> (http::Method, Option<String>) {
        let body = json!({ "cmd": self.command, "params": self.params });
        (http::Method::POST, Some(body.to_string()))
    }
}

/// What a page is looked at on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) is_dark: bool,
}

impl Browser {
    /// Shows the page on another screen.
    pub(crate) async fn show_on(&self, Screen { width, height, is_dark }: Screen) {
        let params =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        let size = DevTools { command: "Emulation.setDeviceMetricsOverride", params };
        self.page.issue_cmd(size).await.unwrap();
        let scheme = if is_dark { "dark" } else { "light" };
        let params = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        let theme = DevTools { command: "Emulation.setEmulatedMedia", params };
        self.page.issue_cmd(theme).await.unwrap();
        self.until(&format!("innerWidth === {width}")).await;
        self.until(&format!("matchMedia('(prefers-color-scheme: {scheme})').matches")).await;
    }

    /// Waits for an element.
    pub(crate) async fn find(&self, selector: &str) -> Element {
        let found = self.page.wait().at_most(PATIENCE).for_element(Locator::Css(selector)).await;
        found.unwrap_or_else(|error| panic!("{selector}: {error}"))
    }

    /// Clicks an element, which may be drawn anew meanwhile.
    pub(crate) async fn click(&self, selector: &str) {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while let Err(error) = self.find(selector).await.click().await {
            assert!(tokio::time::Instant::now() < deadline, "{selector}: {error}");
        }
    }

    /// Waits until a script returns something else than `null` or `false`.
    pub(crate) async fn until(&self, script: &str) -> Value {
        let script = format!("return {script}");
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let value = self.page.execute(&script, Vec::new()).await.unwrap();
            if !matches!(value, Value::Null | Value::Bool(false)) {
                return value;
            }
            assert!(tokio::time::Instant::now() < deadline, "never true: {script}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// What a script hands over, which may take a while: it calls `done`.
    pub(crate) async fn awaited(&self, script: &str) -> Value {
        let script = format!("const done = arguments[arguments.length - 1]; {script}");
        self.page.execute_async(&script, Vec::new()).await.unwrap()
    }

    /// The rows in sight: what each cell says.
    pub(crate) async fn rows(&self) -> Value {
        self.value("[...document.querySelectorAll('tr[data-number]')].map(row => [...row.cells].map(cell => cell.textContent))").await
    }

    /// What a script returns.
    pub(crate) async fn value(&self, script: &str) -> Value {
        self.page.execute(&format!("return {script}"), Vec::new()).await.unwrap()
    }

    /// Waits until the list has that many frames.
    pub(crate) async fn has_frames(&self, count: usize) {
        let foot = "parseInt(document.querySelector('.list-foot')?.textContent)";
        self.until(&format!("{foot} === {count}")).await;
    }

    /// Opens a view.
    pub(crate) async fn open(&self, view: &str) {
        let tab = self.find(&format!("button[role='tab'][data-view='{view}']")).await;
        tab.click().await.unwrap();
        self.find(&format!("button[data-view='{view}'][aria-selected='true']")).await;
    }

    /// Goes to a frame, as a link to it does.
    pub(crate) async fn select(&self, number: u64) {
        let go = format!(
            "const to = new URLSearchParams(location.hash.slice(1)); to.set('frame', {number}); location.hash = to"
        );
        self.page.execute(&go, Vec::new()).await.unwrap();
        self.is_open(number).await;
    }

    /// Waits until everything about a frame is shown.
    pub(crate) async fn is_open(&self, number: u64) {
        let title = "document.querySelector('plumb-frame-detail h2')?.textContent";
        self.until(&format!("{title}?.startsWith('#{number} ')")).await;
    }

    /// Waits until a frame is selected in the list.
    pub(crate) async fn is_selected(&self, number: u64) {
        let selected = "document.querySelector('tr[aria-selected=true]')?.dataset.number";
        self.until(&format!("{selected} === '{number}'")).await;
    }

    /// The text of the finding of a rule.
    pub(crate) async fn card(&self, rule: &str) -> String {
        let card = self.find(&format!("plumb-finding-card[data-rule='{rule}']")).await;
        card.text().await.unwrap()
    }

    /// Shows the text on the wire.
    pub(crate) async fn open_raw(&self) {
        self.click("button[data-tab='raw']").await;
        self.find("plumb-raw-view pre").await;
    }

    /// The text on the wire, as it is shown.
    pub(crate) async fn raw(&self) -> String {
        let text = self.value("document.querySelector('plumb-raw-view pre').textContent").await;
        text.as_str().unwrap().to_owned()
    }

    /// Presses keys on the page.
    pub(crate) async fn press(&self, keys: &str) {
        let body = self.page.find(Locator::Css("body")).await.unwrap();
        body.send_keys(keys).await.unwrap();
    }

    /// Replaces the filter.
    pub(crate) async fn filter(&self, text: &str) {
        let input = self.find("plumb-filter-bar input").await;
        input.clear().await.unwrap();
        // Clearing tells nobody.
        input.send_keys(&format!(" {}", char::from(Key::Backspace))).await.unwrap();
        input.send_keys(text).await.unwrap();
    }

    /// Ends the browser. Anything that the page has complained about is a failure.
    pub(crate) async fn end(self) {
        self.end_with(|_| false).await;
    }

    /// The same, where one thing is to be complained about: the message contains `word`.
    pub(crate) async fn end_noting(self, word: &str) {
        self.end_with(|message| message.contains(word)).await;
    }

    async fn end_with(mut self, is_expected: impl Fn(&str) -> bool) {
        let log = self.page.issue_cmd(BrowserLog).await.unwrap();
        let entries = log.as_array().unwrap().iter();
        let unexpected: Vec<&Value> =
            entries.filter(|entry| !is_expected(entry["message"].as_str().unwrap())).collect();
        assert_eq!(json!(unexpected), json!([]));
        self.page.clone().close().await.unwrap();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.driver.kill();
    }
}
