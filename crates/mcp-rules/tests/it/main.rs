//! Integration tests of the rule catalogue and the engine.

mod alone;
mod authorization;
mod catalogue;
mod compat;
mod features;
mod http_requests;
mod interleaving;
mod laws;
mod limits;
mod live_http;
mod lock;
mod modern;
mod modules;
mod observe;
mod profiles;
mod recordings;
mod redact;
mod rulings;
mod sessions;
mod traces;
mod validator;
