//! Base64 per RFC 4648 §4: the standard alphabet, padded.

/// Why a text is not base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base64Fault {
    /// A byte outside the alphabet, other than a line break.
    Byte {
        /// Offset in the text.
        position: usize,
        byte: u8,
    },
    /// The padding at the end is missing, too short or too long.
    Padding,
}

/// Whether `text` is base64. Line breaks are tolerated, as old encoders write them.
pub(crate) fn check(text: &[u8]) -> Result<(), Base64Fault> {
    // SIMD, but stricter about the last digit.
    if base64_simd::STANDARD.check(text).is_ok() || is_plain(text) {
        return Ok(());
    }
    explain(text)
}

/// Whether the text is base64 without line breaks, in one pass over the bytes.
fn is_plain(text: &[u8]) -> bool {
    let (digits, padding) = split_padding(text);
    (digits.len() + padding) % 4 == 0 && padding <= 2 && all_in_alphabet(digits)
}

#[cold]
fn explain(text: &[u8]) -> Result<(), Base64Fault> {
    let unbroken: Vec<u8> =
        text.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    if is_plain(&unbroken) {
        return Ok(());
    }
    let end = text.iter().rposition(|byte| !matches!(byte, b'=' | b'\r' | b'\n'));
    let digits = &text[..end.map_or(0, |last| last + 1)];
    let wrong =
        digits.iter().position(|byte| !in_alphabet(*byte) && !matches!(byte, b'\r' | b'\n'));
    Err(match wrong {
        Some(position) => Base64Fault::Byte { position, byte: text[position] },
        None => Base64Fault::Padding,
    })
}

/// The digits, and the number of `=` after them.
fn split_padding(text: &[u8]) -> (&[u8], usize) {
    let mut digits = text;
    while let [rest @ .., b'='] = digits {
        digits = rest;
    }
    (digits, text.len() - digits.len())
}

fn all_in_alphabet(bytes: &[u8]) -> bool {
    // A fixed number of bytes without branches, so that the compiler can vectorise.
    let mut blocks = bytes.chunks_exact(64);
    for block in &mut blocks {
        if !block.iter().fold(true, |all, byte| all & in_alphabet(*byte)) {
            return false;
        }
    }
    blocks.remainder().iter().all(|byte| in_alphabet(*byte))
}

#[inline]
#[expect(
    clippy::needless_bitwise_bool,
    reason = "branches would keep the compiler from using vector instructions"
)]
const fn in_alphabet(byte: u8) -> bool {
    ((byte | 0x20).wrapping_sub(b'a') < 26)
        | (byte.wrapping_sub(b'0') < 10)
        | (byte == b'+')
        | (byte == b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padded_texts_pass_whatever_their_length() {
        for text in ["", "aGk=", "aA==", "aGlo", "+/8=", "aGlo\r\naGk=", "aGlo\n", "\n"] {
            assert_eq!(check(text.as_bytes()), Ok(()), "{text:?}");
        }
        assert_eq!(check("QUJD".repeat(1000).as_bytes()), Ok(()));
    }

    #[test]
    fn padding_has_to_be_right() {
        for text in ["a", "aG", "aGk", "aGk==", "aGlo=", "aGlo====", "=", "===="] {
            assert_eq!(check(text.as_bytes()), Err(Base64Fault::Padding), "{text:?}");
        }
    }

    #[test]
    fn foreign_bytes_are_found_at_any_place_of_a_long_text() {
        let plain = "QUJD".repeat(60).into_bytes();
        for position in 0..plain.len() {
            let mut text = plain.clone();
            text[position] = b'[';
            let fault = Base64Fault::Byte { position, byte: b'[' };
            assert_eq!(check(&text), Err(fault), "{position}");
            // An even number of them is no better.
            text[position ^ 1] = b'[';
            assert!(check(&text).is_err(), "{position}");
        }
    }

    #[test]
    fn the_first_foreign_byte_is_named() {
        for (text, position) in [
            ("-_8=", 0),
            ("UklGR*==", 5),
            ("data:image/png;base64,iVBORw0KGgo=", 4),
            ("aG=k", 2),
            ("aGk =", 3),
            ("{aGk=", 0),
            ("aGkü", 3),
        ] {
            let byte = text.as_bytes()[position];
            assert_eq!(check(text.as_bytes()), Err(Base64Fault::Byte { position, byte }), "{text}");
        }
        let long = format!("{}!AAA", "QUJD".repeat(100));
        assert_eq!(check(long.as_bytes()), Err(Base64Fault::Byte { position: 400, byte: b'!' }));
    }

    #[test]
    fn the_alphabet_has_sixty_four_letters() {
        let letters = (0..=u8::MAX).filter(|byte| in_alphabet(*byte)).count();
        assert_eq!(letters, 64);
    }
}
