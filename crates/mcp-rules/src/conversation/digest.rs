//! Digests of texts of any length.

use std::borrow::Cow;

use mcp_json::Node;
use serde::{Deserialize, Serialize};

/// A digest of `bytes` for equality checks, the same in every build and on every machine, as
/// sessions are saved. In a collision a fault is missed.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    extend(SEED, bytes)
}

/// The same for several texts together; the boundaries between them matter.
pub(crate) fn digest_of<const N: usize>(parts: [&[u8]; N]) -> u64 {
    parts.into_iter().fold(SEED, extend)
}

// Digits of pi; any constants would do.
const SEED: u64 = 0x243f_6a88_85a3_08d3;
const FACTOR: u64 = 0x1319_8a2e_0370_7345;

/// Hashes eight bytes at a time, as texts may be as long as a file.
fn extend(hash: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(hash, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(mix(hash, u64::from_le_bytes(last)), bytes.len() as u64)
}

/// Multiplies and folds, so that every bit of the word may change every bit of the result.
#[expect(clippy::cast_possible_truncation, reason = "each half is what is wanted")]
fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash.rotate_left(23) ^ word) * u128::from(FACTOR);
    product as u64 ^ (product >> 64) as u64
}

/// The form in which a name is remembered: a name that is too long is replaced by its length and a
/// digest, so that a peer cannot choose how much memory it takes.
pub(crate) fn kept(name: Cow<'_, str>) -> Cow<'_, str> {
    kept_within(1024, name)
}

/// The same for names that are usually shorter, or of which many are kept together.
pub(crate) fn kept_within(longest: usize, name: Cow<'_, str>) -> Cow<'_, str> {
    if name.len() <= longest {
        return name;
    }
    Cow::Owned(format!("of {} bytes, {:016x}", name.len(), digest(name.as_bytes())))
}

/// A digest of a text of any length, for comparisons only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) fn of(text: Node<'_>) -> Option<Fingerprint> {
        Some(Fingerprint(digest(&text.str_bytes()?)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn it_never_changes() {
        assert_eq!(digest(b""), 0x1d50_66fa_570e_c38a);
        assert_eq!(digest(b"a"), 0x2b6d_b99b_3d1b_121a);
        assert_eq!(digest(b"a longer text, in words of eight"), 0x48e8_43d6_7e24_97c4);
    }

    #[test]
    fn texts_that_differ_little_differ() {
        let mut seen = HashSet::new();
        for length in 0..64 {
            for place in 0..length {
                for byte in [1, 2, 0x80] {
                    let mut text = vec![0; length];
                    text[place] = byte;
                    assert!(seen.insert(digest(&text)), "{text:?}");
                }
            }
            assert!(seen.insert(digest(&vec![0; length])), "{length} zeros");
        }
    }

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(digest_of([b"ab", b"c"]), digest_of([b"a", b"bc"]));
        assert_ne!(digest_of([b"", b"a"]), digest_of([b"a", b""]));
    }
}
