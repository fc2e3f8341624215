//! Integration tests of the rule catalogue and the engine.

mod catalogue;
mod features;
mod http_requests;
mod laws;
mod limits;
mod observe;
mod profiles;
mod sessions;
mod traces;
mod validator;
