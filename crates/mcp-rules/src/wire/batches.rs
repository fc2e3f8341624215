//! Which batches are accepted under given settings.

use mcp_core::Revision;

use super::jsonrpc::BATCH_NOT_SUPPORTED;
use crate::{Setting, Settings, Severity};

impl Settings {
    /// Whether batches are accepted where the revision has none.
    pub fn lets_batches_in(&self) -> bool {
        let setting = self.rule(&BATCH_NOT_SUPPORTED);
        let tolerated = matches!(setting, Some(Setting::Off | Setting::On(Severity::Warning)));
        self.profile.envelope().batches || tolerated
    }

    /// Whether the entries of a batch are judged although `revision` has no batches: anything not
    /// refused as a whole is judged.
    pub(crate) fn judges_batches_in(&self, revision: Revision) -> bool {
        let level = BATCH_NOT_SUPPORTED.level.severity(revision);
        let set = self.rule(&BATCH_NOT_SUPPORTED).is_some();
        self.lets_batches_in() || !set && level == Some(Severity::Warning)
    }
}
