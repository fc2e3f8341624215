use serde_json::Value;

use super::{
    Client, Got, INITIALIZE, INITIALIZED,
    fate::{Fate, Hand, Plan},
};
use crate::web_socket::Socket;

/// Sends requests over one WebSocket after the other.
pub(super) struct WebSocketClient {
    address: String,
    socket: Option<Socket>,
    /// Whether every conversation has to be opened.
    initializes: bool,
}

impl WebSocketClient {
    pub(super) fn new(address: &str, initializes: bool) -> WebSocketClient {
        WebSocketClient { address: address.to_owned(), socket: None, initializes }
    }

    fn open(&self) -> Socket {
        let mut socket = Socket::open(&self.address);
        if self.initializes {
            socket.say(INITIALIZE);
            socket.hear().expect("the server agrees");
            socket.say(INITIALIZED);
        }
        socket
    }
}

impl Client for WebSocketClient {
    fn exchange(&mut self, plan: &Plan) -> Got {
        let mut socket = self.socket.take().unwrap_or_else(|| self.open());
        let frame = socket.frame(&plan.request());
        if let Fate::Killed(Hand::Client, place) = plan.fate {
            let part = frame.len() * usize::try_from(place).unwrap() / 1000;
            let part = if plan.while_sending { part } else { frame.len() };
            socket.write(&frame[..part]);
            // At once, or in the middle of the answer.
            if !plan.while_sending && place % 2 == 0 {
                socket.hear();
            }
            socket.kill();
            return Got::default();
        }
        socket.write(&frame);
        let mut got = Got { status: Some(200), ..Got::default() };
        while !got.is_whole
            && let Some(text) = socket.hear()
        {
            let message: Value = serde_json::from_str(&text).unwrap();
            got.is_whole = message.get("method").is_none();
            got.messages.push(message);
        }
        if plan.fate == Fate::Whole {
            self.socket = Some(socket);
        }
        got
    }
}
