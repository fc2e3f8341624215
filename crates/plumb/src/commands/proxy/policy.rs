use mcp_core::Side;
use mcp_proxy::{Action, Policy};
use mcp_rules::{Setting, Settings};

use crate::{
    args::Enforced,
    config::ProxyConfig,
    levels::Levels,
    selector::{Rank, Selector},
};

/// The policy on findings, and explanations of settings that have no effect, one sentence each.
pub(super) fn policy(
    typed: Option<Enforced>,
    config: &ProxyConfig,
    settings: &Settings,
) -> (Policy, Vec<String>) {
    let enforced = typed.or(config.enforce).unwrap_or(Enforced::None);
    let mut policy = Policy::observe()
        .enforcing(Side::Client, matches!(enforced, Enforced::Both | Enforced::Client))
        .enforcing(Side::Server, matches!(enforced, Enforced::Both | Enforced::Server))
        .with_bad_tools(config.bad_tools.unwrap_or_default());
    for side in Side::BOTH {
        for levels in [&config.levels, &config.of_side[side as usize]] {
            policy = with_levels(policy, side, levels);
        }
    }
    let [client, server] = &config.of_side;
    let said = [(&config.levels, None), (client, Some(Side::Client)), (server, Some(Side::Server))];
    let without_effect = said.into_iter().flat_map(|(levels, side)| {
        let why = |(selector, action): &(Selector, Action)| {
            why_without_effect(selector, *action, side, &policy, settings)
        };
        levels.ranked().filter_map(why).collect::<Vec<String>>()
    });
    let without_effect = without_effect.collect();
    (policy, without_effect)
}

fn with_levels(policy: Policy, side: Side, levels: &Levels<Action>) -> Policy {
    let each = levels.ranked().flat_map(|(selector, action)| {
        selector.rules.iter().map(move |rule| (selector, rule, action))
    });
    each.fold(policy, |policy, (selector, rule, action)| match selector.rank {
        Rank::Name => policy.with(side, rule.name, *action),
        Rank::Everything | Rank::Layer | Rank::Pattern(_) => {
            policy.with_broad(side, rule.name, *action)
        }
    })
}

/// Explains why a level for messages of `side`, or of both sides, has no effect.
fn why_without_effect(
    Selector { text, rules, .. }: &Selector,
    action: Action,
    side: Option<Side>,
    policy: &Policy,
    settings: &Settings,
) -> Option<String> {
    if rules.is_empty() {
        return Some(format!("no rule matches `{text}`"));
    }
    if rules.iter().all(|rule| settings.rules.get(rule.name) == Some(&Setting::Off)) {
        return Some(format!("`{text}` has no effect on the proxy: it is off"));
    }
    let is_enforced = side.map_or(policy.enforces(), |side| policy.enforces_on(side));
    if action != Action::Reject || is_enforced {
        return None;
    }
    let whose = side.map(|side| format!(" of the {side}")).unwrap_or_default();
    Some(format!(
        "`{text} = \"reject\"` has no effect: messages{whose} are not held back without `enforce`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    fn read(typed: Option<Enforced>, text: &str) -> (Policy, Vec<String>) {
        let mut settings = Settings::default();
        settings.rules.insert("batch-mixed".to_owned(), Setting::Off);
        policy(typed, &config::parse(text).proxy, &settings)
    }

    #[test]
    fn the_command_line_decides_whose_messages_are_held_back() {
        let sides = |typed, text| {
            let (policy, _) = read(typed, text);
            Side::BOTH.map(|side| policy.enforces_on(side))
        };
        assert_eq!(sides(None, ""), [false, false]);
        assert_eq!(sides(None, "proxy.enforce = true"), [true, true]);
        assert_eq!(sides(None, "proxy.enforce = 'server'"), [false, true]);
        assert_eq!(sides(Some(Enforced::None), "proxy.enforce = true"), [false, false]);
        assert_eq!(sides(Some(Enforced::Client), "proxy.enforce = 'server'"), [true, false]);
    }

    #[test]
    fn the_table_of_a_side_counts_more_than_that_of_both() {
        let (policy, none) = read(
            None,
            "[proxy]\nenforce = true\n[proxy.rules]\nparams-invalid = 'off'\n'batch-*' = 'warn'\n\
             [proxy.client.rules]\n'*' = 'reject'",
        );
        let mut expected = Policy::enforce();
        for rule in mcp_rules::catalogue() {
            expected = expected.with_broad(Side::Client, rule.name, Action::Reject);
            if rule.name.starts_with("batch-") {
                expected = expected.with_broad(Side::Server, rule.name, Action::Warn);
            }
        }
        expected = expected.with(Side::Server, "params-invalid", Action::Off);
        assert_eq!(policy, expected);
        assert_eq!(none, [""; 0]);
    }

    #[test]
    fn levels_without_effect_are_named() {
        let (_, said) = read(
            Some(Enforced::Client),
            "[proxy.rules]\nbatch-mixed = 'warn'\n'wheather-*' = 'off'\n\
             [proxy.client.rules]\nbatch-empty = 'reject'\n\
             [proxy.server.rules]\nbatch-empty = 'reject'",
        );
        assert_eq!(
            said,
            [
                "no rule matches `wheather-*`",
                "`batch-mixed` has no effect on the proxy: it is off",
                "`batch-empty = \"reject\"` has no effect: messages of the server are not held back without `enforce`",
            ]
        );
    }
}
