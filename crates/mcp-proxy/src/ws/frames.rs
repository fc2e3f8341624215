//! WebSocket frames (RFC 6455, section 5.2), read and written without a socket.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use bytes::Bytes;
use mcp_core::{MemoryShare, MessageEnds};

/// The kind of a frame or message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opcode(u8);

impl Opcode {
    const CONTINUATION: Opcode = Opcode(0);
    pub(super) const TEXT: Opcode = Opcode(1);
    const BINARY: Opcode = Opcode(2);
    pub(super) const CLOSE: Opcode = Opcode(8);
    const PONG: Opcode = Opcode(10);

    fn is_control(self) -> bool {
        self.0 >= Opcode::CLOSE.0
    }

    fn is_defined(self) -> bool {
        self.0 <= Opcode::BINARY.0 || (Opcode::CLOSE.0..=Opcode::PONG.0).contains(&self.0)
    }
}

/// A message or control frame of one direction.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    Message {
        opcode: Opcode,
        text: Bytes,
    },
    /// A message beyond the limit, of which only the beginning and the end are kept.
    TooLong {
        length: u64,
        ends: Box<MessageEnds>,
    },
    /// A message that was not kept, for lack of memory.
    CrowdedOut,
    Control {
        opcode: Opcode,
        payload: Bytes,
    },
}

/// A violation of the WebSocket protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broken(pub(super) &'static str);

/// Parses the frames of one direction from chunks of bytes. Keeps at most one message.
///
/// Unless strict, continues after invalid frames as far as possible, since their lengths are still
/// known.
#[derive(Debug)]
pub(super) struct Frames {
    limit: usize,
    /// The memory share of the current message.
    held: MemoryShare,
    /// Whether frames must be masked, as those of clients.
    masked: bool,
    strict: bool,
    head: Vec<u8>,
    /// The current frame, once its head is complete.
    frame: Option<Frame>,
    /// The current message, if some of its frames have arrived.
    message: Option<Partial>,
    control: Partial,
    /// The first violation.
    broken: Option<Broken>,
}

#[derive(Debug)]
struct Frame {
    opcode: Opcode,
    is_last: bool,
    mask: Option<[u8; 4]>,
    /// Payload bytes still to come.
    left: u64,
    /// Position in the mask.
    position: usize,
}

#[derive(Debug)]
struct Partial {
    opcode: Opcode,
    text: Vec<u8>,
    length: u64,
    crowded_out: bool,
    /// If it is not kept.
    ends: Option<Box<MessageEnds>>,
}

impl Partial {
    fn new(opcode: Opcode) -> Partial {
        Partial { opcode, text: Vec::new(), length: 0, crowded_out: false, ends: None }
    }

    fn push(&mut self, bytes: &[u8], limit: usize, unmask: impl Fn(usize, u8) -> u8) {
        self.length = self.length.saturating_add(bytes.len() as u64);
        let text = bytes.iter().enumerate().map(|(index, byte)| unmask(index, *byte));
        if self.length > limit as u64 {
            let kept = std::mem::take(&mut self.text);
            let ends = self.ends.get_or_insert_with(|| Box::new(MessageEnds::of(&kept)));
            ends.push(&text.collect::<Vec<u8>>());
            return;
        }
        self.text.extend(text);
    }
}

/// Maximum payload of a control frame.
const MAX_CONTROL: usize = 125;
const FINAL: u8 = 0x80;
const RESERVED: u8 = 0x70;
const OPCODE: u8 = 0x0f;
const MASKED: u8 = 0x80;
const LENGTH: u8 = 0x7f;
/// Length values that announce an extended length.
const TWO_BYTES: u8 = 0x7e;
const EIGHT_BYTES: u8 = 0x7f;

impl Frames {
    pub(super) fn new(limit: usize, held: MemoryShare, masked: bool) -> Frames {
        Frames {
            limit,
            held,
            masked,
            strict: false,
            head: Vec::new(),
            frame: None,
            message: None,
            control: Partial::new(Opcode::CLOSE),
            broken: None,
        }
    }

    /// Stops at the first invalid frame.
    pub(super) fn strict(self) -> Frames {
        Frames { strict: true, ..self }
    }

    /// Returns the memory share of messages that were handed out.
    pub(super) fn settle(&mut self) {
        let kept = self.message.as_ref().map_or(0, |message| message.text.len());
        self.held.shrink(self.held.bytes().saturating_sub(kept));
    }

    /// The first violation by the sender.
    pub(super) fn broken(&self) -> Option<Broken> {
        self.broken
    }

    /// Whether the next byte begins a message.
    pub(super) fn is_between_messages(&self) -> bool {
        self.head.is_empty() && self.frame.is_none() && self.message.is_none()
    }

    /// Takes more bytes, and passes on the messages and frames they complete.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut item: impl FnMut(Item)) {
        while !(self.strict && self.broken.is_some()) {
            let Some(frame) = &mut self.frame else {
                let Some(rest) = self.push_head(bytes) else { return };
                bytes = rest;
                continue;
            };
            let count = usize::try_from(frame.left).unwrap_or(usize::MAX).min(bytes.len());
            let (payload, rest) = bytes.split_at(count);
            bytes = rest;
            let (mask, position) = (frame.mask.unwrap_or_default(), frame.position);
            let unmask = |index: usize, byte: u8| byte ^ mask[(position + index) % 4];
            frame.left -= count as u64;
            frame.position = (position + count) % 4;
            if frame.opcode.is_control() {
                self.control.push(payload, MAX_CONTROL, unmask);
            } else if let Some(message) = &mut self.message {
                let fits = message.length.saturating_add(count as u64) <= self.limit as u64;
                if fits && !message.crowded_out {
                    message.crowded_out = !self.held.grow(count);
                }
                let limit = if message.crowded_out { 0 } else { self.limit };
                message.push(payload, limit, unmask);
            }
            if frame.left > 0 {
                return;
            }
            if let Some(frame) = self.frame.take() {
                self.end_frame(&frame, &mut item);
            }
        }
    }

    /// Takes bytes of a head until it is complete; returns the rest.
    fn push_head<'b>(&mut self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        let mut rest = bytes;
        loop {
            let needed = head_length(&self.head);
            if self.head.len() == needed {
                break;
            }
            let count = (needed - self.head.len()).min(rest.len());
            if count == 0 {
                return None;
            }
            let (more, after) = rest.split_at(count);
            self.head.extend_from_slice(more);
            rest = after;
        }
        self.begin_frame();
        Some(rest)
    }

    fn begin_frame(&mut self) {
        let head = std::mem::take(&mut self.head);
        let (first, second) = (head[0], head[1]);
        let is_last = first & FINAL != 0;
        let opcode = Opcode(first & OPCODE);
        let (length, mask) = payload_length(&head);
        if first & RESERVED != 0 {
            self.note("a reserved bit is set without an agreed extension");
        } else if !opcode.is_defined() {
            self.note("undefined opcode");
        } else if (second & MASKED != 0) != self.masked {
            self.note("frames of clients must be masked, those of servers must not");
        } else if length > u64::MAX / 2 {
            self.note("the length of a frame is invalid");
        }
        if opcode.is_control() {
            if !is_last || length > MAX_CONTROL as u64 {
                self.note("a control frame is split or too long");
            }
            self.control = Partial::new(opcode);
        } else {
            let is_continuation = opcode == Opcode::CONTINUATION;
            if is_continuation != self.message.is_some() {
                self.note("the frames of two messages are mixed");
            }
            if !is_continuation || self.message.is_none() {
                self.message = Some(Partial::new(opcode));
            }
        }
        self.frame = Some(Frame { opcode, is_last, mask, left: length, position: 0 });
    }

    fn end_frame(&mut self, frame: &Frame, item: &mut impl FnMut(Item)) {
        if frame.opcode.is_control() {
            let control = std::mem::replace(&mut self.control, Partial::new(Opcode::CLOSE));
            item(Item::Control { opcode: control.opcode, payload: control.text.into() });
        } else if frame.is_last
            && let Some(message) = self.message.take()
        {
            let Partial { opcode, text, length, crowded_out, ends } = message;
            item(if length > self.limit as u64 {
                Item::TooLong { length, ends: ends.unwrap_or_default() }
            } else if crowded_out {
                Item::CrowdedOut
            } else {
                Item::Message { opcode, text: text.into() }
            });
        }
    }

    fn note(&mut self, rule: &'static str) {
        self.broken.get_or_insert(Broken(rule));
    }
}

/// The length of a head, as far as its first bytes tell.
fn head_length(head: &[u8]) -> usize {
    let Some(second) = head.get(1) else { return 2 };
    let length = match second & LENGTH {
        TWO_BYTES => 2,
        EIGHT_BYTES => 8,
        _ => 0,
    };
    2 + length + if second & MASKED != 0 { 4 } else { 0 }
}

fn payload_length(head: &[u8]) -> (u64, Option<[u8; 4]>) {
    let short = head[1] & LENGTH;
    let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let (length, rest) = match short {
        TWO_BYTES => (number(&head[2..4]), &head[4..]),
        EIGHT_BYTES => (number(&head[2..10]), &head[10..]),
        short => (short.into(), &head[2..]),
    };
    (length, rest.first_chunk().copied())
}

/// Encodes a message or control frame as a single frame.
pub(super) fn encode(opcode: Opcode, payload: &[u8], masked: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.len() + 14);
    out.push(FINAL | opcode.0);
    let mask_bit = if masked { MASKED } else { 0 };
    match payload.len() {
        length @ 0..=125 => out.push(mask_bit | u8::try_from(length).unwrap_or_default()),
        length => {
            if let Ok(length) = u16::try_from(length) {
                out.push(mask_bit | TWO_BYTES);
                out.extend_from_slice(&length.to_be_bytes());
            } else {
                out.push(mask_bit | EIGHT_BYTES);
                out.extend_from_slice(&(length as u64).to_be_bytes());
            }
        }
    }
    if !masked {
        out.extend_from_slice(payload);
        return out;
    }
    // The standard library has no other source of random numbers.
    let random = RandomState::new().build_hasher().finish().to_be_bytes();
    let mask = [random[0], random[1], random[2], random[3]];
    out.extend_from_slice(&mask);
    out.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    out
}

/// Encodes a close frame with a code and a reason.
pub(super) fn close(code: u16, reason: &str, masked: bool) -> Vec<u8> {
    let mut payload = code.to_be_bytes().to_vec();
    payload.extend_from_slice(reason.as_bytes());
    payload.truncate(MAX_CONTROL);
    encode(Opcode::CLOSE, &payload, masked)
}

#[cfg(test)]
mod tests {
    use mcp_core::MemoryBudget;
    use proptest::prelude::*;

    use super::*;

    fn read(limit: usize, masked: bool, pieces: &[&[u8]]) -> (Vec<Item>, Option<Broken>) {
        let mut frames = Frames::new(limit, MemoryBudget::new(1 << 20).share(), masked);
        let mut items = Vec::new();
        for piece in pieces {
            frames.push(piece, |item| items.push(item));
        }
        (items, frames.broken())
    }

    fn text(text: &str) -> Item {
        Item::Message { opcode: Opcode::TEXT, text: Bytes::copy_from_slice(text.as_bytes()) }
    }

    #[test]
    fn fragments_make_one_message_and_control_frames_may_come_between_them() {
        let pieces: [&[u8]; 3] = [b"\x01\x02he", b"\x89\x01!", b"\x80\x03llo"];
        let ping = Item::Control { opcode: Opcode(9), payload: Bytes::from_static(b"!") };
        assert_eq!(read(9, false, &pieces), (vec![ping, text("hello")], None));
    }

    #[test]
    fn a_message_over_the_limit_is_only_measured() {
        let frames = encode(Opcode::TEXT, b"abcd", true);
        assert_eq!(
            read(3, true, &[&frames]).0,
            [Item::TooLong { length: 4, ends: Box::new(MessageEnds::of(b"abcd")) }]
        );
        assert_eq!(read(4, true, &[&frames]).0, [text("abcd")]);
    }

    #[test]
    fn a_message_without_room_is_given_up_and_the_next_one_is_not() {
        let room = MemoryBudget::new(10);
        let mut frames = Frames::new(100, room.share(), false);
        let mut read = |bytes: &[u8]| {
            let mut items = Vec::new();
            frames.push(bytes, |item| items.push(item));
            frames.settle();
            items
        };
        let others = room.take(7).unwrap();
        assert_eq!(read(b"\x81\x04abcd"), [Item::CrowdedOut]);
        assert_eq!(room.used(), 7, "what was kept of it is given back");
        assert_eq!(read(b"\x81\x03abc"), [text("abc")]);
        assert_eq!(read(b"\x01\x02ab"), []);
        assert_eq!(room.used(), 9);
        assert_eq!(read(b"\x80\x02cd"), [Item::CrowdedOut]);
        drop(others);
        assert_eq!(read(b"\x81\x04abcd"), [text("abcd")]);
        assert_eq!(room.used(), 0);
    }

    #[test]
    fn broken_frames_are_noticed_and_read_on() {
        let after: &[u8] = b"\x81\x01a";
        for (broken, what) in [
            (&b"\xc1\x00"[..], "extension"),
            (b"\x83\x00", "opcode"),
            (b"\x81\x80\x00\x00\x00\x00", "mask"),
            (b"\x80\x00", "mixed"),
            (b"\x09\x00", "control"),
        ] {
            let (items, found) = read(9, false, &[broken, after]);
            assert_eq!(items.last(), Some(&text("a")), "{what}");
            assert!(found.is_some_and(|found| found.0.contains(what)), "{found:?} {what}");
        }
        let huge: &[u8] = b"\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xffabc";
        assert_eq!(read(9, false, &[huge]).1, Some(Broken("the length of a frame is invalid")));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_in_any_pieces(
            payload in prop::collection::vec(any::<u8>(), 0..70_000),
            masked in any::<bool>(),
            size in 1_usize..5000,
        ) {
            let frame = encode(Opcode::TEXT, &payload, masked);
            let pieces: Vec<&[u8]> = frame.chunks(size).collect();
            let expected = Item::Message { opcode: Opcode::TEXT, text: payload.into() };
            prop_assert_eq!(read(1 << 20, masked, &pieces), (vec![expected], None));
        }

        #[test]
        fn any_bytes_can_be_read(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            cut in 0_usize..300,
        ) {
            let (first, second) = bytes.split_at(cut.min(bytes.len()));
            prop_assert_eq!(read(50, true, &[first, second]), read(50, true, &[&bytes]));
        }
    }
}
