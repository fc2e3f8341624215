//! Compressed bodies. They are forwarded unchanged, and judged and recorded as text.

use std::io::{self, Read, Write};

use brotli_decompressor::{Decompressor, DecompressorWriter};
use bytes::Bytes;
use flate2::{read, write};
use http::{HeaderMap, header::CONTENT_ENCODING};

/// The content encoding of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Gzip,
    /// The zlib format; some senders leave out its header.
    Deflate,
    Brotli,
}

/// Why a body could not be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecodeError {
    /// The text would exceed the limit.
    TooLong,
    Broken,
}

const BUFFER: usize = 4 << 10;

impl Encoding {
    /// The encoding of a body; `None` if there is none, several, or an unknown one.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Encoding> {
        let mut values = headers.get_all(CONTENT_ENCODING).iter();
        let value = values.next()?.to_str().ok()?.trim();
        if values.next().is_some() {
            return None;
        }
        let is = |name: &str| value.eq_ignore_ascii_case(name);
        match () {
            () if is("gzip") || is("x-gzip") => Some(Encoding::Gzip),
            () if is("deflate") => Some(Encoding::Deflate),
            () if is("br") => Some(Encoding::Brotli),
            () => None,
        }
    }

    /// Decodes a complete body to at most `limit` bytes.
    pub(crate) fn decode(self, body: &[u8], limit: usize) -> Result<Bytes, DecodeError> {
        match self {
            Encoding::Gzip => read_all(read::MultiGzDecoder::new(body), limit),
            Encoding::Deflate => match read_all(read::ZlibDecoder::new(body), limit) {
                Err(DecodeError::Broken) => read_all(read::DeflateDecoder::new(body), limit),
                read => read,
            },
            Encoding::Brotli => read_all(Decompressor::new(body, BUFFER), limit),
        }
    }
}

fn read_all(text: impl Read, limit: usize) -> Result<Bytes, DecodeError> {
    let mut out = Vec::new();
    let most = (limit as u64).saturating_add(1);
    text.take(most).read_to_end(&mut out).map_err(|_| DecodeError::Broken)?;
    if out.len() > limit { Err(DecodeError::TooLong) } else { Ok(out.into()) }
}

/// Decodes a body incrementally.
pub(super) struct StreamDecoder {
    inner: Inner,
    /// Bytes taken and produced so far.
    taken: u64,
    given: u64,
}

enum Inner {
    Gzip(write::MultiGzDecoder<Text>),
    Deflate(write::ZlibDecoder<Text>),
    Brotli(Box<DecompressorWriter<Text>>),
}

/// Decoded text that was not handed out yet. Writing beyond its limit fails, because a few bytes of
/// Brotli can expand to hundreds of megabytes.
#[derive(Default)]
struct Text {
    bytes: Vec<u8>,
    room: u64,
    is_full: bool,
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(room) = self.room.checked_sub(bytes.len() as u64) else {
            self.is_full = true;
            return Err(io::ErrorKind::WriteZero.into());
        };
        self.room = room;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes to decode at once, which bounds the output.
const SLICE: usize = 256;
/// Maximum expansion factor; beyond it, a stream is treated as hostile.
const MAX_GROWTH: u64 = 1024;
const FREE: u64 = 16 << 20;

impl StreamDecoder {
    pub(super) fn new(encoding: Encoding) -> StreamDecoder {
        let text = Text::default();
        let inner = match encoding {
            Encoding::Gzip => Inner::Gzip(write::MultiGzDecoder::new(text)),
            Encoding::Deflate => Inner::Deflate(write::ZlibDecoder::new(text)),
            Encoding::Brotli => Inner::Brotli(Box::new(DecompressorWriter::new(text, BUFFER))),
        };
        StreamDecoder { inner, taken: 0, given: 0 }
    }

    /// Takes more of the body, and passes on the decoded text.
    pub(super) fn push(
        &mut self,
        body: &[u8],
        mut text: impl FnMut(Bytes),
    ) -> Result<(), DecodeError> {
        for slice in body.chunks(SLICE) {
            self.taken += slice.len() as u64;
            let most = FREE.saturating_add(self.taken.saturating_mul(MAX_GROWTH));
            let decoded = self.inner.decode(slice, most.saturating_sub(self.given))?;
            self.given += decoded.len() as u64;
            if !decoded.is_empty() {
                text(decoded.into());
            }
        }
        Ok(())
    }
}

impl Inner {
    fn decode(&mut self, slice: &[u8], room: u64) -> Result<Vec<u8>, DecodeError> {
        self.text().room = room;
        let decoded = self.write(slice);
        let text = self.text();
        match decoded {
            Ok(()) => Ok(std::mem::take(&mut text.bytes)),
            Err(_) if text.is_full => Err(DecodeError::TooLong),
            Err(_) => Err(DecodeError::Broken),
        }
    }

    fn write(&mut self, slice: &[u8]) -> io::Result<()> {
        let decoder: &mut dyn Write = match self {
            Inner::Gzip(decoder) => decoder,
            Inner::Deflate(decoder) => decoder,
            Inner::Brotli(decoder) => decoder,
        };
        decoder.write_all(slice)?;
        // Flush, so that text is available at once.
        decoder.flush()
    }

    fn text(&mut self) -> &mut Text {
        match self {
            Inner::Gzip(decoder) => decoder.get_mut(),
            Inner::Deflate(decoder) => decoder.get_mut(),
            Inner::Brotli(decoder) => decoder.get_mut(),
        }
    }
}

impl std::fmt::Debug for StreamDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamDecoder").field("given", &self.given).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = write::GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(text: &[u8]) -> Vec<u8> {
        let mut encoder = write::ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn raw(text: &[u8]) -> Vec<u8> {
        let mut encoder = write::DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// The text `hello` in one block that is not compressed.
    const BROTLI: &[u8] = b"\x0b\x02\x80hello\x03";

    #[test]
    fn bodies_are_decoded_up_to_the_limit() {
        let text = b"hello";
        for (encoding, body) in [
            (Encoding::Gzip, gzip(text)),
            (Encoding::Deflate, zlib(text)),
            (Encoding::Deflate, raw(text)),
            (Encoding::Brotli, BROTLI.to_vec()),
        ] {
            assert_eq!(encoding.decode(&body, 5).unwrap(), &text[..], "{encoding:?}");
            assert_eq!(encoding.decode(&body, 4), Err(DecodeError::TooLong), "{encoding:?}");
            assert_eq!(encoding.decode(b"hello, hello", 99), Err(DecodeError::Broken));
        }
    }

    #[test]
    fn a_bomb_takes_no_more_than_the_limit() {
        let bomb = gzip(&vec![0; 32 << 20]);
        assert_eq!(Encoding::Gzip.decode(&bomb, 1000), Err(DecodeError::TooLong));
    }

    /// 64 MiB of zeros, compressed with Brotli.
    const BROTLI_BOMB: &[u8] = &[
        0xcf, 0xff, 0xff, 0x7f, 0xf8, 0x27, 0x00, 0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x9f, 0xff,
        0xff, 0xff, 0xf0, 0x4f, 0x00, 0xc4, 0x61, 0x01, 0x80, 0xee, 0xfd, 0x3f, 0xff, 0xff, 0xff,
        0xe1, 0x9f, 0x00, 0x88, 0xc3, 0x22, 0x00, 0xdd, 0xfb, 0x7f, 0xfe, 0xff, 0xff, 0xc3, 0x3f,
        0x01, 0x10, 0x87, 0x05, 0x00, 0xba, 0xf7, 0xff, 0x03,
    ];

    #[test]
    fn a_bomb_in_a_stream_is_given_up_in_time() {
        let mut given = 0;
        let mut decoder = StreamDecoder::new(Encoding::Brotli);
        let pushed = decoder.push(BROTLI_BOMB, |text| given += text.len());
        assert_eq!(pushed, Err(DecodeError::TooLong));
        assert!(given as u64 <= FREE + BROTLI_BOMB.len() as u64 * MAX_GROWTH, "{given}");
        assert!(decoder.inner.text().bytes.capacity() < 64 << 20);
    }

    #[test]
    fn streams_are_decoded_as_they_come() {
        let mut encoder = write::GzEncoder::new(Vec::new(), Compression::default());
        let mut decoder = StreamDecoder::new(Encoding::Gzip);
        for part in [&b"data: 1\n\n"[..], b"data: 2\n\n"] {
            encoder.write_all(part).unwrap();
            encoder.flush().unwrap();
            let piece = std::mem::take(encoder.get_mut());
            let mut text = Vec::new();
            decoder.push(&piece, |bytes| text.extend_from_slice(&bytes)).unwrap();
            assert_eq!(text, part);
        }
        let mut text = Vec::new();
        let mut decoder = StreamDecoder::new(Encoding::Brotli);
        for byte in BROTLI {
            decoder.push(&[*byte], |bytes| text.extend_from_slice(&bytes)).unwrap();
        }
        assert_eq!(text, b"hello");
        assert!(StreamDecoder::new(Encoding::Gzip).push(b"no gzip at all", |_| {}).is_err());
    }
}
