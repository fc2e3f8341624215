use std::fmt::{self, Write as _};

use mcp_core::is_invisible;

/// Escapes text for use between tags or double quotes. Invisible characters become visible.
pub(super) struct Escaped<'t>(pub(super) &'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' => f.write_char('\n')?,
                unseen if is_invisible(unseen) => {
                    let visible = mcp_core::visible(unseen.encode_utf8(&mut [0; 4])).into_owned();
                    f.write_str(&visible)?;
                }
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup() {
        let text = "<img src=x onerror='a'>&\"\u{202e}\u{1b}\n";
        let escaped = Escaped(text).to_string();
        assert_eq!(escaped, "&lt;img src=x onerror=&#39;a&#39;&gt;&amp;&quot;\u{fffd}␛\n");
    }
}
