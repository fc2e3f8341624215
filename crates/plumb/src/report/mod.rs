//! The input of renderers: findings with their positions, and counts.

mod excerpt;
mod fingerprint;
mod kind;
mod summary;
mod visible;

use std::{io, sync::Arc};

use mcp_rules::Finding;

pub(crate) use excerpt::Excerpt;
pub(crate) use fingerprint::{Fingerprint, place};
pub(crate) use kind::{Kind, Withheld};
pub(crate) use summary::{Counts, Summary};

/// A finding and where it is.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    /// The file as the user named it; `-` is standard input.
    pub(crate) file: Arc<str>,
    /// Its `line` is set.
    pub(crate) finding: Finding,
    /// Only if [`Renderer::wants_excerpts`], and if the line is available.
    pub(crate) excerpt: Option<Excerpt>,
    /// The line that explains it, likewise.
    pub(crate) related: Option<Excerpt>,
}

/// Writes findings in one format, as they come.
pub(crate) trait Renderer {
    /// Whether findings should carry an excerpt; making one costs time.
    fn wants_excerpts(&self) -> bool;

    /// Whether it escapes invisible characters itself, as machine-readable formats do. Others are
    /// given [visible](Located::make_visible) text.
    fn wants_exact_text(&self) -> bool {
        false
    }

    /// Takes the next finding; the findings of a file are contiguous and in line order.
    fn finding(&mut self, located: &Located) -> io::Result<()>;

    /// The file has ended, and this many findings of one kind were left out.
    fn withheld(&mut self, _withheld: &Withheld) -> io::Result<()> {
        Ok(())
    }

    /// Everything has been checked. Called once, after the last finding.
    fn finish(&mut self, summary: &Summary) -> io::Result<()>;
}
