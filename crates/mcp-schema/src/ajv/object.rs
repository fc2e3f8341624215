//! Object keywords.

use mcp_json::Node;
use serde_json::json;

use super::evaluated::Evaluated;
use super::order::{Member, Members};
use super::walk::Walk;
use super::{Branch, Dependency, Expression, Index, ObjectRule, Schema};

impl<'c> Walk<'c> {
    pub(super) fn object(
        &mut self,
        rules: &'c [ObjectRule],
        node: Node<'_>,
        evaluated: &mut Evaluated,
    ) -> bool {
        if rules.is_empty() {
            return true;
        }
        if !self.allowance.spend(node.len() as u64) {
            return false;
        }
        let members = Members::of(node);
        let mut fits = true;
        for rule in rules {
            if self.is_done() {
                return false;
            }
            fits &= match rule {
                ObjectRule::Size(bound) => {
                    let size = members.iter().len() as u64;
                    self.bound(*bound, size, node)
                }
                ObjectRule::Required(names) => self.required(names, &members, node),
                ObjectRule::PropertyNames(schema) => self.names(*schema, &members, node),
                ObjectRule::Additional { schema, declared, patterns } => {
                    evaluated.add_all_members();
                    let is_known = |this: &mut Self, member: &Member<'_>| {
                        declared.contains(&*member.name) || this.matches_any(patterns, member.key)
                    };
                    self.others(
                        ("additionalProperties", "additionalProperty", *schema),
                        &members,
                        is_known,
                    )
                }
                ObjectRule::DependentRequired { keyword, dependencies } => {
                    self.dependent_required(keyword, dependencies, &members, node)
                }
                ObjectRule::DependentSchemas(dependencies) => {
                    self.dependent_schemas(dependencies, &members, node, evaluated)
                }
                ObjectRule::Properties(properties) => {
                    self.properties(properties, &members, evaluated)
                }
                ObjectRule::Patterns(patterns) => self.patterns(patterns, &members, evaluated),
                ObjectRule::Unevaluated(schema) => {
                    let fits = self.others(
                        ("unevaluatedProperties", "unevaluatedProperty", *schema),
                        &members,
                        |_, member| evaluated.has_member(member.value),
                    );
                    evaluated.add_all_members();
                    fits
                }
            };
        }
        fits
    }

    fn required(&mut self, names: &[Box<str>], members: &Members<'_>, node: Node<'_>) -> bool {
        if !self.allowance.spend(names.len() as u64) {
            return false;
        }
        let mut fits = true;
        for name in names.iter().filter(|name| members.get(name).is_none()) {
            fits = false;
            if self.is_done() {
                break;
            }
            self.report("required", node.span(), || json!({ "missingProperty": name }));
        }
        fits
    }

    fn names(&mut self, schema: Index, members: &Members<'_>, node: Node<'_>) -> bool {
        let mut fits = true;
        for member in members.iter() {
            if self.is_done() {
                return false;
            }
            let mut nothing = Evaluated::default();
            if !self.below_schema("propertyNames", schema, member.key, &mut nothing) {
                fits = false;
                self.report(
                    "propertyNames",
                    node.span(),
                    || json!({ "propertyName": member.name }),
                );
            }
        }
        fits
    }

    /// Checks the members not covered by any other keyword.
    fn others(
        &mut self,
        (keyword, parameter, schema): (&str, &str, Index),
        members: &Members<'_>,
        is_known: impl Fn(&mut Self, &Member<'_>) -> bool,
    ) -> bool {
        let is_false = match self.checklist.schemas[schema as usize] {
            Schema::Anything => return true,
            Schema::Nothing => true,
            Schema::Keywords(_) => false,
        };
        let mut fits = true;
        for member in members.iter() {
            if self.is_done() {
                return false;
            }
            if is_known(self, member) {
                continue;
            }
            if is_false {
                fits = false;
                self.report(keyword, member.key.span(), || json!({ parameter: member.name }));
            } else {
                fits &= self.below(keyword, schema, &member.name, member.value);
            }
        }
        fits
    }

    fn matches_any(&mut self, patterns: &[Expression], key: Node<'_>) -> bool {
        patterns.iter().any(|pattern| pattern.matches(key, &mut self.allowance))
    }

    fn dependent_required(
        &mut self,
        keyword: &str,
        dependencies: &[Dependency],
        members: &Members<'_>,
        node: Node<'_>,
    ) -> bool {
        let mut fits = true;
        let is_present = |dependency: &&Dependency| members.get(&dependency.property).is_some();
        for Dependency { property, needed, joined } in dependencies.iter().filter(is_present) {
            if !self.allowance.spend(needed.len() as u64) {
                return false;
            }
            for name in needed.iter().filter(|name| members.get(name).is_none()) {
                fits = false;
                if self.is_done() {
                    return false;
                }
                self.report(keyword, node.span(), || {
                    json!({
                        "property": property,
                        "missingProperty": name,
                        "depsCount": needed.len(),
                        "deps": joined,
                    })
                });
            }
        }
        fits
    }

    fn dependent_schemas(
        &mut self,
        dependencies: &[(Box<str>, Branch)],
        members: &Members<'_>,
        node: Node<'_>,
        evaluated: &mut Evaluated,
    ) -> bool {
        let mut fits = true;
        for (_, branch) in dependencies.iter().filter(|(name, _)| members.get(name).is_some()) {
            let mut own = Evaluated::default();
            if self.below_schema(&branch.step, branch.schema, node, &mut own) {
                evaluated.merge(own);
            } else {
                fits = false;
            }
        }
        fits
    }

    fn properties(
        &mut self,
        properties: &[(Box<str>, Branch)],
        members: &Members<'_>,
        evaluated: &mut Evaluated,
    ) -> bool {
        let mut fits = true;
        for (name, branch) in properties {
            if self.is_done() || !self.allowance.spend(1) {
                return false;
            }
            let Some(member) = members.get(name) else { continue };
            evaluated.add_member(member.value);
            fits &= self.below(&branch.step, branch.schema, name, member.value);
        }
        fits
    }

    fn patterns(
        &mut self,
        patterns: &[(Expression, Branch)],
        members: &Members<'_>,
        evaluated: &mut Evaluated,
    ) -> bool {
        let mut fits = true;
        for (pattern, branch) in patterns {
            for member in members.iter() {
                if self.is_done() {
                    return false;
                }
                if pattern.matches(member.key, &mut self.allowance) {
                    evaluated.add_member(member.value);
                    fits &= self.below(&branch.step, branch.schema, &member.name, member.value);
                }
            }
        }
        fits
    }
}
