use std::fmt;

use jsonschema::Draft;
use jsonschema::meta::MetaValidator;

/// A version of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[expect(missing_docs, reason = "the names are those of the drafts")]
#[non_exhaustive]
pub enum Dialect {
    Draft4,
    Draft6,
    Draft7,
    Draft201909,
    /// The default for a schema without `$schema`.
    #[default]
    Draft202012,
}

impl Dialect {
    /// Every known dialect, oldest first.
    pub const ALL: [Dialect; 5] = [
        Dialect::Draft4,
        Dialect::Draft6,
        Dialect::Draft7,
        Dialect::Draft201909,
        Dialect::Draft202012,
    ];

    /// Its URI in `$schema`.
    pub const fn uri(self) -> &'static str {
        match self {
            Dialect::Draft4 => "http://json-schema.org/draft-04/schema#",
            Dialect::Draft6 => "http://json-schema.org/draft-06/schema#",
            Dialect::Draft7 => "http://json-schema.org/draft-07/schema#",
            Dialect::Draft201909 => "https://json-schema.org/draft/2019-09/schema",
            Dialect::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    /// The dialect that `$schema` names. An empty fragment and the scheme are ignored, as every
    /// combination is in use.
    pub fn from_uri(uri: &str) -> Option<Dialect> {
        fn bare(uri: &str) -> &str {
            let uri = uri.strip_suffix('#').unwrap_or(uri);
            uri.strip_prefix("https:").or_else(|| uri.strip_prefix("http:")).unwrap_or(uri)
        }
        Dialect::ALL.into_iter().find(|dialect| bare(dialect.uri()) == bare(uri))
    }

    pub(crate) const fn draft(self) -> Draft {
        match self {
            Dialect::Draft4 => Draft::Draft4,
            Dialect::Draft6 => Draft::Draft6,
            Dialect::Draft7 => Draft::Draft7,
            Dialect::Draft201909 => Draft::Draft201909,
            Dialect::Draft202012 => Draft::Draft202012,
        }
    }

    pub(crate) fn meta_validator(self) -> MetaValidator<'static> {
        match self {
            Dialect::Draft4 => jsonschema::draft4::meta::validator(),
            Dialect::Draft6 => jsonschema::draft6::meta::validator(),
            Dialect::Draft7 => jsonschema::draft7::meta::validator(),
            Dialect::Draft201909 => jsonschema::draft201909::meta::validator(),
            Dialect::Draft202012 => jsonschema::draft202012::meta::validator(),
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dialect::Draft4 => "draft-04",
            Dialect::Draft6 => "draft-06",
            Dialect::Draft7 => "draft-07",
            Dialect::Draft201909 => "2019-09",
            Dialect::Draft202012 => "2020-12",
        })
    }
}
