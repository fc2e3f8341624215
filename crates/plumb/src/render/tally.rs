//! Formats the totals of a run.

use crate::{
    report::{Counts, Summary},
    text::{counted, grouped},
};

/// `3 errors, 1 warning in 1,204 messages (2 files): 1 by the client, 3 by the server`.
pub(super) fn sentence(summary: &Summary) -> String {
    format!("{} in {}{}", outcome(summary), extent(summary), sides(summary))
}

/// `3 errors, 1 warning`, or `no findings`.
pub(super) fn outcome(summary: &Summary) -> String {
    let Summary { errors, warnings, .. } = *summary;
    match summary.findings() {
        0 if summary.known > 0 => "no new findings".to_owned(),
        0 => "no findings".to_owned(),
        _ => counts(Counts { errors, warnings }),
    }
}

/// `1,204 messages (2 files)`.
pub(super) fn extent(summary: &Summary) -> String {
    let messages = counted(summary.messages, "message");
    format!("{messages} ({})", counted(summary.files, "file"))
}

/// `: 1 by the client, 3 by the server`; empty if no side is known to be at fault.
pub(super) fn sides(summary: &Summary) -> String {
    let sides = summary.by_side();
    if sides.iter().all(|(side, count)| side.is_none() || *count == 0) {
        return String::new();
    }
    let said = sides.iter().filter(|(_, count)| *count > 0).map(|(side, count)| match side {
        Some(side) => format!("{} by the {side}", grouped(*count)),
        None => format!("{} by an unknown side", grouped(*count)),
    });
    format!(": {}", said.collect::<Vec<_>>().join(", "))
}

/// `2 errors`, `1 warning` or both.
pub(super) fn counts(counts: Counts) -> String {
    match (counts.errors, counts.warnings) {
        (errors, 0) => counted(errors, "error"),
        (0, warnings) => counted(warnings, "warning"),
        (errors, warnings) => {
            format!("{}, {}", counted(errors, "error"), counted(warnings, "warning"))
        }
    }
}

/// How many findings the baseline hid.
pub(crate) fn known(summary: &Summary) -> String {
    format!("{} known from the baseline", counted(summary.known, "finding"))
}

/// Remarks about what is not shown, one sentence each.
pub(super) fn remarks(summary: &Summary) -> Vec<String> {
    let mut remarks = Vec::new();
    if summary.dropped > 0 {
        let dropped = counted(summary.dropped, "finding");
        remarks.push(format!("{dropped} not shown (see --max-findings)"));
    }
    if summary.known > 0 {
        remarks.push(known(summary));
    }
    if summary.unreadable > 0 {
        let unreadable = counted(summary.unreadable, "input");
        remarks.push(format!("{unreadable} could not be read"));
    }
    if summary.unjudged > 0 {
        let unjudged = counted(summary.unjudged, "message");
        remarks.push(format!("{unjudged} checked only in part: the request was not recorded"));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use mcp_core::Side;
    use mcp_rules::{Finding, Severity};

    use super::*;

    #[test]
    fn numbers_agree_with_their_nouns() {
        let mut summary = Summary { messages: 1, files: 1, ..Summary::default() };
        assert_eq!(sentence(&summary), "no findings in 1 message (1 file)");
        summary = Summary { messages: 1204, files: 2, errors: 1, warnings: 2, ..summary };
        assert_eq!(sentence(&summary), "1 error, 2 warnings in 1,204 messages (2 files)");
        summary.errors = 0;
        assert_eq!(outcome(&summary), "2 warnings");
        summary = Summary { known: 3, ..Summary::default() };
        assert_eq!(outcome(&summary), "no new findings");
    }

    #[test]
    fn the_sides_at_fault_are_counted() {
        let mut summary = Summary::default();
        let rule = mcp_rules::rule("params-invalid").unwrap();
        let mut finding = Finding::new(rule, Severity::Error, "wrong");
        summary.add(&finding);
        assert_eq!(sides(&summary), "");
        finding.at_fault = Some(Side::Server);
        (0..1200).for_each(|_| summary.add(&finding));
        assert_eq!(sides(&summary), ": 1,200 by the server, 1 by an unknown side");
    }

    #[test]
    fn what_is_not_shown_is_reported() {
        let summary =
            Summary { dropped: 1, known: 2, unreadable: 1, unjudged: 3, ..Summary::default() };
        assert_eq!(
            remarks(&summary),
            [
                "1 finding not shown (see --max-findings)",
                "2 findings known from the baseline",
                "1 input could not be read",
                "3 messages checked only in part: the request was not recorded"
            ]
        );
    }
}
