use mcp_rules::{Limits, LineReader, ReadLine};

use super::{Observation, observation::ObservationWriter};

/// Writes and parses lines before the journal is locked, so that one direction of a stream does not
/// wait for the other while it does so.
#[derive(Debug)]
pub(crate) struct Preparer {
    writer: ObservationWriter,
    reader: LineReader,
}

/// An observation that is about to be judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prepared<'a> {
    pub(super) observation: &'a Observation,
    /// Its line; `None` if the message cannot be copied into the line unchanged.
    pub(super) read: Option<&'a ReadLine<'a>>,
}

impl Preparer {
    pub(super) fn new(limits: &Limits) -> Preparer {
        Preparer { writer: ObservationWriter::new(limits.json()), reader: LineReader::new(limits) }
    }

    pub(super) fn prepare<R>(
        &mut self,
        observations: &[Observation],
        visit: impl FnOnce(&mut dyn Iterator<Item = Prepared<'_>>) -> R,
    ) -> R {
        let Preparer { writer, reader } = self;
        let written: Vec<_> =
            observations.iter().map(|each| writer.write_optimistic(each)).collect();
        let lines: Vec<&[u8]> = written
            .iter()
            .map(|written| written.as_ref().map_or(&b""[..], |(line, _)| line))
            .collect();
        reader.read_all(&lines, |read| {
            let mut prepared = observations.iter().zip(read).zip(&written).map(
                |((observation, read), written)| {
                    let is_ordinary =
                        written.as_ref().is_some_and(|(_, message)| read.has_ordinary(message));
                    Prepared { observation, read: is_ordinary.then_some(read) }
                },
            );
            visit(&mut prepared)
        })
    }
}
