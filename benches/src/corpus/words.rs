//! Made-up names, sentences, paths and times.

use super::rng::Rng;

pub(crate) static NOUNS: [&str; 48] = [
    "account",
    "branch",
    "build",
    "cache",
    "calendar",
    "channel",
    "cluster",
    "commit",
    "contact",
    "dashboard",
    "database",
    "deployment",
    "document",
    "event",
    "file",
    "folder",
    "image",
    "index",
    "invoice",
    "issue",
    "job",
    "key",
    "label",
    "log",
    "message",
    "metric",
    "module",
    "note",
    "order",
    "package",
    "page",
    "pipeline",
    "project",
    "query",
    "queue",
    "record",
    "release",
    "report",
    "repository",
    "schedule",
    "secret",
    "session",
    "sheet",
    "snapshot",
    "table",
    "ticket",
    "user",
    "workflow",
];

pub(crate) static VERBS: [&str; 24] = [
    "add", "archive", "close", "compare", "copy", "count", "create", "delete", "describe",
    "export", "fetch", "find", "import", "inspect", "list", "merge", "move", "open", "read",
    "rename", "run", "search", "update", "write",
];

static ADJECTIVES: [&str; 20] = [
    "active",
    "automatic",
    "current",
    "daily",
    "default",
    "empty",
    "failed",
    "final",
    "hidden",
    "internal",
    "last",
    "local",
    "matching",
    "open",
    "pending",
    "private",
    "remote",
    "shared",
    "stale",
    "unique",
];

static LINKS: [&str; 12] =
    ["and", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with", "without"];

/// Non-ASCII words: Latin, Greek, Cyrillic, CJK, an emoji outside the BMP.
static FOREIGN: [&str; 12] = [
    "naïve",
    "Grüße",
    "café",
    "señal",
    "œuvre",
    "Ελλάδα",
    "привет",
    "日本語",
    "中文",
    "한국어",
    "→",
    "🚀",
];

static FOLDERS: [&str; 12] = [
    "api", "app", "assets", "client", "common", "core", "data", "docs", "lib", "server", "src",
    "tests",
];

static EXTENSIONS: [&str; 10] =
    ["css", "csv", "go", "html", "json", "md", "py", "rs", "ts", "yaml"];

/// A plain word; occasionally one that is not ASCII.
pub(crate) fn word(rng: &mut Rng) -> &'static str {
    match rng.below(100) {
        0 => rng.pick(&FOREIGN),
        1..=25 => rng.pick(&LINKS),
        26..=45 => rng.pick(&ADJECTIVES),
        46..=60 => rng.pick(&VERBS),
        _ => rng.pick(&NOUNS),
    }
}

/// A word that is not ASCII.
pub(crate) fn foreign(rng: &mut Rng) -> &'static str {
    rng.pick(&FOREIGN)
}

/// `words` words, capitalised and with a full stop.
pub(crate) fn sentence(rng: &mut Rng, words: usize) -> String {
    let mut text = String::new();
    for index in 0..words {
        let word = word(rng);
        if index > 0 {
            text.push(' ');
            text.push_str(word);
            continue;
        }
        let mut characters = word.chars();
        text.extend(characters.next().into_iter().flat_map(char::to_uppercase));
        text.push_str(characters.as_str());
    }
    text.push('.');
    text
}

/// Sentences separated by spaces, at least `bytes` long.
pub(crate) fn prose(rng: &mut Rng, bytes: usize) -> String {
    let mut text = String::new();
    while text.len() < bytes {
        if !text.is_empty() {
            text.push(' ');
        }
        let words = rng.between(5, 14);
        text.push_str(&sentence(rng, words));
    }
    text
}

/// Such as `cache_index`.
pub(crate) fn identifier(rng: &mut Rng) -> String {
    format!("{}_{}", rng.pick(&ADJECTIVES), rng.pick(&NOUNS))
}

/// Such as `src/core/report.rs`.
pub(crate) fn path(rng: &mut Rng) -> String {
    let mut path = String::new();
    for _ in 0..rng.between(1, 3) {
        path.push_str(rng.pick(&FOLDERS));
        path.push('/');
    }
    path.push_str(rng.pick(&NOUNS));
    path.push('.');
    path.push_str(rng.pick(&EXTENSIONS));
    path
}

/// The URI of a resource.
pub(crate) fn uri(rng: &mut Rng) -> String {
    match rng.below(3) {
        0 => format!("resource://{}/{}", rng.pick(&NOUNS), path(rng)),
        1 => format!("https://{}.example.com/{}", rng.pick(&NOUNS), path(rng)),
        _ => format!("file:///workspace/{}", path(rng)),
    }
}

/// An RFC 3339 time.
pub(crate) fn timestamp(rng: &mut Rng) -> String {
    format!(
        "2026-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        rng.between(1, 12),
        rng.between(1, 28),
        rng.below(24),
        rng.below(60),
        rng.below(60),
        rng.below(1000),
    )
}

/// `digits` hexadecimal digits.
pub(crate) fn hex(rng: &mut Rng, digits: usize) -> String {
    (0..digits).map(|_| char::from(b"0123456789abcdef"[rng.below(16)])).collect()
}
