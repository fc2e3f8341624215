use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Snippet};
use mcp_rules::SchemaFault;

use crate::{render::reason::reason, report::Excerpt, text::width};

/// An excerpt cut to the available width.
pub(super) struct Drawn {
    text: String,
    span: Option<Range<usize>>,
    label: Option<String>,
}

impl Drawn {
    /// `fault` provides the label next to the underline.
    pub(super) fn new(excerpt: &Excerpt, fault: Option<&SchemaFault>, room: usize) -> Drawn {
        let label = excerpt.span.as_ref().and(fault).and_then(reason);
        let mut excerpt = excerpt.narrowed(room);
        if excerpt.cut_before || excerpt.cut_after {
            // Leaves room for an ellipsis on either side.
            excerpt = excerpt.narrowed(room.saturating_sub(2));
        }
        let mut text = String::new();
        if excerpt.cut_before {
            text.push('…');
        }
        let shift = text.len();
        text.push_str(&excerpt.text);
        if excerpt.cut_after {
            text.push('…');
        }
        let span = excerpt.span.map(|span| span.start + shift..span.end + shift);
        let fits = |label: &String| {
            let end = span.as_ref().map_or(0, |span| span.end);
            width(&text[..end]) + 1 + width(label) <= room
        };
        let label = label.filter(fits);
        Drawn { text, span, label }
    }

    pub(super) fn snippet(&self, line: usize) -> Snippet<'_, Annotation<'_>> {
        let annotation = match &self.span {
            Some(span) => AnnotationKind::Primary.span(span.clone()).label(self.label.as_deref()),
            None => AnnotationKind::Visible.span(0..0),
        };
        Snippet::source(self.text.as_str()).line_start(line).annotation(annotation)
    }
}
