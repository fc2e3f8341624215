//! From the text of a `plumb.toml` to a [`Config`], with every fault in it.

use std::{collections::BTreeSet, ops::Range, path::PathBuf};

use clap::ValueEnum as _;
use mcp_core::Revision;
use mcp_rules::{Limits, Profile, Setting};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    Config,
    fault::Fault,
    profiles::{Profiles, UserProfile},
    proxy, test,
};
use crate::{
    args::{FailOn, Format, MaxFindings, RevisionChoice},
    levels::Levels,
    names,
    selector::{Selector, SelectorError},
};

pub(super) type Value<'i> = Spanned<DeValue<'i>>;
pub(super) type Faults = Vec<Fault>;

/// Reads `text`; on failure reports everything that is wrong with it.
pub(super) fn read(text: &str) -> Result<Config, Faults> {
    let table = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        vec![Fault::new(span, error.message().trim_end())]
    })?;
    let mut faults = Faults::new();
    let config = root(table.get_ref(), &mut faults);
    if faults.is_empty() { Ok(config) } else { Err(faults) }
}

const ROOT_KEYS: [&str; 15] = [
    "allowed_origins",
    "baseline",
    "fail_on",
    "format",
    "from_start",
    "limits",
    "max_findings",
    "profile",
    "profiles",
    "proxy",
    "revision",
    "rules",
    "schema",
    "schema_required",
    "test",
];

fn root(table: &DeTable<'_>, faults: &mut Faults) -> Config {
    let mut config = Config::default();
    let mut chosen = None;
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "revision" => config.revision = keep(revision(value), faults),
            "profile" => chosen = keep(string(value), faults).zip(Some(value.span())),
            "format" => config.format = keep(format(value), faults),
            "from_start" => config.from_start = keep(boolean(value), faults),
            "fail_on" => config.fail_on = keep(fail_on(value), faults),
            "max_findings" => config.max_findings = keep(max_findings(value), faults),
            "baseline" => config.baseline = keep(string(value), faults).map(PathBuf::from),
            "schema" => config.schemas = keep(strings(value), faults).unwrap_or_default(),
            "schema_required" => config.schema_required = keep(boolean(value), faults),
            "allowed_origins" => config.allowed_origins = origins(value, faults),
            "rules" => config.levels = levels(value, faults, setting),
            "proxy" => config.proxy = proxy::read(value, faults),
            "test" => config.test = test::read(value, faults),
            "limits" => config.limits = limits(value, faults),
            "profiles" => config.profiles = profiles(value, faults),
            unknown => faults.push(unknown_key(unknown, key.span(), &ROOT_KEYS)),
        }
    }
    if let Some((name, span)) = chosen {
        check_profile(name, span, &config.profiles, faults);
        config.profile = Some(name.to_owned());
    }
    config
}

/// A table of rules, or of patterns and layers that stand for several.
pub(super) fn levels<L>(
    value: &Value<'_>,
    faults: &mut Faults,
    level: impl Fn(&Value<'_>) -> Result<L, Fault>,
) -> Levels<L> {
    let Some(table) = keep(table(value), faults) else {
        return Levels::default();
    };
    let mut settings = Vec::new();
    for (key, value) in table {
        let selector = Selector::parse(key.get_ref());
        let selector = keep(selector.map_err(|error| unknown_rules(&error, key.span())), faults);
        settings.extend(selector.zip(keep(level(value), faults)));
    }
    settings.into_iter().collect()
}

fn unknown_rules(error: &SelectorError, span: Range<usize>) -> Fault {
    match (error, error.near()) {
        (SelectorError::Unknown(unknown), Some(near)) => {
            Fault::new(span, unknown.what()).suggest(Some(near), &[])
        }
        (SelectorError::Pattern(text, source), _) => {
            Fault::new(span, format!("`{text}` is not a pattern: {}", source.msg))
        }
        _ => Fault::new(span, error.to_string()).help("`plumb rules` lists them"),
    }
}

fn origins(value: &Value<'_>, faults: &mut Faults) -> Vec<String> {
    let origins = keep(strings(value), faults).unwrap_or_default();
    for origin in &origins {
        if !mcp_rules::is_web_origin(origin) {
            faults
                .push(Fault::new(value.span(), format!("`{origin}` is not a web origin")).help(
                    "write scheme, host and any non-default port: `https://app.example.com`",
                ));
        }
    }
    origins
}

fn limits(value: &Value<'_>, faults: &mut Faults) -> Limits {
    const KEYS: [&str; 8] = [
        "batch",
        "depth",
        "findings",
        "message_bytes",
        "pending",
        "remembered",
        "session_bytes",
        "sessions",
    ];
    let mut limits = Limits::default();
    let Some(table) = keep(table(value), faults) else {
        return limits;
    };
    for (key, value) in table {
        let limit = match key.get_ref().as_ref() {
            "message_bytes" => &mut limits.message_bytes,
            "depth" => &mut limits.depth,
            "batch" => &mut limits.batch,
            "pending" => &mut limits.pending,
            "remembered" => &mut limits.remembered,
            "sessions" => &mut limits.sessions,
            "session_bytes" => &mut limits.session_bytes,
            "findings" => &mut limits.findings,
            unknown => {
                faults.push(unknown_key(unknown, key.span(), &KEYS));
                continue;
            }
        };
        if let Some(count) = keep(count(value, 1), faults) {
            *limit = usize::try_from(count).unwrap_or(usize::MAX);
        }
    }
    limits
}

const PROFILE_KEYS: [&str; 4] = ["extends", "notifications", "requests", "rules"];

fn profiles(value: &Value<'_>, faults: &mut Faults) -> Profiles {
    let mut profiles = Profiles::default();
    let mut extended = Vec::new();
    let Some(entries) = keep(table(value), faults) else {
        return profiles;
    };
    for (key, value) in entries {
        let name = key.get_ref().as_ref();
        if name.parse::<Profile>().is_ok() {
            let message = format!("`{name}` is a built-in profile and cannot be redefined");
            let help = format!("give it another name and say `extends = \"{name}\"`");
            faults.push(Fault::new(key.span(), message).help(help));
            continue;
        }
        let Some(table) = keep(table(value), faults) else {
            continue;
        };
        let mut profile = UserProfile::default();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "extends" => {
                    if let Some(base) = keep(string(value), faults) {
                        base.clone_into(&mut profile.extends);
                        extended.push((name, base, value.span()));
                    }
                }
                "rules" => profile.levels = levels(value, faults, setting),
                "requests" => profile.methods.requests = names_of_methods(value, faults),
                "notifications" => {
                    profile.methods.notifications = names_of_methods(value, faults);
                }
                unknown => faults.push(unknown_key(unknown, key.span(), &PROFILE_KEYS)),
            }
        }
        profiles.0.insert(name.to_owned(), profile);
    }
    for (name, base, span) in extended {
        if profiles.extends_itself(name) {
            faults.push(Fault::new(span, format!("the profile `{name}` extends itself")));
        } else {
            check_profile(base, span, &profiles, faults);
        }
    }
    profiles
}

fn names_of_methods(value: &Value<'_>, faults: &mut Faults) -> BTreeSet<String> {
    let names = keep(strings(value), faults).unwrap_or_default();
    if names.iter().any(String::is_empty) {
        faults.push(Fault::new(value.span(), "the name of a method must not be empty"));
    }
    names.into_iter().collect()
}

fn check_profile(name: &str, span: Range<usize>, profiles: &Profiles, faults: &mut Faults) {
    if profiles.names().any(|known| known == name) {
        return;
    }
    let known: Vec<&str> = profiles.names().collect();
    let near = names::nearest(name, known.iter().copied());
    faults.push(Fault::new(span, format!("there is no profile `{name}`")).suggest(near, &known));
}

pub(super) fn unknown_key(name: &str, span: Range<usize>, known: &[&str]) -> Fault {
    let near = names::nearest(name, known.iter().copied());
    Fault::new(span, format!("unknown key `{name}`")).suggest(near, known)
}

pub(super) fn keep<T>(result: Result<T, Fault>, faults: &mut Faults) -> Option<T> {
    result.map_err(|fault| faults.push(fault)).ok()
}

pub(super) fn wrong_type(value: &Value<'_>, expected: &str) -> Fault {
    let found = value.get_ref().type_str();
    Fault::new(value.span(), format!("expected {expected}, found {found}"))
}

pub(super) fn string<'v>(value: &'v Value<'_>) -> Result<&'v str, Fault> {
    value.get_ref().as_str().ok_or_else(|| wrong_type(value, "a string"))
}

pub(super) fn strings(value: &Value<'_>) -> Result<Vec<String>, Fault> {
    match value.get_ref() {
        DeValue::String(text) => Ok(vec![text.to_string()]),
        DeValue::Array(array) => {
            array.iter().map(|entry| string(entry).map(str::to_owned)).collect()
        }
        _ => Err(wrong_type(value, "a string or an array of strings")),
    }
}

pub(super) fn boolean(value: &Value<'_>) -> Result<bool, Fault> {
    value.get_ref().as_bool().ok_or_else(|| wrong_type(value, "true or false"))
}

pub(super) fn table<'v, 'i>(value: &'v Value<'i>) -> Result<&'v DeTable<'i>, Fault> {
    value.get_ref().as_table().ok_or_else(|| wrong_type(value, "a table"))
}

pub(super) fn count(value: &Value<'_>, least: u64) -> Result<u64, Fault> {
    let integer = value.get_ref().as_integer().ok_or_else(|| wrong_type(value, "an integer"))?;
    match u64::from_str_radix(integer.as_str(), integer.radix()) {
        Ok(count) if count >= least => Ok(count),
        _ => {
            let message = format!("expected an integer from {least} up, found {integer}");
            Err(Fault::new(value.span(), message))
        }
    }
}

fn max_findings(value: &Value<'_>) -> Result<MaxFindings, Fault> {
    match value.get_ref() {
        DeValue::String(text) if text == "all" => Ok(MaxFindings::All),
        DeValue::Integer(_) => count(value, 0).map(MaxFindings::First),
        _ => Err(wrong_type(value, "an integer or \"all\"")),
    }
}

/// One of a fixed set of names.
pub(super) fn word<T>(
    value: &Value<'_>,
    kind: &str,
    known: &[&str],
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, Fault> {
    let text = string(value)?;
    parse(text).ok_or_else(|| {
        let near = names::nearest(text, known.iter().copied());
        Fault::new(value.span(), format!("`{text}` is not a {kind}")).suggest(near, known)
    })
}

fn revision(value: &Value<'_>) -> Result<RevisionChoice, Fault> {
    let known: Vec<&str> =
        std::iter::once("auto").chain(Revision::ALL.into_iter().map(Revision::as_str)).collect();
    word(value, "revision", &known, |text| match text {
        "auto" => Some(RevisionChoice::Auto),
        text => text.parse().ok().map(RevisionChoice::Only),
    })
}

fn format(value: &Value<'_>) -> Result<Format, Fault> {
    let known = ["human", "json", "sarif", "junit", "github"];
    word(value, "format", &known, |text| Format::from_str(text, false).ok())
}

fn fail_on(value: &Value<'_>) -> Result<FailOn, Fault> {
    word(value, "severity", &FailOn::ALL.map(FailOn::as_str), FailOn::from_name)
}

fn setting(value: &Value<'_>) -> Result<Setting, Fault> {
    word(value, "level", &["error", "warning", "off"], |text| text.parse().ok())
}
