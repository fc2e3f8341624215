use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Text {
    /// The text to count.
    text: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Statistics {
    lines: usize,
    words: usize,
    characters: usize,
    longest_word: Option<String>,
}

impl Text {
    pub(crate) fn count(&self) -> Statistics {
        let words = || self.text.split_whitespace();
        Statistics {
            lines: self.text.lines().count(),
            words: words().count(),
            characters: self.text.chars().count(),
            longest_word: words().max_by_key(|word| word.chars().count()).map(str::to_owned),
        }
    }
}
