//! A progress bar on standard error, for long work on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Progress in bytes. Does nothing unless enabled.
#[derive(Debug, Clone)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A `total` of 0 means that the end is not known, as on standard input.
    pub(crate) fn new(enabled: bool, total: u64) -> Progress {
        if !enabled {
            return Progress(ProgressBar::hidden());
        }
        let total = (total > 0).then_some(total);
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr_with_hz(10));
        let template = match total {
            Some(_) => {
                "checking {bar:30.cyan} {percent:>3} %  {bytes} of {total_bytes}  {bytes_per_sec}"
            }
            None => "checking {spinner:.cyan} {bytes}  {bytes_per_sec}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━━ "));
        }
        Progress(bar)
    }

    /// Adds to the number of bytes done.
    pub(crate) fn advance(&self, bytes: u64) {
        self.0.inc(bytes);
    }

    /// Runs `print` with the bar out of the way, so that the two do not write over each other.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
