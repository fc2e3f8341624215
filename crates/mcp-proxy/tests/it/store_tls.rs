//! A store that is reached over TLS.

use std::{fs, time::Duration};

use mcp_proxy::store::{RedisStore, StoreSettings};

use crate::{redis_server::RedisServer, tls::Authority};

#[test]
fn a_store_over_tls_is_trusted_by_the_given_certificates_only() {
    let authority = Authority::new();
    let (certificate, key) = authority.sign("localhost");
    let Some(server) = RedisServer::start_with(|folder, port| {
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let port = port.to_string();
        let options = ["--port", "0", "--tls-auth-clients", "no", "--tls-port", &port];
        let mut options = options.map(str::to_owned).to_vec();
        options.extend(["--tls-cert-file".into(), write("certificate.pem", &certificate)]);
        options.extend(["--tls-key-file".into(), write("key.pem", &key)]);
        options
    }) else {
        return;
    };
    let url = format!("rediss://localhost:{}/0", server.port());
    let store = |trusted: Option<String>| {
        let mut settings = StoreSettings::default();
        settings.trusted = trusted.map(String::into_bytes);
        settings.timeout = Duration::from_secs(30);
        RedisStore::new(&url, settings).unwrap()
    };
    let made = store(Some(authority.pem())).sealing_key().unwrap();
    assert_eq!(store(Some(authority.pem())).sealing_key().unwrap(), made);
    for untrusted in [None, Some(Authority::new().pem())] {
        assert!(store(untrusted).sealing_key().is_err());
    }
}

#[test]
fn certificates_for_a_store_without_tls_are_refused() {
    let mut settings = StoreSettings::default();
    settings.trusted = Some(Authority::new().pem().into_bytes());
    assert!(RedisStore::new("redis://127.0.0.1:6379/0", settings).is_err());
}
