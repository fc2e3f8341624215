//! `plumb rules`: the catalogue, for people, programs and pages.

mod human;
mod json;
mod markdown;
mod revisions;

use std::io::{self, Write as _};

use mcp_rules::{Layer, Level, Profile, RuleMeta, Settings};

use super::Outcome;
use crate::{
    args::{Color, RulesArgs, RulesFormat},
    config::{Config, Profiles},
    style::{self, Palette},
};

/// A rule, and its level under the current settings.
#[derive(Debug, Clone, Copy)]
struct Row {
    rule: &'static RuleMeta,
    level: Level,
}

/// Lists the rules.
pub(crate) fn rules(args: &RulesArgs, color: Color) -> anyhow::Result<Outcome> {
    let rows = rows(args)?;
    let text = match args.format {
        RulesFormat::Human => {
            human::table(&rows, args.revision, Palette::of_stdout(color), style::stdout_width())
        }
        RulesFormat::Json => json::array(&rows)?,
        RulesFormat::Markdown => markdown::page(&rows),
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(Outcome::Clean)
}

fn rows(args: &RulesArgs) -> anyhow::Result<Vec<Row>> {
    let settings = match &args.profile {
        Some(name) => Some(settings(name, args)?),
        None => None,
    };
    let level = |rule: &RuleMeta| match &settings {
        Some(settings) => settings.level(rule),
        None => rule.level,
    };
    Ok(mcp_rules::catalogue()
        .filter(|rule| args.revision.is_none_or(|revision| rule.applies.contains(revision)))
        .filter(|rule| args.layer.is_none_or(|layer| rule.layer == layer))
        .map(|rule| Row { rule, level: level(rule) })
        // Without a profile, rules that can be turned on are worth listing.
        .filter(|row| settings.is_none() || row.level != Level::OptIn)
        .collect())
}

/// The settings of a profile. Only the user's own need a file.
fn settings(name: &str, args: &RulesArgs) -> anyhow::Result<Settings> {
    let profiles = match &args.config {
        Some(path) => Config::load(path)?.profiles,
        None if name.parse::<Profile>().is_ok() => Profiles::default(),
        None => Config::find()?.profiles,
    };
    let profile = profiles.named(name)?;
    let mut settings = Settings::default();
    settings.profile = profile.base;
    settings.rules = profile.rules;
    Ok(settings)
}

/// The rules of each layer that has some.
fn by_layer(rows: &[Row]) -> impl Iterator<Item = (Layer, Vec<Row>)> {
    Layer::ALL.into_iter().filter_map(move |layer| {
        let of_layer: Vec<Row> =
            rows.iter().copied().filter(|row| row.rule.layer == layer).collect();
        (!of_layer.is_empty()).then_some((layer, of_layer))
    })
}

#[cfg(test)]
mod testing {
    use super::{Layer, Row};

    /// Every rule with its default level.
    pub(super) fn all() -> Vec<Row> {
        mcp_rules::catalogue().map(|rule| Row { rule, level: rule.level }).collect()
    }

    pub(super) fn of_layer(layer: Layer) -> Vec<Row> {
        all().into_iter().filter(|row| row.rule.layer == layer).collect()
    }
}
