//! The server process that a client starts: it only relays to the test.
//!
//! The process connects back and sends its token. Then each side sends frames: a type byte, the
//! length as four bytes, and the payload. This way the end of standard input can be distinguished
//! from the end of the process.

use std::{
    ffi::OsString,
    hash::{BuildHasher as _, RandomState},
    io::{self, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpStream as BlockingStream},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinSet,
};

use super::{
    lines::Lines,
    outlet::{Out, Outlet},
};
use crate::{WireKind, client::play::Plays};

const OUTPUT: u8 = b'o';
const ERROR: u8 = b'e';
const INPUT: u8 = b'i';
const INPUT_ENDED: u8 = b'z';
/// Maximum size of a frame.
const FRAME: usize = 64 << 10;
const TOKEN: usize = 32;
/// Time limit for sending the token.
const INTRODUCTION: Duration = Duration::from_secs(10);

/// The address that server processes connect to.
#[derive(Debug)]
pub(super) struct Address {
    address: SocketAddr,
    token: String,
}

impl Address {
    /// The arguments for [`relay`].
    pub(super) fn words(&self) -> [OsString; 2] {
        [self.address.to_string().into(), self.token.clone().into()]
    }
}

/// Listens for server processes.
pub(super) async fn listen(
    plays: Arc<Plays>,
) -> io::Result<(Address, impl Future<Output = ()> + Send + 'static)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    // Other programs on this machine must not impersonate the client.
    let random = || RandomState::new().hash_one(0);
    let token = format!("{:016x}{:016x}", random(), random());
    let address = Address { address: listener.local_addr()?, token: token.clone() };
    let serving = async move {
        let mut talks = JoinSet::new();
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            while talks.try_join_next().is_some() {}
            talks.spawn(admit(stream, token.clone(), Arc::clone(&plays)));
        }
    };
    Ok((address, serving))
}

async fn admit(mut stream: TcpStream, token: String, plays: Arc<Plays>) {
    let mut named = [0; TOKEN];
    let introduction = tokio::time::timeout(INTRODUCTION, stream.read_exact(&mut named)).await;
    if matches!(introduction, Ok(Ok(_))) && named == token.as_bytes() {
        talk(stream, plays).await;
    }
}

async fn talk(stream: TcpStream, plays: Arc<Plays>) {
    // Messages are small, and latency matters.
    let _ = stream.set_nodelay(true);
    let play = plays.begin(WireKind::Stdio);
    let (mut input, mut output) = stream.into_split();
    let (sender, mut out) = mpsc::channel(64);
    let mut lines = Lines::new(Arc::clone(&play), Outlet::lines(sender));
    let writing = async {
        while let Some(out) = out.recv().await {
            let (kind, bytes) = match &out {
                Out::Output(bytes) => (OUTPUT, bytes),
                Out::Error(bytes) => (ERROR, bytes),
            };
            for part in bytes.chunks(FRAME) {
                if output.write_all(&framed(kind, part)).await.is_err() {
                    break;
                }
            }
        }
        std::future::pending::<()>().await;
    };
    let reading = async {
        let mut frame = Vec::new();
        loop {
            match read_frame(&mut input, &mut frame).await {
                Ok(INPUT) => {
                    if !lines.take(&frame) {
                        return true;
                    }
                }
                Ok(INPUT_ENDED) => {
                    lines.end();
                    return true;
                }
                Ok(_) | Err(_) => return false,
            }
        }
    };
    let ended_in_order = tokio::select! {
        () = writing => true,
        in_order = reading => in_order,
        () = play.cut() => true,
    };
    play.close(!ended_in_order);
}

async fn read_frame(
    input: &mut (impl tokio::io::AsyncRead + Unpin),
    frame: &mut Vec<u8>,
) -> io::Result<u8> {
    let mut head = [0; 5];
    input.read_exact(&mut head).await?;
    frame.resize(length_of(head)?, 0);
    input.read_exact(frame).await?;
    Ok(head[0])
}

fn length_of(head: [u8; 5]) -> io::Result<usize> {
    let [_, length @ ..] = head;
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
    if length > FRAME {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(length)
}

fn framed(kind: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let mut frame = vec![kind];
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(bytes);
    frame
}

/// Runs as the server that a client starts: relays standard input to the test at `address`, and its
/// output to standard output and standard error. Ends when either side does.
///
/// # Errors
///
/// If the test cannot be reached.
pub fn relay(address: &str, token: &str) -> io::Result<()> {
    let mut stream = BlockingStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.write_all(token.as_bytes())?;
    let mut to_test = stream.try_clone()?;
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        let mut chunk = vec![0; FRAME];
        while let Ok(length @ 1..) = input.read(&mut chunk) {
            if to_test.write_all(&framed(INPUT, &chunk[..length])).is_err() {
                break;
            }
        }
        // The test then closes the connection, which ends the process.
        let _ = to_test.write_all(&framed(INPUT_ENDED, &[]));
    });
    let mut frame = Vec::new();
    loop {
        let mut head = [0; 5];
        if stream.read_exact(&mut head).is_err() {
            return Ok(());
        }
        frame.resize(length_of(head)?, 0);
        if stream.read_exact(&mut frame).is_err() {
            return Ok(());
        }
        // It does not matter if the client does not read.
        let _ = match head[0] {
            OUTPUT => io::stdout().write_all(&frame).and_then(|()| io::stdout().flush()),
            ERROR => io::stderr().write_all(&frame),
            _ => Ok(()),
        };
    }
}
