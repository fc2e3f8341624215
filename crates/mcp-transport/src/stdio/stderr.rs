use std::{fmt, process::Stdio, sync::Arc};

use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Where the standard error of a child goes.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum ChildStderr {
    /// Inherited from this process.
    #[default]
    Inherit,
    /// Discarded.
    Null,
    /// Passed to this function line by line, without the newline. It is called from a task and must
    /// not block.
    Lines(Arc<dyn Fn(&str) + Send + Sync>),
}

impl ChildStderr {
    /// Passed to this function line by line; see [`ChildStderr::Lines`].
    pub fn lines(take: impl Fn(&str) + Send + Sync + 'static) -> Self {
        ChildStderr::Lines(Arc::new(take))
    }

    pub(super) fn stdio(&self) -> Stdio {
        match self {
            ChildStderr::Inherit => Stdio::inherit(),
            ChildStderr::Null => Stdio::null(),
            ChildStderr::Lines(_) => Stdio::piped(),
        }
    }
}

impl fmt::Debug for ChildStderr {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            ChildStderr::Inherit => "Inherit",
            ChildStderr::Null => "Null",
            ChildStderr::Lines(_) => "Lines",
        })
    }
}

/// Reads all of `stderr`, so that the child never blocks on it.
pub(super) async fn pass_on(
    mut stderr: impl AsyncRead + Unpin,
    limit: usize,
    take: Arc<dyn Fn(&str) + Send + Sync>,
) {
    let mut line = Line { text: Vec::new(), limit, take };
    let mut part = vec![0; 8 * 1024];
    while let Ok(count @ 1..) = stderr.read(&mut part).await {
        let mut rest = part.get(..count).unwrap_or_default();
        while let Some(end) = memchr(b'\n', rest) {
            let (head, tail) = rest.split_at(end);
            line.extend(head);
            line.finish();
            rest = tail.get(1..).unwrap_or_default();
        }
        line.extend(rest);
    }
    if !line.text.is_empty() {
        line.finish();
    }
}

struct Line {
    text: Vec<u8>,
    limit: usize,
    take: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Line {
    fn extend(&mut self, part: &[u8]) {
        let room = self.limit.saturating_sub(self.text.len());
        self.text.extend_from_slice(part.get(..room).unwrap_or(part));
    }

    fn finish(&mut self) {
        if self.text.last() == Some(&b'\r') {
            self.text.pop();
        }
        (self.take)(&String::from_utf8_lossy(&self.text));
        self.text.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::pass_on;

    #[tokio::test]
    async fn lines_are_cut_at_the_limit() {
        let found = Arc::new(Mutex::new(Vec::new()));
        let take = {
            let found = Arc::clone(&found);
            Arc::new(move |line: &str| found.lock().unwrap().push(line.to_owned()))
        };
        pass_on(&b"one\r\n\n123456789\n\xff\nend"[..], 5, take).await;
        assert_eq!(*found.lock().unwrap(), ["one", "", "12345", "\u{fffd}", "end"]);
    }
}
