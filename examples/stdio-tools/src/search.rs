use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use mcp_sdk::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MOST_MATCHES: usize = 100;
const MOST_FILES: usize = 10_000;
const LONGEST_FILE: u64 = 1 << 20;

// Comments on the members become their descriptions in the schema.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Search {
    /// What a line must contain.
    #[schemars(length(min = 1))]
    text: String,
    /// Where to look, below the server's directory. Everywhere if left out.
    directory: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Matches {
    matches: Vec<Match>,
    /// Whether there may be more than these.
    complete: bool,
}

#[derive(Serialize, JsonSchema)]
struct Match {
    path: String,
    line: usize,
    text: String,
}

impl Search {
    pub(crate) async fn run(self, root: PathBuf) -> Result<Matches, Failure> {
        // Files are read without `await`, so this runs where it does not hold up other calls.
        tokio::task::spawn_blocking(move || self.look(&root)).await?
    }

    fn look(&self, root: &Path) -> Result<Matches, Failure> {
        let mut open = vec![below(root, self.directory.as_deref().unwrap_or("."))?];
        let mut found = Matches { matches: Vec::new(), complete: true };
        let mut files = 0;
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory)? {
                let entry = entry?;
                // The type of the entry itself: symlinks are not followed, since they may lead
                // outside.
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    open.push(entry.path());
                } else if kind.is_file() && entry.metadata()?.len() <= LONGEST_FILE {
                    files += 1;
                    self.look_into(&entry.path(), root, &mut found.matches);
                }
                if files >= MOST_FILES || found.matches.len() >= MOST_MATCHES {
                    found.complete = false;
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }

    fn look_into(&self, path: &Path, root: &Path, found: &mut Vec<Match>) {
        // Binary and unreadable files are skipped.
        let Ok(content) = fs::read_to_string(path) else { return };
        let shown = path.strip_prefix(root).unwrap_or(path).display().to_string();
        for (index, line) in content.lines().enumerate() {
            if line.contains(&self.text) && found.len() < MOST_MATCHES {
                let text = line.trim().chars().take(200).collect();
                found.push(Match { path: shown.clone(), line: index + 1, text });
            }
        }
    }
}

/// A directory below `root`. A path that leads out of it is rejected, both by its text (`..`, `/`)
/// and, after resolving symlinks, by its real location.
fn below(root: &Path, relative: &str) -> Result<PathBuf, Failure> {
    let asked = Path::new(relative);
    let is_plain =
        asked.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let resolved = root.join(asked).canonicalize();
    match resolved {
        Ok(path) if is_plain && path.starts_with(root) => Ok(path),
        Err(error) if is_plain && error.kind() == io::ErrorKind::NotFound => {
            Err(Failure::new(format!("there is no directory `{relative}`")))
        }
        _ => Err(Failure::new(format!("`{relative}` leads out of the server's directory"))),
    }
}
