use std::{
    fmt, io,
    pin::Pin,
    task::{Context, Poll},
};

#[cfg(unix)]
use tokio::io::Interest;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, Stdin, Stdout};
#[cfg(unix)]
use tokio::net::{
    UnixStream,
    unix::pipe::{Receiver, Sender},
};

/// This process's standard input.
pub struct ServerInput(Input);

/// This process's standard output.
pub struct ServerOutput(Output);

enum Input {
    #[cfg(unix)]
    Pipe(Receiver),
    #[cfg(unix)]
    Socket(UnixStream),
    Other(Stdin),
}

enum Output {
    #[cfg(unix)]
    Pipe(Sender),
    #[cfg(unix)]
    Socket(UnixStream),
    Other(Stdout),
}

impl ServerInput {
    pub(super) fn open() -> Self {
        #[cfg(unix)]
        if let Some(descriptor) = unix::private_descriptor(&io::stdin()) {
            if let Some(socket) = unix::socket(&descriptor) {
                return ServerInput(Input::Socket(socket));
            }
            if let Ok(pipe) = Receiver::from_owned_fd(descriptor) {
                return ServerInput(Input::Pipe(pipe));
            }
        }
        ServerInput(Input::Other(tokio::io::stdin()))
    }
}

impl ServerOutput {
    pub(super) fn open() -> Self {
        #[cfg(unix)]
        if let Some(descriptor) = unix::private_descriptor(&io::stdout()) {
            if let Some(socket) = unix::socket(&descriptor) {
                return ServerOutput(Output::Socket(socket));
            }
            if let Ok(pipe) = Sender::from_owned_fd(descriptor) {
                return ServerOutput(Output::Pipe(pipe));
            }
        }
        ServerOutput(Output::Other(tokio::io::stdout()))
    }
}

/// Completes when standard output is a pipe that nobody reads any more.
pub(super) async fn output_unread() {
    #[cfg(unix)]
    if let Some(descriptor) = unix::private_descriptor(&io::stdout())
        && let Ok(pipe) = Sender::from_owned_fd(descriptor)
        && pipe.ready(Interest::ERROR).await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

#[cfg(unix)]
mod unix {
    use std::{
        fs::{File, Metadata},
        io,
        os::{
            fd::{AsFd, OwnedFd},
            unix::fs::{FileTypeExt, MetadataExt},
        },
    };

    use tokio::net::UnixStream;

    /// A descriptor that may be made non-blocking: a pipe or socket not shared with standard error.
    /// Otherwise writing logs would fail when the pipe is full, and panic.
    pub(super) fn private_descriptor(stream: &impl AsFd) -> Option<OwnedFd> {
        let (descriptor, metadata) = examine(stream).ok()?;
        let kind = metadata.file_type();
        if !kind.is_fifo() && !kind.is_socket() {
            return None;
        }
        let is_shared = match examine(&io::stderr()) {
            Ok((_, other)) => other.dev() == metadata.dev() && other.ino() == metadata.ino(),
            Err(_) => false,
        };
        (!is_shared).then_some(descriptor)
    }

    pub(super) fn socket(descriptor: &OwnedFd) -> Option<UnixStream> {
        let stream = std::os::unix::net::UnixStream::from(descriptor.try_clone().ok()?);
        // Fails for anything but a Unix socket.
        stream.local_addr().ok()?;
        stream.set_nonblocking(true).ok()?;
        UnixStream::from_std(stream).ok()
    }

    fn examine(stream: &impl AsFd) -> io::Result<(OwnedFd, Metadata)> {
        let file = File::from(stream.as_fd().try_clone_to_owned()?);
        let metadata = file.metadata()?;
        Ok((file.into(), metadata))
    }
}

impl AsyncRead for ServerInput {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            #[cfg(unix)]
            Input::Pipe(stream) => Pin::new(stream).poll_read(context, buffer),
            #[cfg(unix)]
            Input::Socket(stream) => Pin::new(stream).poll_read(context, buffer),
            Input::Other(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for ServerOutput {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().0 {
            #[cfg(unix)]
            Output::Pipe(stream) => Pin::new(stream).poll_write(context, bytes),
            #[cfg(unix)]
            Output::Socket(stream) => Pin::new(stream).poll_write(context, bytes),
            Output::Other(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().0 {
            #[cfg(unix)]
            Output::Pipe(stream) => Pin::new(stream).poll_write_vectored(context, slices),
            #[cfg(unix)]
            Output::Socket(stream) => Pin::new(stream).poll_write_vectored(context, slices),
            Output::Other(stream) => Pin::new(stream).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.0 {
            #[cfg(unix)]
            Output::Pipe(stream) => stream.is_write_vectored(),
            #[cfg(unix)]
            Output::Socket(stream) => stream.is_write_vectored(),
            Output::Other(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            #[cfg(unix)]
            Output::Pipe(stream) => Pin::new(stream).poll_flush(context),
            #[cfg(unix)]
            Output::Socket(stream) => Pin::new(stream).poll_flush(context),
            Output::Other(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            #[cfg(unix)]
            Output::Pipe(stream) => Pin::new(stream).poll_shutdown(context),
            #[cfg(unix)]
            Output::Socket(stream) => Pin::new(stream).poll_shutdown(context),
            Output::Other(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

impl fmt::Debug for ServerInput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ServerInput")
    }
}

impl fmt::Debug for ServerOutput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ServerOutput")
    }
}
