//! What people do in the view for speaking.

use crate::browser::Browser;

/// Chooses what to send, by its key in the list.
pub(crate) async fn choose(browser: &Browser, key: &str) {
    browser.click(&format!("[data-key=\"{key}\"]")).await;
}

/// Replaces what is in a field of the form.
pub(crate) async fn fill(browser: &Browser, field: &str, text: &str) {
    let input =
        format!("plumb-composer [data-field='{field}'] :is(textarea, input:not([type=checkbox]))");
    let input = browser.find(&input).await;
    input.clear().await.unwrap();
    input.send_keys(text).await.unwrap();
}

/// Sends it, once the button says `words`.
pub(crate) async fn send(browser: &Browser, words: &str) {
    browser.until(&format!("document.querySelector('.send').textContent === '{words}'")).await;
    browser.click(".send").await;
}

/// Waits until the answer contains `words`.
pub(crate) async fn answer_with(browser: &Browser, words: &str) {
    let text = "document.querySelector('plumb-call-answer').textContent";
    browser.until(&format!("{text}.includes({words:?})")).await;
}
