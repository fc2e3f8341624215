//! References inside a schema: clients that do not follow them, and cycles.

use std::collections::BTreeMap;

use mcp_json::{Node, Span};

use super::{RECURSIVE_SCHEMA, REFERENCE};
use crate::{Findings, features::tools::schema, findings::Fault};

/// Maximum references examined per schema, as their targets are compared with each other.
const MAX_REFERENCES: usize = 500;

/// Reports at most once per schema.
pub(super) fn check(schema: Node<'_>, findings: &mut Findings<'_>) {
    if !findings.wants(&REFERENCE) && !findings.wants(&RECURSIVE_SCHEMA) {
        return;
    }
    let mut references = Vec::new();
    schema::collect(schema, &mut Vec::new(), &mut references);
    references.truncate(MAX_REFERENCES);
    if let Some(reference) = find_recursion(schema, &references) {
        findings.report(
            Fault::new(
                &RECURSIVE_SCHEMA,
                "the schema contains itself: Claude Code and Meta's models refuse it",
            )
            .at(reference.span())
            .help("write out as many levels as are needed, or accept the tree as a list"),
        );
    } else if let Some(first) = references.first() {
        findings.report(
            Fault::new(
                &REFERENCE,
                "the schema has a reference: VS Code and Claude Desktop drop `$defs` and leave it dangling, Gemini CLI skips the tool",
            )
            .at(first.span())
            .help("inline the definition where it is used"),
        );
    }
}

/// Finds a reference that closes a cycle: one reachable from its own target.
fn find_recursion<'a>(schema: Node<'_>, references: &[Node<'a>]) -> Option<Node<'a>> {
    let places: BTreeMap<usize, usize> = references
        .iter()
        .enumerate()
        .map(|(position, reference)| (reference.span().start, position))
        .collect();
    let leads_to = |position: usize| -> Vec<usize> {
        let target = target(schema, references[position]);
        let Some(Span { start, end }) = target else { return Vec::new() };
        places.range(start..end).map(|(_, inside)| *inside).collect()
    };
    let mut marks = vec![Mark::New; references.len()];
    for first in 0..references.len() {
        let mut open = vec![first];
        while let Some(&position) = open.last() {
            match marks[position] {
                Mark::New => {
                    marks[position] = Mark::OnTheWay;
                    for next in leads_to(position) {
                        match marks[next] {
                            Mark::OnTheWay => return Some(references[next]),
                            Mark::New => open.push(next),
                            Mark::Done => {}
                        }
                    }
                }
                Mark::OnTheWay | Mark::Done => {
                    marks[position] = Mark::Done;
                    open.pop();
                }
            }
        }
    }
    None
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    OnTheWay,
    Done,
}

/// The target of a reference into the schema itself.
fn target(schema: Node<'_>, reference: Node<'_>) -> Option<Span> {
    let text = reference.as_str()?;
    Some(schema.pointer(text.strip_prefix('#')?)?.span())
}
