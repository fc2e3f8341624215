//! The rules, by the layer they look at. Each family states its rules as a table of [`Meta`] and
//! has the code that finds the faults beside it.
//!
//! [`Meta`]: crate::Meta

/// A table of rules: name, layer, level, revisions, clause. The documentation of each is the
/// file of its name under `docs/`.
macro_rules! rules {
    ($($ident:ident: $name:literal, $layer:ident, $level:expr, $applies:expr, $clause:literal;)*) => {
        $(
            pub(crate) static $ident: crate::Meta = crate::Meta {
                name: $name,
                layer: crate::Layer::$layer,
                level: $level,
                applies: $applies,
                clause: $clause,
                docs: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/", $name, ".md")),
            };
        )*
        pub(crate) static RULES: &[&crate::Meta] = &[$(&$ident),*];
    };
}

mod batches;
pub(crate) mod caching;
pub(crate) mod completion;
pub(crate) mod content;
pub(crate) mod contract;
pub(crate) mod elicitation;
pub(crate) mod error_code;
pub(crate) mod explain;
pub(crate) mod features;
pub(crate) mod framing;
pub(crate) mod icons;
pub(crate) mod initiative;
mod input_requests;
pub(crate) mod input_required;
pub(crate) mod json;
pub(crate) mod jsonrpc;
pub(crate) mod meta;
mod null_member;
pub(crate) mod payload;
pub(crate) mod portability;
pub(crate) mod prompts;
pub(crate) mod refine;
pub(crate) mod repeated;
pub(crate) mod resources;
pub(crate) mod roots;
pub(crate) mod sampling;
pub(crate) mod stateless;
pub(crate) mod tasks;
pub(crate) mod tool_schema;
pub(crate) mod tools;
pub(crate) mod unknown_method;
pub(crate) mod violation;
pub(crate) mod walk;
pub(crate) mod x_mcp_header;
