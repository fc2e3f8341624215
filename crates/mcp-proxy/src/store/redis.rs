use std::{fmt, io, time::Duration};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use mcp_core::{
    Append, AppendOutcome, LogEnd, LogReplacement, MissedEntries, SessionStore, StoreError,
};
use redis::{
    Client, Cmd, Connection, ErrorKind, Pipeline, RedisError, RedisResult, TlsCertificates, Value,
    cmd,
};
use ring::{
    digest,
    rand::{SecureRandom as _, SystemRandom},
};

use super::StoreSettings;

/// Sessions in Redis or Valkey. See the [module](super) for the layout.
pub struct RedisStore {
    client: Client,
    connection: Option<Open>,
    settings: StoreSettings,
    random: SystemRandom,
}

/// A connection, and the digests of the scripts loaded there.
struct Open {
    connection: Connection,
    append: String,
    replace: String,
}

/// Why a URL does not name a store.
#[derive(Debug, thiserror::Error)]
#[error("write the URL of the store like redis://127.0.0.1:6379/0, or rediss:// for TLS")]
pub struct StoreUrlError(#[source] RedisError);

const APPEND: &str = include_str!("append.lua");
const REPLACE: &str = include_str!("replace.lua");
const SEALING_KEY: &str = "plumb:1:key";

impl RedisStore {
    /// The store at `url`. Does not connect yet.
    ///
    /// # Errors
    ///
    /// If the URL cannot be used, or the certificates cannot be used with it.
    pub fn new(url: &str, settings: StoreSettings) -> Result<RedisStore, StoreUrlError> {
        let client = match &settings.trusted {
            None => Client::open(url),
            Some(certificates) => {
                let root_cert = Some(certificates.clone());
                Client::build_with_tls(url, TlsCertificates { client_tls: None, root_cert })
            }
        };
        let client = client.map_err(StoreUrlError)?;
        Ok(RedisStore { client, connection: None, settings, random: SystemRandom::new() })
    }

    /// The key that all replicas encrypt session ids with. The first replica creates it.
    ///
    /// # Errors
    ///
    /// If the store cannot be reached.
    pub fn sealing_key(&mut self) -> Result<[u8; 32], StoreError> {
        let mut fresh = [0; 32];
        self.random
            .fill(&mut fresh)
            .map_err(|_| StoreError::new("could not generate random bytes"))?;
        let fresh = URL_SAFE_NO_PAD.encode(fresh);
        let key: String = self
            .with_open(|open| {
                cmd("SET").arg(SEALING_KEY).arg(&fresh).arg("NX").exec(&mut open.connection)?;
                cmd("GET").arg(SEALING_KEY).query(&mut open.connection)
            })
            .map_err(StoreError::new)?;
        let key = URL_SAFE_NO_PAD.decode(key).ok().and_then(|key| key.try_into().ok());
        key.ok_or_else(|| StoreError::new(format!("`{SEALING_KEY}` in the store is not a key")))
    }

    /// Runs commands, and again if the connection turned out to be closed.
    fn with_open<T>(&mut self, run: impl Fn(&mut Open) -> RedisResult<T>) -> RedisResult<T> {
        if let Some(mut open) = self.connection.take() {
            match run(&mut open) {
                Ok(done) => {
                    self.connection = Some(open);
                    return Ok(done);
                }
                // The server closes idle connections, and may have forgotten the scripts.
                Err(error) if error.is_connection_dropped() || is_without_script(&error) => {}
                Err(error) => return Err(error),
            }
        }
        let mut open = self.connect()?;
        let done = run(&mut open)?;
        self.connection = Some(open);
        Ok(done)
    }

    fn connect(&self) -> RedisResult<Open> {
        let timeout = self.settings.timeout;
        let mut connection = self.client.get_connection_with_timeout(timeout)?;
        connection.set_read_timeout(Some(timeout))?;
        connection.set_write_timeout(Some(timeout))?;
        let mut load = |script| cmd("SCRIPT").arg("LOAD").arg(script).query(&mut connection);
        let (append, replace) = (load(APPEND)?, load(REPLACE)?);
        Ok(Open { connection, append, replace })
    }

    /// An id for a new log, never 0, and exact as a double, the number type of scripts.
    fn fresh_id(&self) -> RedisResult<u64> {
        let mut bytes = [0; 8];
        let filled = self.random.fill(&mut bytes);
        filled
            .map_err(|_| RedisError::from(io::Error::other("could not generate random bytes")))?;
        Ok((u64::from_be_bytes(bytes) >> 12) | 1)
    }
}

impl SessionStore for RedisStore {
    fn append(&mut self, appends: &[Append<'_>]) -> Result<Vec<AppendOutcome>, StoreError> {
        let lifetime = millis(self.settings.lifetime);
        let limit = self.settings.session_bytes;
        let fresh = self.fresh_id().map_err(StoreError::new)?;
        let replies: Vec<Value> = self
            .with_open(|open| {
                let mut pipeline = Pipeline::with_capacity(appends.len());
                for Append { session, end, entries } in appends {
                    let mut append = script(&open.append, session, *end);
                    append.arg(fresh).arg(lifetime).arg(limit);
                    for entry in *entries {
                        append.arg(&entry[..]);
                    }
                    pipeline.add_command(append);
                }
                pipeline.query(&mut open.connection)
            })
            .map_err(StoreError::new)?;
        let read = replies.into_iter().zip(appends).map(|(reply, append)| {
            read_appended(reply).ok_or_else(|| {
                StoreError::new(format!("unexpected reply about `{}`", key_of(append.session)))
            })
        });
        read.collect()
    }

    fn replace(&mut self, replacement: &LogReplacement<'_>) -> Result<bool, StoreError> {
        let LogReplacement { session, end, unwritten, state } = *replacement;
        let lifetime = millis(self.settings.lifetime);
        self.with_open(|open| {
            let mut replace = script(&open.replace, session, end);
            replace.arg(lifetime).arg(unwritten).arg(state).query(&mut open.connection)
        })
        .map_err(StoreError::new)
    }

    fn session_bytes(&self) -> usize {
        self.settings.session_bytes
    }
}

fn is_without_script(error: &RedisError) -> bool {
    matches!(error.kind(), ErrorKind::Server(redis::ServerErrorKind::NoScript))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).clamp(1, 1 << 52)
}

fn key_of(session: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, session.as_bytes()))
}

fn script(name: &str, session: &str, end: LogEnd) -> Cmd {
    let key = key_of(session);
    let mut script = cmd("EVALSHA");
    script.arg(name).arg(2).arg(format!("plumb:1:{{{key}}}:head"));
    script.arg(format!("plumb:1:{{{key}}}:log")).arg(end.log).arg(end.count);
    script
}

fn read_appended(reply: Value) -> Option<AppendOutcome> {
    let Value::Array(parts) = reply else { return None };
    let mut parts = parts.into_iter();
    match &*text(parts.next()?)? {
        b"gone" => Some(AppendOutcome::Expired),
        b"full" => Some(AppendOutcome::Full),
        b"done" => {
            let end = LogEnd { log: number(parts.next()?)?, count: number(parts.next()?)? };
            Some(AppendOutcome::Appended { end, stored: number(parts.next()?)? })
        }
        b"behind" => {
            let end = LogEnd { log: number(parts.next()?)?, count: number(parts.next()?)? };
            let is_whole = number(parts.next()?)? == 1;
            let Value::Array(entries) = parts.next()? else { return None };
            let entries = entries.into_iter().map(text).collect::<Option<_>>()?;
            // Without a state, no entries follow.
            let state = is_whole.then(|| parts.next().and_then(text));
            Some(AppendOutcome::Behind(MissedEntries { state, entries, end }))
        }
        _ => None,
    }
}

fn text(value: Value) -> Option<Bytes> {
    match value {
        Value::BulkString(text) => Some(text.into()),
        Value::SimpleString(text) => Some(text.into()),
        _ => None,
    }
}

fn number(value: Value) -> Option<u64> {
    match value {
        Value::Int(number) => u64::try_from(number).ok(),
        other => std::str::from_utf8(&text(other)?).ok()?.parse().ok(),
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may contain a password.
        f.debug_struct("RedisStore").field("settings", &self.settings).finish_non_exhaustive()
    }
}
