//! The builder, custom method names, and accepted batches.

use mcp_core::Revision;
use mcp_rules::{
    BuildError, ExtraMethods, Limits, Profile, RecordingInfo, Setting, Settings, Severity,
    Validator,
};

use super::{REVISION, refused};
use crate::observe::observe;

#[test]
fn a_builder_takes_every_setting() {
    let mut limits = Limits::default();
    limits.message_bytes = 100;
    let validator = Validator::builder()
        .revision(Revision::V2025_06_18)
        .profile(Profile::BaseStack)
        .rule("resource-uri-provider", Setting::Off)
        .limits(limits)
        .build()
        .unwrap();
    assert_eq!(validator.revision(), Revision::V2025_06_18);
    validator.validate_request("resources/read", Some(br#"{"uri":"file:///a"}"#)).unwrap();
    refused(validator.validate_jsonrpc(&[b' '; 200]), "parse_error");
    assert_eq!(Validator::builder().build().unwrap().revision(), Revision::LATEST);
}

#[test]
fn settings_without_effect_are_refused() {
    let build = |name: &str, profile| {
        Validator::builder().profile(profile).rule(name, Setting::Off).build().unwrap_err()
    };
    let unknown = build("parms-invalid", Profile::Spec);
    assert_eq!(
        unknown.to_string(),
        "there is no rule `parms-invalid`; did you mean `params-invalid`?"
    );
    let name = "params-invalid";
    let expected = BuildError::WithoutEffect { name, profile: Profile::JsonRpc };
    assert_eq!(build(name, Profile::JsonRpc), expected);
}

#[test]
fn names_of_ones_own_are_accepted_as_their_kind() {
    let mut methods = ExtraMethods::default();
    methods.requests.insert("weather/forecats".to_owned());
    methods.notifications.insert("notifications/weather".to_owned());
    for profile in [Profile::Spec, Profile::Erlmcp] {
        let validator = Validator::builder()
            .revision(REVISION)
            .profile(profile)
            .methods(methods.clone())
            .build()
            .unwrap();
        validator.validate_request("weather/forecats", Some(br#"{"a":1}"#)).unwrap();
        validator.validate_notification("notifications/weather", None).unwrap();
        refused(validator.validate_method_name("notifications/weather"), "unknown_method");
        let answer = validator.validate_notification_name("weather/forecats");
        refused(answer, "unknown_notification");
        let message = br#"{"jsonrpc":"2.0","id":1,"method":"weather/forecats"}"#;
        validator.validate_jsonrpc(message).unwrap();
        let nameless = br#"{"jsonrpc":"2.0","method":"weather/forecats"}"#;
        assert_eq!(validator.validate_message(nameless).errors[0].rule.name, "request-missing-id");
        let with_id = br#"{"jsonrpc":"2.0","id":1,"method":"notifications/weather"}"#;
        assert_eq!(validator.validate_message(with_id).errors[0].rule.name, "notification-with-id");
    }
}

#[test]
fn a_batch_that_is_let_in_is_judged_entry_by_entry() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}]"#;
    let rules = |setting: Option<Setting>| {
        let mut settings = Settings::default();
        settings.rules.extend(setting.map(|setting| ("batch-not-supported".to_owned(), setting)));
        let mut info = RecordingInfo::default();
        info.revision = Some(REVISION);
        let found = observe(batch.as_bytes(), settings, info);
        found.iter().map(|finding| (finding.index, finding.rule.name)).collect::<Vec<_>>()
    };
    let refused = (None, "batch-not-supported");
    let entry = (Some(1), "params-invalid");
    assert_eq!(rules(None), [refused]);
    assert_eq!(rules(Some(Setting::On(Severity::Error))), [refused]);
    assert_eq!(rules(Some(Setting::On(Severity::Warning))), [refused, entry]);
    assert_eq!(rules(Some(Setting::Off)), [entry]);
    // Where a batch is only a warning by default, its entries are judged as well.
    let old = Validator::new(Revision::V2024_11_05);
    assert!(!old.validate_batch(batch.as_bytes()).valid);
    assert!(!old.validate_batch(b"[7]").valid && !old.validate_batch(b"[]").valid);
}
