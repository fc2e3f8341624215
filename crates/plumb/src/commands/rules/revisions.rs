use mcp_core::{Revision, Revisions};

/// `from 2025-06-18`, `up to 2025-03-26`, `2025-03-26 to 2025-06-18`, or `not in 2025-03-26`.
pub(super) fn describe(revisions: Revisions) -> String {
    let all: Vec<Revision> = revisions.iter().collect();
    let (Some(&first), Some(&last)) = (all.first(), all.last()) else {
        return "in no revision".to_owned();
    };
    if revisions != Revisions::between(first, last) {
        let missing = Revision::ALL
            .into_iter()
            .filter(|revision| !revisions.contains(*revision))
            .fold(Revisions::NONE, Revisions::and);
        return format!("not in {missing}");
    }
    if first == last {
        return format!("only {first}");
    }
    match (first == Revision::ALL[0], last == Revision::LATEST) {
        (true, true) => "in all revisions".to_owned(),
        (false, true) => format!("from {first}"),
        (true, false) => format!("up to {last}"),
        (false, false) => format!("{first} to {last}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_read_naturally() {
        assert_eq!(describe(Revisions::from(Revision::V2025_06_18)), "from 2025-06-18");
        assert_eq!(describe(Revisions::only(Revision::V2025_03_26)), "only 2025-03-26");
        assert_eq!(describe(Revisions::up_to(Revision::V2025_03_26)), "up to 2025-03-26");
        assert_eq!(describe(Revisions::only(Revision::LATEST)), "only 2026-07-28");
        assert_eq!(describe(Revisions::ALL), "in all revisions");
    }
}
