//! The colours of the page: both themes have all of them, and elements use what they are for.

use std::{collections::BTreeSet, fs, path::Path};

fn styles() -> impl Iterator<Item = (String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/styles");
    fs::read_dir(folder).unwrap().map(|entry| {
        let entry = entry.unwrap();
        (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())
    })
}

/// The custom properties that a text defines.
fn defined(text: &str) -> BTreeSet<&str> {
    let names = text.split(['{', ';', '}']).filter_map(|part| part.trim().split_once(':'));
    names.map(|(name, _)| name.trim()).filter(|name| name.starts_with("--")).collect()
}

/// The custom properties that a text uses.
fn used(text: &str) -> BTreeSet<&str> {
    text.split("var(").skip(1).filter_map(|rest| rest.split([')', ',']).next()).collect()
}

#[test]
fn both_themes_have_the_same_palette() {
    let (_, tokens) = styles().find(|(name, _)| name == "tokens.css").unwrap();
    let (light, dark) = tokens.split_once("@media (prefers-color-scheme: dark)").unwrap();
    let palette: BTreeSet<_> =
        defined(light).into_iter().filter(|name| !name.starts_with("--plumb-")).collect();
    assert!(palette.len() > 10, "{palette:?}");
    assert_eq!(palette, defined(dark));
}

#[test]
fn elements_use_what_colours_are_for_and_nothing_else() {
    let (_, tokens) = styles().find(|(name, _)| name == "tokens.css").unwrap();
    let purposes: BTreeSet<_> =
        defined(&tokens).into_iter().filter(|name| name.starts_with("--plumb-")).collect();
    for (name, text) in styles().filter(|(name, _)| name != "tokens.css") {
        let unknown: Vec<_> = used(&text).difference(&purposes).copied().collect();
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
        assert!(!text.contains(": #"), "{name} has a colour of its own");
    }
}
