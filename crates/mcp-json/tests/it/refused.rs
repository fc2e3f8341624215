//! Texts that are not JSON, with the offset and kind of the first error.

use mcp_json::{Expected, Found, Limits, NumberFault, SyntaxErrorKind, Tape};

use SyntaxErrorKind::{
    ByteOrderMark, ControlCharacter, Empty, InvalidEscape, InvalidNumber, InvalidUtf8,
    TrailingData, UnexpectedByte, UnexpectedEnd,
};

#[track_caller]
fn check(input: impl AsRef<[u8]>, offset: usize, kind: SyntaxErrorKind) {
    let input = input.as_ref();
    let mut tape = Tape::new();
    let shown = String::from_utf8_lossy(input);
    let error = tape.parse(input, Limits::default()).expect_err(&shown);
    assert_eq!((error.offset, error.kind), (offset, kind), "{shown}");
}

fn end(expected: Expected) -> SyntaxErrorKind {
    UnexpectedEnd { expected }
}

fn found(char: char, expected: Expected) -> SyntaxErrorKind {
    UnexpectedByte { found: Found::Char(char), expected }
}

fn found_byte(byte: u8, expected: Expected) -> SyntaxErrorKind {
    UnexpectedByte { found: Found::Byte(byte), expected }
}

#[test]
fn nothing_at_all() {
    check("", 0, Empty);
    check(" \r\n\t ", 0, Empty);
}

#[test]
fn a_byte_order_mark() {
    check("\u{FEFF}", 0, ByteOrderMark);
    check("\u{FEFF}{}", 0, ByteOrderMark);
    // After whitespace it is just an unexpected character.
    check(" \u{FEFF}{}", 1, found('\u{FEFF}', Expected::Value));
    check(b"\xFF\xFE[\0", 0, found_byte(0xFF, Expected::Value));
}

#[test]
fn texts_that_end_too_early() {
    for (input, expected) in [
        ("[", Expected::ValueOrArrayEnd),
        ("[ ", Expected::ValueOrArrayEnd),
        ("[1", Expected::CommaOrArrayEnd),
        ("[1,", Expected::ValueAfterComma),
        ("[[]", Expected::CommaOrArrayEnd),
        ("{", Expected::NameOrObjectEnd),
        ("{\"a\"", Expected::Colon),
        ("{\"a\":", Expected::ValueAfterColon),
        ("{\"a\":1", Expected::CommaOrObjectEnd),
        ("{\"a\":1,", Expected::NameAfterComma),
        ("\"", Expected::ClosingQuote),
        ("\"abc", Expected::ClosingQuote),
        ("\"abc\\", Expected::ClosingQuote),
        ("\"abc\\\"", Expected::ClosingQuote),
        ("\"\\u", Expected::ClosingQuote),
        ("\"\\u12", Expected::ClosingQuote),
        ("\"\\ud800\\u", Expected::ClosingQuote),
        ("{\"a", Expected::ClosingQuote),
        ("-", Expected::Digit),
        ("1.", Expected::Digit),
        ("1e", Expected::Digit),
        ("1E-", Expected::Digit),
        ("t", Expected::True),
        ("tru", Expected::True),
        ("fals", Expected::False),
        ("nul", Expected::Null),
    ] {
        check(input, input.len(), end(expected));
    }
}

#[test]
fn structure() {
    check("]", 0, found(']', Expected::Value));
    check("}", 0, found('}', Expected::Value));
    check(",", 0, found(',', Expected::Value));
    check(":", 0, found(':', Expected::Value));
    check("[,1]", 1, found(',', Expected::ValueOrArrayEnd));
    check("[1,,2]", 3, found(',', Expected::ValueAfterComma));
    check("[1,]", 3, found(']', Expected::ValueAfterComma));
    check("[1}", 2, found('}', Expected::CommaOrArrayEnd));
    check("[1:2]", 2, found(':', Expected::CommaOrArrayEnd));
    check("[\"a\" \"b\"]", 5, found('"', Expected::CommaOrArrayEnd));
    check("[1 true]", 3, found('t', Expected::CommaOrArrayEnd));
    check("{\"a\":1]", 6, found(']', Expected::CommaOrObjectEnd));
    check("{\"a\":1 \"b\":2}", 7, found('"', Expected::CommaOrObjectEnd));
    check("{\"a\":1,}", 7, found('}', Expected::NameAfterComma));
    check("{,}", 1, found(',', Expected::NameOrObjectEnd));
    check("{1:2}", 1, found('1', Expected::NameOrObjectEnd));
    check("{null:2}", 1, found('n', Expected::NameOrObjectEnd));
    check("{a:2}", 1, found('a', Expected::NameOrObjectEnd));
    check("{'a':2}", 1, found('\'', Expected::NameOrObjectEnd));
    check("{[]:2}", 1, found('[', Expected::NameOrObjectEnd));
    check("{\"a\"}", 4, found('}', Expected::Colon));
    check("{\"a\",1}", 4, found(',', Expected::Colon));
    check("{\"a\"::1}", 5, found(':', Expected::ValueAfterColon));
    check("{\"a\":}", 5, found('}', Expected::ValueAfterColon));
    check("{\"a\":,}", 5, found(',', Expected::ValueAfterColon));
    check("// comment\n1", 0, found('/', Expected::Value));
    check("[1/* comment */]", 2, found('/', Expected::CommaOrArrayEnd));
}

#[test]
fn something_behind_the_value() {
    check("1 2", 2, TrailingData);
    check("{}{}", 2, TrailingData);
    check("[]\n[]", 3, TrailingData);
    check("\"a\"x", 3, TrailingData);
    check("truex", 4, TrailingData);
    check("[1]]", 3, TrailingData);
    check("{}}", 2, TrailingData);
    check("1,", 1, TrailingData);
    check("1\0", 1, TrailingData);
    check("1x", 1, TrailingData);
    check("1\u{A0}", 1, TrailingData);
}

#[test]
fn words_that_json_does_not_know() {
    check("nuLL", 2, found('L', Expected::Null));
    check("[nan]", 2, found('a', Expected::Null));
    check("True", 0, found('T', Expected::Value));
    check("[TRUE]", 1, found('T', Expected::ValueOrArrayEnd));
    check("NaN", 0, found('N', Expected::Value));
    check("Infinity", 0, found('I', Expected::Value));
    check("undefined", 0, found('u', Expected::Value));
    check("'a'", 0, found('\'', Expected::Value));
    check("“a”", 0, found('“', Expected::Value));
    check("[tru]", 4, found(']', Expected::True));
}

#[test]
fn whitespace_that_json_does_not_know() {
    check("\u{B}1", 0, found('\u{B}', Expected::Value));
    check("\u{C}1", 0, found('\u{C}', Expected::Value));
    check("[\u{C}1]", 1, found('\u{C}', Expected::ValueOrArrayEnd));
    check("[\u{A0}1]", 1, found('\u{A0}', Expected::ValueOrArrayEnd));
    check("[\u{2060}]", 1, found('\u{2060}', Expected::ValueOrArrayEnd));
    check("[1\u{85}]", 2, found('\u{85}', Expected::CommaOrArrayEnd));
    check("\0", 0, found('\0', Expected::Value));
    check("[\0]", 1, found('\0', Expected::ValueOrArrayEnd));
    check("{\"a\"\0:1}", 4, found('\0', Expected::Colon));
}

#[test]
fn numbers() {
    let wrong = |fault| InvalidNumber { fault };
    check("+1", 0, found('+', Expected::Value));
    check(".5", 0, found('.', Expected::Value));
    check("[-.5]", 2, wrong(NumberFault::NoDigitAfterMinus));
    check("[-]", 2, wrong(NumberFault::NoDigitAfterMinus));
    check("--1", 1, wrong(NumberFault::NoDigitAfterMinus));
    check("-Infinity", 1, wrong(NumberFault::NoDigitAfterMinus));
    check("- 1", 1, wrong(NumberFault::NoDigitAfterMinus));
    check("01", 0, wrong(NumberFault::LeadingZero));
    check("-012", 1, wrong(NumberFault::LeadingZero));
    check("[00]", 1, wrong(NumberFault::LeadingZero));
    check("00.5", 0, wrong(NumberFault::LeadingZero));
    check("1. ", 2, wrong(NumberFault::NoDigitAfterPoint));
    check("[1.]", 3, wrong(NumberFault::NoDigitAfterPoint));
    check("1.e5", 2, wrong(NumberFault::NoDigitAfterPoint));
    check("1.-5", 2, wrong(NumberFault::NoDigitAfterPoint));
    check("[1e]", 3, wrong(NumberFault::NoDigitInExponent));
    check("[1e+]", 4, wrong(NumberFault::NoDigitInExponent));
    check("1eE5", 2, wrong(NumberFault::NoDigitInExponent));
    check("1e+-5", 3, wrong(NumberFault::NoDigitInExponent));
    check("1e.5", 2, wrong(NumberFault::NoDigitInExponent));
    check("1.5.5", 3, TrailingData);
    check("1e5.5", 3, TrailingData);
    check("0x1F", 1, TrailingData);
    check("1_000", 1, TrailingData);
    check("１", 0, found('１', Expected::Value));
    check("1e１", 2, wrong(NumberFault::NoDigitInExponent));
}

#[test]
fn control_characters_in_strings() {
    for byte in 0..0x20 {
        let kind = ControlCharacter { byte };
        check([b'"', byte, b'"'], 1, kind);
        for length in [15, 16, 63, 64, 100] {
            let mut input = vec![b'x'; length];
            input[0] = b'"';
            input.extend([byte, b'"']);
            check(&input, length, kind);
        }
    }
}

#[test]
fn escapes() {
    let wrong = |found| InvalidEscape { found: Found::Char(found) };
    check(r#""\x41""#, 1, wrong('x'));
    check(r#""\a""#, 1, wrong('a'));
    check(r#""\U0041""#, 1, wrong('U'));
    check(r#""\0""#, 1, wrong('0'));
    check(r#""\'""#, 1, wrong('\''));
    check(r#""\ ""#, 1, wrong(' '));
    check("\"\\\n\"", 1, wrong('\n'));
    check("\"\\\0\"", 1, wrong('\0'));
    check("\"\\ä\"", 1, wrong('ä'));
    check(b"\"\\\xE5\"", 1, InvalidEscape { found: Found::Byte(0xE5) });
    check(r#""\u""#, 1, wrong('u'));
    check(r#""\u00A""#, 1, wrong('u'));
    check(r#""\u00G0""#, 1, wrong('u'));
    check(r#""\u+041""#, 1, wrong('u'));
    check(r#""\u{41}""#, 1, wrong('u'));
    check(r#""\uD834\uD""#, 7, wrong('u'));
    check(r#""\uD834\x""#, 7, wrong('x'));
    check(format!("\"{}\\q\"", r"\n".repeat(50)), 101, wrong('q'));
}

#[test]
fn bytes_that_are_not_utf8() {
    for (wrong, offset) in [
        (&b"\x80"[..], 0), // a continuation on its own
        (b"\xBF", 0),
        (b"\xC3", 0),         // cut off after one of two
        (b"\xE2\x82", 0),     // cut off after two of three
        (b"\xF0\x9F\x98", 0), // cut off after three of four
        (b"\xC0\xAF", 0),     // overlong: two bytes for `/`
        (b"\xC1\xBF", 0),
        (b"\xE0\x80\xAF", 0),     // overlong: three bytes
        (b"\xF0\x80\x80\xAF", 0), // overlong: four bytes
        (b"\xED\xA0\x80", 0),     // a surrogate
        (b"\xED\xBF\xBF", 0),
        (b"\xF4\x90\x80\x80", 0), // beyond U+10FFFF
        (b"\xF5\x80\x80\x80", 0),
        (b"\xFE", 0),
        (b"\xFF", 0),
        (b"\xC3\xA4\xC3", 2),
        (b"ab\xE9", 2), // Latin-1
    ] {
        for before in ["", "x", "abcdefghijklmno", "ä", "\\n"] {
            for filler in [0, 10, 64, 200] {
                let before = [b"\"", before.as_bytes(), &vec![b'y'; filler]].concat();
                let input = [&before, wrong, b"\"", b"          "].concat();
                check(input, before.len() + offset, InvalidUtf8);
            }
        }
        check([b"{\"", wrong, b"\":1}"].concat(), 2 + offset, InvalidUtf8);
    }
    check(b"[\xC3\xA4]", 1, found('ä', Expected::ValueOrArrayEnd));
    check(b"[\xFF]", 1, found_byte(0xFF, Expected::ValueOrArrayEnd));
}

#[test]
fn places_are_lines_and_columns() {
    let input = "{\n  \"ä\": 1,\n  \"ö\" 2\n}".as_bytes();
    let mut tape = Tape::new();
    let error = tape.parse(input, Limits::default()).unwrap_err();
    let position = error.position(input);
    assert_eq!((position.line, position.column), (3, 7));
}

#[test]
fn every_prefix_of_a_text_ends_too_early() {
    let text = r#" {"a\u0041":[1.5e-3,true,false,null,"x\n\ud83d\ude00y ä",{"b":{}}],"c":-0} "#;
    let length = text.trim_end().len();
    for cut in 1..length {
        let mut tape = Tape::new();
        let error = tape.parse(&text.as_bytes()[..cut], Limits::default()).unwrap_err();
        let is_blank = text[..1].len() == cut;
        assert!(is_blank || matches!(error.kind, UnexpectedEnd { .. }), "{cut}: {error}");
        assert_eq!(error.offset, if is_blank { 0 } else { cut });
    }
}
