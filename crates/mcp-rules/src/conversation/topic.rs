/// The topic of a message, by its method (or that of the request it answers). Most families of
/// rules need to look at only a few topics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topic {
    Cancellation,
    Completion,
    Elicitation,
    Handshake,
    Logging,
    Progress,
    Prompts,
    Resources,
    Roots,
    Sampling,
    Subscriptions,
    Tasks,
    Tools,
    Other,
}

impl Topic {
    /// The topic of a method, by its first letters, which an unknown method may share.
    pub(crate) fn of(method: &str) -> Topic {
        let name = method.strip_prefix("notifications/").unwrap_or(method);
        match name.get(..4) {
            Some("tool") => Topic::Tools,
            Some("reso") => Topic::Resources,
            Some("prog") => Topic::Progress,
            Some("prom") => Topic::Prompts,
            Some("mess" | "logg") => Topic::Logging,
            Some("comp") => Topic::Completion,
            Some("samp") => Topic::Sampling,
            Some("elic") => Topic::Elicitation,
            Some("root") => Topic::Roots,
            Some("task") => Topic::Tasks,
            Some("canc") => Topic::Cancellation,
            Some("subs") => Topic::Subscriptions,
            Some("init") => Topic::Handshake,
            _ => Topic::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Topic;

    #[test]
    fn topics_are_told_by_the_first_letters() {
        for (method, topic) in [
            ("tools/call", Topic::Tools),
            ("notifications/tools/list_changed", Topic::Tools),
            ("notifications/message", Topic::Logging),
            ("logging/setLevel", Topic::Logging),
            ("initialize", Topic::Handshake),
            ("notifications/initialized", Topic::Handshake),
            ("notifications/roots/list_changed", Topic::Roots),
            ("notifications/progress", Topic::Progress),
            ("prompts/get", Topic::Prompts),
            ("ping", Topic::Other),
            ("", Topic::Other),
        ] {
            assert_eq!(Topic::of(method), topic, "{method}");
        }
    }
}
