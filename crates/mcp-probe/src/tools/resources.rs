//! Probes of resources: everything that is listed can be read.

use mcp_rules::behaviour;
use serde_json::{Value, json};

use super::{Listed, calls::short_complaint, listed, made, shown};
use crate::{Discovery, Probe, Reply, Stage, StepsFuture, discover::all_pages};

/// Maximum number of resources to read.
const READ: usize = 100;

pub(super) fn probe(found: &Discovery) -> Option<Probe> {
    let resources = listed(found, |offer| &offer.resources, "uri");
    let revisions = resources.iter().flat_map(|one| one.revisions().iter());
    let revisions = revisions.fold(mcp_core::Revisions::NONE, mcp_core::Revisions::and);
    let read = |one: &Listed| shown("resources/read", &json!({ "uri": one.name }));
    let preview = resources.iter().take(READ).map(read).collect();
    let about = "every listed resource can be read";
    let probe = made(resources.first()?, "resources/read", about, preview, steps);
    Some(Probe { revisions, ..probe })
}

fn steps(stage: &mut Stage) -> StepsFuture<'_> {
    Box::pin(async move {
        let talk = stage.shared().await?;
        let (mut unreadable, mut changed) = (Vec::new(), None);
        for resource in stage.offer().resources.iter().take(READ) {
            let Some(uri) = resource["uri"].as_str() else { continue };
            stage.spend_call()?;
            let reply = talk.request("resources/read", json!({ "uri": uri })).await?;
            match reply.result() {
                None => unreadable.push((uri.to_owned(), reply)),
                Some(result) if changed.is_none() && !names(result, uri) => {
                    changed = Some((uri.to_owned(), reply));
                }
                Some(_) => {}
            }
        }
        if let Some((uri, reply)) = changed {
            let other = first_uri(&reply).unwrap_or_default();
            let message = format!("`{uri}` was returned as `{}`", mcp_core::excerpt(&other, 200));
            let help = "return the requested URI";
            stage.fail(&behaviour::RESOURCE_URI_CHANGED, &talk, reply.line(), message, help);
        }
        if !unreadable.is_empty() {
            let (still, _) = all_pages(&talk, "resources/list", "resources").await?;
            unreadable.retain(|(uri, _)| still.iter().any(|one| one["uri"] == uri.as_str()));
        }
        if let Some((uri, reply)) = unreadable.first() {
            let error = short_complaint(reply);
            let more = match unreadable.len() {
                1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            let message = format!("`{uri}` is listed, but cannot be read{more}: {error}");
            let help = "list only what can be read";
            stage.fail(&behaviour::LISTED_RESOURCE_UNREADABLE, &talk, reply.line(), message, help);
        }
        Ok(())
    })
}

/// Whether contents belong to `uri`: one has this URI, in any spelling, or a URI below it.
fn names(result: &Value, uri: &str) -> bool {
    let plain = |uri: &str| {
        let uri = uri.to_lowercase().replace("%20", " ");
        uri.trim_end_matches('/').to_owned()
    };
    let asked = plain(uri);
    let Some(contents) = result["contents"].as_array() else { return true };
    let mut uris = contents.iter().filter_map(|one| one["uri"].as_str()).peekable();
    uris.peek().is_none() || uris.any(|uri| plain(uri).starts_with(&asked))
}

fn first_uri(reply: &Reply) -> Option<String> {
    reply.result()?.pointer("/contents/0/uri")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings_of_a_uri_are_the_same() {
        let contents = |uri: &str| json!({ "contents": [{ "uri": uri, "text": "" }] });
        assert!(names(&contents("note://About/"), "note://about"));
        assert!(names(&contents("file:///a/b.txt"), "file:///a/"));
        assert!(!names(&contents("note://elsewhere"), "note://about"));
        assert!(names(&json!({ "contents": [] }), "note://about"));
        assert!(names(&json!({}), "note://about"));
    }
}
