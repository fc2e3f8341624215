//! The phase `tools`.

use crate::{Found, Probe, Reporter, Settings};

/// The probes for what a server offers.
pub(crate) fn probes(
    _found: &Found,
    _settings: &Settings,
    _reporter: &mut dyn Reporter,
) -> Vec<Probe> {
    Vec::new()
}
