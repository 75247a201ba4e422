//! Bytes that are read once from beginning to end.

use crate::open::TraceBytes;

/// The number of bytes of a mapped file that are read before their pages are released.
const MAX_HELD_BYTES: usize = 8 << 20;

/// The progress of reading a file's contents. Hardly any pages of a mapped file stay in memory.
pub(crate) struct ReleasingPass<'a> {
    content: TraceBytes<'a>,
    held: usize,
}

impl<'a> ReleasingPass<'a> {
    /// Starts at the beginning of these contents.
    pub(crate) fn through(content: TraceBytes<'a>) -> ReleasingPass<'a> {
        ReleasingPass { content, held: 0 }
    }

    /// Advances by this many bytes.
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.held += bytes;
        if self.held > MAX_HELD_BYTES {
            self.content.release_pages();
            self.held = 0;
        }
    }
}
