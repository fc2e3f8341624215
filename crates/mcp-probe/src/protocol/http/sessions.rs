//! Probes of sessions over HTTP.

use mcp_core::{Revision, Revisions};
use mcp_rules::behaviour;

use super::{HTTP, SESSIONS, built, not_ours};
use crate::{Conversation, HttpRequest, Probe, Stage, Stop, protocol::probe};

pub(in crate::protocol) static PROBES: &[Probe] = &[
    probe("http/session-invented", "an unknown session is refused", invented)
        .over(HTTP)
        .at(SESSIONS),
    probe("http/session-missing", "a request without its session is refused", missing)
        .over(HTTP)
        .at(SESSIONS),
    probe("http/session-withheld", "no session is required if none was assigned", withheld)
        .over(HTTP)
        .at(SESSIONS),
    probe("http/session-unique", "every session has its own id", unique).over(HTTP).at(SESSIONS),
    probe("http/session-ended", "an ended session is refused", ended).over(HTTP).at(SESSIONS),
    probe("http/version-header-missing", "a session remembers its version", no_version)
        .over(HTTP)
        .at(Revisions::between(Revision::V2025_06_18, Revision::V2025_11_25)),
];

/// Opens a conversation with a session.
async fn in_session(stage: &mut Stage) -> Result<Conversation, Stop> {
    let talk = stage.fresh().await?;
    if session(&talk).is_some() {
        Ok(talk)
    } else {
        Err(Stop::Skip("the server assigns no session ids".to_owned()))
    }
}

steps!(invented, stage => {
    let talk = in_session(stage).await?;
    let request = built(&talk)?.with("Mcp-Session-Id", "plumb-invented-0000");
    let reply = talk.http(request).await?;
    not_ours(stage, &talk, &reply, "an unknown session id");
    if reply.status < 300 {
        let message = format!("an unknown session id got the status {}", reply.status);
        let help = "answer unknown session ids with 404";
        stage.fail(&behaviour::INVENTED_SESSION_ACCEPTED, &talk, reply.line, message, help);
    }
});

steps!(missing, stage => {
    let talk = in_session(stage).await?;
    let request = built(&talk)?.without("Mcp-Session-Id");
    let reply = talk.http(request).await?;
    not_ours(stage, &talk, &reply, "a request without its session id");
    if reply.status < 300 {
        let message = format!("a request without its session id got the status {}", reply.status);
        let help = "answer requests without a session id with 400, except `initialize`";
        stage.fail(&behaviour::MISSING_SESSION_ACCEPTED, &talk, reply.line, message, help);
    }
});

steps!(ended, stage => {
    let talk = in_session(stage).await?;
    let Some(http) = talk.wire().as_http() else { return Ok(()) };
    let delete = HttpRequest { method: "DELETE", headers: Vec::new(), body: Vec::new() };
    let reply = talk.http(http.in_session(delete)).await?;
    talk.expect_end();
    not_ours(stage, &talk, &reply, "DELETE");
    if reply.status >= 300 {
        return Err(Stop::Skip(format!("ending a session got the status {}", reply.status)));
    }
    let reply = talk.http(built(&talk)?).await?;
    if reply.status < 300 {
        let message = format!("an ended session got the status {}", reply.status);
        let help = "answer with 404 once a session has ended";
        stage.fail(&behaviour::ENDED_SESSION_ACCEPTED, &talk, reply.line, message, help);
    }
});

steps!(withheld, stage => {
    let talk = stage.fresh().await?;
    if session(&talk).is_some() {
        return Ok(());
    }
    let reply = talk.http(built(&talk)?).await?;
    if matches!(reply.status, 400 | 404) {
        let message =
            format!("no session id was assigned, and the next request got the status {}", reply.status);
        let help = "assign a session id in the response to `initialize`, or do not require one";
        stage.fail(&behaviour::SESSION_ID_WITHHELD, &talk, reply.line, message, help);
    }
});

fn session(talk: &Conversation) -> Option<String> {
    talk.wire().as_http()?.session()
}

steps!(unique, stage => {
    let first = in_session(stage).await?;
    let second = in_session(stage).await?;
    if session(&first) == session(&second) {
        let line = second.recording().len() as u64;
        let message = "two sessions got the same id";
        let help = "generate a new id for each session";
        stage.fail(&behaviour::SESSION_ID_REPEATED, &second, line, message, help);
        // Ending one ends the other.
        first.expect_end();
        second.expect_end();
    } else if let (Some(one), Some(next)) = (session(&first), session(&second))
        && counts_up(&one, &next)
    {
        let line = second.recording().len() as u64;
        let message = format!("two sessions were given the ids {one} and {next}");
        let help = "make the id of a session from a secure random source";
        stage.fail(&behaviour::SESSION_ID_PREDICTABLE, &second, line, message, help);
    }
});

/// Whether two ids differ only in a number at their end, and in that by little.
fn counts_up(one: &str, next: &str) -> bool {
    /// How many sessions others may have opened meanwhile.
    const APART: u64 = 16;
    let split = |id: &str| {
        let head = id.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned();
        let number = id[head.len()..].parse::<u64>().ok()?;
        Some((head, number))
    };
    let (Some((one, before)), Some((next, after))) = (split(one), split(next)) else {
        return false;
    };
    one == next && before.abs_diff(after) <= APART
}

steps!(no_version, stage => {
    let talk = in_session(stage).await?;
    let reply = talk.http(built(&talk)?.without("MCP-Protocol-Version")).await?;
    not_ours(stage, &talk, &reply, "a request without a version header");
    if reply.status == 400 {
        let message = "a request of a session without a version header got the status 400";
        let help = "use the negotiated version of the session";
        stage.fail(&behaviour::VERSION_HEADER_REQUIRED, &talk, reply.line, message, help);
    }
});

#[cfg(test)]
mod tests {
    use super::counts_up;

    #[test]
    fn only_counters_are_predictable() {
        assert!(counts_up("41", "42"));
        assert!(counts_up("session-0009", "session-0010"));
        for (one, next) in [
            ("1868a90c-3b4f-4e6b-9a55-2f6f5d1c7e10", "0b1d6f4e-94ab-4f57-8f0e-6c7f8d1c7e11"),
            ("4182", "90133"),
            ("abc", "abd"),
        ] {
            assert!(!counts_up(one, next), "{one} {next}");
        }
    }
}
