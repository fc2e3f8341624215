//! Colours and widths: used on a terminal, unless the user or the environment overrides it.

use std::io::{self, IsTerminal as _};

use annotate_snippets::Renderer;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use terminal_size::{Height, Width};

use crate::args::Color;

/// The width for pipes and files, which have none.
const PIPE_WIDTH: usize = 100;
/// Narrower terminals cannot be laid out; in wider ones, lines get hard to read.
const SENSIBLE_WIDTHS: (usize, usize) = (40, 120);

/// The styles in use. All are empty when colours are off, so that callers need not check.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Palette {
    pub(crate) error: Style,
    pub(crate) warning: Style,
    pub(crate) good: Style,
    /// Gutters, arrows and other lines that carry no text.
    pub(crate) frame: Style,
    pub(crate) accent: Style,
    pub(crate) bold: Style,
    pub(crate) dim: Style,
    styled: bool,
}

impl Palette {
    /// No colours at all.
    pub(crate) fn plain() -> Palette {
        Palette::default()
    }

    /// In the style of rustc.
    pub(crate) fn styled() -> Palette {
        let bold = Style::new().bold();
        Palette {
            error: AnsiColor::BrightRed.on_default().bold(),
            warning: AnsiColor::Yellow.on_default().bold(),
            good: AnsiColor::Green.on_default().bold(),
            frame: AnsiColor::BrightBlue.on_default().bold(),
            accent: AnsiColor::Cyan.on_default(),
            bold,
            dim: Style::new().dimmed(),
            styled: true,
        }
    }

    /// For standard output.
    pub(crate) fn of_stdout(color: Color) -> Palette {
        Palette::of(AutoStream::choice(&io::stdout()), color)
    }

    /// For standard error.
    pub(crate) fn of_stderr(color: Color) -> Palette {
        Palette::of(AutoStream::choice(&io::stderr()), color)
    }

    /// `detected` takes the terminal, `NO_COLOR` and `CLICOLOR_FORCE` into account.
    fn of(detected: ColorChoice, color: Color) -> Palette {
        let styled = match color {
            Color::Auto => detected != ColorChoice::Never,
            Color::Always => true,
            Color::Never => false,
        };
        if styled { Palette::styled() } else { Palette::plain() }
    }

    /// Whether anything is coloured at all.
    pub(crate) fn is_styled(&self) -> bool {
        self.styled
    }

    /// The renderer of excerpts in these colours.
    pub(crate) fn snippets(&self) -> Renderer {
        if self.styled {
            Renderer::styled()
                .error(self.error)
                .warning(self.warning)
                .help(self.accent)
                .note(self.bold)
                .line_num(self.frame)
        } else {
            Renderer::plain()
        }
    }
}

/// How many columns to fill on standard output.
pub(crate) fn stdout_width() -> usize {
    width_of(io::stdout().is_terminal(), terminal_size::terminal_size_of(io::stdout()))
}

/// The same for standard error.
pub(crate) fn stderr_width() -> usize {
    width_of(io::stderr().is_terminal(), terminal_size::terminal_size_of(io::stderr()))
}

fn width_of(is_terminal: bool, size: Option<(Width, Height)>) -> usize {
    let (least, most) = SENSIBLE_WIDTHS;
    match size {
        Some((width, _)) if is_terminal => usize::from(width.0).clamp(least, most),
        _ => PIPE_WIDTH,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_overrules_what_was_detected() {
        assert!(Palette::of(ColorChoice::Never, Color::Always).styled);
        assert!(!Palette::of(ColorChoice::Always, Color::Never).styled);
        assert!(Palette::of(ColorChoice::Always, Color::Auto).styled);
        assert!(!Palette::of(ColorChoice::Never, Color::Auto).styled);
    }

    #[test]
    fn plain_styles_print_nothing() {
        let Palette { error, .. } = Palette::plain();
        assert_eq!(format!("{error}x{error:#}"), "x");
    }
}
