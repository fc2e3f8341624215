//! How to start or reach the servers of a configuration.

use std::collections::BTreeMap;

use mcp_json::Node;

use super::{
    servers::{Server, servers},
    variables::expand,
};

/// A server that a configuration lists.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) name: String,
    /// How to start or reach it, or why that is not clear.
    pub(crate) start: Result<Start, String>,
}

/// How to start or reach a server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Command {
        program: String,
        arguments: Vec<String>,
        environment: BTreeMap<String, String>,
        directory: Option<String>,
    },
    Url {
        url: String,
        headers: BTreeMap<String, String>,
    },
}

/// The servers in order; `None` if this is not the configuration of a client.
pub(crate) fn listed(
    root: Node<'_>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<Vec<Listed>> {
    let servers = servers(root)?.into_iter();
    Some(
        servers
            .map(|server| Listed {
                name: server.name().into_owned(),
                start: Reading { server, variable }.start(),
            })
            .collect(),
    )
}

/// One server, and where the variables in its values come from.
struct Reading<'a> {
    server: Server<'a>,
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> Reading<'a> {
    fn start(&self) -> Result<Start, String> {
        if !self.server.is_object() {
            return Err("it is not an object".to_owned());
        }
        if self.member("type")?.is_some_and(|kind| kind.str_eq("sse")) {
            return Err("it uses the HTTP+SSE transport of 2024-11-05".to_owned());
        }
        match (self.text("command")?, self.text("url")?) {
            (Some(_), Some(_)) => Err("it has both `command` and `url`".to_owned()),
            (Some(program), None) => Ok(Start::Command {
                program,
                arguments: self.list("args")?,
                environment: self.table("env")?,
                directory: self.text("cwd")?,
            }),
            (None, Some(url)) => Ok(Start::Url { url, headers: self.table("headers")? }),
            (None, None) => Err("it has neither `command` nor `url`".to_owned()),
        }
    }

    fn member(&self, name: &'static str) -> Result<Option<Node<'a>>, String> {
        let found = self.server.member(name).map_err(|name| format!("it has `{name}` twice"))?;
        Ok(found.map(|member| member.value).filter(|value| !value.is_null()))
    }

    fn expanded(&self, name: &str, value: Node<'_>) -> Result<String, String> {
        // Numbers and booleans are clear enough in an environment.
        let text = match value.as_str() {
            Some(text) => text,
            None if value.is_object() || value.is_array() || value.is_null() => {
                return Err(format!("its `{name}` has a value that is not a string"));
            }
            None => String::from_utf8_lossy(value.raw()),
        };
        expand(&text, self.variable)
    }

    fn text(&self, name: &'static str) -> Result<Option<String>, String> {
        match self.member(name)? {
            None => Ok(None),
            Some(value) if value.is_string() => self.expanded(name, value).map(Some),
            Some(_) => Err(format!("its `{name}` is not a string")),
        }
    }

    fn list(&self, name: &'static str) -> Result<Vec<String>, String> {
        match self.member(name)? {
            None => Ok(Vec::new()),
            Some(list) if list.is_array() => {
                list.elements().map(|value| self.expanded(name, value)).collect()
            }
            Some(_) => Err(format!("its `{name}` is not an array")),
        }
    }

    fn table(&self, name: &'static str) -> Result<BTreeMap<String, String>, String> {
        match self.member(name)? {
            None => Ok(BTreeMap::new()),
            Some(table) if table.is_object() => table
                .members()
                .map(|(key, value)| {
                    let key = key.as_str().unwrap_or_default().into_owned();
                    Ok((key, self.expanded(name, value)?))
                })
                .collect(),
            Some(_) => Err(format!("its `{name}` is not an object")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Listed> {
        let variable = |name: &str| (name == "HOME").then(|| "/h".to_owned());
        super::super::read(text.as_bytes(), |root| listed(root, &variable)).unwrap().unwrap()
    }

    #[test]
    fn commands_and_urls_are_read_with_all_that_belongs_to_them() {
        let found = all(r#"{ // of a client
            "mcpServers": {
                "files": { "command": "npx", "args": ["files", "${HOME}/notes", 3],
                           "env": { "LEVEL": "${LEVEL:-info}", "PORT": 1 }, "cwd": "/tmp", },
                "web": { "type": "http", "url": "https://a.example/mcp", "headers": { "X-A": "b" } }
            },
        }"#);
        let table = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let files = Start::Command {
            program: "npx".to_owned(),
            arguments: vec!["files".to_owned(), "/h/notes".to_owned(), "3".to_owned()],
            environment: table(&[("LEVEL", "info"), ("PORT", "1")]),
            directory: Some("/tmp".to_owned()),
        };
        let web =
            Start::Url { url: "https://a.example/mcp".to_owned(), headers: table(&[("X-A", "b")]) };
        assert_eq!(
            found,
            [
                Listed { name: "files".to_owned(), start: Ok(files) },
                Listed { name: "web".to_owned(), start: Ok(web) }
            ]
        );
    }

    #[test]
    fn what_cannot_be_started_says_why() {
        for (entry, reason) in [
            ("1", "not an object"),
            ("{}", "neither"),
            (r#"{"command":"a","url":"b"}"#, "both"),
            (r#"{"command":"a","command":"b"}"#, "twice"),
            (r#"{"command":["a"]}"#, "`command` is not a string"),
            (r#"{"command":"a","args":"b"}"#, "not an array"),
            (r#"{"command":"a","args":[{}]}"#, "not a string"),
            (r#"{"command":"a","env":[]}"#, "not an object"),
            (r#"{"command":"a","env":{"B":"${NO}"}}"#, "`NO`"),
            (r#"{"type":"sse","url":"http://a.example/sse"}"#, "HTTP+SSE"),
        ] {
            let found = all(&format!(r#"{{"servers":{{"x":{entry}}}}}"#));
            let told = found[0].start.as_ref().unwrap_err();
            assert!(told.contains(reason), "{entry}: {told}");
        }
    }
}
