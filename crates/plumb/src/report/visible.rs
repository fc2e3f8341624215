//! The one place where what peers chose becomes what people are shown.

use std::{borrow::Cow, sync::Arc};

use mcp_rules::{Finding, SchemaFault};
use serde_json::Value;

use super::{Located, Withheld};
use crate::text::visible;

impl Located {
    /// Makes everything visible that a peer or a file name could have brought in.
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
    /// The same for what was left out.
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
