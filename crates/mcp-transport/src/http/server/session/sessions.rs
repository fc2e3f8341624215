use std::{
    collections::HashMap,
    fmt::{self, Write as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mcp_core::BoxFuture;
use ring::rand::{SecureRandom, SystemRandom};

use super::Session;
use crate::http::{
    server::{HttpFault, HttpSettings},
    watch::HttpWatch,
};

/// The sessions of a service by their id.
pub(crate) struct Sessions {
    settings: Arc<HttpSettings>,
    random: SystemRandom,
    open: Mutex<HashMap<Box<str>, Arc<Session>>>,
}

impl Sessions {
    pub(crate) fn new(settings: Arc<HttpSettings>) -> Arc<Sessions> {
        let random = SystemRandom::new();
        Arc::new(Sessions { settings, random, open: Mutex::default() })
    }

    /// Opens a session. Its conversation has to be run with [`Sessions::host`].
    pub(crate) fn open(
        &self,
        owner: Option<Arc<str>>,
        watch: Option<Arc<dyn HttpWatch>>,
    ) -> Result<Arc<Session>, HttpFault> {
        let id = self.fresh_id()?;
        let mut open = self.lock();
        if open.len() >= self.settings.max_sessions {
            return Err(HttpFault::TooManySessions);
        }
        let session = Session::new(id.clone(), owner, watch, self.settings.clone());
        open.insert(id, session.clone());
        Ok(session)
    }

    /// Runs the conversation of a session, until either ends or the session has been idle for too
    /// long.
    pub(crate) fn host(
        self: &Arc<Self>,
        session: Arc<Session>,
        conversation: BoxFuture<'static, ()>,
    ) {
        let hosted = Hosted { sessions: self.clone(), session };
        tokio::spawn(async move {
            let mut conversation = conversation;
            tokio::select! {
                () = &mut conversation => {}
                () = hosted.session.idle() => {
                    tracing::debug!("a session was idle for too long");
                    hosted.sessions.close(hosted.session.id());
                    conversation.await;
                }
            }
        });
    }

    /// The session with this id, if it belongs to `owner`.
    pub(crate) fn find(&self, id: &str, owner: Option<&str>) -> Option<Arc<Session>> {
        self.lock().get(id).filter(|session| session.owner.as_deref() == owner).cloned()
    }

    /// Ends a session; `false` if there is none.
    pub(crate) fn close(&self, id: &str) -> bool {
        let Some(session) = self.lock().remove(id) else { return false };
        session.end();
        true
    }

    pub(crate) fn close_all(&self) {
        let sessions: Vec<_> = std::mem::take(&mut *self.lock()).into_values().collect();
        for session in sessions {
            session.end();
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// 128 random bits.
    fn fresh_id(&self) -> Result<Box<str>, HttpFault> {
        let mut bytes = [0; 16];
        self.random.fill(&mut bytes).map_err(|_| HttpFault::NoRandomness)?;
        let mut id = String::with_capacity(32);
        for byte in bytes {
            write!(id, "{byte:02x}").expect("writing to memory cannot fail");
        }
        Ok(id.into())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, Arc<Session>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").field("open", &self.count()).finish_non_exhaustive()
    }
}

/// Ends the session with its conversation, even one that panics.
struct Hosted {
    sessions: Arc<Sessions>,
    session: Arc<Session>,
}

impl Drop for Hosted {
    fn drop(&mut self) {
        self.sessions.close(self.session.id());
        self.session.end();
    }
}
