//! Params, results and error data: whether they match the definitions of the revision, and if so,
//! whether they pass the rules of the features.

mod check;
mod dispatch;
mod explain;
mod input_requests;
mod refine;
mod unknown_method;

pub(crate) use self::{
    check::{PayloadOutcome, RULES, check, check_despite},
    dispatch::{check as check_deeper, check_sound_tools},
};
