//! Load over WebSocket.

use std::{io, net::TcpStream, time::Instant};

use tungstenite::{ClientRequestBuilder, Message, WebSocket, client, http::Uri};

use crate::{INITIALIZE, INITIALIZED, call, is_right, sample::Sample};

/// A session with a server over a WebSocket.
#[derive(Debug)]
pub struct WsLoad {
    socket: WebSocket<TcpStream>,
    next: u64,
}

impl WsLoad {
    /// Connects and opens a session.
    ///
    /// # Errors
    ///
    /// If the server does not answer.
    pub fn open(address: &str) -> io::Result<WsLoad> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let uri: Uri = format!("ws://{address}/").parse().map_err(io::Error::other)?;
        let request = ClientRequestBuilder::new(uri).with_sub_protocol("mcp");
        let (socket, _) =
            client(request, stream).map_err(|error| io::Error::other(error.to_string()))?;
        let mut load = WsLoad { socket, next: 1 };
        load.send(INITIALIZE)?;
        load.socket.read().map_err(io::Error::other)?;
        load.send(INITIALIZED)?;
        Ok(load)
    }

    /// Sends `count` calls, `window` of them in flight.
    ///
    /// # Errors
    ///
    /// If an answer is missing or wrong.
    pub fn round(&mut self, count: usize, window: usize) -> io::Result<Sample> {
        let mut sent = std::collections::VecDeque::new();
        let mut sample = Sample::default();
        let start = Instant::now();
        for _ in 0..window.min(count) {
            self.call()?;
            sent.push_back(Instant::now());
        }
        let mut asked = sent.len();
        while sample.latencies.len() < count {
            let message = self.socket.read().map_err(io::Error::other)?;
            let Message::Text(text) = message else { continue };
            if !is_right(text.as_bytes()) {
                return Err(io::Error::other(format!("a wrong answer: {text}")));
            }
            // The echo server answers in order.
            sample.latencies.extend(sent.pop_front().map(|asked| asked.elapsed()));
            if asked < count {
                self.call()?;
                sent.push_back(Instant::now());
                asked += 1;
            }
        }
        sample.took = start.elapsed();
        Ok(sample)
    }

    fn call(&mut self) -> io::Result<()> {
        let id = self.next;
        self.next += 1;
        self.send(&call(id))
    }

    fn send(&mut self, text: &str) -> io::Result<()> {
        self.socket.send(Message::text(text)).map_err(io::Error::other)
    }
}
