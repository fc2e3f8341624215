//! The numbers of a run in words.

use crate::{
    report::{Counts, Summary},
    text::counted,
};

/// `3 errors, 1 warning in 1,204 messages (2 files)`.
pub(super) fn sentence(summary: &Summary) -> String {
    format!("{} in {}", outcome(summary), extent(summary))
}

/// `3 errors, 1 warning`, or `no findings`.
pub(super) fn outcome(summary: &Summary) -> String {
    let Summary { errors, warnings, .. } = *summary;
    match summary.findings() {
        0 => "no findings".to_owned(),
        _ => counts(Counts { errors, warnings }),
    }
}

/// `1,204 messages (2 files)`.
pub(super) fn extent(summary: &Summary) -> String {
    let messages = counted(summary.messages, "message");
    format!("{messages} ({})", counted(summary.files, "file"))
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

/// What the reader should know about what is not shown, one sentence each.
pub(super) fn remarks(summary: &Summary) -> Vec<String> {
    let mut remarks = Vec::new();
    if summary.dropped > 0 {
        let dropped = counted(summary.dropped, "finding");
        remarks.push(format!("{dropped} not shown (see --max-findings)"));
    }
    if summary.unreadable > 0 {
        let unreadable = counted(summary.unreadable, "input");
        remarks.push(format!("{unreadable} could not be read"));
    }
    if summary.unjudged > 0 {
        let unjudged = counted(summary.unjudged, "message");
        remarks.push(format!("{unjudged} judged only in part: the request was not recorded"));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_agree_with_their_nouns() {
        let mut summary = Summary { messages: 1, files: 1, ..Summary::default() };
        assert_eq!(sentence(&summary), "no findings in 1 message (1 file)");
        summary = Summary { messages: 1204, files: 2, errors: 1, warnings: 2, ..summary };
        assert_eq!(sentence(&summary), "1 error, 2 warnings in 1,204 messages (2 files)");
        summary.errors = 0;
        assert_eq!(outcome(&summary), "2 warnings");
    }

    #[test]
    fn what_is_not_shown_is_said() {
        let summary = Summary { dropped: 1, unreadable: 1, unjudged: 3, ..Summary::default() };
        assert_eq!(
            remarks(&summary),
            [
                "1 finding not shown (see --max-findings)",
                "1 input could not be read",
                "3 messages judged only in part: the request was not recorded"
            ]
        );
    }
}
