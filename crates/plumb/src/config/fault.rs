use std::{
    fmt,
    ops::Range,
    path::{Path, PathBuf},
};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use mcp_json::Position;

use crate::text::{shown_path, visible_lines};

/// An error in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) span: Range<usize>,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Fault {
    pub(super) fn new(span: Range<usize>, message: impl Into<String>) -> Fault {
        Fault { span, message: message.into(), help: None }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Fault {
        self.help = Some(help.into());
        self
    }

    /// Suggests `near`, if there is one, and otherwise lists what is known.
    pub(super) fn suggest(self, near: Option<&str>, known: &[&str]) -> Fault {
        match near {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None if known.is_empty() => self,
            None => self.help(format!("use one of: {}", known.join(", "))),
        }
    }
}

/// All errors of a configuration file.
#[derive(Debug)]
pub(crate) struct ConfigError {
    path: PathBuf,
    text: String,
    /// In the order of the file, never empty.
    faults: Vec<Fault>,
}

impl ConfigError {
    pub(super) fn new(path: &Path, text: String, mut faults: Vec<Fault>) -> ConfigError {
        faults.sort_by_key(|fault| fault.span.start);
        ConfigError { path: path.to_owned(), text, faults }
    }

    /// Every fault with its line underlined, each ending in a line feed.
    pub(crate) fn excerpts(&self, renderer: &Renderer) -> String {
        let path = shown_path(&self.path);
        // The text shown may be longer than the text read.
        let text = visible_lines(&self.text);
        let shown_at = |at: usize| visible_lines(self.text.get(..at).unwrap_or_default()).len();
        let mut out = String::new();
        for (index, fault) in self.faults.iter().enumerate() {
            if index > 0 {
                out.push('\n');
            }
            let end = fault.span.end.min(self.text.len());
            let span = shown_at(fault.span.start.min(end))..shown_at(end);
            let message = visible_lines(&fault.message);
            let help = fault.help.as_deref().map(visible_lines);
            let snippet = Snippet::source(text.as_ref())
                .path(path.as_str())
                .annotation(AnnotationKind::Primary.span(span));
            let mut group = Level::ERROR.primary_title(message.as_ref()).element(snippet);
            if let Some(help) = &help {
                group = group.element(Level::HELP.message(help.as_ref()));
            }
            out.push_str(&renderer.render(&[group]));
            out.push('\n');
        }
        out
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            let Position { line, column } = Position::of(fault.span.start, self.text.as_bytes());
            write!(f, "{}:{line}:{column}: {}", shown_path(&self.path), fault.message)?;
            if let Some(help) = &fault.help {
                write!(f, " ({help})")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}
