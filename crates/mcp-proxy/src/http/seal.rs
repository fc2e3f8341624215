use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    digest,
    rand::{SecureRandom as _, SystemRandom},
};

/// Encrypts the location of a session into its id, so that clients can neither read nor forge it.
pub struct SessionSeal {
    key: LessSafeKey,
    random: SystemRandom,
}

/// A key that is too short to be safe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a key of {length} bytes is too short; use at least {SHORTEST}")]
#[non_exhaustive]
pub struct ShortKey {
    /// Its length in bytes.
    pub length: usize,
}

const SHORTEST: usize = 32;

/// Domain separation from other uses of the same key, and between versions.
const PURPOSE: &[u8] = b"plumb session id 1";

/// The location of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionLocation {
    /// The address of the replica.
    pub(super) replica: String,
    /// The id of the session there.
    pub(super) session: String,
}

impl SessionSeal {
    /// Uses a secret of at least 32 bytes, shared by all replicas.
    ///
    /// # Errors
    ///
    /// If it is shorter.
    pub fn new(secret: &[u8]) -> Result<SessionSeal, ShortKey> {
        let short = ShortKey { length: secret.len() };
        if secret.len() < SHORTEST {
            return Err(short);
        }
        let mut context = digest::Context::new(&digest::SHA256);
        context.update(PURPOSE);
        context.update(secret);
        // The digest has the length of a key.
        let key = UnboundKey::new(&CHACHA20_POLY1305, context.finish().as_ref());
        let key = LessSafeKey::new(key.map_err(|_| short)?);
        Ok(SessionSeal { key, random: SystemRandom::new() })
    }

    /// The session id for the client; `None` if no random bytes are available.
    pub(super) fn seal(&self, place: &SessionLocation) -> Option<String> {
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce).ok()?;
        let mut text = format!("{} {}", place.replica, place.session).into_bytes();
        let sealing = Nonce::assume_unique_for_key(nonce);
        self.key.seal_in_place_append_tag(sealing, Aad::from(PURPOSE), &mut text).ok()?;
        Some(URL_SAFE_NO_PAD.encode([&nonce[..], &text].concat()))
    }

    /// The location of a session, if its id was sealed with this key.
    pub(super) fn open(&self, id: &[u8]) -> Option<SessionLocation> {
        let mut sealed = URL_SAFE_NO_PAD.decode(id).ok()?;
        let (nonce, text) = sealed.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let text = self.key.open_in_place(nonce, Aad::from(PURPOSE), text).ok()?;
        let (replica, session) = std::str::from_utf8(text).ok()?.split_once(' ')?;
        Some(SessionLocation { replica: replica.to_owned(), session: session.to_owned() })
    }
}

impl fmt::Debug for SessionSeal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionSeal").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> SessionLocation {
        SessionLocation { replica: "10.0.0.1:8900".into(), session: "0123".into() }
    }

    #[test]
    fn what_was_sealed_can_be_opened_with_the_same_key_only() {
        let seal = SessionSeal::new(&[1; 32]).unwrap();
        let id = seal.seal(&place()).unwrap();
        assert!(id.bytes().all(|byte| byte.is_ascii_graphic()));
        assert_eq!(SessionSeal::new(&[1; 32]).unwrap().open(id.as_bytes()), Some(place()));
        assert_eq!(SessionSeal::new(&[2; 32]).unwrap().open(id.as_bytes()), None);
        assert_ne!(seal.seal(&place()).unwrap(), id, "ids must not show which sessions are where");
    }

    #[test]
    fn a_changed_id_is_not_opened() {
        let seal = SessionSeal::new(&[1; 32]).unwrap();
        let id = seal.seal(&place()).unwrap();
        for place in 0..id.len() {
            let mut forged = id.clone().into_bytes();
            forged[place] = if forged[place] == b'A' { b'Q' } else { b'A' };
            assert_eq!(seal.open(&forged), None, "byte {place}");
        }
        for length in 0..id.len() {
            assert_eq!(seal.open(&id.as_bytes()[..length]), None, "{length} bytes");
        }
        assert_eq!(seal.open(b"10.0.0.1:8900 0123"), None);
    }

    #[test]
    fn a_short_key_is_refused() {
        assert_eq!(SessionSeal::new(&[1; 31]).unwrap_err(), ShortKey { length: 31 });
    }
}
