//! Random schemas and values, the same in every run.

use serde_json::{Value, json};

/// A linear congruential generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.roll(all.len())].clone()
    }
}

/// Cases as lines of JSON. Members of schemas are not sorted.
pub(super) fn lines(count: usize) -> impl Iterator<Item = String> {
    let mut dice = Dice(0x5eed);
    (0..count).map(move |_| {
        let dialect = dice.one_of(&["2020-12", "2020-12", "2019-09", "draft-07"]);
        let mut schema = schema(&mut dice, dialect, 3);
        if schema.starts_with('{') {
            let shared: String = (0..2)
                .map(|name| format!("\"s{name}\":{}", leaf(&mut dice)))
                .collect::<Vec<_>>()
                .join(",");
            schema.truncate(schema.len() - 1);
            let comma = if schema.len() > 1 { "," } else { "" };
            schema = format!("{schema}{comma}\"$defs\":{{{shared}}}}}");
        } else {
            schema = format!("{{\"allOf\":[{schema}]}}");
        }
        let values: Vec<String> = (0..6).map(|_| value(&mut dice, 3).to_string()).collect();
        let values = values.join(",");
        format!(r#"{{"dialect":"{dialect}","schema":{schema},"values":[{values}]}}"#)
    })
}

fn value(dice: &mut Dice, depth: usize) -> Value {
    match dice.roll(if depth == 0 { 7 } else { 12 }) {
        0 => json!(null),
        1 => json!(dice.roll(2) == 0),
        2 | 3 => json!(dice.roll(7)),
        4 => json!(dice.one_of(&[-1.5, 0.5, 2.5])),
        5 | 6 => json!(dice.one_of(&["", "a", "ab", "ba", "ü", "abcd"])),
        7 | 8 => (0..dice.roll(5)).map(|_| value(dice, depth - 1)).collect(),
        _ => {
            let names = ["a", "b", "c", "d", "x-y", "7", "a/b"];
            (0..dice.roll(5))
                .map(|_| (dice.one_of(&names).to_owned(), value(dice, depth - 1)))
                .collect()
        }
    }
}

/// A schema without subschemas.
fn leaf(dice: &mut Dice) -> String {
    let keywords: Vec<String> = (0..=dice.roll(2)).map(|_| plain(dice)).collect();
    object(keywords)
}

/// The keywords as an object, each once.
fn object(keywords: Vec<String>) -> String {
    let mut members: Vec<String> = Vec::new();
    for keyword in keywords {
        let name = keyword.split_once(':').unwrap().0;
        if !members.iter().any(|member| member.split_once(':').unwrap().0 == name) {
            members.push(keyword);
        }
    }
    format!("{{{}}}", members.join(","))
}

/// One keyword and its value.
fn plain(dice: &mut Dice) -> String {
    let types = ["null", "boolean", "integer", "number", "string", "array", "object"];
    let names = |dice: &mut Dice| {
        let all = ["a", "b", "c", "d"];
        let from = dice.roll(3);
        json!(all[from..=from + dice.roll(2)])
    };
    match dice.roll(16) {
        0..=3 => format!(r#""type":"{}""#, dice.one_of(&types)),
        4 => {
            let from = dice.roll(5);
            format!(r#""type":{}"#, json!(types[from..=from + 1 + dice.roll(1)]))
        }
        5 => format!(r#""const":{}"#, value(dice, 1)),
        6 => format!(r#""enum":[{},{}]"#, value(dice, 1), json!(dice.one_of(&["p", "q", "z"]))),
        7 => format!(r#""{}":{}"#, dice.one_of(&["minimum", "maximum"]), dice.roll(6)),
        8 => {
            let keyword = dice.one_of(&["exclusiveMinimum", "exclusiveMaximum"]);
            format!(r#""{keyword}":{}"#, dice.one_of(&[0.5, 2.5, 4.0]))
        }
        9 => format!(r#""multipleOf":{}"#, dice.one_of(&[2, 3])),
        10 => format!(r#""{}":{}"#, dice.one_of(&["minLength", "maxLength"]), dice.roll(4)),
        11 => format!(r#""pattern":"{}""#, dice.one_of(&["^a", "b$", "^.{2}$", "^(?!a)"])),
        12 => format!(r#""{}":{}"#, dice.one_of(&["minItems", "maxItems"]), dice.roll(4)),
        13 => r#""uniqueItems":true"#.to_owned(),
        14 => format!(r#""{}":{}"#, dice.one_of(&["minProperties", "maxProperties"]), dice.roll(4)),
        _ => format!(r#""required":{}"#, names(dice)),
    }
}

fn schema(dice: &mut Dice, dialect: &str, depth: usize) -> String {
    match dice.roll(12) {
        0 => return "false".to_owned(),
        1 => return "true".to_owned(),
        // Draft-07 ignores everything beside a reference.
        2 if depth < 3 => return format!(r##"{{"$ref":"#/$defs/s{}"}}"##, dice.roll(2)),
        _ => {}
    }
    if depth == 0 {
        return leaf(dice);
    }
    let count = 1 + dice.roll(4);
    let mut keywords = Vec::new();
    for _ in 0..count {
        keywords.extend(applied(dice, dialect, depth - 1));
    }
    object(keywords)
}

/// Dialects for which `unevaluatedProperties` is drawn. Conditions are drawn for the others: what
/// `if` evaluates is one of the differences.
const UNEVALUATED: [&str; 1] = ["2019-09"];

/// A keyword with subschemas, or a few that belong together.
fn applied(dice: &mut Dice, dialect: &str, depth: usize) -> Vec<String> {
    let one = |dice: &mut Dice| schema(dice, dialect, depth);
    let list = |dice: &mut Dice| {
        let all: Vec<String> = (0..=dice.roll(3)).map(|_| one(dice)).collect();
        format!("[{}]", all.join(","))
    };
    let has_2019 = dialect != "draft-07";
    let has_2020 = dialect == "2020-12";
    match dice.roll(17) {
        // Without lists of items: another of the differences.
        0 => vec![format!(r#""not":{}"#, leaf(dice))],
        1 | 2 => vec![format!(r#""anyOf":{}"#, list(dice))],
        3 => vec![format!(r#""oneOf":{}"#, list(dice))],
        4 => vec![format!(r#""allOf":{}"#, list(dice))],
        5 if !UNEVALUATED.contains(&dialect) => vec![
            format!(r#""if":{}"#, leaf(dice)),
            format!(r#""then":{}"#, one(dice)),
            format!(r#""else":{}"#, one(dice)),
        ],
        6 | 7 => {
            let (first, second, third) = (one(dice), one(dice), one(dice));
            vec![format!(r#""properties":{{"b":{first},"a":{second},"7":{third}}}"#)]
        }
        8 => vec![format!(r#""additionalProperties":{}"#, one(dice))],
        9 => vec![format!(r#""patternProperties":{{"^x":{},"a":{}}}"#, one(dice), one(dice))],
        10 => vec![format!(r#""propertyNames":{}"#, one(dice))],
        11 => vec![format!(r#""items":{}"#, one(dice))],
        12 if has_2020 => {
            vec![format!(r#""prefixItems":{}"#, list(dice)), format!(r#""items":{}"#, one(dice))]
        }
        12 => vec![
            format!(r#""items":{}"#, list(dice)),
            format!(r#""additionalItems":{}"#, one(dice)),
        ],
        13 if has_2019 => vec![
            format!(r#""contains":{}"#, one(dice)),
            format!(r#""minContains":{}"#, dice.roll(3)),
            format!(r#""maxContains":{}"#, dice.roll(4)),
        ],
        13 => vec![format!(r#""contains":{}"#, one(dice))],
        14 if has_2019 => vec![
            format!(r#""dependentRequired":{{"a":["b","c"],"d":["a"]}}"#),
            format!(r#""dependentSchemas":{{"b":{}}}"#, one(dice)),
        ],
        14 => vec![format!(r#""dependencies":{{"b":["c","d"],"a":{}}}"#, one(dice))],
        15 if UNEVALUATED.contains(&dialect) => {
            vec![format!(r#""unevaluatedProperties":{}"#, one(dice))]
        }
        _ => vec![plain(dice)],
    }
}
