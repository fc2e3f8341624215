use mcp_core::Revision;
use mcp_schema::{Schemas, ToolSchemas};

use super::Validator;
use crate::{Engine, ExtraMethods, Limits, Profile, Setting, Settings};

/// Builds a [`Validator`].
///
/// ```
/// use mcp_core::Revision;
/// use mcp_rules::{Profile, Setting, Validator};
///
/// let validator = Validator::builder()
///     .revision(Revision::V2025_11_25)
///     .profile(Profile::BaseStack)
///     .rule("resource-uri-provider", Setting::Off)
///     .build()?;
/// assert!(validator.validate_request("resources/read", Some(br#"{"uri":"file:///a"}"#)).is_ok());
/// # Ok::<(), mcp_rules::BuildError>(())
/// ```
#[derive(Debug, Default)]
pub struct ValidatorBuilder {
    revision: Option<Revision>,
    schemas: Schemas,
    settings: Settings,
}

/// Why a validator cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum BuildError {
    #[error("there is no rule `{name}`{}", suggestion(*near))]
    UnknownRule { name: String, near: Option<&'static str> },
    #[error("the rule `{name}` belongs to a layer that the profile `{profile}` leaves out")]
    WithoutEffect { name: &'static str, profile: Profile },
}

fn suggestion(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

impl ValidatorBuilder {
    /// Sets the revision to judge by; defaults to the profile's own, or the latest.
    #[must_use]
    pub fn revision(mut self, revision: Revision) -> Self {
        self.revision = Some(revision);
        self
    }

    /// Sets the profile to start from; defaults to `spec`.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.settings.profile = profile;
        self
    }

    /// Sets the level of one rule, which overrides the profile.
    #[must_use]
    pub fn rule(mut self, name: impl Into<String>, setting: Setting) -> Self {
        self.settings.rules.insert(name.into(), setting);
        self
    }

    /// Sets methods to accept besides those of the revision and the profile.
    #[must_use]
    pub fn methods(mut self, methods: ExtraMethods) -> Self {
        self.settings.methods = methods;
        self
    }

    /// Sets the schemas to judge by: the embedded ones, or some with overrides.
    #[must_use]
    pub fn schemas(mut self, schemas: Schemas) -> Self {
        self.schemas = schemas;
        self
    }

    /// Sets size limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Sets everything at once, replacing earlier calls for profile, rules, methods and limits.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Builds the validator.
    ///
    /// # Errors
    ///
    /// If a rule does not exist, or has no effect under the profile.
    pub fn build(self) -> Result<Validator, BuildError> {
        for name in self.settings.rules.keys() {
            let Some(rule) = crate::rule(name) else {
                let known = crate::catalogue().map(|rule| rule.name);
                let near = mcp_schema::nearest(name, known);
                return Err(BuildError::UnknownRule { name: name.clone(), near });
            };
            if !self.settings.looks_at(rule) {
                let profile = self.settings.profile;
                return Err(BuildError::WithoutEffect { name: rule.name, profile });
            }
        }
        Ok(self.validator())
    }

    pub(super) fn validator(self) -> Validator {
        Validator {
            revision: (self.revision)
                .or(self.settings.profile.revision())
                .unwrap_or(Revision::LATEST),
            engine: Engine::new(self.schemas, self.settings),
            tools: ToolSchemas::default(),
        }
    }
}
