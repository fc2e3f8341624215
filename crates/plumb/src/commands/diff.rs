use std::io::{self, BufWriter};

use super::Outcome;
use crate::{
    args::{Color, DiffArgs, DiffFormat},
    diff::{self, DiffError, DiffReport, HumanDiff, JsonDiff},
    failure::Failure,
    style::Palette,
    text::shown_path,
};

/// Compares two recordings of the same conversation.
pub(crate) fn diff(args: &DiffArgs, color: Color) -> anyhow::Result<Outcome> {
    let out = BufWriter::new(io::stdout().lock());
    let names = [&args.left, &args.right].map(|path| path.to_string_lossy().into_owned());
    let [left, right] = names;
    let mut report: Box<dyn DiffReport> = match args.format {
        DiffFormat::Human => {
            Box::new(HumanDiff { out, palette: Palette::of_stdout(color), names: (left, right) })
        }
        DiffFormat::Json => Box::new(JsonDiff { out }),
    };
    let totals =
        diff::run(&args.left, &args.right, report.as_mut()).map_err(|error| match error {
            DiffError::Recording(index, error) => {
                let path = if index == 0 { &args.left } else { &args.right };
                Failure::new(format!("{} cannot be compared", shown_path(path)))
                    .because(error)
                    .into()
            }
            DiffError::Write(error) => anyhow::Error::from(error),
        })?;
    report.finish(&totals)?;
    Ok(if totals.are_same() { Outcome::Clean } else { Outcome::Findings })
}
