//! Properties that hold for any input.

use std::{fs, path::Path};

use mcp_core::{Revision, Side};
use mcp_json::Limits;
use mcp_rules::{Framed, Framer, Profile, RecordingInfo, Settings};
use proptest::{collection::vec, prelude::*, sample::Index};

use crate::observe::{observe, observe_open};

/// Fragments of lines: on their own, and concatenated in any order.
const FRAGMENTS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    " ",
    "\n",
    "\r\n",
    "\u{feff}",
    "\u{0}",
    "é",
    "null",
    "true",
    "-0",
    "1e999",
    "9007199254740993",
    "\"from\":\"client\",",
    "\"from\":\"server\",",
    "\"from\":7,",
    "\"msg\":",
    "\"raw\":\"{\\n\\\"a\\\":1}\"",
    "\"raw\":\"\"",
    "\"rawBase64\":\"7u7u\"",
    "\"session\":\"b\",",
    "\"end\":true,",
    "\"transport\":\"ws\",",
    "\"http\":{\"status\":400,\"headers\":{\"Content-Type\":\"application/json\"},\"body\":\"x\"}",
    "\"http\":{\"sse\":{\"data\":\"\"}}",
    "\"jsonrpc\":\"2.0\",",
    "\"id\":1,",
    "\"id\":null,",
    "\"method\":\"tools/call\",",
    "\"method\":\"initialize\",",
    "\"method\":\"notifications/progress\",",
    "\"params\":{},",
    "\"result\":{\"tools\":[{\"name\":\"a\"}]}",
    "\"error\":{\"code\":-32042,\"message\":\"\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
    "{\"from\":\"server\",\"raw\":\"{\"}",
    "{\"from\":\"client\",\"msg\":[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"},7]}",
    "{\"from\":\"server\",\"msg\":{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"input_required\"}}}",
];

fn conversations() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/conversations");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("a readable folder")
        .map(|entry| entry.expect("a readable entry").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "there are conversations");
    paths.iter().map(|path| fs::read(path).expect("a readable trace")).collect()
}

fn random_bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![3 => any::<u8>(), 1 => Just(b'\n'), 1 => Just(b'"')], 0..400)
}

fn fragments() -> impl Strategy<Value = Vec<u8>> {
    let line = vec(any::<Index>(), 0..12)
        .prop_map(|picks| picks.iter().map(|pick| *pick.get(FRAGMENTS)).collect::<String>());
    vec(line, 0..8).prop_map(|lines| lines.join("\n").into_bytes())
}

/// Damages a good trace: changes bytes; drops, duplicates or moves pieces.
fn mutated_trace() -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<Index>(), any::<Index>(), 0..5_u8, any::<u8>());
    let traces = conversations();
    (any::<Index>(), vec(change, 1..12)).prop_map(move |(pick, changes)| {
        let mut bytes = pick.get(&traces).clone();
        for (place, other, kind, byte) in changes {
            if bytes.is_empty() {
                break;
            }
            let (at, to) = (place.index(bytes.len()), other.index(bytes.len()));
            let (start, end) = (at.min(to), at.max(to).min(at.min(to) + 200));
            match kind {
                0 => bytes[at] = byte,
                1 => drop(bytes.drain(start..end)),
                2 => bytes.truncate(at.max(bytes.len() / 2)),
                3 => {
                    let piece = bytes[start..end].to_vec();
                    bytes.splice(at..at, piece);
                }
                _ => {
                    let fragment = FRAGMENTS[usize::from(byte) % FRAGMENTS.len()];
                    bytes.splice(at..at, fragment.bytes());
                }
            }
        }
        bytes
    })
}

fn file() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![1 => random_bytes(), 3 => fragments(), 3 => mutated_trace()]
}

fn settings() -> impl Strategy<Value = Settings> {
    any::<Index>().prop_map(|pick| {
        let mut settings = Settings::default();
        settings.profile = *pick.get(&Profile::ALL);
        settings
    })
}

fn info() -> impl Strategy<Value = RecordingInfo> {
    let revision = proptest::option::of(any::<Index>());
    let from = proptest::option::of(any::<Index>());
    (revision, from).prop_map(|(revision, from)| {
        let mut info = RecordingInfo::default();
        info.revision = revision.map(|pick| *pick.get(&Revision::ALL));
        info.from = from.map(|pick| *pick.get(&Side::BOTH));
        info
    })
}

/// Positions after each line, the last one included.
fn line_ends(file: &[u8]) -> Vec<usize> {
    let breaks = file.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    breaks.map(|(position, _)| position + 1).chain([file.len()]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_file_is_judged_and_twice_the_same_way(
        file in file(), settings in settings(), info in info(),
    ) {
        let first = observe(&file, settings.clone(), info);
        prop_assert_eq!(&first, &observe(&file, settings, info));
        for finding in &first {
            if let Some(span) = finding.span {
                prop_assert!(span.start <= span.end, "{:?}", finding);
            }
        }
    }

    #[test]
    fn what_was_found_in_a_prefix_is_found_in_the_whole(
        file in file(), cut in any::<Index>(), settings in settings(), info in info(),
    ) {
        let prefix = &file[..*cut.get(&line_ends(&file))];
        let early = observe_open(prefix, settings.clone(), info);
        let all = observe_open(&file, settings, info);
        prop_assert!(all.starts_with(&early), "{:?} is no beginning of {:?}", early, all);
    }

    #[test]
    fn writes_may_be_split_at_any_line_break(file in file(), splits in vec(any::<bool>(), 16)) {
        let lines: Vec<&[u8]> = file.split(|byte| *byte == b'\n').collect();
        let one_by_one = framed(lines.iter().copied());
        let mut writes: Vec<Vec<u8>> = Vec::new();
        for (line, split) in lines.iter().zip(splits.iter().cycle()) {
            match writes.last_mut() {
                Some(write) if !split => {
                    write.push(b'\n');
                    write.extend_from_slice(line);
                }
                _ => writes.push(line.to_vec()),
            }
        }
        prop_assert_eq!(&one_by_one, &framed(writes.iter().map(Vec::as_slice)));
        prop_assert_eq!(&one_by_one, &framed([file.as_slice()]));
    }

    #[test]
    fn framing_loses_nothing(file in file()) {
        let texts = framed([file.as_slice()]).into_iter().map(|framed| match framed {
            Framed::Message { text, .. } | Framed::Unreadable { text, .. } => text,
            Framed::Blank { .. } => Vec::new(),
        });
        let significant = |bytes: &[u8]| -> Vec<u8> {
            bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
        };
        let kept: Vec<u8> = texts.flat_map(|text| significant(&text)).collect();
        prop_assert_eq!(kept, significant(&file));
    }
}

/// Frames `writes`, all on line 1 so that only the splitting matters.
fn framed<'a>(writes: impl IntoIterator<Item = &'a [u8]>) -> Vec<Framed> {
    let mut framer = Framer::new();
    let mut out = Vec::new();
    for write in writes {
        framer.push(1, write, Limits::default(), &mut |framed| out.push(framed));
    }
    framer.finish(Limits::default(), &mut |framed| out.push(framed));
    out
}
