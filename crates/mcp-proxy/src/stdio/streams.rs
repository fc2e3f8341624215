//! Our standard streams without the buffers of the standard library: writes must go out at once,
//! and nothing may be read ahead.

use std::io;

#[cfg(unix)]
pub(crate) type Stream = std::fs::File;

#[cfg(unix)]
pub(crate) fn input() -> io::Result<Stream> {
    use std::os::fd::AsFd as _;

    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

#[cfg(unix)]
pub(crate) fn output() -> io::Result<Stream> {
    use std::os::fd::AsFd as _;

    Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
}

#[cfg(windows)]
pub(crate) type Stream = std::fs::File;

#[cfg(windows)]
pub(crate) fn input() -> io::Result<Stream> {
    use std::os::windows::io::AsHandle as _;

    Ok(io::stdin().as_handle().try_clone_to_owned()?.into())
}

#[cfg(windows)]
pub(crate) fn output() -> io::Result<Stream> {
    use std::os::windows::io::AsHandle as _;

    Ok(io::stdout().as_handle().try_clone_to_owned()?.into())
}
