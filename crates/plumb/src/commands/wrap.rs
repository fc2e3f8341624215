use std::{
    env,
    fmt::Write as _,
    io::{self, Write as _},
    path::Path,
};

use super::Outcome;
use crate::{
    args::{Color, WrapArgs},
    client_config::ConfigFile,
    failure::Failure,
    style::Palette,
    text::{shown_path, visible},
    wrap::{self, Direction, Done, Plan, Proxy, WrapError},
};

/// Runs `plumb wrap`.
pub(crate) fn wrap(args: &WrapArgs, color: Color) -> anyhow::Result<Outcome> {
    let direction = if args.undo { Direction::Undo } else { Direction::Wrap };
    let proxy = proxy(args)?;
    let name = shown_path(&args.config);
    let file = ConfigFile::read(&args.config)
        .map_err(|error| Failure::new(format!("could not read {name}")).because(error))?;
    let plan = wrap::plan(&file.text, &args.servers, direction, &proxy)
        .map_err(|error| unusable(&name, error))?;
    let palette = Palette::of_stderr(color);
    if args.dry_run {
        let _ = io::stderr().write_all(report(&plan, direction, &palette).as_bytes());
        if !plan.edits.is_empty() {
            print(&plan.edits.diff(&file.text, &args.config.to_string_lossy()))?;
        }
        return Ok(Outcome::Clean);
    }
    if !plan.edits.is_empty() {
        file.replace(&plan.edits.apply(&file.text))
            .map_err(|error| Failure::new(format!("could not write {name}")).because(error))?;
    }
    let mut text = report(&plan, direction, &Palette::of_stdout(color));
    let _ = match (plan.edits.is_empty(), direction) {
        (true, _) => writeln!(text, "nothing to change in {name}"),
        (false, Direction::Wrap) => {
            writeln!(text, "wrote {name}; `plumb wrap --undo {name}` removes the proxy again")
        }
        (false, Direction::Undo) => writeln!(text, "wrote {name}"),
    };
    if let Some(option) = relative_path(&proxy.options) {
        let option = visible(option);
        let _ = writeln!(
            text,
            "note: `{option}` is relative to the directory in which the client starts its servers"
        );
    }
    print(&text)?;
    Ok(Outcome::Clean)
}

fn proxy(args: &WrapArgs) -> anyhow::Result<Proxy> {
    let plumb = match &args.plumb {
        Some(path) => path.clone(),
        None => env::current_exe()
            .map_err(|error| {
                Failure::new("could not determine the path of this program")
                    .because(error)
                    .hint("give it with --plumb")
            })?
            .into_os_string()
            .into_string()
            .map_err(|_| {
                Failure::new("the path of this program is not Unicode").hint("give it with --plumb")
            })?,
    };
    if args.options.iter().any(|option| option == "--" || option == "--upstream") {
        let message = "`--` and `--upstream` are for `plumb wrap` to set";
        return Err(Failure::new(message).hint("leave them out").into());
    }
    Ok(Proxy { plumb, options: args.options.clone() })
}

fn unusable(name: &str, error: WrapError) -> Failure {
    match error {
        WrapError::Refused(..) | WrapError::Unknown(_) => {
            Failure::new(error.to_string()).hint("nothing was changed")
        }
        error => Failure::new(format!("{name} cannot be used")).because(error),
    }
}

/// Formats a line for each server.
fn report(plan: &Plan, direction: Direction, palette: &Palette) -> String {
    let Palette { bold, good, dim, .. } = palette;
    let mut text = String::new();
    for (name, done) in &plan.servers {
        let name = visible(name);
        let _ = write!(text, "{bold}{name}{bold:#}: ");
        let _ = match (done, direction) {
            (Done::Changed, Direction::Wrap) => writeln!(text, "{good}wrapped{good:#}"),
            (Done::Changed, Direction::Undo) => writeln!(text, "{good}unwrapped{good:#}"),
            (Done::AsWanted, Direction::Wrap) => {
                writeln!(
                    text,
                    "already wrapped {dim}(use --undo first to change the options){dim:#}"
                )
            }
            (Done::AsWanted, Direction::Undo) => writeln!(text, "not wrapped"),
            (Done::LeftAlone(reason), _) => writeln!(text, "unchanged: {}", visible(reason)),
        };
    }
    text
}

/// The first recording path in `options` that is not absolute.
fn relative_path(options: &[String]) -> Option<&str> {
    options.iter().enumerate().find_map(|(at, option)| {
        let path = match option.strip_prefix("--record=") {
            Some(path) => path,
            None if option == "--record" => options.get(at + 1)?,
            None => return None,
        };
        Path::new(path).is_relative().then_some(path)
    })
}

fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
