use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use mcp_core::Seal;
use ring::{digest, hmac, rand};

/// Signs state that clients hold and return later, with an expiry time.
pub struct SignedSeal {
    key: hmac::Key,
    lifetime: Duration,
}

/// A secret that is too short to be safe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a secret of {length} bytes is too short; use at least {SECRET}")]
#[non_exhaustive]
pub struct ShortSecret {
    /// The length of the secret in bytes.
    pub length: usize,
}

/// The minimum length of a secret in bytes, the same as that of the signatures made with it.
const SECRET: usize = 32;

/// The default time that a client may take for its answers.
const LIFETIME: Duration = Duration::from_secs(60 * 60);

/// The length of the signature, which precedes the content.
const SIGNATURE: usize = 32;
/// The length of the expiry time before the content.
const EXPIRY: usize = 8;

impl SignedSeal {
    /// A seal with the key `secret`: at least 32 random bytes, kept private, and the same on every
    /// replica of a server.
    ///
    /// # Errors
    ///
    /// If the secret is shorter. Anyone who guesses it can forge state that the server trusts.
    pub fn with_secret(secret: &[u8]) -> Result<SignedSeal, ShortSecret> {
        if secret.len() < SECRET {
            return Err(ShortSecret { length: secret.len() });
        }
        Ok(SignedSeal { key: hmac::Key::new(hmac::HMAC_SHA256, secret), lifetime: LIFETIME })
    }

    /// A seal that only this process can open.
    pub(crate) fn random() -> SignedSeal {
        let mut secret = [0; SECRET];
        // Without randomness there is no secret, so everything expires at once and is rejected.
        let filled = rand::SecureRandom::fill(&rand::SystemRandom::new(), &mut secret);
        let lifetime = if filled.is_ok() { LIFETIME } else { Duration::ZERO };
        SignedSeal { key: hmac::Key::new(hmac::HMAC_SHA256, &secret), lifetime }
    }

    /// Sets how long sealed state is valid. Default one hour.
    #[must_use]
    pub fn lifetime(mut self, lifetime: Duration) -> SignedSeal {
        self.lifetime = lifetime;
        self
    }
}

impl Seal for SignedSeal {
    fn seal(&self, content: &[u8]) -> String {
        let expiry = now().saturating_add(self.lifetime.as_secs());
        let mut signed = expiry.to_be_bytes().to_vec();
        signed.extend_from_slice(content);
        let mut sealed = hmac::sign(&self.key, &signed).as_ref().to_vec();
        sealed.extend_from_slice(&signed);
        URL_SAFE_NO_PAD.encode(sealed)
    }

    fn open(&self, sealed: &str) -> Option<Vec<u8>> {
        let sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (signature, signed) = sealed.split_at_checked(SIGNATURE)?;
        hmac::verify(&self.key, signed, signature).ok()?;
        let (expiry, content) = signed.split_at_checked(EXPIRY)?;
        let expiry = u64::from_be_bytes(expiry.try_into().ok()?);
        (now() < expiry).then(|| content.to_vec())
    }

    fn digest(&self, content: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, content))
    }
}

#[expect(clippy::disallowed_methods, reason = "no finding depends on the age of a seal")]
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(u64::MAX, |since| since.as_secs())
}

impl fmt::Debug for SignedSeal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedSeal").field("lifetime", &self.lifetime).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_content_can_be_opened() {
        let seal = SignedSeal::random();
        assert_eq!(seal.open(&seal.seal(b"state")).as_deref(), Some(&b"state"[..]));
    }

    #[test]
    fn changed_content_is_rejected() {
        let seal = SignedSeal::with_secret(&[1; 32]).unwrap();
        let sealed = seal.seal(b"state");
        assert_eq!(seal.open(&format!("{sealed}x")), None);
        assert_eq!(seal.open(&sealed[1..]), None);
        assert_eq!(seal.open(""), None);
        assert_eq!(SignedSeal::with_secret(&[2; 32]).unwrap().open(&sealed), None);
    }

    #[test]
    fn a_short_secret_is_rejected() {
        assert_eq!(SignedSeal::with_secret(b"secret").unwrap_err(), ShortSecret { length: 6 });
        assert!(SignedSeal::with_secret(&[7; 31]).is_err());
    }

    #[test]
    fn expired_content_is_rejected() {
        let seal = SignedSeal::random().lifetime(Duration::ZERO);
        assert_eq!(seal.open(&seal.seal(b"state")), None);
    }
}
