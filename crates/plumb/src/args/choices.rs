use clap::ValueEnum;
use mcp_core::Revision;
use mcp_rules::Severity;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// How `check` reports.
// Plain comments on the variants: doc comments would expand the help to four lines per option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    // Excerpts, reasons, a summary.
    #[default]
    Human,
    // One finding per line.
    Json,
    // SARIF 2.1.0, for code scanning.
    Sarif,
    // XML, for test reports.
    Junit,
    // Annotations of a workflow run.
    Github,
}

/// How `test` reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum TestFormat {
    // A line for each check as it runs, and faults in full.
    #[default]
    Human,
    // One finding per line.
    Json,
    // SARIF 2.1.0, for code scanning.
    Sarif,
    // XML, for test reports: every check.
    Junit,
    // Annotations of a workflow run.
    Github,
    // A page for a browser, in one file.
    Html,
}

/// How a proxy reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Human,
    Json,
}

/// How a proxy logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// The least important log messages that a proxy writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// The sides whose messages a proxy blocks if they break the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Enforced {
    Both,
    Client,
    Server,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaFormat {
    Human,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RulesFormat {
    Human,
    Json,
    Markdown,
}

/// Which revision to check against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum RevisionChoice {
    /// The one the conversation uses.
    #[default]
    Auto,
    Only(Revision),
}

/// Which findings make a run fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailOn {
    Never,
    /// Findings of at least this severity.
    At(Severity),
}

impl FailOn {
    /// In order of strictness, strictest first.
    pub(crate) const ALL: [FailOn; 3] =
        [FailOn::At(Severity::Warning), FailOn::At(Severity::Error), FailOn::Never];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            FailOn::Never => "never",
            FailOn::At(severity) => severity.as_str(),
        }
    }

    /// The inverse of `as_str`.
    pub(crate) fn from_name(name: &str) -> Option<FailOn> {
        FailOn::ALL.into_iter().find(|choice| choice.as_str() == name)
    }

    /// Whether a finding of that severity makes the run fail.
    pub(crate) fn fails(self, severity: Severity) -> bool {
        match self {
            FailOn::Never => false,
            FailOn::At(least) => severity >= least,
        }
    }
}

impl Default for FailOn {
    fn default() -> FailOn {
        FailOn::At(Severity::Error)
    }
}

/// How many findings to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MaxFindings {
    All,
    First(u64),
}
