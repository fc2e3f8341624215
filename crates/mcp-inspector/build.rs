//! Embeds the files of the page, so that a new file needs no entry anywhere.

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    fmt::Write as _,
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
};

fn main() -> Result<(), Box<dyn Error>> {
    let web = folder("CARGO_MANIFEST_DIR")?.join("web");
    println!("cargo::rerun-if-changed={}", web.display());
    let mut files = BTreeMap::new();
    collect(&web, "", &mut files)?;
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    let mut code = format!("const HASH: &str = \"{:016x}\";\n", hasher.finish());
    code.push_str("static ASSETS: &[Asset] = &[\n");
    for (path, text) in &files {
        writeln!(code, "    Asset {{ path: {path:?}, text: {text:?} }},")?;
    }
    code.push_str("];\n");
    fs::write(folder("OUT_DIR")?.join("assets.rs"), code)?;
    Ok(())
}

fn folder(variable: &str) -> Result<PathBuf, Box<dyn Error>> {
    Ok(env::var_os(variable).ok_or_else(|| format!("there is no {variable}"))?.into())
}

/// Extensions of files that are served; other files are for development only.
const SERVED: [&str; 4] = ["html", "css", "js", "svg"];

fn collect(
    folder: &Path,
    prefix: &str,
    files: &mut BTreeMap<String, String>,
) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|name| format!("{}", name.display()))?;
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else if name.rsplit('.').next().is_some_and(|kind| SERVED.contains(&kind)) {
            files.insert(path, fs::read_to_string(entry.path())?);
        }
    }
    Ok(())
}
