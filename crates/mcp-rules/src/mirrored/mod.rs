//! Headers that mirror parts of the body (2026-07-28): how values are encoded in them, and which
//! tool arguments they mirror.

mod annotations;
mod params;
mod value;

pub(crate) use annotations::annotations;
pub use params::{HeaderParam, HeaderParamFault, HeaderParams, ParamValue};
pub(crate) use value::decode_copy;
pub use value::{HeaderValueFault, decode_header_value, encode_header_value};
