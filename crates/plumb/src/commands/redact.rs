use std::{
    collections::hash_map::RandomState,
    fs::File,
    io::{self, BufWriter, Read, Write},
    path::Path,
};

use mcp_recording::{LineStream, MAX_LINE, Piece, har};
use mcp_rules::redact::Redactor;

use super::Outcome;
use crate::{args::RedactArgs, failure::Failure, replacement::Replacement, text::shown_path};

/// Masks the secrets in a recording.
pub(crate) fn redact(args: RedactArgs) -> anyhow::Result<Outcome> {
    let name = shown_path(&args.trace);
    let (is_capture, input) = har::sniff(open(&args.trace)?)?;
    if is_capture {
        let message = format!("{name} is a HAR capture, not a recording, and cannot be masked");
        return Err(Failure::new(message).into());
    }
    let mut redactor = Redactor::new(RandomState::new());
    if args.only {
        redactor = redactor.without_guesses();
    }
    redactor = args.pointers.into_iter().fold(redactor, Redactor::pointer);
    redactor = args.names.into_iter().fold(redactor, Redactor::name);
    redactor = args.headers.into_iter().fold(redactor, Redactor::header);
    let Some(path) = args.output else {
        let mut stdout = BufWriter::new(io::stdout().lock());
        copy(input, &name, &redactor, &mut stdout)?;
        return Ok(Outcome::Clean);
    };
    let unwritable =
        |error| Failure::new(format!("could not write {}", shown_path(&path))).because(error);
    let new = Replacement::begin(&path).map_err(unwritable)?;
    copy(input, &name, &redactor, &mut BufWriter::new(&new.file))?;
    new.finish().map_err(unwritable)?;
    Ok(Outcome::Clean)
}

fn open(path: &Path) -> Result<Box<dyn Read>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let unreadable =
        |error| Failure::new(format!("could not open {}", shown_path(path))).because(error);
    let file = File::open(path).map_err(unreadable)?;
    if file.metadata().is_ok_and(|found| found.is_dir()) {
        return Err(unreadable(io::ErrorKind::IsADirectory.into()));
    }
    Ok(Box::new(file))
}

/// Copies line by line. A line beyond the size limit is masked as a whole.
fn copy(
    input: impl Read,
    name: &str,
    redactor: &Redactor<RandomState>,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let unreadable = |error| Failure::new(format!("could not read {name}")).because(error);
    let mut lines = LineStream::new(input, MAX_LINE);
    let mut line = Vec::new();
    while let Some(piece) = lines.next(&mut line).map_err(unreadable)? {
        mask(redactor, piece, &mut line);
        out.write_all(&line)?;
    }
    if let Some(piece) = lines.rest(&mut line) {
        mask(redactor, piece, &mut line);
        out.write_all(&line)?;
    }
    out.flush()?;
    Ok(())
}

fn mask(redactor: &Redactor<RandomState>, piece: Piece, line: &mut [u8]) {
    if piece == Piece::Line {
        return redactor.line(line);
    }
    for byte in line.iter_mut().filter(|byte| **byte != b'\n') {
        *byte = b'x';
    }
}
