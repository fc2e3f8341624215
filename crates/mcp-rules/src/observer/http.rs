//! Lines carried over HTTP.

use mcp_core::Side;
use mcp_json::{Node, SyntaxError};

use super::{Judged, Observer, Routed};
use crate::{
    Carrier, Content, Findings, Followed, FollowedHttp, HttpEvent, HttpPart, ReadLine, Record,
    Session,
    http::CarriedMessage,
    http_traffic::{Meant, claims_json_rpc, is_receipt},
};

/// A line that belongs to an exchange.
pub(super) struct HttpLine<'r> {
    record: &'r Record<'r>,
    event: HttpEvent<'r>,
    /// The parsed text of the record.
    value: Option<Result<Node<'r>, SyntaxError>>,
    single: Option<&'r CarriedMessage<'r>>,
    /// Whether it shows any HTTP besides the end of a stream.
    has_part: bool,
    ends: bool,
}

impl<'r> HttpLine<'r> {
    /// Returns `None` if the line shows nothing of HTTP; it may still hold a message.
    pub(super) fn of(
        number: u64,
        record: &'r Record<'r>,
        line: &ReadLine<'r>,
    ) -> Option<HttpLine<'r>> {
        let http = record.http.as_deref()?;
        let mut event = http.event(record.from)?;
        event.line = Some(number);
        event.millis = record.millis;
        let has_part = http.part().is_some();
        let (value, single) = (line.value, line.single);
        Some(HttpLine { record, event, value, single, has_part, ends: http.ends })
    }

    fn number(&self) -> u64 {
        self.event.line.unwrap_or_default()
    }

    /// What its text is meant to be. A body that the recorder did not take for a message may be one
    /// if it answers one.
    fn meant(&self, session: &Session) -> Meant {
        if matches!(self.record.content, Content::Body) {
            let exchange = session.exchange(self.event.exchange);
            let answers = self.record.from == Side::Server
                && exchange.is_some_and(|exchange| !exchange.posted.is_empty());
            let is_request = matches!(self.event.part, HttpPart::Request { .. });
            if is_request || !answers {
                return Meant::Other;
            }
        }
        Meant::of(&self.event, session)
    }
}

impl Observer<'_> {
    /// Follows a line carried over HTTP: its message, and the HTTP around it.
    pub(super) fn follow_http(
        &mut self,
        line: &HttpLine<'_>,
        text: &[u8],
        judged: &mut Vec<Judged>,
    ) -> Routed {
        self.kept.is_trace = true;
        let record = line.record;
        if let Some(sent) = record.text() {
            return self.follow_http_text(line, sent, judged);
        }
        let Content::Message(message) = record.content else {
            self.turn_to(line);
            self.follow_event(line, &line.event, Meant::Other, text, judged);
            return Routed::Done;
        };
        if self.is_too_long(line.number(), Some(record.from), message, judged) {
            return Routed::Done;
        }
        let session = self.turn_to(line);
        if is_receipt(&line.event, session) && !claims_json_rpc(message) {
            let event = line.event.with_body(message.raw());
            self.follow_event(line, &event, Meant::Either, text, judged);
            return Routed::Done;
        }
        self.kept.messages += 1;
        let event = line.event.with_read(message, line.single);
        match self.follow_event(line, &event, Meant::Message, message.raw(), judged) {
            Some(followed) => Routed::Judge(self.compare_versions(line.number(), followed)),
            None => Routed::Done,
        }
    }

    /// The session of a line, prepared for lookups of the line's exchange.
    fn turn_to(&mut self, line: &HttpLine<'_>) -> &mut Session {
        let name = &line.record.session;
        let conversation = self.kept.conversations.named(name, self.engine, self.kept.info);
        conversation.session.turn_to_exchange(line.event.exchange);
        &mut conversation.session
    }

    /// Records the line as `event`, after [`Self::turn_to`] has selected its session. Reports faults that
    /// need no message.
    fn follow_event(
        &mut self,
        line: &HttpLine<'_>,
        event: &HttpEvent<'_>,
        meant: Meant,
        text: &[u8],
        judged: &mut Vec<Judged>,
    ) -> Option<Followed> {
        let engine = self.engine;
        let session = &mut self.kept.conversations.last().session;
        let mut followed = if line.has_part {
            engine.follow_http_event(session, event, meant)
        } else {
            let message = engine.follow_message(session, event);
            FollowedHttp::of_message(message, session.revision_of(event.exchange).0)
        };
        if line.ends {
            let end =
                HttpEvent { part: HttpPart::End, message: None, body: None, error: None, ..*event };
            followed.append(engine.follow_http_event(session, &end, Meant::Other));
        }
        if followed.message.is_none() && followed.has_notes() {
            let mut findings = Findings::new(self.engine.settings());
            self.engine.judge_http(event, &followed, &mut findings);
            self.keep(text, findings, judged);
        }
        followed.message
    }

    /// Follows a body, or the data of an event, that was recorded as text.
    fn follow_http_text(
        &mut self,
        line: &HttpLine<'_>,
        text: &[u8],
        judged: &mut Vec<Judged>,
    ) -> Routed {
        let (number, record) = (line.number(), line.record);
        let meant = line.meant(self.turn_to(line));
        let mut event = line.event.with_body(text);
        if meant == Meant::Other || text.is_empty() && record.carrier == Carrier::SseEvent {
            self.follow_event(line, &event, meant, text, judged);
            return Routed::Done;
        }
        let text = self.without_mark(number, Some(record.from), text, judged);
        event = event.with_body(text);
        match line.value {
            Some(Ok(message)) if meant.includes(message, &line.event) => {
                self.kept.messages += 1;
                event = event.with_read(message, line.single);
            }
            Some(Err(error)) => {
                self.kept.messages += u64::from(meant == Meant::Message);
                event = event.with_unreadable(text, error);
            }
            Some(Ok(_)) | None => {}
        }
        match self.follow_event(line, &event, meant, text, judged) {
            Some(followed) => Routed::Judge(self.compare_versions(number, followed)),
            None => Routed::Done,
        }
    }
}
