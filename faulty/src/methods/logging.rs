//! Log levels and log messages.

use serde_json::{Value, json};

use crate::{
    faults::Fault,
    outbox::{Outbox, notify},
    reply::Failure,
    server::{Faults, die},
};

/// From the least to the most severe.
pub(crate) const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The index of the level requested by `logging/setLevel`.
pub(crate) fn level(params: &Value, faults: Faults) -> Result<usize, Failure> {
    let asked =
        params["level"].as_str().and_then(|asked| LEVELS.iter().position(|level| *level == asked));
    match (asked, faults.0) {
        (Some(level), _) => Ok(level),
        (None, Some(Fault::BadLevelAccepted)) => Ok(0),
        (None, Some(Fault::BadLevelDies)) => die(),
        (None, _) => Err(Failure::params("there is no such level")),
    }
}

/// Sends a log message, if the client requested that level.
pub(crate) fn log(
    outbox: &Outbox,
    wanted: Option<usize>,
    level: usize,
    data: &str,
    faults: Faults,
) {
    let unasked = faults.has(Fault::LogUnasked) && wanted.is_none();
    let Some(wanted) = wanted.or(unasked.then_some(0)) else { return };
    if level < wanted && !faults.has(Fault::LogBelowLevel) {
        return;
    }
    let mut params = json!({"level": LEVELS[level], "logger": "server", "data": data});
    match faults.0 {
        Some(Fault::LogBadLevel) => params["level"] = json!("verbose"),
        Some(Fault::LogWithoutData) => {
            params.as_object_mut().map(|params| params.remove("data"));
        }
        _ => {}
    }
    notify(outbox, "notifications/message", &params);
}
