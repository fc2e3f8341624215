use std::borrow::Cow;

/// Shortens a name chosen by a peer for use in a message.
pub(crate) fn shown(name: &str) -> Cow<'_, str> {
    const LONGEST: usize = 60;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => Cow::Owned(format!("{}…", &name[..end])),
        None => Cow::Borrowed(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(shown("get_weather"), "get_weather");
        assert_eq!(shown(&"ü".repeat(60)), "ü".repeat(60));
        assert_eq!(shown(&"ü".repeat(61)), format!("{}…", "ü".repeat(60)));
    }
}
