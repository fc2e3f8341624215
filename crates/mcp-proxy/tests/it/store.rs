//! What every store promises, in memory and in a real Redis.

use bytes::Bytes;
use mcp_core::{Append, AppendOutcome, LogEnd, LogReplacement, MissedEntries, SessionStore};
use mcp_proxy::store::{MemoryStore, StoreSettings};

use crate::redis_server::RedisServer;

/// Runs a test on both kinds of store; `make` gives another client of the same store.
fn on_both(settings: &StoreSettings, test: impl Fn(&dyn Fn() -> Box<dyn SessionStore>)) {
    let memory = MemoryStore::new(settings);
    test(&|| Box::new(memory.clone()));
    if let Some(server) = RedisServer::start() {
        test(&|| Box::new(server.store(settings.clone())));
    }
}

fn append(
    store: &mut dyn SessionStore,
    session: &str,
    end: LogEnd,
    entries: &[&'static str],
) -> AppendOutcome {
    let entries: Vec<Bytes> =
        entries.iter().map(|entry| Bytes::from_static(entry.as_bytes())).collect();
    let append = Append { session, end, entries: &entries };
    store.append(&[append]).unwrap().remove(0)
}

fn replace(store: &mut dyn SessionStore, end: LogEnd, state: &[u8]) -> bool {
    store.replace(&LogReplacement { session: "s", end, unwritten: 0, state }).unwrap()
}

#[track_caller]
fn done(appended: &AppendOutcome) -> LogEnd {
    let AppendOutcome::Appended { end, .. } = appended else { panic!("{appended:?}") };
    *end
}

#[track_caller]
fn behind(appended: AppendOutcome) -> MissedEntries {
    let AppendOutcome::Behind(missed) = appended else { panic!("{appended:?}") };
    missed
}

fn texts(entries: &[Bytes]) -> Vec<&str> {
    entries.iter().map(|entry| std::str::from_utf8(entry).unwrap()).collect()
}

#[test]
fn whoever_is_behind_is_told_what_it_missed_and_appends_nothing() {
    on_both(&StoreSettings::default(), |make| {
        let (mut one, mut two) = (make(), make());
        let start = LogEnd::default();
        let end = done(&append(&mut *one, "s", start, &["a", "b"]));
        assert_eq!(end.count, 2);

        let missed = behind(append(&mut *two, "s", start, &["c"]));
        assert_eq!(missed.state, Some(None));
        assert_eq!((texts(&missed.entries), missed.end), (vec!["a", "b"], end));
        let later = done(&append(&mut *two, "s", missed.end, &["c"]));
        assert_eq!((later.log, later.count), (end.log, 3));

        let missed = behind(append(&mut *one, "s", end, &["d"]));
        assert_eq!((missed.state, texts(&missed.entries), missed.end), (None, vec!["c"], later));
    });
}

#[test]
fn a_state_stands_for_the_log_before_it() {
    on_both(&StoreSettings::default(), |make| {
        let (mut one, mut two) = (make(), make());
        let end = done(&append(&mut *one, "s", LogEnd::default(), &["a", "b"]));
        assert!(replace(&mut *one, end, b"ab"));
        let later = done(&append(&mut *one, "s", end, &["c"]));
        assert_eq!(later.count, 3);

        let missed = behind(append(&mut *two, "s", LogEnd::default(), &[]));
        assert_eq!(missed.state, Some(Some(Bytes::from_static(b"ab"))));
        assert_eq!((texts(&missed.entries), missed.end), (vec!["c"], later));
        assert!(!replace(&mut *two, end, b"old"), "the log has gone on");
    });
}

#[test]
fn a_session_that_is_not_stored_any_more_is_gone() {
    on_both(&StoreSettings::default(), |make| {
        let mut store = make();
        let known = LogEnd { log: 77, count: 3 };
        assert_eq!(append(&mut *store, "s", known, &["a"]), AppendOutcome::Expired);
        let end = done(&append(&mut *store, "s", LogEnd::default(), &["a"]));
        // Another log of the same length is not taken for the one that was known.
        let known = LogEnd { log: end.log ^ 2, count: 1 };
        assert_eq!(behind(append(&mut *store, "s", known, &["b"])).state, Some(None));
    });
}

#[test]
fn a_session_takes_no_more_than_its_share() {
    let mut settings = StoreSettings::default();
    settings.session_bytes = 4;
    on_both(&settings, |make| {
        let mut store = make();
        assert_eq!(append(&mut *store, "s", LogEnd::default(), &["abcde"]), AppendOutcome::Full);
        let end = done(&append(&mut *store, "s", LogEnd::default(), &["abc"]));
        assert_eq!(append(&mut *store, "s", end, &["de"]), AppendOutcome::Full);
        assert!(replace(&mut *store, end, b""));
        done(&append(&mut *store, "s", end, &["de"]));
    });
}

#[test]
fn several_sessions_travel_together() {
    on_both(&StoreSettings::default(), |make| {
        let mut store = make();
        let entries = [Bytes::from_static(b"a")];
        let end = LogEnd::default();
        let appends = ["s", "t"].map(|session| Append { session, end, entries: &entries });
        let appended = store.append(&appends).unwrap();
        assert!(
            appended.iter().all(|it| matches!(it, AppendOutcome::Appended { .. })),
            "{appended:?}"
        );
    });
}

#[test]
fn keys_expire_and_name_no_session() {
    let Some(server) = RedisServer::start() else { return };
    let mut store = server.store(StoreSettings::default());
    done(&append(&mut store, "secret-id", LogEnd::default(), &["a"]));
    let keys = server.ask(&["KEYS", "*"]);
    assert_eq!(keys.lines().count(), 2, "{keys}");
    for key in keys.lines() {
        assert!(key.starts_with("plumb:1:{") && !key.contains("secret-id"), "{key}");
        let left: i64 = server.ask(&["TTL", key]).trim().parse().unwrap();
        assert!((1..=24 * 60 * 60).contains(&left), "{left}");
    }
}

#[test]
fn all_replicas_get_the_same_key() {
    let Some(server) = RedisServer::start() else { return };
    let key = || server.store(StoreSettings::default()).sealing_key().unwrap();
    assert_eq!(key(), key());
}

#[test]
fn scripts_that_the_server_has_forgotten_are_loaded_again() {
    let Some(server) = RedisServer::start() else { return };
    let mut store = server.store(StoreSettings::default());
    let end = done(&append(&mut store, "s", LogEnd::default(), &["a"]));
    server.ask(&["SCRIPT", "FLUSH"]);
    done(&append(&mut store, "s", end, &["b"]));
}

#[test]
fn a_store_that_is_away_is_an_error_until_it_returns() {
    let Some(mut server) = RedisServer::start() else { return };
    let mut store = server.store(StoreSettings::default());
    let end = done(&append(&mut store, "s", LogEnd::default(), &["a"]));
    server.kill();
    let entries = [Bytes::from_static(b"b")];
    let append_b = Append { session: "s", end, entries: &entries };
    store.append(&[append_b]).unwrap_err();
    server.restart();
    done(&store.append(&[append_b]).unwrap().remove(0));
}
