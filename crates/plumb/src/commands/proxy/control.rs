use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mcp_proxy::{
    Tap,
    shutdown::{Phase, SignalHandler},
};

use super::{
    admin::Admin,
    rulebook::{Fixed, Rulebook},
};
use crate::{args::ProxyArgs, commands::notes::Notes, failure};

/// Handles signals while a proxy runs.
#[derive(Clone)]
pub(super) struct Control(Arc<Inner>);

struct Inner {
    args: ProxyArgs,
    notes: Notes,
    /// What to reload, once the proxy runs.
    running: OnceLock<Running>,
    /// Held during a reload, so that reloads do not overlap.
    reloading: Mutex<()>,
}

struct Running {
    taps: Vec<Tap>,
    fixed: Fixed,
    admin: Admin,
}

impl Control {
    pub(super) fn new(args: ProxyArgs, notes: Notes) -> Control {
        let (running, reloading) = (OnceLock::new(), Mutex::default());
        Control(Arc::new(Inner { args, notes, running, reloading }))
    }

    pub(super) fn args(&self) -> &ProxyArgs {
        &self.0.args
    }

    pub(super) fn notes(&self) -> &Notes {
        &self.0.notes
    }

    /// Sets what later signals apply to.
    pub(super) fn attach(&self, taps: Vec<Tap>, fixed: Fixed, admin: Admin) {
        let _ = self.0.running.set(Running { taps, fixed, admin });
    }
}

impl SignalHandler for Control {
    fn phase(&self, phase: Phase) {
        if let Some(running) = self.0.running.get() {
            running.admin.set_unready();
        }
        match phase {
            Phase::Serving => {}
            Phase::Draining => tracing::info!("stopping: waiting for the last answers"),
            Phase::Stopping => {
                tracing::warn!("stopping: no more time to answer, failing open requests");
            }
            Phase::Forced => tracing::warn!("stopping at once"),
        }
    }

    fn reload(&self) {
        let Inner { args, notes, running, reloading } = &*self.0;
        let Some(Running { taps, fixed, admin }) = running.get() else { return };
        let _one = reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let read = Rulebook::read(args, notes, Some(fixed));
        admin.set_config_synced(read.is_ok());
        match read {
            Ok((rulebook, left)) => {
                for tap in taps {
                    tap.reload(Arc::clone(&rulebook.engine), rulebook.policy.clone());
                }
                if !left.is_empty() {
                    let settings = left.join(", ");
                    tracing::warn!(settings, "some settings only take effect after a restart");
                }
                tracing::info!("settings reloaded");
            }
            Err(error) => {
                let reason = failure::one_line(&error);
                tracing::error!(reason, "could not reload the settings; keeping the old ones");
            }
        }
    }
}
