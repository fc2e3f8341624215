//! Entry points for fuzz targets.

use std::path::Path;

use crate::{config::Config, failure, style::Palette};

/// Reads `text` as a `plumb.toml` and renders its errors.
pub fn read_config(text: &str) {
    if let Err(error) = Config::read(Path::new("plumb.toml"), text.to_owned()) {
        failure::describe(&error.into(), &Palette::plain());
    }
}
