use std::{
    collections::{HashMap, VecDeque},
    fs, io,
    path::{Path, PathBuf},
};

use mcp_rules::{Limits, LineReader};

use super::{RecordSettings, file::RecordFile, numbered::Numbered};
use crate::Conversations;

/// A recording with one file per conversation.
pub(super) struct Split {
    folder: PathBuf,
    name: String,
    settings: RecordSettings,
    reader: LineReader,
    conversations: Conversations,
    open: HashMap<usize, RecordFile>,
    /// Open conversations, the longest silent first.
    silence: VecDeque<usize>,
    /// Conversations with a file, oldest first; only used if old files are deleted.
    kept: VecDeque<usize>,
    /// Number of gaps so far, and for each open conversation, the number when it was last written
    /// to.
    gaps: u64,
    seen_gaps: HashMap<usize, u64>,
}

/// Maximum number of open files; others are reopened when needed.
const MAX_OPEN: usize = 64;

impl Split {
    pub(super) fn new(folder: &Path, name: &str, settings: RecordSettings) -> Split {
        let mut limits = Limits::default();
        // Anything that was judged can be read again.
        limits.message_bytes = usize::MAX / 4;
        Split {
            folder: folder.to_owned(),
            name: name.to_owned(),
            settings,
            reader: LineReader::new(&limits),
            conversations: Conversations::default(),
            open: HashMap::new(),
            silence: VecDeque::new(),
            kept: VecDeque::new(),
            gaps: 0,
            seen_gaps: HashMap::new(),
        }
    }

    /// Writes `shown`, the masked form of `line`.
    pub(super) fn write(&mut self, line: &[u8], shown: &[u8]) -> io::Result<()> {
        let Split { reader, conversations, .. } = self;
        let (is_gap, conversation) = reader.read(line, |read| {
            let is_gap = read.record().is_some_and(|record| record.is_gap);
            (is_gap, if is_gap { None } else { conversations.of(read) })
        });
        if is_gap {
            self.gaps += 1;
            return Ok(());
        }
        // A stream opened before its conversation is not recorded.
        let Some(conversation) = conversation else { return Ok(()) };
        self.open(conversation)?;
        let gaps = self.gaps;
        let is_behind = self.seen_gaps.insert(conversation, gaps).is_some_and(|seen| seen < gaps);
        let Some(file) = self.open.get_mut(&conversation) else { return Ok(()) };
        if is_behind {
            file.write(b"{\"from\":\"client\",\"lost\":1}")?;
        }
        file.write(shown)
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.open.values_mut().try_for_each(RecordFile::flush)
    }

    fn open(&mut self, conversation: usize) -> io::Result<()> {
        if self.open.contains_key(&conversation) {
            if self.silence.back() != Some(&conversation) {
                self.silence.retain(|other| *other != conversation);
                self.silence.push_back(conversation);
            }
            return Ok(());
        }
        if self.open.len() >= MAX_OPEN
            && let Some(oldest) = self.silence.pop_front()
            && let Some(mut file) = self.open.remove(&oldest)
        {
            file.flush()?;
        }
        let path = self.path(conversation);
        let is_new = !path.exists();
        self.open.insert(conversation, RecordFile::create(&path, self.settings.clone())?);
        self.silence.push_back(conversation);
        if is_new && let Some(keep) = self.settings.keep {
            self.kept.push_back(conversation);
            self.prune(keep);
        }
        Ok(())
    }

    /// Deletes the files of the oldest conversations. A conversation that continues gets a new
    /// file.
    fn prune(&mut self, keep: usize) {
        // The newest one is not finished, so it does not count.
        while self.kept.len() > keep + 1 {
            let Some(oldest) = self.kept.pop_front() else { return };
            self.open.remove(&oldest);
            self.silence.retain(|other| *other != oldest);
            self.seen_gaps.remove(&oldest);
            let path = self.path(oldest);
            let pruned = Numbered::of(&path).prune(0);
            if let Err(error) = pruned.and_then(|()| fs::remove_file(path)) {
                tracing::warn!(%error, "could not delete an old recording");
            }
        }
    }

    fn path(&self, conversation: usize) -> PathBuf {
        self.folder.join(format!("{}-{}.jsonl", self.name, conversation + 1))
    }
}
