//! From command-line strings to values; an unknown name is rejected with the closest known one.

use std::ffi::OsStr;

use clap::{
    Arg, Command,
    builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser},
};
use mcp_core::{Revision, Side};
use mcp_rules::{Layer, Profile, Setting};

use super::{FailOn, MaxFindings, RevisionChoice};
use crate::selector::Selector;

/// A string parser that suggests names in help and completions, and validates nothing: the
/// configuration may define more names.
#[derive(Debug, Clone)]
pub(super) struct Suggesting(fn() -> Vec<&'static str>);

/// A built-in profile, or the user's own.
pub(super) fn profile_name() -> Suggesting {
    Suggesting(|| Profile::ALL.into_iter().map(Profile::as_str).collect())
}

/// The name of a rule, or text that contains one.
pub(super) fn rule_name() -> Suggesting {
    Suggesting(|| mcp_rules::catalogue().map(|rule| rule.name).collect())
}

impl TypedValueParser for Suggesting {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

/// The smallest size that makes sense for a file or a buffer.
const MIN_SIZE: u64 = 4 << 10;

/// A number of bytes: `4096`, `64K`, `100M`, `2G`.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let unit = match &*text[digits.len()..].to_ascii_uppercase() {
        "" | "B" => 1,
        "K" | "KB" | "KIB" => 1 << 10,
        "M" | "MB" | "MIB" => 1 << 20,
        "G" | "GB" | "GIB" => 1 << 30,
        _ => return Err("write it like 64K, 100M or 2G".to_owned()),
    };
    let count: u64 = digits.parse().map_err(|_| "write it like 64K, 100M or 2G".to_owned())?;
    let size = count.checked_mul(unit).ok_or("too large")?;
    if size < MIN_SIZE {
        return Err("must be at least 4K".to_owned());
    }
    Ok(size)
}

pub(super) fn revision_choice() -> impl TypedValueParser<Value = RevisionChoice> {
    let names = std::iter::once("auto").chain(Revision::ALL.into_iter().map(Revision::as_str));
    PossibleValuesParser::new(names).map(|name| match name.parse() {
        Ok(revision) => RevisionChoice::Only(revision),
        Err(_) => RevisionChoice::Auto,
    })
}

pub(super) fn revision() -> impl TypedValueParser<Value = Revision> {
    PossibleValuesParser::new(Revision::ALL.map(Revision::as_str))
        .try_map(|name| name.parse::<Revision>())
}

pub(super) fn layer() -> impl TypedValueParser<Value = Layer> {
    PossibleValuesParser::new(Layer::ALL.map(Layer::as_str)).try_map(|name| name.parse::<Layer>())
}

pub(super) fn side() -> impl TypedValueParser<Value = Side> {
    PossibleValuesParser::new(Side::BOTH.map(Side::as_str))
        .map(|name| if name == Side::Client.as_str() { Side::Client } else { Side::Server })
}

pub(super) fn fail_on() -> impl TypedValueParser<Value = FailOn> {
    PossibleValuesParser::new(FailOn::ALL.map(FailOn::as_str))
        .map(|name| FailOn::from_name(&name).unwrap_or_default())
}

pub(super) fn max_findings(text: &str) -> Result<MaxFindings, String> {
    match text {
        "all" => Ok(MaxFindings::All),
        _ => text.parse().map(MaxFindings::First).map_err(|_| "use a number or `all`".to_owned()),
    }
}

pub(super) fn rule_setting(text: &str) -> Result<(Selector, Setting), String> {
    let Some((name, level)) = text.rsplit_once('=') else {
        return Err(format!("write it as {text}=error, {text}=warn or {text}=off"));
    };
    let selector = Selector::parse(name).map_err(|error| error.to_string())?;
    let setting = level.parse().map_err(|error: mcp_rules::UnknownSetting| error.to_string())?;
    Ok((selector, setting))
}
