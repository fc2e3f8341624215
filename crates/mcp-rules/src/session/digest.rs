//! Short stand-ins for texts of any length.

/// A number that stands for `bytes` where only "the same or not" matters (64-bit FNV-1a, the same
/// in every build, as sessions are saved). Two texts may share one; then a fault is missed.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    extend(OFFSET, bytes)
}

/// The same for several texts together; where one ends and the next begins matters.
pub(crate) fn digest_of<const N: usize>(parts: [&[u8]; N]) -> u64 {
    parts
        .into_iter()
        .fold(OFFSET, |hash, part| extend(extend(hash, part), &(part.len() as u64).to_le_bytes()))
}

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

fn extend(hash: u64, bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_function() {
        assert_eq!(digest(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(digest(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(digest(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(digest_of([b"ab", b"c"]), digest_of([b"a", b"bc"]));
        assert_ne!(digest_of([b"", b"a"]), digest_of([b"a", b""]));
    }
}
