//! The walk that reports violations.

use mcp_json::{Node, Span};
use serde_json::{Value, json};

use crate::suggest::nearest;
use crate::violation::{
    MAX_VIOLATIONS, Violation, kept_path, listed, push_token, shown, shown_value,
};

use super::allowance::Allowance;
use super::check::{Seen, Superseded, characters, types_of};
use super::{
    Additional, ArrayRules, Index, Literal, Logic, Number, NumberRules, ObjectRules, Program, ROOT,
    StringRules, Types,
};

impl Program {
    /// Every violation, in document order; at least one if `node` is not accepted.
    pub(crate) fn explain(&self, node: Node<'_>) -> Vec<Violation> {
        let mut explainer = Explainer {
            program: self,
            allowance: Allowance::for_node(node),
            path: String::new(),
            found: Vec::new(),
            limit: MAX_VIOLATIONS + 1,
        };
        explainer.schema(ROOT, node);
        let mut found = explainer.found;
        // `allOf` and references visit members a second time.
        found.sort_by_key(|violation| violation.span.start);
        if explainer.allowance.is_spent() {
            found.push(Violation::undecided(node));
        }
        if found.len() > MAX_VIOLATIONS {
            found.truncate(MAX_VIOLATIONS);
            found.push(Violation::more(node));
        }
        found
    }
}

pub(super) struct Explainer<'p> {
    pub(super) program: &'p Program,
    allowance: Allowance,
    /// JSON pointer of the current node.
    pub(super) path: String,
    pub(super) found: Vec<Violation>,
    pub(super) limit: usize,
}

impl Explainer<'_> {
    pub(super) fn schema(&mut self, index: Index, node: Node<'_>) {
        let schema = &self.program.schemas[index as usize];
        if schema.is_trivial() || self.found.len() >= self.limit || !self.allowance.enter() {
            return;
        }
        if schema.types.meets(types_of(node, schema.types)) {
            if let Some(logic) = &schema.logic {
                self.literals(index, logic, node);
            }
            if let Some(rules) = &schema.object
                && node.is_object()
            {
                self.object(index, rules, node);
            }
            if let Some(rules) = &schema.array
                && node.is_array()
            {
                self.array(index, rules, node);
            }
            if let Some(rules) = &schema.string
                && node.is_string()
            {
                self.string(index, rules, node);
            }
            if let Some(rules) = &schema.number
                && node.is_number()
            {
                self.number(index, rules, node);
            }
            if let Some(logic) = &schema.logic {
                self.composition(index, logic, node);
            }
        } else {
            self.wrong_type(index, "type", schema.types, node);
        }
        self.allowance.leave();
    }

    pub(super) fn report(
        &mut self,
        index: Index,
        keyword: &str,
        params: Value,
        message: String,
        span: Span,
    ) {
        if self.found.len() >= self.limit {
            return;
        }
        let pointer = &self.program.pointers[index as usize];
        let schema_path = if keyword == "false schema" {
            format!("#{pointer}")
        } else {
            format!("#{pointer}/{keyword}")
        };
        self.found.push(Violation {
            instance_path: kept_path(&self.path),
            schema_path,
            keyword: keyword.into(),
            params,
            message,
            span,
        });
    }

    /// Runs `visit` with the path extended by `token`.
    pub(super) fn below(&mut self, token: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        push_token(&mut self.path, token);
        visit(self);
        self.path.truncate(length);
    }

    pub(super) fn wrong_type(&mut self, index: Index, keyword: &str, types: Types, node: Node<'_>) {
        let names = types.names();
        let value = shown(node);
        let (keyword, params, message) = match names.as_slice() {
            [] => ("false schema", json!({}), format!("{value} is not allowed here")),
            [name] => {
                (keyword, json!({ "type": name }), format!("{value} is not of type \"{name}\""))
            }
            names => {
                let list = names.join("\", \"");
                let message = format!("{value} is not of one of the types \"{list}\"");
                (keyword, json!({ "type": names }), message)
            }
        };
        self.report(index, keyword, params, message, node.span());
    }

    fn literals(&mut self, index: Index, logic: &Logic, node: Node<'_>) {
        if let Some(constant) = &logic.constant
            && !constant.equals(node)
        {
            let wanted = constant.to_json();
            let message = format!("{} is not {}", shown(node), shown_value(&wanted));
            let params = json!({ "allowedValue": wanted });
            self.report(index, "const", params, message, node.span());
        }
        if let Some(options) = &logic.options
            && !options.iter().any(|option| option.equals(node))
        {
            let (params, message) = not_an_option(node, options.iter());
            self.report(index, "enum", params, message, node.span());
        }
    }

    fn object(&mut self, index: Index, rules: &ObjectRules, node: Node<'_>) {
        let size = node.len() as u64;
        self.bounds(
            index,
            (size, rules.min, rules.max),
            ("Properties", "property", "properties"),
            node,
        );
        let mut seen = Seen::new(rules);
        for (key, _) in node.members() {
            if let Some((position, property)) = rules.find(key) {
                seen.mark(position, property);
            }
        }
        for (position, property) in rules.properties.iter().enumerate() {
            if self.found.len() >= self.limit {
                return;
            }
            if property.required && !seen.has(position) {
                let name = property.name.as_str();
                let params = json!({ "missingProperty": name });
                let message = format!("required property {} is missing", shown_value(&name.into()));
                self.report(index, "required", params, message, node.span());
            }
        }
        let superseded = Superseded::of(node);
        for (key, value) in node.members() {
            if self.found.len() >= self.limit {
                return;
            }
            if superseded.contains(key, value) {
                continue;
            }
            let name = key.as_str().unwrap_or_default();
            match rules.find(key) {
                Some((_, property)) if property.declared => {
                    self.below(&name, |this| this.schema(property.schema, value));
                }
                _ => match rules.additional {
                    Additional::Anything => {}
                    Additional::Nothing => {
                        let params = json!({ "additionalProperty": name });
                        let message = format!("unexpected property {}", shown(key));
                        self.report(index, "additionalProperties", params, message, key.span());
                    }
                    Additional::Schema(schema) => {
                        self.below(&name, |this| this.schema(schema, value));
                    }
                },
            }
        }
    }

    fn array(&mut self, index: Index, rules: &ArrayRules, node: Node<'_>) {
        let length = node.len() as u64;
        self.bounds(index, (length, rules.min, rules.max), ("Items", "item", "items"), node);
        let Some(items) = rules.items else { return };
        for (position, element) in node.elements().enumerate() {
            if self.found.len() >= self.limit {
                return;
            }
            self.below(&position.to_string(), |this| this.schema(items, element));
        }
    }

    fn string(&mut self, index: Index, rules: &StringRules, node: Node<'_>) {
        let Some(text) = node.as_str() else { return };
        let length = characters(text.as_bytes());
        let names = ("Length", "character", "characters");
        self.bounds(index, (length, rules.min, rules.max), names, node);
        let Some(pattern) = &rules.pattern else {
            return;
        };
        if self.allowance.spend(pattern.steps(node)) && !pattern.is_match(text.as_bytes()) {
            let source = Value::from(pattern.source());
            let message = format!("{} does not match {}", shown(node), shown_value(&source));
            self.report(index, "pattern", json!({ "pattern": source }), message, node.span());
        }
    }

    /// `minX` and `maxX`, where X is the first of `names`.
    fn bounds(
        &mut self,
        index: Index,
        (size, min, max): (u64, u64, u64),
        (suffix, one, many): (&str, &str, &str),
        node: Node<'_>,
    ) {
        let unit = |limit| if limit == 1 { one } else { many };
        if size < min {
            let message = format!("{} has fewer than {min} {}", shown(node), unit(min));
            let params = json!({ "limit": min });
            self.report(index, &format!("min{suffix}"), params, message, node.span());
        }
        if size > max {
            let message = format!("{} has more than {max} {}", shown(node), unit(max));
            let params = json!({ "limit": max });
            self.report(index, &format!("max{suffix}"), params, message, node.span());
        }
    }

    fn number(&mut self, index: Index, rules: &NumberRules, node: Node<'_>) {
        let Some(value) = Number::of_node(node) else {
            return;
        };
        let below = rules.minimum.filter(|limit| value < *limit);
        let above = rules.maximum.filter(|limit| value > *limit);
        let not_above = rules.exclusive_minimum.filter(|limit| value <= *limit);
        let not_below = rules.exclusive_maximum.filter(|limit| value >= *limit);
        for (keyword, limit, comparison, words) in [
            ("minimum", below, ">=", "less than the minimum of"),
            ("maximum", above, "<=", "greater than the maximum of"),
            ("exclusiveMinimum", not_above, ">", "not greater than"),
            ("exclusiveMaximum", not_below, "<", "not less than"),
        ] {
            if let Some(limit) = limit {
                let limit = limit.to_json();
                let message = format!("{} is {words} {limit}", shown(node));
                let params = json!({ "comparison": comparison, "limit": limit });
                self.report(index, keyword, params, message, node.span());
            }
        }
    }

    fn composition(&mut self, index: Index, logic: &Logic, node: Node<'_>) {
        if let Some(target) = logic.reference {
            self.schema(target, node);
        }
        for branch in &logic.all_of {
            self.schema(*branch, node);
        }
        if let Some(branches) = &logic.any_of
            && !self.fits_any(branches, node)
        {
            self.union(index, "anyOf", branches, node);
        }
        if let Some(branches) = &logic.one_of {
            let fitting: Vec<usize> = (0..branches.len())
                .filter(|at| self.program.check(branches[*at], node, &mut self.allowance))
                .take(2)
                .collect();
            match fitting.as_slice() {
                [] => self.union(index, "oneOf", branches, node),
                [first, second, ..] => {
                    let params = json!({ "passingSchemas": [first, second] });
                    let message =
                        format!("{} fits more than one alternative, only one may fit", shown(node));
                    self.report(index, "oneOf", params, message, node.span());
                }
                [_] => {}
            }
        }
    }

    fn fits_any(&mut self, branches: &[Index], node: Node<'_>) -> bool {
        branches.iter().any(|branch| self.program.check(*branch, node, &mut self.allowance))
    }
}

impl Literal {
    pub(super) fn to_json(&self) -> Value {
        match self {
            Literal::Null => Value::Null,
            Literal::Bool(value) => (*value).into(),
            Literal::Number(number) => number.to_json(),
            Literal::String(text) => (&**text).into(),
        }
    }

    pub(super) fn types(&self) -> Types {
        match self {
            Literal::Null => Types::NULL,
            Literal::Bool(_) => Types::BOOLEAN,
            Literal::Number(_) => Types::NUMBER,
            Literal::String(_) => Types::STRING,
        }
    }
}

/// Parameters and message for a value that is not in `options`; only the first hundred are
/// reported.
pub(super) fn not_an_option<'l>(
    node: Node<'_>,
    options: impl IntoIterator<Item = &'l Literal>,
) -> (Value, String) {
    let allowed: Vec<Value> = options.into_iter().take(100).map(Literal::to_json).collect();
    let message = match allowed.as_slice() {
        [only] => format!("{} is not {}", shown(node), shown_value(only)),
        _ => format!("{} is not one of {}", shown(node), listed(&allowed)),
    };
    let suggestion = node.as_str().and_then(|text| {
        nearest(&text, allowed.iter().filter_map(Value::as_str)).map(str::to_owned)
    });
    match suggestion {
        Some(meant) => {
            let message = format!("{message}; did you mean \"{meant}\"?");
            (json!({ "allowedValues": allowed, "didYouMean": meant }), message)
        }
        None => (json!({ "allowedValues": allowed }), message),
    }
}
