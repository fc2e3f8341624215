//! Copies bytes between a client on its standard streams and a server that it starts, without
//! parsing them: `proxying-copy COMMAND ARGUMENT…`. The lower bound for a process in between.

use std::{
    env,
    io::{self, Read, Write},
    os::fd::{AsFd, OwnedFd},
    process::{Command, Stdio},
    thread,
};

fn main() -> io::Result<()> {
    let mut arguments = env::args_os().skip(1);
    let program =
        arguments.next().ok_or_else(|| io::Error::other("usage: proxying-copy COMMAND …"))?;
    let mut server = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let no_pipe = || io::Error::other("the server has no pipe");
    let to_server = server.stdin.take().ok_or_else(no_pipe)?;
    let from_server = server.stdout.take().ok_or_else(no_pipe)?;
    // Without the buffers and locks of the standard library.
    let from_client = std::fs::File::from(own(io::stdin())?);
    let to_client = std::fs::File::from(own(io::stdout())?);
    thread::spawn(move || copy(from_client, to_server));
    copy(from_server, to_client)?;
    server.wait()?;
    Ok(())
}

fn own(stream: impl AsFd) -> io::Result<OwnedFd> {
    stream.as_fd().try_clone_to_owned()
}

fn copy(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        to.write_all(buffer.get(..count).unwrap_or_default())?;
    }
}
