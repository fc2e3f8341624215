//! Properties of tool arguments: a schema, and values that fit it.

use super::json::Json;
use super::rng::Rng;
use super::words;

/// One member of a tool's arguments or structured output.
#[derive(Debug)]
pub(crate) struct Property {
    pub(crate) name: &'static str,
    description: &'static str,
    shape: Shape,
}

/// The values a property accepts.
#[derive(Debug)]
enum Shape {
    /// Free text of at least one and at most `longest` bytes.
    Text {
        longest: usize,
    },
    Path,
    Uri,
    Time,
    /// Lower-case hexadecimal digits, specified by a regular expression.
    Digest {
        digits: usize,
        pattern: &'static str,
    },
    Integer {
        minimum: i64,
        maximum: i64,
    },
    Share,
    Flag {
        default: bool,
    },
    Choice(&'static [&'static str]),
    List {
        of: &'static Shape,
        longest: i64,
    },
    Record {
        required: &'static [&'static str],
        properties: &'static [Property],
    },
    /// An object of any names with string values.
    Labels,
    /// A number, or one of some words.
    NumberOr(&'static [&'static str]),
}

/// The schema of an object with these properties, of which the first `required` are required.
pub(crate) fn object_schema(properties: &[&'static Property], required: usize) -> Json {
    let members =
        properties.iter().map(|property| (property.name.into(), property.schema())).collect();
    let names: Vec<&str> = properties.iter().take(required).map(|property| property.name).collect();
    Json::object([
        ("type", "object".into()),
        ("properties", Json::Object(members)),
        ("required", names.into()),
    ])
}

/// An object that fits [`object_schema`]; each optional property is present half of the time.
pub(crate) fn object_value(
    rng: &mut Rng,
    properties: &[&'static Property],
    required: usize,
) -> Json {
    let mut members = Vec::new();
    for (index, property) in properties.iter().enumerate() {
        if index < required || rng.chance(50) {
            members.push((property.name.into(), property.shape.value(rng)));
        }
    }
    Json::Object(members)
}

impl Property {
    fn schema(&self) -> Json {
        self.shape.schema().with("description", self.description)
    }
}

impl Shape {
    fn schema(&self) -> Json {
        let of_type = |name: &str| Json::object([("type", name.into())]);
        match self {
            Shape::Text { .. } => of_type("string").with("minLength", 1_i64),
            Shape::Path => of_type("string"),
            Shape::Uri => of_type("string").with("format", "uri"),
            Shape::Time => of_type("string").with("format", "date-time"),
            Shape::Digest { pattern, .. } => of_type("string").with("pattern", *pattern),
            Shape::Integer { minimum, maximum } => of_type("integer")
                .with("minimum", *minimum)
                .with("maximum", *maximum)
                .with("default", *minimum),
            Shape::Share => of_type("number").with("minimum", 0_i64).with("maximum", 1_i64),
            Shape::Flag { default } => of_type("boolean").with("default", *default),
            Shape::Choice(choices) => {
                of_type("string").with("enum", choices.to_vec()).with("default", choices[0])
            }
            Shape::List { of, longest } => {
                of_type("array").with("items", of.schema()).with("maxItems", *longest)
            }
            Shape::Record { required, properties } => {
                let properties: Vec<&'static Property> = properties.iter().collect();
                object_schema(&properties, required.len()).with("additionalProperties", false)
            }
            Shape::Labels => of_type("object").with("additionalProperties", of_type("string")),
            Shape::NumberOr(words) => Json::object([(
                "anyOf",
                Json::Array(vec![
                    of_type("integer").with("minimum", 0_i64),
                    Json::object([("enum", words.to_vec().into())]),
                ]),
            )]),
        }
    }

    fn value(&self, rng: &mut Rng) -> Json {
        match self {
            Shape::Text { longest } => {
                let bytes = rng.between(1, *longest / 2);
                words::prose(rng, bytes).into()
            }
            Shape::Path => words::path(rng).into(),
            Shape::Uri => words::uri(rng).into(),
            Shape::Time => words::timestamp(rng).into(),
            Shape::Digest { digits, .. } => words::hex(rng, *digits).into(),
            Shape::Integer { minimum, maximum } => rng.integer(*minimum, *maximum).into(),
            Shape::Share => (f64::from(u8::try_from(rng.below(100)).unwrap_or(0)) / 100.0).into(),
            Shape::Flag { .. } => rng.chance(50).into(),
            Shape::Choice(choices) => rng.pick(choices).into(),
            Shape::List { of, longest } => {
                let length = rng.integer(1, (*longest).min(6));
                Json::Array((0..length).map(|_| of.value(rng)).collect())
            }
            Shape::Record { required, properties } => {
                let properties: Vec<&'static Property> = properties.iter().collect();
                object_value(rng, &properties, required.len())
            }
            Shape::Labels => {
                let mut members: Vec<(std::borrow::Cow<'static, str>, Json)> = Vec::new();
                for _ in 0..rng.between(1, 4) {
                    let name = words::identifier(rng);
                    // A duplicate name would be a finding of its own.
                    if members.iter().all(|(known, _)| *known != name) {
                        members.push((name.into(), words::word(rng).into()));
                    }
                }
                Json::Object(members)
            }
            Shape::NumberOr(words) if rng.chance(30) => rng.pick(words).into(),
            Shape::NumberOr(_) => rng.integer(0, 5000).into(),
        }
    }
}

const fn property(name: &'static str, description: &'static str, shape: Shape) -> Property {
    Property { name, description, shape }
}

static TEXT: Shape = Shape::Text { longest: 60 };
static PATH: Shape = Shape::Path;

static POSITION: [Property; 2] = [
    property("line", "Line, counted from one", Shape::Integer { minimum: 1, maximum: 100_000 }),
    property("column", "Column, counted from one", Shape::Integer { minimum: 1, maximum: 500 }),
];

static EDIT_PARTS: [Property; 3] = [
    property(
        "start",
        "Where the edit begins",
        Shape::Record { required: &["line"], properties: &POSITION },
    ),
    property("replacement", "The text to put there", Shape::Text { longest: 120 }),
    property(
        "end",
        "Where the edit ends",
        Shape::Record { required: &["line"], properties: &POSITION },
    ),
];

static EDIT: Shape = Shape::Record { required: &["start", "replacement"], properties: &EDIT_PARTS };

static SORTING: [Property; 2] = [
    property(
        "field",
        "Which field to sort by",
        Shape::Choice(&["created", "updated", "name", "size"]),
    ),
    property("direction", "Rising or falling", Shape::Choice(&["asc", "desc"])),
];

/// All properties of tool arguments.
pub(crate) static INPUTS: [Property; 26] = [
    property("path", "Path of the file, relative to the workspace root", Shape::Path),
    property("query", "Words to look for; quotes keep words together", Shape::Text { longest: 80 }),
    property(
        "limit",
        "How many entries to return at most",
        Shape::Integer { minimum: 1, maximum: 500 },
    ),
    property(
        "cursor",
        "Where an earlier page ended",
        Shape::Digest { digits: 24, pattern: "^[0-9a-f]{24}$" },
    ),
    property("recursive", "Whether to go into folders below", Shape::Flag { default: false }),
    property(
        "format",
        "How the answer is written",
        Shape::Choice(&["text", "json", "markdown", "csv"]),
    ),
    property(
        "tags",
        "Only entries that have all of these tags",
        Shape::List { of: &TEXT, longest: 20 },
    ),
    property("paths", "Files to work on, in order", Shape::List { of: &PATH, longest: 50 }),
    property("since", "Only what changed after this time", Shape::Time),
    property("until", "Only what changed before this time", Shape::Time),
    property("url", "Address of the remote document", Shape::Uri),
    property(
        "revision",
        "Full hash of the commit",
        Shape::Digest { digits: 40, pattern: "^[0-9a-f]{40}$" },
    ),
    property("content", "What the file shall contain afterwards", Shape::Text { longest: 400 }),
    property("message", "One line that says what changed and why", Shape::Text { longest: 100 }),
    property("threshold", "Matches below this score are left out", Shape::Share),
    property("dryRun", "Say what would happen and change nothing", Shape::Flag { default: true }),
    property("priority", "How urgent this is", Shape::Choice(&["low", "normal", "high", "urgent"])),
    property("labels", "Free labels, name to value", Shape::Labels),
    property("timeout", "Seconds to wait, or never", Shape::NumberOr(&["never", "default"])),
    property(
        "sort",
        "How entries are ordered",
        Shape::Record { required: &["field"], properties: &SORTING },
    ),
    property(
        "edits",
        "Replacements to make, first to last",
        Shape::List { of: &EDIT, longest: 40 },
    ),
    property(
        "position",
        "Where in the file to look",
        Shape::Record { required: &["line"], properties: &POSITION },
    ),
    property(
        "encoding",
        "How the file's bytes are read",
        Shape::Choice(&["utf-8", "utf-16", "latin-1"]),
    ),
    property("depth", "How many levels to follow", Shape::Integer { minimum: 0, maximum: 16 }),
    property(
        "includeHidden",
        "Whether names that begin with a dot count",
        Shape::Flag { default: false },
    ),
    property("owner", "Name of the person or team it belongs to", Shape::Text { longest: 40 }),
];

/// All properties of structured content.
pub(crate) static OUTPUTS: [Property; 7] = [
    property("total", "How many there are in all", Shape::Integer { minimum: 0, maximum: 100_000 }),
    property("paths", "Files that were touched", Shape::List { of: &PATH, longest: 50 }),
    property("summary", "What happened, in a sentence", Shape::Text { longest: 160 }),
    property("complete", "Whether this is everything", Shape::Flag { default: true }),
    property("finished", "When the work ended", Shape::Time),
    property("score", "How sure the tool is", Shape::Share),
    property("edits", "Replacements that were made", Shape::List { of: &EDIT, longest: 40 }),
];
