//! Findings by rule and side.

use mcp_core::Side;
use mcp_rules::{Finding, Severity};
use serde::Serialize;

/// All findings of one rule against one side.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Problem {
    /// The rule.
    pub rule: &'static str,
    /// Its layer.
    pub layer: &'static str,
    /// The side that has to change something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_fault: Option<Side>,
    /// The worst severity.
    pub severity: &'static str,
    /// The number of findings.
    pub count: u64,
    /// The summary of the rule.
    pub summary: &'static str,
    /// The first frames with such a finding.
    pub frames: Vec<u64>,
    /// The message of the first finding.
    pub message: String,
    #[serde(skip)]
    worst: Severity,
}

impl Problem {
    fn first(finding: &Finding) -> Problem {
        Problem {
            rule: finding.rule.name,
            layer: finding.rule.layer.as_str(),
            at_fault: finding.at_fault,
            severity: finding.severity.as_str(),
            count: 0,
            summary: finding.rule.summary(),
            frames: Vec::new(),
            message: finding.message.clone(),
            worst: finding.severity,
        }
    }
}

/// Maximum number of frames listed per problem.
const MOST_FRAMES: usize = 500;

/// All problems, the worst first; at most one per rule and side.
#[derive(Debug, Clone, Default)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    pub(crate) fn add(&mut self, number: u64, finding: &Finding) {
        let is_same = |problem: &Problem| {
            problem.rule == finding.rule.name && problem.at_fault == finding.at_fault
        };
        let index = self.0.iter().position(is_same).unwrap_or_else(|| {
            self.0.push(Problem::first(finding));
            self.0.len() - 1
        });
        let problem = &mut self.0[index];
        problem.count += 1;
        if finding.severity > problem.worst {
            problem.worst = finding.severity;
            problem.severity = finding.severity.as_str();
        }
        if problem.frames.len() < MOST_FRAMES && problem.frames.last() != Some(&number) {
            problem.frames.push(number);
        }
    }

    /// The worst first, then the most frequent.
    pub(crate) fn sorted(&self) -> Vec<Problem> {
        let mut sorted = self.0.clone();
        sorted.sort_by_key(|problem| {
            (std::cmp::Reverse((problem.worst, problem.count)), problem.rule, problem.at_fault)
        });
        sorted
    }
}
