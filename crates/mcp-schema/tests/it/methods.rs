//! The method tables.

use mcp_core::{
    Revision::{self, V2025_06_18, V2025_11_25, V2026_07_28},
    Revisions, Side,
};
use mcp_schema::{Declarer, MethodKind, definition, definitions, method, methods, revisions_with};

#[track_caller]
fn present(revisions: Revisions, names: &[&str]) {
    for name in names {
        assert_eq!(revisions_with(name), revisions, "{name}");
    }
}

#[test]
fn every_method_is_in_its_revisions_and_no_other() {
    present(
        Revisions::ALL,
        &[
            "tools/list",
            "tools/call",
            "prompts/list",
            "prompts/get",
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "completion/complete",
            "sampling/createMessage",
            "roots/list",
            "notifications/cancelled",
            "notifications/progress",
            "notifications/message",
            "notifications/tools/list_changed",
            "notifications/prompts/list_changed",
            "notifications/resources/list_changed",
            "notifications/resources/updated",
        ],
    );
    present(
        Revisions::LEGACY,
        &[
            "initialize",
            "notifications/initialized",
            "ping",
            "logging/setLevel",
            "resources/subscribe",
            "resources/unsubscribe",
            "notifications/roots/list_changed",
        ],
    );
    present(Revisions::from(V2025_06_18), &["elicitation/create"]);
    present(
        Revisions::only(V2025_11_25),
        &[
            "tasks/get",
            "tasks/result",
            "tasks/list",
            "tasks/cancel",
            "notifications/tasks/status",
            "notifications/elicitation/complete",
        ],
    );
    present(
        Revisions::only(V2026_07_28),
        &["server/discover", "subscriptions/listen", "notifications/subscriptions/acknowledged"],
    );
    present(Revisions::NONE, &["", "ping ", "Ping", "tasks/update", "tools/cal", "tools/callx"]);

    let counts = Revision::ALL.map(|revision| methods(revision).len());
    assert_eq!(counts, [24, 24, 25, 31, 21]);
}

#[test]
fn a_method_is_found_by_its_name() {
    for revision in Revision::ALL {
        for expected in methods(revision) {
            let found = method(revision, expected.name.as_bytes()).unwrap();
            assert!(std::ptr::eq(found, expected), "{}", expected.name);
            assert_eq!(
                found.kind == MethodKind::Notification,
                found.name.starts_with("notifications/")
            );
            assert_eq!(found.result.is_none(), found.kind == MethodKind::Notification);
            let named = [found.params, found.result, found.task_result, found.input_required];
            for definition in named.into_iter().flatten() {
                assert_eq!(definition.revision, revision);
            }
        }
    }
}

#[test]
fn a_definition_is_found_by_its_name() {
    for revision in Revision::ALL {
        for expected in definitions(revision) {
            assert_eq!(definition(revision, expected.name), Some(expected));
        }
        assert_eq!(definition(revision, "Toolbox"), None);
        assert_eq!(definition(revision, "JSONRPCMessage"), None);
    }
}

#[test]
fn requests_of_2026_07_28_come_from_the_client_or_inside_results() {
    for method in methods(V2026_07_28) {
        if method.kind == MethodKind::Notification {
            continue;
        }
        assert_eq!(method.sender.allows(Side::Server), method.input_request_only);
        assert_eq!(method.sender.allows(Side::Client), !method.input_request_only);
    }
}

#[test]
fn input_may_be_required_and_results_cached_where_the_specification_says() {
    let named = |chosen: fn(&mcp_schema::Method) -> bool| -> Vec<&str> {
        let chosen = methods(V2026_07_28).iter().filter(|method| chosen(method));
        chosen.map(|method| method.name).collect()
    };
    assert_eq!(
        named(|method| method.input_required.is_some()),
        ["tools/call", "prompts/get", "resources/read"]
    );
    assert_eq!(
        named(|method| method.cacheable),
        [
            "server/discover",
            "tools/list",
            "prompts/list",
            "resources/list",
            "resources/templates/list",
            "resources/read"
        ]
    );
    for revision in Revisions::LEGACY.iter() {
        for method in methods(revision) {
            assert!(method.input_required.is_none() && !method.cacheable);
            let augmentable = revision == V2025_11_25
                && ["tools/call", "sampling/createMessage", "elicitation/create"]
                    .contains(&method.name);
            assert_eq!(method.task_result.is_some(), augmentable, "{}", method.name);
        }
    }
}

#[test]
fn capabilities_are_declared_by_the_side_that_serves() {
    let capability = |revision, name: &str| method(revision, name.as_bytes()).unwrap().capability;
    let subscribe = capability(V2025_11_25, "resources/subscribe").unwrap();
    assert_eq!(subscribe.path, ["resources", "subscribe"]);
    assert_eq!(subscribe.declared_by.side(Side::Client), Side::Server);

    let list = capability(V2025_11_25, "tasks/list").unwrap();
    assert_eq!(list.declared_by, Declarer::Receiver);
    assert_eq!(list.declared_by.side(Side::Server), Side::Client);

    assert_eq!(capability(Revision::V2024_11_05, "completion/complete"), None);
    assert!(capability(Revision::V2025_03_26, "completion/complete").is_some());
}
