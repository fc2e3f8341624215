//! The table of what must be found.

use crate::server::Wire;

/// A row of the table.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    pub(crate) fault: &'static str,
    pub(crate) outcome: Outcome,
}

#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// Found by this probe and this rule, over one way to travel or over all.
    Found { wire: Option<Wire>, probe: &'static str, rule: &'static str },
    /// Not found, for this reason.
    Missed { reason: &'static str },
    /// Has a test of its own.
    Elsewhere,
}

/// All rows.
pub(crate) fn expected() -> Vec<Expected> {
    include_str!("../expected.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (fault, rest) = line.split_once(' ').unwrap();
            let rest = rest.trim();
            let outcome = match rest.split_whitespace().collect::<Vec<_>>().as_slice() {
                ["-", ..] => Outcome::Missed { reason: rest[1..].trim() },
                ["elsewhere"] => Outcome::Elsewhere,
                [wire, probe, rule] => {
                    let wire = (*wire != "any").then(|| Wire::named(wire).unwrap());
                    Outcome::Found { wire, probe, rule }
                }
                _ => panic!("what is this? {line}"),
            };
            Expected { fault, outcome }
        })
        .collect()
}
