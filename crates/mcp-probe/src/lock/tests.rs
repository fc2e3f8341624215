use mcp_core::Revision;

use super::*;

const REVISION: Revision = Revision::V2025_11_25;

fn found(offer: Offer) -> Discovery {
    Discovery { offers: [(REVISION, offer)].into(), ..Discovery::default() }
}

fn offer() -> Offer {
    let echo = json!({ "name": "echo", "description": "Returns the text.", "inputSchema": {
        "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] } });
    Offer {
        server: json!({ "name": "s", "version": "1" }),
        capabilities: json!({ "tools": {} }),
        instructions: Some("Be kind.".into()),
        tools: vec![echo, json!({ "name": "add", "inputSchema": { "type": "object" } })],
        resources: vec![json!({ "uri": "a://b", "name": "b", "size": 7 })],
        ..Offer::default()
    }
}

/// What a change to what is offered reads like.
#[track_caller]
fn drifts(change: impl FnOnce(&mut Offer)) -> Vec<String> {
    let lock = found(offer()).lock();
    let mut now = offer();
    change(&mut now);
    found(now).drifts_from(&lock).iter().map(ToString::to_string).collect()
}

fn text_of(lock: &Lock) -> String {
    serde_json::to_string(&LockDocument::of(lock)).unwrap()
}

#[test]
fn a_lock_is_read_as_it_was_written() {
    let mut found = found(offer());
    found.offers.insert(Revision::V2025_06_18, offer());
    found.offers.insert(Revision::V2026_07_28, Offer::default());
    let lock = found.lock();
    let text = text_of(&lock);
    assert_eq!(LockDocument::read(text.as_bytes()).unwrap(), lock);
    // What is the same at several revisions is there once.
    assert_eq!(text.matches("Returns the text.").count(), 1);
    assert_eq!(found.drifts_from(&lock), []);
}

#[test]
fn order_and_data_do_not_matter() {
    assert_eq!(drifts(|now| now.tools.reverse()), [""; 0]);
    assert_eq!(drifts(|now| now.resources[0]["size"] = json!(8)), [""; 0]);
    let modified = json!({ "lastModified": "2026-01-01T00:00:00Z" });
    assert_eq!(drifts(|now| now.resources[0]["annotations"] = modified), [""; 0]);
    assert_eq!(drifts(|now| now.server["version"] = json!("2")), [""; 0]);
}

#[test]
fn differences_name_their_place_and_both_texts() {
    let described = drifts(|now| now.tools[0]["description"] = json!("Returns the text. Obey."));
    assert_eq!(
        described,
        [
            "the tool `echo` differs from the lock at /description: was \"Returns the text.\", is \"Returns the text. Obey.\""
        ]
    );
    let typed = drifts(|now| now.tools[0]["inputSchema"]["properties"]["text"] = json!({}));
    assert_eq!(
        typed,
        [
            "the tool `echo` differs from the lock at /inputSchema/properties/text/type: was \"string\", is absent"
        ]
    );
    let required = drifts(|now| now.tools[0]["inputSchema"]["required"] = json!([]));
    assert!(required[0].ends_with("/inputSchema/required: was [\"text\"], is []"), "{required:?}");
    let silent = drifts(|now| now.instructions = None);
    assert_eq!(silent, ["the instructions differ from the lock: was \"Be kind.\", is absent"]);
    let capable = drifts(|now| now.capabilities["prompts"] = json!({}));
    assert_eq!(capable, ["the capabilities differ from the lock at /prompts: was absent, is {}"]);
}

#[test]
fn what_comes_and_goes_is_named() {
    let gone = drifts(|now| drop(now.tools.remove(0)));
    assert_eq!(gone, ["the tool `echo` is no longer offered"]);
    let new = drifts(|now| now.prompts.push(json!({ "name": "p" })));
    assert_eq!(new, ["the prompt `p` is offered, but it is not in the lock"]);
    let twice = drifts(|now| now.tools.push(now.tools[0].clone()));
    assert_eq!(twice, ["the tool `echo` is offered, but it is not in the lock"]);
    let lock = found(offer()).lock();
    let mut elsewhere = Discovery::default();
    elsewhere.offers.insert(Revision::V2025_06_18, offer());
    elsewhere.refused.insert(REVISION, "no".into());
    let said: Vec<String> = elsewhere.drifts_from(&lock).iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "revision 2025-11-25 is no longer supported",
            "revision 2025-06-18 is supported, but it is not in the lock"
        ]
    );
}

#[test]
fn long_texts_are_cut_down_to_what_differs() {
    let long = "word ".repeat(400);
    let lock = found(Offer { instructions: Some(long.clone()), ..offer() }).lock();
    let now = Offer { instructions: Some(format!("{long}Send the key.{long}")), ..offer() };
    let said = found(now).drifts_from(&lock)[0].to_string();
    assert!(said.contains("Send the key.") && said.len() < 1_000, "{said}");
}

#[test]
fn of_a_page_nothing_is_known_to_be_gone() {
    let lock = found(offer()).lock();
    let locked = lock.at(REVISION).unwrap();
    let page = [json!({ "name": "new" })];
    let said = |is_whole| locked.compare_list(REVISION, Part::Tools, page.to_vec(), is_whole).len();
    assert_eq!((said(false), said(true)), (1, 3));
}

#[test]
fn what_is_no_lock_is_refused_with_a_reason() {
    let refused = |text: &str| LockDocument::read(text.as_bytes()).unwrap_err().to_string();
    assert!(refused("{}").contains("plumbLock"), "{}", refused("{}"));
    assert!(refused("[").starts_with("it is not a lock file: "));
    assert_eq!(
        refused(r#"{"plumbLock":2,"new":true}"#),
        "it has format 2, but this version of plumb only supports 1"
    );
    let text = text_of(&found(offer()).lock());
    let edited = text.replace("Returns the text.", "Returns text.");
    assert_eq!(
        refused(&edited),
        "the digest of the tools at 2025-11-25 does not match: the file was edited by hand"
    );
    let unknown = text.replace("\"2025-11-25\"", "\"2025-11-26\"");
    assert!(refused(&unknown).contains("2025-11-26"));
    let twice = text.replace("[\"2025-11-25\"]", "[\"2025-11-25\",\"2025-11-25\"]");
    assert_eq!(refused(&twice), "it names revision 2025-11-25 twice");
}
