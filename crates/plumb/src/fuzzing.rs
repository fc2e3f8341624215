//! What fuzz targets reach of the command.

use std::path::Path;

use crate::{config::Config, failure, style::Palette};

/// Reads `text` as a `plumb.toml`, and shows what is wrong with it.
pub fn read_config(text: &str) {
    if let Err(error) = Config::read(Path::new("plumb.toml"), text.to_owned()) {
        failure::describe(&error.into(), &Palette::plain());
    }
}
