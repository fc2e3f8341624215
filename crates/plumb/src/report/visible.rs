//! The one place where text chosen by a peer is made safe to display.

use std::{borrow::Cow, sync::Arc};

use mcp_rules::{Finding, SchemaFault};
use serde_json::Value;

use super::{Located, Withheld};
use crate::text::visible;

impl Located {
    /// Makes all text visible that may come from a peer or a file name.
    pub(crate) fn make_visible(&mut self) {
        let Located { file, finding, excerpt, related } = self;
        show_shared(file);
        let Finding { message, help, pointer, schema, .. } = finding;
        let texts = [Some(message), help.as_mut(), pointer.as_mut()];
        texts.into_iter().flatten().for_each(show);
        if let Some(SchemaFault { instance_path, schema_path, keyword, params }) = schema {
            [instance_path, schema_path, keyword].into_iter().for_each(show);
            show_value(params);
        }
        for excerpt in [excerpt, related].into_iter().flatten() {
            show(&mut excerpt.title);
        }
    }
}

impl Withheld {
    /// Makes the text of withheld findings visible.
    pub(crate) fn make_visible(&mut self) {
        show_shared(&mut self.file);
    }
}

fn show(text: &mut String) {
    if let Cow::Owned(shown) = visible(text) {
        *text = shown;
    }
}

fn show_shared(text: &mut Arc<str>) {
    if let Cow::Owned(shown) = visible(text) {
        *text = shown.into();
    }
}

/// The parameters of a violation: scalars, and lists of them. Anything deeper is not shown.
fn show_value(params: &mut Value) {
    let members = params.as_object_mut().into_iter().flat_map(|members| members.values_mut());
    for member in members {
        match member {
            Value::String(text) => show(text),
            Value::Array(values) => values.iter_mut().for_each(|value| {
                if let Value::String(text) = value {
                    show(text);
                }
            }),
            _ => {}
        }
    }
}
