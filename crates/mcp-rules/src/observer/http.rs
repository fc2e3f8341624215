//! Lines that travelled over HTTP.

use mcp_json::Node;

use super::{Judged, Observer, Routed};
use crate::{
    Carrier, Content, Findings, Followed, Record,
    carried::{Carried, HttpLine, Meant, claims_json_rpc},
    findings::Scene,
};

impl Observer<'_> {
    /// A line that travelled over HTTP: its message, and what HTTP shows beside it.
    pub(super) fn follow_http(
        &mut self,
        number: u64,
        record: &Record<'_>,
        line: &HttpLine<'_>,
        text: &[u8],
        judged: &mut Vec<Judged>,
    ) -> Routed {
        self.is_trace = true;
        let name = record.session.and_then(Node::str_bytes).unwrap_or_default();
        let body = record.http.and_then(|http| http.get("body")).and_then(Node::str_bytes);
        let carried = Carried {
            from: record.from,
            at: record.moment(number),
            message: None,
            body: body.as_deref(),
        };
        let message = match &record.content {
            Content::Message(message) => *message,
            Content::Nothing => {
                self.follow_carried(carried, &name, line, text, judged);
                return Routed::Done;
            }
            Content::Raw(bytes) | Content::Body(bytes) => {
                self.follow_http_text(carried, &name, record, line, bytes, judged);
                return Routed::Done;
            }
        };
        if self.is_too_long(number, Some(record.from), message, judged) {
            return Routed::Done;
        }
        let session = &self.conversations.named(&name, self.engine, self.origin).session;
        if line.is_receipt(session) && !claims_json_rpc(message) {
            let carried = Carried { body: Some(message.raw()), ..carried };
            self.follow_carried(carried, &name, line, text, judged);
            return Routed::Done;
        }
        self.messages += 1;
        let carried = Carried { message: Some(message), ..carried };
        match self.follow_carried(carried, &name, line, message.raw(), judged) {
            Some(followed) => Routed::Judge(self.compare_versions(number, followed)),
            None => Routed::Done,
        }
    }

    fn follow_carried(
        &mut self,
        carried: Carried<'_>,
        name: &[u8],
        line: &HttpLine<'_>,
        text: &[u8],
        judged: &mut Vec<Judged>,
    ) -> Option<Followed> {
        let session = &mut self.conversations.named(name, self.engine, self.origin).session;
        let (followed, notes) = carried.follow(line, self.engine, session);
        let revision = session
            .revision_of_exchange(line.exchange())
            .map_or_else(|| session.revision().0, |(revision, _)| revision);
        let mut findings = Findings::new(self.engine.settings());
        *findings.scene() = Scene {
            from: Some(carried.from),
            revision: Some(revision),
            line: carried.at.line,
            ..Scene::default()
        };
        notes.report(true, &mut findings);
        self.keep(text, findings, judged);
        followed
    }

    /// A body or the data of an event that was recorded as text: parsed and judged on the spot.
    fn follow_http_text(
        &mut self,
        carried: Carried<'_>,
        name: &[u8],
        record: &Record<'_>,
        line: &HttpLine<'_>,
        text: &[u8],
        judged: &mut Vec<Judged>,
    ) {
        let number = carried.at.line.unwrap_or_default();
        let body = Carried { body: Some(text), ..carried };
        let session = &self.conversations.named(name, self.engine, self.origin).session;
        let meant = line.meant(record, session);
        if meant == Meant::Other {
            self.follow_carried(body, name, line, text, judged);
            return;
        }
        if text.is_empty() && record.carrier == Carrier::SseEvent {
            let fault = line.empty_data(session).filter(|_| meant == Meant::Message);
            self.follow_carried(body, name, line, text, judged);
            if let Some(fault) = fault {
                self.report_from(number, Some(record.from), text, fault, judged);
            }
            return;
        }
        let text = self.without_mark(number, Some(record.from), text, judged);
        let mut tape = std::mem::take(&mut self.tape);
        match tape.parse(text, self.engine.settings().limits.json()) {
            // Whoever refuses a request need not speak JSON-RPC: OAuth has errors of its own.
            Ok(document)
                if (line.is_refusal() || meant == Meant::Either)
                    && !claims_json_rpc(document.root()) =>
            {
                self.follow_carried(body, name, line, text, judged);
            }
            Ok(document) => {
                self.messages += 1;
                let message = document.root();
                let carried = Carried { message: Some(message), ..body };
                if let Some(followed) = self.follow_carried(carried, name, line, text, judged) {
                    let followed = self.compare_versions(number, followed);
                    let mut findings = Findings::new(self.engine.settings());
                    findings.set_line(number);
                    self.engine.judge(message, &followed, &mut findings);
                    self.keep(text, findings, judged);
                }
            }
            Err(_) if meant == Meant::Either => {
                self.follow_carried(body, name, line, text, judged);
            }
            Err(_) => {
                self.follow_carried(body, name, line, text, judged);
                let mut conversation = self.conversations.take(name, self.engine, self.origin);
                let session = &mut conversation.session;
                self.judge_text(number, record.carrier, session, Some(record.from), text, judged);
                self.conversations.put_back(name, conversation);
            }
        }
        self.tape = tape;
    }
}
