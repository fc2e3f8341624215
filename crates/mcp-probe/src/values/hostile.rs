//! Values that fit, but that careless programs stumble over.

use std::fmt;

use serde_json::{Value, json};

use super::{
    Values,
    place::{Place, places, replaced},
    text,
};

/// How many places one text or number goes to.
const PLACES: usize = 8;
/// How many are tried for that.
const TRIED: usize = 16;
/// How large a value may become in bytes.
const BYTES: usize = 256 << 10;

/// A value that fits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hostile {
    /// The value.
    pub(crate) value: Value,
    /// What is in it.
    pub(crate) malice: Malice,
    /// Where, as JSON pointers.
    pub(crate) pointers: Vec<String>,
}

/// What is hostile about a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Malice {
    /// Texts without a character.
    Empty,
    /// Nothing but white space.
    Blank,
    /// A hundred thousand characters.
    Long,
    /// Characters beyond the basic plane, joined to one symbol.
    Emoji,
    /// U+0000.
    Nul,
    /// Marks that reverse the order of what follows.
    RightToLeft,
    /// Characters that are composed of many.
    Combining,
    /// Quotes, backslashes, line feeds.
    Quotes,
    /// A path that leads out of where it should.
    Path,
    /// A path of Windows, and a name that is a device there.
    WindowsPath,
    /// What a database might execute.
    Sql,
    /// What a shell might execute.
    Shell,
    /// What a page might execute.
    Markup,
    /// What a template engine or a formatting function might expand.
    Template,
    /// A name that is special in JavaScript.
    Prototype,
    /// A number that does not survive a floating-point representation.
    BeyondDouble,
    /// The greatest and the least integers.
    Extreme,
    /// Numbers that are tiny, huge, or a negative zero.
    Fraction,
    /// Members that nobody asked for, where they are allowed.
    ExtraMembers,
}

impl fmt::Display for Malice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Malice::Empty => "empty text",
            Malice::Blank => "nothing but white space",
            Malice::Long => "very long text",
            Malice::Emoji => "emoji",
            Malice::Nul => "U+0000",
            Malice::RightToLeft => "text that runs from right to left",
            Malice::Combining => "combining characters",
            Malice::Quotes => "quotes and control characters",
            Malice::Path => "a path that leads elsewhere",
            Malice::WindowsPath => "a path of Windows",
            Malice::Sql => "what looks like SQL",
            Malice::Shell => "what looks like a shell command",
            Malice::Markup => "what looks like HTML",
            Malice::Template => "what looks like a template",
            Malice::Prototype => "`__proto__`",
            Malice::BeyondDouble => "2^53 + 1",
            Malice::Extreme => "the greatest or least integer",
            Malice::Fraction => "an extreme floating-point number",
            Malice::ExtraMembers => "members named `__proto__` and `constructor`",
        })
    }
}

/// The texts, each with what is hostile about it.
pub(crate) fn texts() -> Vec<(Malice, Value)> {
    let long = text::of_length("plumb ", text::LONGEST).unwrap_or_default();
    let texts = [
        (Malice::Empty, ""),
        (Malice::Emoji, "👩‍👩‍👧‍👦🏳️‍🌈\u{10ffff}"),
        (Malice::Nul, "plumb\u{0}plumb"),
        (Malice::Path, "../../../../../../etc/passwd"),
        (Malice::Quotes, "\"'`\\\r\n\t{}[]</\u{7f}\u{2028}"),
        (Malice::RightToLeft, "\u{202e}bmulp\u{202c} \u{200f}شلوم"),
        (Malice::Sql, "' OR '1'='1'; DROP TABLE plumb; --"),
        (Malice::Shell, "$(echo plumb) `echo plumb`; echo plumb | cat & "),
        (Malice::Markup, "<script>alert('plumb')</script><img src=x onerror=alert(1)>"),
        (Malice::Template, "{{7*7}} ${7*7} #{7*7} %s%n%x {0} ${jndi:ldap://plumb.invalid/a}"),
        (Malice::WindowsPath, "C:\\..\\..\\Windows\\win.ini\\CON"),
        (Malice::Prototype, "__proto__"),
        (Malice::Blank, " \u{a0}\u{3000}\u{feff} "),
        (Malice::Combining, "Z\u{351}\u{36b}\u{343}a\u{363}\u{366}lgo \u{1100}\u{1161}"),
    ];
    let texts = texts.into_iter().map(|(malice, text)| (malice, json!(text)));
    texts.chain([(Malice::Long, json!(long))]).collect()
}

fn numbers() -> Vec<(Malice, Value)> {
    vec![
        (Malice::BeyondDouble, json!(9_007_199_254_740_993_i64)),
        (Malice::Extreme, json!(i64::MIN)),
        (Malice::Extreme, json!(u64::MAX)),
        (Malice::Fraction, json!(-0.0)),
        (Malice::Fraction, json!(5e-324)),
        (Malice::Fraction, json!(1.797_693_134_862_315_7e308)),
    ]
}

pub(super) fn hostile(values: &Values, base: &Value, most: usize) -> Vec<Hostile> {
    let places = places(values.document(), base);
    let of = |kind: fn(&Value) -> bool| -> Vec<&Place<'_, '_>> {
        places.iter().filter(|place| kind(place.value)).collect()
    };
    let (strings, integers) = (of(Value::is_string), of(Value::is_number));
    let texts = texts().into_iter().map(|(malice, text)| (malice, text, &strings));
    let numbers = numbers().into_iter().map(|(malice, number)| (malice, number, &integers));
    let mut found: Vec<Hostile> = texts
        .chain(numbers)
        .filter_map(|(malice, value, places)| spread(values, base, places, malice, &value))
        .collect();
    let extra = json!({ "__proto__": { "plumb": true }, "constructor": "plumb", "": "plumb" });
    for place in places.iter().filter(|place| place.value.is_object()).take(1) {
        let mut members = place.value.clone();
        if let (Some(members), Some(extra)) = (members.as_object_mut(), extra.as_object()) {
            members.extend(extra.clone());
        }
        let Some(value) = replaced(base, &place.pointer, Some(members)) else { continue };
        if values.accepts(&value) {
            let pointers = vec![place.pointer.clone()];
            found.push(Hostile { value, malice: Malice::ExtraMembers, pointers });
        }
    }
    // Fewer of everything rather than nothing of some.
    found.sort_by_key(|hostile| matches!(hostile.malice, Malice::Extreme | Malice::Fraction));
    found.truncate(most);
    found
}

/// The value with something at every place where it fits.
fn spread(
    values: &Values,
    base: &Value,
    places: &[&Place<'_, '_>],
    malice: Malice,
    by: &Value,
) -> Option<Hostile> {
    let (mut value, mut pointers) = (base.clone(), Vec::new());
    let size = by.as_str().map_or(8, str::len);
    let most = PLACES.min((BYTES / size.max(1)).max(1));
    for place in places.iter().take(TRIED) {
        if pointers.len() == most {
            break;
        }
        let changed = replaced(&value, &place.pointer, Some(by.clone()));
        if let Some(changed) = changed.filter(|changed| values.accepts(changed)) {
            value = changed;
            pointers.push(place.pointer.clone());
        }
    }
    (!pointers.is_empty()).then_some(Hostile { value, malice, pointers })
}
