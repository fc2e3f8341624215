//! Finds `x-mcp-header` annotations in a tool's input schema.

use std::borrow::Cow;

use mcp_json::Node;
use memchr::memmem;

use crate::format::token;

/// The member of a property's schema that names the header.
const KEYWORD: &[u8] = b"x-mcp-header";

/// One annotation.
#[derive(Debug, Clone)]
pub(crate) struct Annotation<'a> {
    /// The value of `x-mcp-header`.
    pub(crate) value: Node<'a>,
    /// The schema that contains it.
    pub(crate) schema: Node<'a>,
    /// The names of the properties that lead to it; `None` if it is not reachable from the root
    /// through `properties` alone, as clients look nowhere else.
    pub(crate) path: Option<Vec<Node<'a>>>,
}

impl<'a> Annotation<'a> {
    /// The name, if it is valid in a header name.
    pub(crate) fn name(&self) -> Option<Cow<'a, str>> {
        self.value.as_str().filter(|name| token::is_token(name.as_bytes()))
    }

    /// Whether the property's type can be written in a header.
    pub(crate) fn has_type(&self) -> bool {
        let kind = self.schema.get("type");
        kind.is_some_and(|kind| {
            ["string", "integer", "boolean"].into_iter().any(|name| kind.str_eq(name))
        })
    }
}

/// Finds the annotations of an input schema, in document order.
pub(crate) fn annotations(schema: Node<'_>) -> Vec<Annotation<'_>> {
    let mut found = Vec::new();
    let contains = |part| memmem::find(schema.raw(), part).is_some();
    // Schemas rarely have annotations, and names are rarely written with escapes.
    if !contains(KEYWORD) && !contains(b"\\u") {
        return found;
    }
    // A property's path is a chain of steps, each of which refers to the previous one.
    let mut steps: Vec<Step<'_>> = Vec::new();
    let mut open = vec![(schema, Reach::Root)];
    while let Some((schema, reach)) = open.pop() {
        for (keyword, value) in schema.members() {
            let Some(keyword) = keyword.str_bytes() else { continue };
            match (&*keyword, Inside::of(&keyword)) {
                (KEYWORD, _) => {
                    let path = reach.property().map(|step| path_to(step, &steps));
                    found.push(Annotation { value, schema, path });
                }
                (b"properties", _) => {
                    for (name, property) in value.members() {
                        let reach = match reach {
                            Reach::Hidden => Reach::Hidden,
                            Reach::Root | Reach::Property(_) => {
                                steps.push(Step { name, before: reach.property() });
                                Reach::Property(steps.len() - 1)
                            }
                        };
                        open.push((property, reach));
                    }
                }
                (_, Inside::Members) => {
                    open.extend(value.members().map(|(_, inner)| (inner, Reach::Hidden)));
                }
                (_, Inside::Itself) => {
                    open.push((value, Reach::Hidden));
                    open.extend(value.elements().map(|inner| (inner, Reach::Hidden)));
                }
                (_, Inside::Nothing) => {}
            }
        }
    }
    found.sort_by_key(|annotation| annotation.value.index());
    found
}

/// How a schema is reached from the root.
#[derive(Debug, Clone, Copy)]
enum Reach {
    Root,
    /// Through `properties` alone, by the step with this index.
    Property(usize),
    /// Any other way.
    Hidden,
}

impl Reach {
    fn property(self) -> Option<usize> {
        match self {
            Reach::Property(step) => Some(step),
            Reach::Root | Reach::Hidden => None,
        }
    }
}

struct Step<'a> {
    name: Node<'a>,
    before: Option<usize>,
}

fn path_to<'a>(step: usize, steps: &[Step<'a>]) -> Vec<Node<'a>> {
    let chain = std::iter::successors(Some(step), |step| steps[*step].before);
    let mut path: Vec<Node<'a>> = chain.map(|step| steps[step].name).collect();
    path.reverse();
    path
}

/// Where the value of a keyword contains schemas.
enum Inside {
    Members,
    /// The value is a schema, or a list of them.
    Itself,
    Nothing,
}

impl Inside {
    fn of(keyword: &[u8]) -> Inside {
        match keyword {
            b"patternProperties" | b"$defs" | b"definitions" | b"dependentSchemas"
            | b"dependencies" => Inside::Members,
            b"items"
            | b"prefixItems"
            | b"additionalItems"
            | b"unevaluatedItems"
            | b"contains"
            | b"additionalProperties"
            | b"unevaluatedProperties"
            | b"propertyNames"
            | b"allOf"
            | b"anyOf"
            | b"oneOf"
            | b"not"
            | b"if"
            | b"then"
            | b"else" => Inside::Itself,
            _ => Inside::Nothing,
        }
    }
}
