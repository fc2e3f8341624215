//! The details of a syntax error, and their wording.

use std::fmt;

/// What the grammar would have allowed at the position of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words below say it")]
#[non_exhaustive]
pub enum Expected {
    Value,
    ValueAfterColon,
    ValueAfterComma,
    ValueOrArrayEnd,
    NameOrObjectEnd,
    NameAfterComma,
    Colon,
    CommaOrObjectEnd,
    CommaOrArrayEnd,
    ClosingQuote,
    Digit,
    True,
    False,
    Null,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Expected::Value => "a value",
            Expected::ValueAfterColon => "a value after `:`",
            Expected::ValueAfterComma => "a value after `,`",
            Expected::ValueOrArrayEnd => "a value or `]` after `[`",
            Expected::NameOrObjectEnd => "a member name in double quotes or `}` after `{`",
            Expected::NameAfterComma => "a member name in double quotes after `,`",
            Expected::Colon => "`:` after a member name",
            Expected::CommaOrObjectEnd => "`,` or `}` after a member",
            Expected::CommaOrArrayEnd => "`,` or `]` after an element",
            Expected::ClosingQuote => "a closing `\"`",
            Expected::Digit => "a digit",
            Expected::True => "`true`",
            Expected::False => "`false`",
            Expected::Null => "`null`",
        })
    }
}

/// What was found instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// A character of the text.
    Char(char),
    /// A byte that is not part of any UTF-8 character.
    Byte(u8),
}

impl Found {
    /// What starts at `offset`, which must be inside the input.
    #[cold]
    pub(crate) fn at(input: &[u8], offset: usize) -> Found {
        let window = &input[offset..input.len().min(offset + 4)];
        let text = match std::str::from_utf8(window) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&window[..error.valid_up_to()]).unwrap_or_default(),
        };
        text.chars().next().map_or_else(|| Found::Byte(input[offset]), Found::Char)
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Found::Char('\n') => f.write_str("a line feed"),
            Found::Char('\r') => f.write_str("a carriage return"),
            Found::Char('\t') => f.write_str("a tab"),
            Found::Char(' ') => f.write_str("a space"),
            Found::Char(char) if char.is_control() || char.is_whitespace() => {
                write!(f, "the character U+{:04X}", u32::from(char))
            }
            Found::Char(char) => write!(f, "`{char}`"),
            Found::Byte(byte) => write!(f, "the byte 0x{byte:02X}"),
        }
    }
}

/// What is wrong with the notation of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words below say it")]
#[non_exhaustive]
pub enum NumberFault {
    LeadingZero,
    NoDigitAfterMinus,
    NoDigitAfterPoint,
    NoDigitInExponent,
}

impl fmt::Display for NumberFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NumberFault::LeadingZero => "a number must not have leading zeros",
            NumberFault::NoDigitAfterMinus => "expected a digit after `-`",
            NumberFault::NoDigitAfterPoint => "expected a digit after the decimal point",
            NumberFault::NoDigitInExponent => "expected a digit in the exponent",
        })
    }
}
