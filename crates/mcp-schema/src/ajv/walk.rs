//! The walk itself: paths, budget, and which keywords apply.

use mcp_json::{Kind as NodeKind, Node, Span};
use serde_json::{Value, json};

use crate::program::{Allowance, Types, types_of};
use crate::violation::{MAX_VIOLATIONS, Violation, kept_path, push_token};

use super::evaluated::Evaluated;
use super::keywords::place;
use super::wording;
use super::{Checklist, Index, Keywords, Kind, ROOT, Schema};

impl Checklist {
    /// The errors `ajv` reports for `node`, in its order; at most [`MAX_VIOLATIONS`] and a marker.
    /// `None` if finding out takes more steps than allowed.
    pub(crate) fn explain(&self, node: Node<'_>) -> Option<Vec<Violation>> {
        let mut walk = Walk {
            checklist: self,
            allowance: Allowance::for_node(node),
            instance_path: String::new(),
            schema_path: "#".to_owned(),
            found: Vec::new(),
            silent: 0,
            tentative: 0,
        };
        walk.schema(ROOT, node, &mut Evaluated::default());
        let mut found = walk.found;
        if walk.allowance.is_spent() {
            return None; // Some violations might have been retracted later.
        }
        if found.len() > MAX_VIOLATIONS {
            found.truncate(MAX_VIOLATIONS);
            found.push(Violation::more(node));
        }
        Some(found)
    }
}

pub(super) struct Walk<'c> {
    pub(super) checklist: &'c Checklist,
    pub(super) allowance: Allowance,
    instance_path: String,
    schema_path: String,
    found: Vec<Violation>,
    /// Number of enclosing schemas that report nothing.
    silent: usize,
    /// Number of enclosing schemas that may retract what was reported.
    tentative: usize,
}

impl<'c> Walk<'c> {
    /// Reports how `node` violates a schema, and returns whether it fits. `evaluated` belongs to
    /// the same value.
    pub(super) fn schema(
        &mut self,
        index: Index,
        node: Node<'_>,
        evaluated: &mut Evaluated,
    ) -> bool {
        let checklist = self.checklist;
        match &checklist.schemas[index as usize] {
            Schema::Anything => true,
            Schema::Nothing => {
                self.report("false schema", node.span(), || json!({}));
                false
            }
            Schema::Keywords(keywords) => {
                if self.is_done() || !self.allowance.enter() {
                    return false;
                }
                let fits = self.keywords(keywords, node, evaluated);
                self.allowance.leave();
                fits
            }
        }
    }

    /// Keywords for any type come first, then those for each type.
    fn keywords(
        &mut self,
        keywords: &'c Keywords,
        node: Node<'_>,
        evaluated: &mut Evaluated,
    ) -> bool {
        let kind = keywords.kind.as_ref();
        let has_type = kind.is_none_or(|kind| kind.types.meets(types_of(node, kind.types)));
        let mut fits = has_type;
        if let Some(kind) = kind.filter(|kind| !has_type && kind.place.is_none()) {
            self.wrong_type(kind, node);
        }
        for rule in &keywords.in_place {
            fits &= self.in_place(rule, node, evaluated);
        }
        // If the only type has keywords, the type error is reported in their place.
        if let Some(kind) = kind.filter(|kind| !has_type && kind.place.is_some()) {
            let first = self.by_kind(keywords, node, evaluated, |own| own < kind.place);
            self.wrong_type(kind, node);
            let second = self.by_kind(keywords, node, evaluated, |own| own > kind.place);
            return fits & first & second;
        }
        fits & self.by_kind(keywords, node, evaluated, |_| true)
    }

    /// Checks the keywords for the type of `node`, if `is_due`.
    fn by_kind(
        &mut self,
        keywords: &'c Keywords,
        node: Node<'_>,
        evaluated: &mut Evaluated,
        is_due: impl Fn(Option<u8>) -> bool,
    ) -> bool {
        match node.kind() {
            NodeKind::Integer | NodeKind::Decimal if is_due(place(Types::NUMBER)) => {
                keywords.number.iter().fold(true, |fits, rule| fits & self.number(rule, node))
            }
            NodeKind::String if is_due(place(Types::STRING)) => {
                keywords.string.iter().fold(true, |fits, rule| fits & self.string(rule, node))
            }
            NodeKind::Array if is_due(place(Types::ARRAY)) => {
                self.array(&keywords.array, node, evaluated)
            }
            NodeKind::Object if is_due(place(Types::OBJECT)) => {
                self.object(&keywords.object, node, evaluated)
            }
            _ => true,
        }
    }

    fn wrong_type(&mut self, kind: &Kind, node: Node<'_>) {
        self.report("type", node.span(), || json!({ "type": kind.written }));
    }

    /// Reports that a keyword of the current schema failed for the current value.
    ///
    /// `params` is called only if the violation is kept.
    pub(super) fn report(&mut self, keyword: &str, span: Span, params: impl FnOnce() -> Value) {
        if self.silent > 0 || self.is_full() {
            return;
        }
        let params = params();
        self.found.push(Violation {
            message: wording::message(keyword, &params),
            instance_path: kept_path(&self.instance_path),
            schema_path: format!("{}/{keyword}", self.schema_path),
            keyword: keyword.into(),
            params,
            span,
        });
    }

    /// Checks a subschema against the same value.
    pub(super) fn below_schema(
        &mut self,
        step: &str,
        schema: Index,
        node: Node<'_>,
        evaluated: &mut Evaluated,
    ) -> bool {
        let length = self.schema_path.len();
        self.schema_path.push('/');
        self.schema_path.push_str(step);
        let fits = self.schema(schema, node, evaluated);
        self.schema_path.truncate(length);
        fits
    }

    /// Checks a subschema against the part of the value at `token`.
    pub(super) fn below(&mut self, step: &str, schema: Index, token: &str, part: Node<'_>) -> bool {
        let length = self.instance_path.len();
        push_token(&mut self.instance_path, token);
        let fits = self.below_schema(step, schema, part, &mut Evaluated::default());
        self.instance_path.truncate(length);
        fits
    }

    /// Checks the target of a reference, whose keywords have a path of their own.
    pub(super) fn reference(
        &mut self,
        path: &str,
        schema: Index,
        node: Node<'_>,
        evaluated: &mut Evaluated,
    ) -> bool {
        let outer = std::mem::replace(&mut self.schema_path, path.to_owned());
        let fits = self.schema(schema, node, evaluated);
        self.schema_path = outer;
        fits
    }

    /// Runs `visit` without reporting anything.
    pub(super) fn silently<T>(&mut self, visit: impl FnOnce(&mut Self) -> T) -> T {
        self.silent += 1;
        let outcome = visit(self);
        self.silent -= 1;
        outcome
    }

    /// Runs `visit`, and retracts what it reported if it returns `true`.
    pub(super) fn tentatively(&mut self, visit: impl FnOnce(&mut Self) -> bool) -> bool {
        let before = self.found.len();
        self.tentative += 1;
        let fits = visit(self);
        self.tentative -= 1;
        if fits {
            self.found.truncate(before);
        }
        fits
    }

    /// Whether one violation more than the maximum was found, which shows that there are more.
    fn is_full(&self) -> bool {
        self.found.len() > MAX_VIOLATIONS
    }

    /// Whether nothing that is yet to be found can matter.
    pub(super) fn is_done(&self) -> bool {
        self.allowance.is_spent() || (self.is_full() && self.silent == 0 && self.tentative == 0)
    }
}
