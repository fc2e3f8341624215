//! Paths in the repository.

use std::path::{Path, PathBuf};

use mcp_core::Revision;

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace")
}

/// The folder of the user documentation.
pub(crate) fn docs_folder() -> PathBuf {
    root().join("docs")
}

/// The folder of a revision's data.
pub(crate) fn revision_folder(revision: Revision) -> PathBuf {
    root().join("crates/mcp-schema/revisions").join(revision.as_str())
}

/// The folder of the generated modules.
pub(crate) fn generated_folder() -> PathBuf {
    root().join("crates/mcp-schema/src/generated")
}

/// The name of a revision's generated module.
pub(crate) fn module_name(revision: Revision) -> String {
    format!("v{}", revision.as_str().replace('-', "_"))
}
