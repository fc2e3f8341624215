//! Messages as bytes: the JSON-RPC envelope in the two spellings that are common on the wire.

use mcp_core::Side;

use super::json::Json;
use super::rng::Rng;

/// One message with what an observer knows in addition to its bytes.
#[derive(Debug, Clone)]
pub struct Message {
    /// The text, without a line ending.
    pub bytes: Vec<u8>,
    /// The sender.
    pub from: Side,
    /// For a response, the method of the request it answers.
    pub answers: Option<&'static str>,
}

/// A request and its response.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The sender of the request.
    pub from: Side,
    /// The method of the request.
    pub method: &'static str,
    /// The params of the request.
    pub params: Option<Json>,
    /// The response.
    pub answer: Answer,
}

/// The two kinds of response.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Answer {
    Result(Json),
    Error { code: i64, message: String },
}

/// A notification.
#[derive(Debug, Clone)]
pub struct Notice {
    /// The sender.
    pub from: Side,
    /// The method.
    pub method: &'static str,
    /// The params.
    pub params: Option<Json>,
}

/// The order in which a program writes the members of the envelope.
#[derive(Debug, Clone, Copy)]
pub enum Spelling {
    /// `jsonrpc`, `id`, `method`, `params`.
    VersionFirst,
    /// `method`, `params`, `jsonrpc`, `id`: as by a program that completes a partial message.
    PayloadFirst,
}

impl Spelling {
    /// Picks one at random.
    pub fn any(rng: &mut Rng) -> Spelling {
        if rng.chance(50) { Spelling::VersionFirst } else { Spelling::PayloadFirst }
    }

    fn spell(self, id: Option<&Json>, payload: Vec<(&'static str, Json)>) -> Vec<u8> {
        let mut head = vec![("jsonrpc", Json::from("2.0"))];
        head.extend(id.map(|id| ("id", id.clone())));
        let members = match self {
            Spelling::VersionFirst => head.into_iter().chain(payload),
            Spelling::PayloadFirst => payload.into_iter().chain(head),
        };
        let members = members.map(|(name, value)| (name.into(), value)).collect();
        Json::Object(members).to_text().into_bytes()
    }
}

impl Exchange {
    /// Adds a progress token to the request, if it has params.
    pub fn expect_progress(&mut self, token: &Json) {
        let meta = Json::object([("progressToken", token.clone())]);
        self.params = self.params.take().map(|params| params.with("_meta", meta));
    }

    /// The request alone.
    pub fn request(&self, spelling: Spelling, id: &Json) -> Message {
        let bytes = spelling.spell(Some(id), call(self.method, self.params.as_ref()));
        Message { bytes, from: self.from, answers: None }
    }

    /// The response alone.
    pub fn response(&self, spelling: Spelling, id: &Json) -> Message {
        let payload = match &self.answer {
            Answer::Result(result) => ("result", result.clone()),
            Answer::Error { code, message } => (
                "error",
                Json::object([("code", (*code).into()), ("message", message.as_str().into())]),
            ),
        };
        let bytes = spelling.spell(Some(id), vec![payload]);
        Message { bytes, from: self.from.other(), answers: Some(self.method) }
    }
}

impl Notice {
    /// The message.
    pub fn message(&self, spelling: Spelling) -> Message {
        let bytes = spelling.spell(None, call(self.method, self.params.as_ref()));
        Message { bytes, from: self.from, answers: None }
    }
}

fn call(method: &'static str, params: Option<&Json>) -> Vec<(&'static str, Json)> {
    let mut payload = vec![("method", Json::from(method))];
    payload.extend(params.map(|params| ("params", params.clone())));
    payload
}

#[cfg(test)]
mod tests {
    use mcp_core::Side;

    use super::{Answer, Exchange, Json, Spelling};

    #[test]
    fn both_spellings_hold_the_same_members() {
        let exchange = Exchange {
            from: Side::Client,
            method: "ping",
            params: None,
            answer: Answer::Result(Json::object([])),
        };
        let id = Json::from(7_i64);
        let request = exchange.request(Spelling::VersionFirst, &id);
        let response = exchange.response(Spelling::PayloadFirst, &id);
        assert_eq!(request.bytes, br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#);
        assert_eq!(response.bytes, br#"{"result":{},"jsonrpc":"2.0","id":7}"#);
        assert_eq!((response.from, response.answers), (Side::Server, Some("ping")));
    }
}
