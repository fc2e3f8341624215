use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

/// A temporary folder, removed on drop.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> anyhow::Result<Folder> {
        let path =
            std::env::temp_dir().join(format!("plumb-hostile-{}-{name}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Folder(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn write(&self, name: &str, content: &str) -> anyhow::Result<PathBuf> {
        let path = self.0.join(name);
        fs::write(&path, content)?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(super) fn text(path: &Path) -> anyhow::Result<&str> {
    path.to_str().context("a path in UTF-8")
}
