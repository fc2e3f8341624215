//! Nodes as an instance representation of the `jsonschema` crate, so that its validators read the
//! tape directly.

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, JsonNumber, Node as JsonNode, NodeIdentity, Object, cmp};
use serde_json::{Number, Value};

use crate::node::{Elements, Kind, Members, Node};
use crate::value;

/// The tape as a representation: `jsonschema::options_for::<TapeJson>()` makes validators for it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TapeJson;

impl Json for TapeJson {
    type Node<'a> = SchemaNode<'a>;
    type PreparedKey = Box<str>;
    type StringBuffer = String;

    /// Finding a member scans the names, so a single pass over all of them soon pays off.
    const KEYS_PER_LOOKUP: usize = 8;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>(
        buffer: &mut String,
        string: &str,
        f: impl FnOnce(SchemaNode<'_>) -> T,
    ) -> T {
        buffer.clear();
        buffer.push_str(string);
        f(SchemaNode::Text(buffer))
    }
}

/// The instance type of validators over [`TapeJson`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum SchemaNode<'a> {
    /// A value of a document.
    Node(Node<'a>),
    /// A string on its own; `propertyNames` checks member names this way.
    Text(&'a str),
}

impl<'a> From<Node<'a>> for SchemaNode<'a> {
    fn from(node: Node<'a>) -> Self {
        SchemaNode::Node(node)
    }
}

impl<'a> SchemaNode<'a> {
    #[inline]
    fn node(&self) -> Option<Node<'a>> {
        match *self {
            SchemaNode::Node(node) => Some(node),
            SchemaNode::Text(_) => None,
        }
    }
}

impl<'a> JsonNode<'a, TapeJson> for SchemaNode<'a> {
    type Object = SchemaObject<'a>;
    type Array = SchemaArray<'a>;
    type Number = SchemaNumber<'a>;

    #[inline]
    fn as_object(&self) -> Option<SchemaObject<'a>> {
        self.node().filter(|node| node.is_object()).map(SchemaObject)
    }

    #[inline]
    fn as_array(&self) -> Option<SchemaArray<'a>> {
        self.node().filter(|node| node.is_array()).map(SchemaArray)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match *self {
            SchemaNode::Node(node) => node.as_str(),
            SchemaNode::Text(text) => Some(Cow::Borrowed(text)),
        }
    }

    fn as_number(&self) -> Option<SchemaNumber<'a>> {
        self.node().filter(|node| node.is_number()).map(SchemaNumber)
    }

    fn as_boolean(&self) -> Option<bool> {
        self.node()?.as_bool()
    }

    fn is_null(&self) -> bool {
        self.node().is_some_and(Node::is_null)
    }

    fn is_number(&self) -> bool {
        self.node().is_some_and(Node::is_number)
    }

    fn is_string(&self) -> bool {
        self.node().is_none_or(Node::is_string)
    }

    fn json_type(&self) -> JsonType {
        let Some(node) = self.node() else {
            return JsonType::String;
        };
        match node.kind() {
            Kind::Null => JsonType::Null,
            Kind::Bool => JsonType::Boolean,
            Kind::Integer | Kind::Decimal => JsonType::Number,
            Kind::String => JsonType::String,
            Kind::Array => JsonType::Array,
            Kind::Object => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match (self, expected) {
            (SchemaNode::Node(node), Value::String(text)) => node.str_eq(text),
            (SchemaNode::Text(a), Value::String(b)) => a == b,
            (SchemaNode::Node(node), Value::Number(number)) if node.is_number() => {
                cmp::equal_numbers(&SchemaNumber(*node), number)
            }
            _ => cmp::equal(&self.to_value(), expected),
        }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(match *self {
            SchemaNode::Node(node) => node.to_value(),
            SchemaNode::Text(text) => Value::String(text.to_owned()),
        })
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(match *self {
            // All nodes of one validation come from one document, which does not move.
            SchemaNode::Node(node) => {
                NodeIdentity::tagged(std::ptr::from_ref(node.document()).addr(), node.index())
            }
            SchemaNode::Text(text) => NodeIdentity::new(text.as_ptr().addr()),
        })
    }
}

/// An object as `jsonschema` sees it.
#[derive(Debug, Clone, Copy)]
pub struct SchemaObject<'a>(Node<'a>);

impl<'a> Object<'a, TapeJson> for SchemaObject<'a> {
    type Node = SchemaNode<'a>;
    type MemberName = Cow<'a, str>;
    type MembersIter = SchemaMembers<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: &Box<str>) -> Option<SchemaNode<'a>> {
        self.0.get(key).map(SchemaNode::Node)
    }

    fn members(&self) -> SchemaMembers<'a> {
        SchemaMembers(self.0.members())
    }
}

/// The members of a [`SchemaObject`].
#[derive(Debug, Clone)]
pub struct SchemaMembers<'a>(Members<'a>);

impl<'a> Iterator for SchemaMembers<'a> {
    type Item = (Cow<'a, str>, SchemaNode<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.next()?;
        Some((name.as_str()?, SchemaNode::Node(value)))
    }
}

/// An array as `jsonschema` sees it.
#[derive(Debug, Clone, Copy)]
pub struct SchemaArray<'a>(Node<'a>);

impl<'a> Array<'a, TapeJson> for SchemaArray<'a> {
    type Node = SchemaNode<'a>;
    type ElementsIter = SchemaElements<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> SchemaElements<'a> {
        SchemaElements(self.0.elements())
    }
}

/// The elements of a [`SchemaArray`].
#[derive(Debug, Clone)]
pub struct SchemaElements<'a>(Elements<'a>);

impl<'a> Iterator for SchemaElements<'a> {
    type Item = SchemaNode<'a>;

    #[inline]
    fn next(&mut self) -> Option<SchemaNode<'a>> {
        self.0.next().map(SchemaNode::Node)
    }
}

/// A number as `jsonschema` sees it: by its literal, so that no precision is lost.
#[derive(Debug, Clone, Copy)]
pub struct SchemaNumber<'a>(Node<'a>);

impl JsonNumber for SchemaNumber<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.0.as_u64()
    }

    fn as_i64(&self) -> Option<i64> {
        self.0.as_i64()
    }

    /// `None` for a number out of range, which bounds then treat as infinite.
    fn as_f64(&self) -> Option<f64> {
        self.0.as_f64()
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.number_literal().unwrap_or_default())
    }

    /// Used only in messages, so a number `serde_json` cannot represent is approximated; see
    /// [`Node::to_value`].
    fn to_number(&self) -> Cow<'_, Number> {
        Cow::Owned(value::number(self.0))
    }

    fn is_integer(&self) -> bool {
        self.0.is_integer()
    }

    fn is_written_as_integer(&self) -> bool {
        self.0.kind() == Kind::Integer
    }
}
