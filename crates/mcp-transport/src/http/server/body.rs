use std::pin::pin;

use bytes::{Buf, Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;

use super::{HttpFault, HttpSettings};

/// Reads the body of a request, but not more than allowed and not longer.
pub(super) async fn read<B>(body: B, settings: &HttpSettings) -> Result<Bytes, HttpFault>
where
    B: Body<Data = Bytes>,
{
    let limit = settings.max_body;
    if body.size_hint().lower() > limit as u64 {
        return Err(HttpFault::BodyTooLong { limit });
    }
    let seconds = settings.body_timeout.as_secs();
    match tokio::time::timeout(settings.body_timeout, collect(body, limit)).await {
        Ok(outcome) => outcome,
        Err(_) => Err(HttpFault::BodyTooSlow { seconds }),
    }
}

async fn collect<B>(body: B, limit: usize) -> Result<Bytes, HttpFault>
where
    B: Body<Data = Bytes>,
{
    let mut body = pin!(body);
    let mut first = Bytes::new();
    let mut joined = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Err(HttpFault::BodyBroken) };
        let Ok(data) = frame.into_data() else { continue };
        if first.len() + joined.len() + data.remaining() > limit {
            return Err(HttpFault::BodyTooLong { limit });
        }
        // Most messages come in one piece, which need not be copied.
        if first.is_empty() && joined.is_empty() {
            first = data;
        } else {
            if joined.is_empty() {
                joined.extend_from_slice(&std::mem::take(&mut first));
            }
            joined.extend_from_slice(&data);
        }
    }
    Ok(if joined.is_empty() { first } else { joined.freeze() })
}
