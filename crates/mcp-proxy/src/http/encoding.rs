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
    Gzip(write::MultiGzDecoder<Vec<u8>>),
    Deflate(write::ZlibDecoder<Vec<u8>>),
    Brotli(Box<DecompressorWriter<Vec<u8>>>),
}

/// Bytes to decode at once, which bounds the output.
const SLICE: usize = 256;
/// Maximum expansion factor; beyond it, a stream is treated as hostile.
const MAX_GROWTH: u64 = 1024;
const FREE: u64 = 16 << 20;

impl StreamDecoder {
    pub(super) fn new(encoding: Encoding) -> StreamDecoder {
        let inner = match encoding {
            Encoding::Gzip => Inner::Gzip(write::MultiGzDecoder::new(Vec::new())),
            Encoding::Deflate => Inner::Deflate(write::ZlibDecoder::new(Vec::new())),
            Encoding::Brotli => {
                Inner::Brotli(Box::new(DecompressorWriter::new(Vec::new(), BUFFER)))
            }
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
            let out = self.inner.decode(slice).map_err(|_| DecodeError::Broken)?;
            self.given += out.len() as u64;
            if !out.is_empty() {
                text(out.into());
            }
            if self.given > FREE.saturating_add(self.taken.saturating_mul(MAX_GROWTH)) {
                return Err(DecodeError::TooLong);
            }
        }
        Ok(())
    }
}

impl Inner {
    fn decode(&mut self, slice: &[u8]) -> io::Result<Vec<u8>> {
        // Flush, so that text is available at once.
        Ok(match self {
            Inner::Gzip(decoder) => {
                decoder.write_all(slice)?;
                decoder.flush()?;
                std::mem::take(decoder.get_mut())
            }
            Inner::Deflate(decoder) => {
                decoder.write_all(slice)?;
                decoder.flush()?;
                std::mem::take(decoder.get_mut())
            }
            Inner::Brotli(decoder) => {
                decoder.write_all(slice)?;
                decoder.flush()?;
                std::mem::take(decoder.get_mut())
            }
        })
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
