//! The pictures of the documentation. They are remade by `scripts/screenshots`, not by the tests.

use std::path::PathBuf;

use mcp_core::Revision;

use crate::{
    browser::{self, Browser, Screen},
    served::Served,
};

const LIGHT: Screen = Screen { width: 1280, height: 760, is_dark: false };
const DARK: Screen = Screen { is_dark: true, ..LIGHT };

/// A conversation with the demonstration server; its times are made up.
const CONVERSATION: &str = include_str!("pictures.jsonl");

#[tokio::test]
#[ignore = "writes files: run scripts/screenshots"]
async fn the_pictures_of_a_recording() {
    let browser = browser::start().await.unwrap();
    let lines: Vec<String> = CONVERSATION.lines().map(str::to_owned).collect();
    let served = Served::new(&lines).await;
    browser.show_on(LIGHT).await;
    browser.page.goto(&served.address).await.unwrap();
    browser.has_frames(lines.len()).await;
    browser.select(number_of(&lines, "\"output-mismatch\\\"")).await;
    browser.find("plumb-finding-card").await;
    take(&browser, LIGHT, "inspect").await;
    take(&browser, DARK, "inspect-dark").await;
    browser.select(number_of(&lines, "-32602")).await;
    browser.find("table.error-table").await;
    take(&browser, LIGHT, "inspect-error-data").await;
    browser.open("problems").await;
    browser.find(".problem").await;
    take(&browser, LIGHT, "inspect-problems").await;
    browser.open("session").await;
    browser.find(".sequence .message").await;
    take(&browser, Screen { height: 1180, ..LIGHT }, "inspect-session").await;
    browser.end().await;
}

#[tokio::test]
#[ignore = "writes files: run scripts/screenshots"]
async fn the_picture_of_speaking() {
    let browser = browser::start().await.unwrap();
    let served = Served::speaking_at(Some(Revision::V2025_11_25)).await;
    browser.show_on(LIGHT).await;
    browser.page.goto(&served.address).await.unwrap();
    browser.click("[data-key='tool days_between']").await;
    let from = browser.find("plumb-composer [data-field='from'] textarea").await;
    from.send_keys("yesterday").await.unwrap();
    browser.find("[data-field='from'][data-severity]").await;
    browser.click(".send").await;
    browser.find("plumb-call-answer table.error-table").await;
    // Times differ from run to run.
    let mask = "for (const cell of document.querySelectorAll('td.time')) if (cell.textContent) cell.textContent = '09:30:00.000';
        for (const cell of document.querySelectorAll('td.took, .call .took')) if (/ms$/.test(cell.textContent)) cell.textContent = '1 ms';
        for (const cell of document.querySelectorAll('.answer-head .quiet')) if (/ms$/.test(cell.textContent)) cell.textContent = '1 ms';
        for (const strip of document.querySelectorAll('plumb-speak-view canvas')) strip.width = strip.clientWidth";
    browser.page.execute(mask, Vec::new()).await.unwrap();
    let picture = browser.page.screenshot().await.unwrap();
    write("inspect-speak", &picture);
    browser.end().await;
}

async fn take(browser: &Browser, screen: Screen, name: &str) {
    browser.show_on(screen).await;
    // What depends on the size and the theme is drawn in the next frame.
    browser
        .page
        .execute_async(
            "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))",
            Vec::new(),
        )
        .await
        .unwrap();
    write(name, &browser.page.screenshot().await.unwrap());
    browser.show_on(LIGHT).await;
}

fn write(name: &str, picture: &[u8]) {
    let folder = std::env::var_os("PLUMB_PICTURES").expect("PLUMB_PICTURES names the folder");
    std::fs::write(PathBuf::from(folder).join(format!("{name}.png")), picture).unwrap();
}

/// The last line with a text, from 1.
fn number_of(lines: &[String], text: &str) -> u64 {
    lines.iter().rposition(|line| line.contains(text)).unwrap() as u64 + 1
}
