//! Decides which tools may be called.

use serde_json::Value;

/// Limits the side effects of a run. By default, only tools annotated as read-only are called.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "built by the command line, member by member")]
pub struct Safety {
    /// Also call tools that write, unless they may be destructive.
    pub allow_writes: bool,
    /// Call every tool.
    pub allow_destructive: bool,
    /// Tools to call whatever their annotations say.
    pub tools: Vec<String>,
    /// Tools that are never called.
    pub skipped: Vec<String>,
}

/// Why a tool is not called, and how to include it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two things that belong together")]
pub struct Refused {
    /// The reason.
    pub reason: &'static str,
    /// The flag that includes it; empty if it is excluded by name.
    pub flag: &'static str,
}

impl Safety {
    /// Checks whether a tool may be called, given its definition.
    ///
    /// # Errors
    ///
    /// The reason.
    pub fn permits(&self, tool: &Value) -> Result<(), Refused> {
        let name = tool["name"].as_str().unwrap_or_default();
        if self.skipped.iter().any(|skipped| skipped == name) {
            return Err(Refused { reason: "it is excluded", flag: "" });
        }
        if self.allow_destructive || self.tools.iter().any(|allowed| allowed == name) {
            return Ok(());
        }
        let hint = |name: &str| tool["annotations"][name].as_bool();
        if hint("readOnlyHint") == Some(true) {
            return Ok(());
        }
        // Without the hint, a tool that writes counts as destructive.
        if hint("destructiveHint") == Some(false) {
            let refused = Refused { reason: "it may write", flag: "--allow-writes" };
            return if self.allow_writes { Ok(()) } else { Err(refused) };
        }
        let reason = match hint("destructiveHint") {
            Some(_) => "it may be destructive",
            None => "it is not annotated as read-only",
        };
        Err(Refused { reason, flag: "--allow-destructive" })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn flag(safety: &Safety, annotations: &Value) -> Option<&'static str> {
        let tool = json!({ "name": "wipe", "annotations": annotations });
        safety.permits(&tool).err().map(|refused| refused.flag)
    }

    #[test]
    fn only_what_reads_is_called_unasked() {
        let careful = Safety::default();
        assert_eq!(flag(&careful, &json!({ "readOnlyHint": true })), None);
        assert_eq!(flag(&careful, &json!({ "destructiveHint": false })), Some("--allow-writes"));
        assert_eq!(flag(&careful, &json!({})), Some("--allow-destructive"));
        assert_eq!(flag(&careful, &Value::Null), Some("--allow-destructive"));
    }

    #[test]
    fn flags_add_the_rest() {
        let writes = Safety { allow_writes: true, ..Safety::default() };
        assert_eq!(flag(&writes, &json!({ "destructiveHint": false })), None);
        assert_eq!(flag(&writes, &json!({ "destructiveHint": true })), Some("--allow-destructive"));
        let named = Safety { tools: vec!["wipe".into()], ..Safety::default() };
        assert_eq!(flag(&named, &json!({ "destructiveHint": true })), None);
        let skipped = Safety { skipped: vec!["wipe".into()], ..named };
        assert_eq!(flag(&skipped, &json!({ "readOnlyHint": true })), Some(""));
    }
}
