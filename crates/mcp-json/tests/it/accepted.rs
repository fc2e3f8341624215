//! Texts that are JSON, with the value `serde_json` parses them to.

use mcp_json::{Limits, Tape};
use serde_json::{Value, json};

#[track_caller]
fn check(input: impl AsRef<[u8]>, expected: &Value) {
    let input = input.as_ref();
    let mut tape = Tape::new();
    let shown = String::from_utf8_lossy(input);
    match tape.parse(input, Limits::default()) {
        Ok(document) => assert_eq!(document.root().to_value(), *expected, "{shown}"),
        Err(error) => panic!("{shown}: {error}"),
    }
}

#[test]
fn any_value_may_stand_alone() {
    check("null", &json!(null));
    check("true", &json!(true));
    check("false", &json!(false));
    check("0", &json!(0));
    check("\"\"", &json!(""));
    check("\" \"", &json!(" "));
    check("[]", &json!([]));
    check("{}", &json!({}));
}

#[test]
fn containers_nest_and_mix() {
    check("[[]]", &json!([[]]));
    check("[{},[],\"\",0,null]", &json!([{}, [], "", 0, null]));
    check(r#"{"a":{"b":[{"c":{}}]}}"#, &json!({"a": {"b": [{"c": {}}]}}));
    check(r#"{"":0}"#, &json!({"": 0}));
    check(r#"{"a":[],"b":{},"c":1}"#, &json!({"a": [], "b": {}, "c": 1}));
    check("[1,[2,[3,[4]]],5]", &json!([1, [2, [3, [4]]], 5]));
}

#[test]
fn whitespace_may_stand_between_all_tokens() {
    check(" \t\r\n1 \t\r\n", &json!(1));
    check("[ ]", &json!([]));
    check("{\n}", &json!({}));
    check("\r\n[ 1\t,\n2 ]\n", &json!([1, 2]));
    check(" { \"a\" : 1 , \"b\" : [ ] } ", &json!({"a": 1, "b": []}));
    check(format!("{0}[{0}1{0},{0}2{0}]{0}", " ".repeat(100)), &json!([1, 2]));
}

#[test]
fn numbers() {
    check("-0", &json!(-0.0));
    check("-1", &json!(-1));
    check("123456789", &json!(123_456_789));
    check("18446744073709551615", &json!(u64::MAX));
    check("-9223372036854775808", &json!(i64::MIN));
    check("0.5", &json!(0.5));
    check("-0.0", &json!(-0.0));
    check("1e2", &json!(100.0));
    check("1E+2", &json!(100.0));
    check("1e-2", &json!(0.01));
    check("1.25e0", &json!(1.25));
    check("0e1", &json!(0.0));
    check("0e+1", &json!(0.0));
    check("1e00", &json!(1.0));
    check("0.00000000000000000000000000000000000000000000000001", &json!(1e-50));
    check("[-123.456e-7]", &json!([-123.456e-7]));
}

#[test]
fn numbers_that_serde_json_cannot_hold_are_made_to_fit() {
    check("18446744073709551616", &json!(18_446_744_073_709_551_616.0));
    check("-9223372036854775809", &json!(-9_223_372_036_854_775_809.0));
    check("1e400", &json!(f64::MAX));
    check("-1e400", &json!(f64::MIN));
    check("1e-400", &json!(0.0));
    check("1".repeat(400), &json!(f64::MAX));
}

#[test]
fn strings() {
    check(r#""\"\\\/\b\f\n\r\t""#, &json!("\"\\/\u{8}\u{C}\n\r\t"));
    check(r#""\u0000\u001f\u007F""#, &json!("\0\u{1F}\u{7F}"));
    check(r#""\uD834\udd1e""#, &json!("𝄞"));
    check(r#""\\u0041""#, &json!("\\u0041"));
    check(r#""\\\\\\""#, &json!("\\\\\\"));
    check(r#""\uFFFF\uFDD0\ufeff""#, &json!("\u{FFFF}\u{FDD0}\u{FEFF}"));
    check("\"\u{7F}\u{80}\u{2028}\u{2029}\"", &json!("\u{7F}\u{80}\u{2028}\u{2029}"));
    check("\"äöü€😀\u{10FFFF}\"", &json!("äöü€😀\u{10FFFF}"));
    check("\"\u{FEFF}\"", &json!("\u{FEFF}"));
    check("[\"/* no comment */\"]", &json!(["/* no comment */"]));
}

#[test]
fn strings_of_every_length_end_where_they_end() {
    for length in 0..300 {
        for filler in ["x", "ä", "\\n", "\\\\", "\\u0041"] {
            let content = filler.repeat(length);
            let text = serde_json::from_str::<String>(&format!("\"{content}\"")).unwrap();
            check(format!("\"{content}\""), &json!(text));
            check(format!("[\"{content}\",1]{}", " ".repeat(80)), &json!([text, 1]));
        }
    }
}
