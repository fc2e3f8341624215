use serde::{Deserialize, Serialize};

use crate::{Json, excerpt};

/// The name and version of a client or server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub struct Implementation {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
}

impl Implementation {
    /// A name and a version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Implementation {
        Implementation {
            name: name.into(),
            title: None,
            version: version.into(),
            description: None,
            icons: Vec::new(),
            website_url: None,
        }
    }

    /// The same with long texts cut and large icons left out, to be kept as long as a conversation
    /// lasts: at most 16 KiB.
    pub(crate) fn shortened(mut self) -> Implementation {
        const TEXT: usize = 1 << 10;
        const ICONS: usize = 8 << 10;
        let cut = |text: &mut String| *text = excerpt(text, TEXT).into_owned();
        cut(&mut self.name);
        cut(&mut self.version);
        for text in [&mut self.title, &mut self.description, &mut self.website_url] {
            text.iter_mut().for_each(cut);
        }
        let is_large =
            |icons: &Vec<Icon>| Json::of(icons).is_ok_and(|text| text.as_bytes().len() > ICONS);
        if is_large(&self.icons) {
            self.icons = Vec::new();
        }
        self.icons.shrink_to_fit();
        self
    }

    /// Sets the human-readable name.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

/// An icon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub struct Icon {
    /// A URL, `https:` or `data:`.
    pub src: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Such as `48x48`, or `any`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// The background it is made for: `light` or `dark`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme: Option<String>,
}

impl Icon {
    /// The icon at `src`.
    pub fn new(src: impl Into<String>) -> Icon {
        Icon { src: src.into(), mime_type: None, sizes: Vec::new(), theme: None }
    }
}

/// The role of a speaker in a conversation with a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "self-explanatory")]
#[expect(clippy::exhaustive_enums, reason = "the protocol has two")]
pub enum Role {
    User,
    Assistant,
}

/// The audience and priority of something.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// The intended audience.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<Role>,
    /// From 0 (least important) to 1 (most important).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// The time of the last change, in ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_a_client_is_short() {
        let mut info = Implementation::new("x".repeat(1024), "1.0.0").title("x".repeat(1025));
        info.icons = vec![Icon::new("data:x")];
        let kept = info.clone().shortened();
        assert_eq!((&kept.name, &kept.version), (&info.name, &info.version));
        assert_eq!(kept.title.unwrap().len(), 1024 + "… (1025 bytes)".len());
        assert_eq!(kept.icons, info.icons);
        let long = || "x".repeat(1 << 20);
        let mut info = Implementation::new(long(), long()).title(long()).description(long());
        info.website_url = Some(long());
        info.icons = vec![Icon::new(long())];
        assert!(Json::of(&info.shortened()).unwrap().as_bytes().len() < 16 << 10);
    }
}
