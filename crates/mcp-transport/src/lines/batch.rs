use std::{collections::VecDeque, io::IoSlice};

use bytes::{Buf, BufMut, Bytes, BytesMut};

/// Messages up to this size are copied into one buffer; larger ones are written in place.
const COPIED: usize = 8 * 1024;
/// How many buffers to write per system call.
pub(crate) const PIECES: usize = 32;

/// Messages waiting to be written, each followed by a newline.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pieces: VecDeque<Bytes>,
    tail: BytesMut,
    /// The queue space these messages take.
    room: usize,
}

impl Batch {
    pub(crate) fn push(&mut self, message: Bytes, room: usize) {
        if message.len() <= COPIED {
            self.tail.put_slice(&message);
        } else {
            if !self.tail.is_empty() {
                self.pieces.push_back(self.tail.split().freeze());
            }
            self.pieces.push_back(message);
        }
        self.tail.put_u8(b'\n');
        self.room += room;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.tail.is_empty()
    }

    /// Whether it is empty and its queue space has been released.
    pub(crate) fn is_settled(&self) -> bool {
        self.is_empty() && self.room == 0
    }

    /// The queue space to release once everything is written.
    pub(crate) fn take_room(&mut self) -> usize {
        std::mem::take(&mut self.room)
    }

    /// The next piece to write.
    pub(crate) fn first(&self) -> &[u8] {
        self.pieces.front().map_or(self.tail.as_ref(), Bytes::as_ref)
    }

    /// Fills `slices` with the next pieces to write and returns how many.
    pub(crate) fn fill<'a>(&'a self, slices: &mut [IoSlice<'a>; PIECES]) -> usize {
        let pieces = self.pieces.iter().map(Bytes::as_ref).chain([self.tail.as_ref()]);
        let mut filled = 0;
        for (slice, piece) in slices.iter_mut().zip(pieces.filter(|piece| !piece.is_empty())) {
            *slice = IoSlice::new(piece);
            filled += 1;
        }
        filled
    }

    /// Removes the first `count` bytes, which have been written.
    pub(crate) fn advance(&mut self, mut count: usize) {
        while let Some(piece) = self.pieces.front_mut() {
            if count < piece.len() {
                piece.advance(count);
                return;
            }
            count -= piece.len();
            self.pieces.pop_front();
        }
        self.tail.advance(count.min(self.tail.len()));
    }
}

#[cfg(test)]
mod tests {
    use std::io::IoSlice;

    use bytes::Bytes;

    use super::{Batch, COPIED, PIECES};

    #[test]
    fn what_is_written_in_any_portions_is_what_was_pushed() {
        let large = vec![b'x'; COPIED + 1];
        for portion in [100, 777, COPIED, 3 * COPIED] {
            let mut batch = Batch::default();
            for message in [&b"{}"[..], &large, b"[]", b"1", &large, &large] {
                batch.push(Bytes::copy_from_slice(message), message.len());
            }
            let mut written = Vec::new();
            while !batch.is_empty() {
                let mut slices = [IoSlice::new(&[]); PIECES];
                let filled = batch.fill(&mut slices);
                let all: Vec<u8> =
                    slices[..filled].iter().flat_map(|slice| slice.to_vec()).collect();
                let taken = &all[..portion.min(all.len())];
                written.extend_from_slice(taken);
                let count = taken.len();
                batch.advance(count);
            }
            let large = String::from_utf8(large.clone()).unwrap();
            assert_eq!(
                String::from_utf8(written).unwrap(),
                format!("{{}}\n{large}\n[]\n1\n{large}\n{large}\n")
            );
            assert_eq!(batch.take_room(), 5 + 3 * large.len());
        }
    }
}
