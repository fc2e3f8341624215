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
use url::{ParseError, Url};

/// How long something may take to become visible.
const PATIENCE: Duration = Duration::from_secs(20);

/// A browser with one page. Ends with its driver.
pub(crate) struct Browser {
    pub(crate) page: Client,
    driver: Child,
}

/// The browser, or nothing where there is none: then the test has not been run, and says so.
pub(crate) async fn start() -> Option<Browser> {
    let mut command = Command::new("chromedriver");
    let Ok(mut driver) = command.arg("--port=0").stdout(Stdio::piped()).spawn() else {
        assert!(
            std::env::var_os("CI").is_none(),
            "there is no chromedriver: install chromium-driver"
        );
        eprintln!("skipped: there is no chromedriver; install the package chromium-driver");
        return None;
    };
    let output = BufReader::new(driver.stdout.take().unwrap());
    let port = output.lines().map_while(Result::ok).find_map(|line| {
        let (_, port) = line.split_once("successfully on port ")?;
        port.trim_end_matches('.').parse::<u16>().ok()
    });
    let options = json!({
        "goog:chromeOptions": { "args": ["--headless=new", "--no-sandbox", "--window-size=1280,900"] },
        "goog:loggingPrefs": { "browser": "ALL" },
    });
    let Value::Object(options) = options else { unreachable!() };
    let address = format!("http://127.0.0.1:{}", port.unwrap());
    let mut builder = ClientBuilder::new(HttpConnector::new());
    let page = builder.capabilities(options).connect(&address).await.unwrap();
    Some(Browser { page, driver })
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

impl Browser {
    /// Waits for an element.
    pub(crate) async fn find(&self, selector: &str) -> Element {
        let found = self.page.wait().at_most(PATIENCE).for_element(Locator::Css(selector)).await;
        found.unwrap_or_else(|error| panic!("{selector}: {error}"))
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
    pub(crate) async fn end(mut self) {
        let log = self.page.issue_cmd(BrowserLog).await.unwrap();
        assert_eq!(log, json!([]));
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
