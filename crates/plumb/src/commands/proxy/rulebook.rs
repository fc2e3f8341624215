use std::sync::Arc;

use mcp_core::{Revision, Side};
use mcp_proxy::Policy;
use mcp_rules::{Engine, Limits, Settings, behaviour, lock::Lock};

use super::policy::policy;
use crate::{
    args::ProxyArgs,
    commands::{lock, notes::Notes},
    config::Config,
    failure::Failure,
    plan::JudgingPlan,
};

/// The rules of a proxy, from the command line, plumb.toml and schemas.
pub(super) struct Rulebook {
    pub(super) engine: Arc<Engine>,
    pub(super) policy: Policy,
    pub(super) fixed: Fixed,
    pub(super) config: Config,
}

/// Settings that cannot change while a proxy runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fixed {
    pub(super) limits: Limits,
    pub(super) revision: Option<Revision>,
    /// Whether messages of a side are held back, by `Side as usize`.
    enforced: [bool; 2],
}

impl Rulebook {
    /// Reads all settings. If `fixed` is given, those settings are kept.
    pub(super) fn read(
        args: &ProxyArgs,
        notes: &Notes,
        fixed: Option<&Fixed>,
    ) -> anyhow::Result<(Rulebook, Vec<&'static str>)> {
        let config = Config::chosen(&args.judging)?;
        let mut plan = JudgingPlan::new(&args.judging, &config)?;
        let schemas = notes.load(&plan.overrides, plan.overrides_required)?;
        let (mut policy, without_effect) = policy(args.enforce, &config.proxy, &plan.settings);
        notes.without_effect(&plan.without_effect);
        notes.without_effect(&without_effect);
        let mut now = Fixed {
            limits: plan.settings.limits,
            revision: plan.forced_revision,
            enforced: Side::BOTH.map(|side| policy.enforces_on(side)),
        };
        let mut left = Vec::new();
        if let Some(fixed) = fixed {
            left = fixed.differences(&now);
            now = *fixed;
            plan.settings.limits = fixed.limits;
            for side in Side::BOTH {
                policy = policy.enforcing(side, fixed.enforced[side as usize]);
            }
        }
        let lock = locked(args, &plan.settings)?;
        let engine = Engine::new(schemas, plan.settings);
        let engine = Arc::new(match lock {
            Some(lock) => engine.with_lock(Arc::new(lock)),
            None => engine,
        });
        Ok((Rulebook { engine, policy, fixed: now, config }, left))
    }
}

/// The lock to compare the server with.
fn locked(args: &ProxyArgs, settings: &Settings) -> anyhow::Result<Option<Lock>> {
    let Some(path) = &args.locked else { return Ok(None) };
    if !settings.looks_at(&behaviour::LOCK_DRIFT) {
        return Err(Failure::new("this profile does not compare servers with a lock")
            .hint("leave out `--locked`, or choose a profile that judges conversations")
            .into());
    }
    Ok(Some(lock::read(path)?))
}

impl Fixed {
    /// The names of settings that differ.
    fn differences(&self, other: &Fixed) -> Vec<&'static str> {
        [
            (self.limits != other.limits, "limits"),
            (self.revision != other.revision, "revision"),
            (self.enforced != other.enforced, "enforce"),
        ]
        .into_iter()
        .filter_map(|(differs, name)| differs.then_some(name))
        .collect()
    }
}
