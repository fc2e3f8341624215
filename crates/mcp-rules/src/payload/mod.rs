//! Params, results and error data: whether they fit the definitions of the revision, and if so,
//! what the features have to say about them.

mod check;
mod dispatch;
mod explain;
mod input_requests;
mod refine;
mod unknown_method;

pub(crate) use self::{
    check::{PayloadOutcome, RULES, check, check_despite},
    dispatch::check as check_deeper,
};
