use std::{
    collections::HashMap,
    fmt::{self, Write as _},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mcp_core::{BoxFuture, MemoryBudget};
use ring::rand::{SecureRandom, SystemRandom};

use super::{
    Budgets, Session,
    roster::{Holder, Roster},
};
use crate::http::{
    server::{HttpFault, HttpSettings},
    watch::HttpWatch,
};

/// The sessions of a service by their id.
pub(crate) struct Sessions {
    settings: Arc<HttpSettings>,
    random: SystemRandom,
    table: Mutex<Table>,
    budgets: Budgets,
}

#[derive(Default)]
struct Table {
    open: HashMap<Box<str>, Arc<Session>>,
    all: Roster,
    by_holder: HashMap<Holder, Roster>,
}

impl Table {
    fn add(&mut self, id: Box<str>, session: &Arc<Session>) {
        self.all.add(session);
        if let Some(holder) = &session.holder {
            self.by_holder.entry(holder.clone()).or_default().add(session);
        }
        self.open.insert(id, session.clone());
    }

    fn remove(&mut self, id: &str) -> Option<Arc<Session>> {
        let session = self.open.remove(id)?;
        self.all.remove_one();
        if let Some(holder) = &session.holder
            && let Some(roster) = self.by_holder.get_mut(holder)
        {
            roster.remove_one();
            if roster.open() == 0 {
                self.by_holder.remove(holder);
            }
        }
        Some(session)
    }

    /// Makes room for another session of `holder`; returns the sessions that must end for it.
    fn make_room(
        &mut self,
        holder: Option<&Holder>,
        settings: &HttpSettings,
    ) -> Result<Vec<Arc<Session>>, HttpFault> {
        let mut ending = Vec::new();
        let quota = match holder {
            Some(Holder::Principal(_)) => settings.max_sessions_per_principal,
            Some(Holder::Address(_)) => settings.max_sessions_per_address,
            None => usize::MAX,
        };
        if let Some(roster) = holder.and_then(|holder| self.by_holder.get_mut(holder))
            && roster.open() >= quota
        {
            let idle = roster.most_idle().ok_or(HttpFault::TooManySessionsOfClient)?;
            ending.extend(self.remove(idle.id()));
        } else if quota == 0 {
            return Err(HttpFault::TooManySessionsOfClient);
        }
        if self.open.len() >= settings.max_sessions {
            let idle = self.all.most_idle().ok_or(HttpFault::TooManySessions)?;
            ending.extend(self.remove(idle.id()));
        }
        Ok(ending)
    }
}

impl Sessions {
    pub(crate) fn new(settings: Arc<HttpSettings>) -> Arc<Sessions> {
        let random = SystemRandom::new();
        let budgets = Budgets {
            replayed: MemoryBudget::new(settings.replay_total),
            queued: MemoryBudget::new(settings.max_queued),
        };
        Arc::new(Sessions { settings, random, table: Mutex::default(), budgets })
    }

    /// Opens a session. Its conversation has to be run with [`Sessions::host`].
    pub(crate) fn open(
        &self,
        owner: Option<Arc<str>>,
        address: Option<IpAddr>,
        watch: Option<Arc<dyn HttpWatch>>,
    ) -> Result<Arc<Session>, HttpFault> {
        let id = self.fresh_id()?;
        let holder = Holder::of(owner.as_ref(), address);
        let mut table = self.lock();
        let ending = table.make_room(holder.as_ref(), &self.settings)?;
        let settings = (self.settings.clone(), &self.budgets);
        let session = Session::new(id.clone(), owner, holder, watch, settings);
        table.add(id, &session);
        drop(table);
        for session in ending {
            tracing::debug!("an idle session was ended to make room for a new one");
            session.end();
        }
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
        self.lock().open.get(id).filter(|session| session.owner.as_deref() == owner).cloned()
    }

    /// Ends a session; `false` if there is none.
    pub(crate) fn close(&self, id: &str) -> bool {
        let Some(session) = self.lock().remove(id) else { return false };
        session.end();
        true
    }

    pub(crate) fn close_all(&self) {
        let table = std::mem::take(&mut *self.lock());
        for session in table.open.into_values() {
            session.end();
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().open.len()
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

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
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
