//! A file that every Unix machine has and no resource should serve.

use serde_json::Value;

use crate::Reply;

/// Its path from any folder.
pub(crate) const PATH: &str = "../../../../../../../../../../../../etc/passwd";
/// Its URI.
pub(crate) const URI: &str = "file:///etc/passwd";

/// Whether a response to `resources/read` contains it.
pub(crate) fn is_shown(reply: &Reply) -> bool {
    let contents = reply.result().and_then(|result| result["contents"].as_array());
    let texts = contents.into_iter().flatten().filter_map(|one| one["text"].as_str());
    texts.into_iter().any(has_account)
}

/// Whether a text has the line of the root account, which every such file has.
fn has_account(text: &str) -> bool {
    text.lines().any(|line| {
        let mut fields = line.split(':');
        fields.next() == Some("root") && fields.nth(1) == Some("0") && fields.count() == 4
    })
}

/// Whether a listed resource or template may refer to files.
pub(crate) fn is_about_files(entry: &Value) -> bool {
    let uri = entry["uri"].as_str().or(entry["uriTemplate"].as_str()).unwrap_or_default();
    let scheme = uri.split(':').next().unwrap_or_default();
    // An expression may stand for any scheme.
    scheme.eq_ignore_ascii_case("file") || scheme.contains('{')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_file_itself_is_recognised() {
        assert!(has_account("root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1::/:/bin/sh"));
        assert!(has_account("##\nroot:*:0:0:System Administrator:/var/root:/bin/sh"));
        for text in ["root", "root:x:0", "no such note: ../../etc/passwd", "a root:x:0:0:::"] {
            assert!(!has_account(text), "{text}");
        }
    }

    #[test]
    fn files_are_known_by_their_scheme() {
        assert!(is_about_files(&json!({ "uriTemplate": "FILE:///{path}" })));
        assert!(is_about_files(&json!({ "uriTemplate": "{+uri}" })));
        assert!(!is_about_files(&json!({ "uri": "note://file" })));
    }
}
