use mcp_core::Revisions;
use mcp_rules::RuleMeta;

use super::{act::Act, cue::Cue, judge::Verdicts, met::Met, visit::Visit};
use crate::WireKind;

/// What a server does that a plain one does not, and what a client must make of it.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// Stable; lower case, with `/` between family and the rest: `requests/ping`.
    pub(crate) name: &'static str,
    /// What it finds out, as one line without a full stop.
    pub(crate) about: &'static str,
    /// The revisions at which it makes sense.
    pub(crate) revisions: Revisions,
    /// The transports over which it does.
    pub(crate) wires: &'static [WireKind],
    /// Whether it runs at every revision that the client speaks, rather than at the newest of each
    /// era.
    pub(crate) everywhere: bool,
    /// What the client must do when nothing is unusual, else it is skipped.
    pub(crate) needs: Needs,
    /// How the server answers over HTTP.
    pub(crate) manner: Manner,
    /// The acts at a cue; `None` for those of a plain server.
    pub(crate) script: fn(&Cue<'_>) -> Option<Vec<Act>>,
    /// Whether the script does something; else only the manner differs.
    pub(crate) is_scripted: bool,
    /// What must become of the client.
    pub(crate) expect: Expect,
    /// The scenario whose failure explains that of this one; empty if there is none.
    pub(crate) after: &'static str,
    /// Rules that are broken because of the script.
    pub(crate) pardons: &'static [&'static str],
    /// What else is to be judged.
    pub(crate) judge: fn(&Visit, &Met, &mut Verdicts<'_>),
}

/// What must become of the client.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Expect {
    /// It goes on as if nothing had happened, else this rule is broken.
    Same(&'static RuleMeta),
    /// It neither crashes nor hangs.
    Survive,
    /// It does not crash.
    Anything,
}

/// What a scenario needs of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing.
    Nothing,
    /// A request after the opening; over standard streams a handshake will do.
    Chance,
    /// A request after the opening.
    Request,
    /// A request with this method.
    Method(&'static str),
    /// A request under whose token progress can be reported.
    Progress,
    /// A GET for a stream.
    Get,
    /// To have a session with the server.
    Session,
    /// To start the server as a process of its own.
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
    /// Whether it answers with event streams even if there is only the answer.
    pub(crate) streams: bool,
    /// Whether its event streams begin with an id to be resumed from.
    pub(crate) primes: bool,
    /// Whether its event streams use everything that the standard allows.
    pub(crate) is_ornate: bool,
    /// Whether content types have a parameter.
    pub(crate) has_charset: bool,
    /// Whether there is a stream to GET.
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
    /// A scenario like a plain server, for all revisions and transports.
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
        judge: fn(&Visit, &Met, &mut Verdicts<'_>),
    ) -> Scenario {
        self.judge = judge;
        self
    }
}
