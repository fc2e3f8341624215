//! Errors as shown to the user: what went wrong, why, and what to do about it.

use std::{error::Error, fmt::Write as _, io};

use anstyle::Style;

use crate::{config::ConfigError, style::Palette, text::visible_lines};

/// An error with a hint.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    #[source]
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl Failure {
    /// `message`: lower case, no full stop.
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), hint: None, source: None }
    }

    /// What the user can do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// The cause.
    pub(crate) fn because(mut self, source: impl Error + Send + Sync + 'static) -> Failure {
        self.source = Some(Box::new(source));
        self
    }
}

/// Formats `error` with its causes and hint, ending in a line feed.
pub(crate) fn describe(error: &anyhow::Error, palette: &Palette) -> String {
    if let Some(config) = error.chain().find_map(|cause| cause.downcast_ref::<ConfigError>()) {
        return config.excerpts(&palette.snippets());
    }
    let mut out = String::new();
    let Palette { error: red, bold, .. } = palette;
    let mut last = error.to_string();
    let _ = writeln!(out, "{red}error{red:#}{bold}:{bold:#} {}", visible_lines(&last));
    for cause in error.chain().skip(1) {
        let text = cause.to_string();
        // Transparent wrappers repeat their source.
        if text != last {
            let _ = writeln!(out, "  caused by: {}", visible_lines(&text));
        }
        last = text;
    }
    for hint in error.chain().filter_map(hint_of) {
        let cyan: Style = palette.accent;
        let _ = writeln!(out, "  {cyan}help{cyan:#}: {}", visible_lines(hint));
    }
    out
}

/// Formats an error with its causes on one line, for logs.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = visible_lines(&cause.to_string()).replace('\n', "; ");
        // Transparent wrappers repeat their source.
        if parts.last() != Some(&text) {
            parts.push(text);
        }
    }
    parts.join(": ")
}

fn hint_of<'e>(cause: &'e (dyn Error + 'static)) -> Option<&'e str> {
    cause.downcast_ref::<Failure>()?.hint.as_deref()
}

/// Whether the reader of our output has gone away, as `head` does.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn causes_and_advice_follow_the_message() {
        let source = io::Error::new(io::ErrorKind::NotFound, "no such file");
        let error = anyhow::Error::from(
            Failure::new("could not read `a.jsonl`").because(source).hint("check the path"),
        );
        assert_eq!(
            describe(&error, &Palette::plain()),
            "error: could not read `a.jsonl`\n  caused by: no such file\n  help: check the path\n"
        );
    }

    #[test]
    fn a_broken_pipe_is_recognised_behind_context() {
        let broken = io::Error::from(io::ErrorKind::BrokenPipe);
        let error = Err::<(), _>(broken).context("could not write").unwrap_err();
        assert!(is_broken_pipe(&error));
        let other = io::Error::from(io::ErrorKind::NotFound);
        assert!(!is_broken_pipe(&other.into()));
    }
}
