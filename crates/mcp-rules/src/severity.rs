use std::{fmt, str::FromStr};

use mcp_core::{Revision, Revisions};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The specification advises against it, or peers are known to mishandle it.
    Warning,
    /// The specification forbids it.
    Error,
}

impl Severity {
    /// `warning` or `error`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The severity of a rule, which may depend on the revision: a sentence that says "should" in one
/// revision says "must" in the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Always an error.
    Error,
    /// Always a warning.
    Warning,
    /// An error in these revisions, a warning in all others.
    ErrorIn(Revisions),
    /// A warning, but only if enabled.
    OptIn,
}

impl Level {
    /// The severity in `revision`; `None` if the rule is off by default.
    pub const fn severity(self, revision: Revision) -> Option<Severity> {
        match self {
            Level::OptIn => None,
            Level::Error => Some(Severity::Error),
            Level::ErrorIn(revisions) if revisions.contains(revision) => Some(Severity::Error),
            Level::ErrorIn(_) | Level::Warning => Some(Severity::Warning),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Level::Error => f.write_str("error"),
            Level::Warning => f.write_str("warning"),
            Level::ErrorIn(revisions) => write!(f, "error in {revisions}, else warning"),
            Level::OptIn => f.write_str("off"),
        }
    }
}

/// A user's setting for a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Setting {
    /// Report with this severity.
    On(Severity),
    /// Do not report.
    Off,
}

impl FromStr for Setting {
    type Err = UnknownSetting;

    fn from_str(text: &str) -> Result<Self, UnknownSetting> {
        match text {
            "error" => Ok(Setting::On(Severity::Error)),
            "warning" | "warn" => Ok(Setting::On(Severity::Warning)),
            "off" => Ok(Setting::Off),
            other => Err(UnknownSetting(other.into())),
        }
    }
}

/// The error for an unknown level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a level: use error, warning or off")]
pub struct UnknownSetting(Box<str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_may_depend_on_the_revision() {
        let level = Level::ErrorIn(Revisions::from(Revision::V2025_06_18));
        assert_eq!(level.severity(Revision::V2025_03_26), Some(Severity::Warning));
        assert_eq!(level.severity(Revision::V2025_06_18), Some(Severity::Error));
        assert_eq!(Level::OptIn.severity(Revision::LATEST), None);
    }

    #[test]
    fn settings_read_as_people_write_them() {
        assert_eq!("warn".parse(), Ok(Setting::On(Severity::Warning)));
        assert_eq!("error".parse(), Ok(Setting::On(Severity::Error)));
        assert_eq!("off".parse(), Ok(Setting::Off));
        assert!("fatal".parse::<Setting>().unwrap_err().to_string().contains("`fatal`"));
    }
}
