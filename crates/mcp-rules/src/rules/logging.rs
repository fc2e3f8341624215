//! Log levels. A wrong one is a violation of the definition; the table of refinements names it.

use mcp_core::Revisions;

use crate::Level;

rules! {
    LEVEL_INVALID: "log-level-invalid", Session, Level::Error, Revisions::ALL, "server/utilities/logging#log-levels";
}
