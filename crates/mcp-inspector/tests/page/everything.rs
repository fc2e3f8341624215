//! The reference server, `@modelcontextprotocol/server-everything`, used through the page as a person
//! would.

use std::{path::PathBuf, process::Command};

use mcp_inspector::{Launch, Target};
use tokio::sync::OnceCell;

use crate::{
    browser::{self, Browser},
    served::Served,
    typing::{answer_with, choose, fill, send},
};

const VERSION: &str = "2026.8.31";

/// The program of the server, installed if it is not there yet; or nothing where there is no npm: then
/// the test has not been run, and says so.
async fn server() -> Option<Target> {
    static INSTALLED: OnceCell<Option<PathBuf>> = OnceCell::const_new();
    let script = INSTALLED.get_or_init(async || install()).await.clone();
    if script.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "server-everything could not be installed: there must be npm"
        );
        eprintln!("skipped: there is no npm, or no registry to install server-everything from");
    }
    let arguments = vec![script?.into()];
    Some(Target::command(Launch { program: "node".into(), arguments, ..Launch::default() }))
}

fn install() -> Option<PathBuf> {
    let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("everything-{VERSION}"));
    let script = home.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    if !script.exists() {
        std::fs::create_dir_all(&home).ok()?;
        std::fs::write(home.join("package.json"), r#"{"private":true}"#).ok()?;
        let package = format!("@modelcontextprotocol/server-everything@{VERSION}");
        let options = ["--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"];
        let mut command = Command::new("npm");
        command.arg("install").args(options).arg(package).current_dir(&home);
        command.stdout(std::process::Stdio::null()).status().ok()?;
    }
    script.exists().then_some(script)
}

async fn begun() -> Option<(Browser, Served)> {
    let target = server().await?;
    let browser = browser::start().await?;
    let served = Served::speaking_to(target, None).await;
    browser.page.goto(&served.address).await.unwrap();
    browser.find("[data-key='tool echo']").await;
    Some((browser, served))
}

#[tokio::test]
async fn it_is_connected_listed_called_read_and_prompted() {
    let Some((browser, served)) = begun().await else { return };
    // The first row is `initialize`, and every frame is a row.
    assert_eq!(
        served.log.frame(1, |frame| frame.row.method.clone()).unwrap().unwrap(),
        "initialize"
    );

    choose(&browser, "tool echo").await;
    fill(&browser, "message", "hello there").await;
    send(&browser, "Send").await;
    answer_with(&browser, "hello there").await;

    let list = "[...document.querySelectorAll('[data-key]')].map(it => it.dataset.key)";
    let keys: Vec<String> = serde_json::from_value(browser.value(list).await).unwrap();
    let first = |kind: &str| {
        let found = keys.iter().find(|key| key.starts_with(kind));
        found.unwrap_or_else(|| panic!("{kind} {keys:?}")).clone()
    };
    choose(&browser, &first("resource ")).await;
    send(&browser, "Send").await;
    answer_with(&browser, "contents").await;

    let simple = keys.iter().find(|key| key.starts_with("prompt simple")).cloned();
    choose(&browser, &simple.unwrap_or_else(|| first("prompt "))).await;
    send(&browser, "Send").await;
    answer_with(&browser, "messages").await;

    // It says something on its standard error, which is no fault.
    browser.open("frames").await;
    browser.filter("kind:stderr").await;
    browser.find("tr[data-kind='stderr']").await;
    browser.end().await;
}

#[tokio::test]
async fn a_wrong_argument_is_marked_sent_anyway_and_refused_and_nobody_is_blamed_wrongly() {
    let Some((browser, served)) = begun().await else { return };
    choose(&browser, "tool echo").await;
    // An argument of the wrong type is marked first, sent anyway, and refused by the server.
    fill(&browser, "message", "x").await;
    let params = browser.find("textarea[aria-label=\"params as JSON\"]").await;
    params.clear().await.unwrap();
    params.send_keys("{\"name\":\"echo\",\"arguments\":{\"message\":7}}").await.unwrap();
    browser.until("document.querySelector('.send').textContent === 'Send anyway'").await;
    browser.click(".send").await;
    browser.find("plumb-call-list li[data-state='answered'][aria-current='true']").await;
    let shown = browser.find("plumb-call-answer").await.text().await.unwrap().to_lowercase();
    assert!(!shown.contains("success"), "{shown}");
    let blamed: Vec<String> = served
        .log
        .problems()
        .iter()
        .filter(|problem| problem.at_fault == Some(mcp_core::Side::Server))
        .map(|problem| format!("{}: {}", problem.rule, problem.message))
        .collect();
    assert_eq!(blamed, [""; 0]);
    browser.end().await;
}
