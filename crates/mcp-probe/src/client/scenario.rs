use mcp_core::Revisions;
use mcp_rules::RuleMeta;

use super::{
    act::Act, cue::Cue, judge::Verdicts, overview::NormalBehaviour, scenario_run::ScenarioRun,
};
use crate::WireKind;

/// A test scenario: what the server does differently from a plain one, and what is expected of the
/// client.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// A stable name in lower case, with `/` between the group and the rest: `requests/ping`.
    pub(crate) name: &'static str,
    /// What the server does, as one line without a full stop.
    pub(crate) about: &'static str,
    /// The revisions that it applies to.
    pub(crate) revisions: Revisions,
    /// The transports that it applies to.
    pub(crate) wires: &'static [WireKind],
    /// Whether it runs at every revision that the client speaks, rather than at the newest of each
    /// era.
    pub(crate) everywhere: bool,
    /// What the client must normally do for it to run; otherwise it is skipped.
    pub(crate) needs: Needs,
    /// How the server answers over HTTP.
    pub(crate) manner: Manner,
    /// The acts for a cue; `None` for those of a plain server.
    pub(crate) script: fn(&Cue<'_>) -> Option<Vec<Act>>,
    /// Whether there is a script; if not, only the manner differs.
    pub(crate) is_scripted: bool,
    /// What is expected of the client.
    pub(crate) expect: Expect,
    /// The scenario whose failure would explain a failure of this one; empty if there is none.
    pub(crate) after: &'static str,
    /// Rules whose findings are due to the script.
    pub(crate) pardons: &'static [&'static str],
    /// Further checks.
    pub(crate) judge: fn(&ScenarioRun, &NormalBehaviour, &mut Verdicts<'_>),
}

/// What is expected of the client.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Expect {
    /// It continues as usual; otherwise it breaks this rule.
    Same(&'static RuleMeta),
    /// It must neither crash nor hang.
    Survive,
    /// It must not crash.
    Anything,
}

/// What a scenario requires of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing.
    Nothing,
    /// A request after the opening; over stdio, the handshake is enough.
    Chance,
    /// A request after the opening.
    Request,
    /// A request with this method.
    Method(&'static str),
    /// A request with a progress token.
    Progress,
    /// A GET for a stream.
    Get,
    /// To have a session with the server.
    Session,
    /// To start the server as a process.
    OwnServer,
    /// To call a tool and declare this capability.
    ToolAnd(&'static str),
    /// To declare this capability.
    With(&'static str),
    /// Not to declare this capability.
    Without(&'static str),
}

/// How the server answers over HTTP.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a habit of its own")]
pub(crate) struct Manner {
    /// Whether it assigns sessions.
    pub(crate) has_sessions: bool,
    /// Whether it answers with event streams even for a single message.
    pub(crate) streams: bool,
    /// Whether its event streams begin with an event that only has an id, for resumption.
    pub(crate) primes: bool,
    /// Whether its event streams use every feature of the format.
    pub(crate) is_ornate: bool,
    /// Whether content types have a `charset` parameter.
    pub(crate) has_charset: bool,
    /// Whether it offers a GET stream.
    pub(crate) has_get: bool,
}

impl Manner {
    pub(crate) const PLAIN: Manner = Manner {
        has_sessions: true,
        streams: true,
        primes: false,
        is_ornate: false,
        has_charset: false,
        has_get: true,
    };
}

const WIRES: &[WireKind] = &[WireKind::Stdio, WireKind::Http];

impl Scenario {
    /// A scenario with a plain server, for all revisions and transports.
    pub(crate) const fn new(name: &'static str, about: &'static str) -> Scenario {
        Scenario {
            name,
            about,
            revisions: Revisions::ALL,
            wires: WIRES,
            everywhere: false,
            needs: Needs::Nothing,
            manner: Manner::PLAIN,
            script: |_| None,
            is_scripted: false,
            expect: Expect::Anything,
            after: "",
            pardons: &[],
            judge: |_, _, _| {},
        }
    }

    pub(crate) const fn at(mut self, revisions: Revisions) -> Scenario {
        self.revisions = revisions;
        self
    }

    pub(crate) const fn over(mut self, wires: &'static [WireKind]) -> Scenario {
        self.wires = wires;
        self
    }

    pub(crate) const fn everywhere(mut self) -> Scenario {
        self.everywhere = true;
        self
    }

    pub(crate) const fn needing(mut self, needs: Needs) -> Scenario {
        self.needs = needs;
        self
    }

    pub(crate) const fn in_manner(mut self, manner: Manner) -> Scenario {
        self.manner = manner;
        self
    }

    pub(crate) const fn script(mut self, script: fn(&Cue<'_>) -> Option<Vec<Act>>) -> Scenario {
        self.script = script;
        self.is_scripted = true;
        self
    }

    pub(crate) const fn expecting(mut self, expect: Expect) -> Scenario {
        self.expect = expect;
        self
    }

    pub(crate) const fn unless_failed(mut self, name: &'static str) -> Scenario {
        self.after = name;
        self
    }

    pub(crate) const fn pardoning(mut self, rules: &'static [&'static str]) -> Scenario {
        self.pardons = rules;
        self
    }

    pub(crate) const fn judged_by(
        mut self,
        judge: fn(&ScenarioRun, &NormalBehaviour, &mut Verdicts<'_>),
    ) -> Scenario {
        self.judge = judge;
        self
    }
}
