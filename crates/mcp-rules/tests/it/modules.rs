//! The modules of this crate depend on each other in one direction only.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

type Edges = BTreeMap<String, BTreeSet<String>>;

#[test]
fn top_level_modules_do_not_import_each_other_in_circles() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let root = fs::read_to_string(source.join("lib.rs")).unwrap();
    let exported = exports(&root);
    let mut edges = Edges::new();
    for entry in fs::read_dir(&source).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        // The guide is prose, and the root only re-exports.
        if name == "lib" || name == "guide" {
            continue;
        }
        let mut imported = BTreeSet::new();
        collect(&path, &mut imported);
        let imported =
            imported.into_iter().map(|item| exported.get(&item).unwrap_or(&item).clone());
        edges.insert(name.clone(), imported.filter(|module| *module != name).collect());
    }
    assert!(edges.len() > 10, "the sources were not found");

    // Remove modules that import nothing remaining; what is left is in a cycle, or above one.
    while let Some(name) = edges.iter().find(|(_, to)| to.is_empty()).map(|(name, _)| name.clone())
    {
        edges.remove(&name);
        for to in edges.values_mut() {
            to.remove(&name);
        }
    }
    assert!(edges.is_empty(), "these import each other: {edges:#?}");
}

/// The exports of the root, and the module each is from.
fn exports(root: &str) -> BTreeMap<String, String> {
    let mut exported = BTreeMap::new();
    for item in root.split("pub use ").skip(1) {
        let Some((item, _)) = item.split_once(';') else { continue };
        let names: Vec<&str> = identifiers(item).collect();
        for name in &names[1..] {
            exported.insert((*name).to_owned(), names[0].to_owned());
        }
    }
    exported
}

/// Collects the names that follow `crate::` in the sources at `path`, except in tests.
fn collect(path: &Path, imported: &mut BTreeSet<String>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder of sources") {
            collect(&entry.expect("an entry of it").path(), imported);
        }
        return;
    }
    let text = fs::read_to_string(path).expect("a source file");
    let code = text.split_once("#[cfg(test)]").map_or(&*text, |(code, _)| code);
    let code: Vec<&str> =
        code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    for rest in code.join("\n").split("crate::").skip(1) {
        imported.extend(first_names(rest));
    }
}

/// The first segment of each path in an import tree, where `tree` starts after `crate::`.
fn first_names(tree: &str) -> Vec<String> {
    let Some(tree) = tree.strip_prefix('{') else {
        return identifiers(tree).take(1).map(str::to_owned).collect();
    };
    let mut names = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, character) in tree.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.extend(identifiers(&tree[start..at]).next().map(str::to_owned));
                start = at + 1;
                if character == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    text.split(move |character| !is_part(character)).filter(|name| !name.is_empty())
}
