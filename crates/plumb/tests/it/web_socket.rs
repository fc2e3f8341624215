//! A plain WebSocket, for both ends.

use std::{
    io::Write as _,
    net::{Shutdown, TcpStream},
    time::Duration,
};

use tokio_tungstenite::tungstenite::{Message, WebSocket, accept, client};

/// Longer than anything takes; only a proxy that hangs is caught by it.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Socket {
    socket: WebSocket<TcpStream>,
    /// Clients mask their frames.
    is_client: bool,
}

impl Socket {
    /// Connects to an address.
    pub(crate) fn open(address: &str) -> Socket {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = client(format!("ws://{address}/mcp"), stream).unwrap();
        Socket { socket, is_client: true }
    }

    /// Takes a client; `None` if that leaves before it is one.
    pub(crate) fn accept(stream: TcpStream) -> Option<Socket> {
        Some(Socket { socket: accept(stream).ok()?, is_client: false })
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.write(&self.frame(text));
    }

    /// The next text; `None` if there is none any more.
    pub(crate) fn hear(&mut self) -> Option<String> {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => return Some(text.to_string()),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// The code that the other side closes the connection with.
    pub(crate) fn close_code(&mut self) -> Option<u16> {
        match self.socket.read() {
            Ok(Message::Close(frame)) => frame.map(|frame| frame.code.into()),
            Ok(other) => panic!("{other:?}"),
            Err(_) => None,
        }
    }

    /// The bytes of a text.
    pub(crate) fn frame(&self, text: &str) -> Vec<u8> {
        let mask = if self.is_client { 0x80 } else { 0 };
        let mut frame = vec![0x81];
        match text.len() {
            length @ 0..=125 => frame.push(mask | u8::try_from(length).unwrap()),
            length => {
                frame.push(mask | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        if self.is_client {
            // It changes nothing.
            frame.extend([0; 4]);
        }
        frame.extend(text.as_bytes());
        frame
    }

    /// Sends bytes as they are, if the other side still takes them.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let _ = self.socket.get_mut().write_all(bytes);
    }

    /// Ends the connection without a word.
    pub(crate) fn kill(self) {
        let _ = self.socket.get_ref().shutdown(Shutdown::Both);
    }
}
