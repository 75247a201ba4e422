//! Bytes that are looked through from one end to the other.

use crate::open::TraceBytes;

/// Bytes of a mapped file that are looked through before they are let go.
const MAX_HELD_BYTES: usize = 8 << 20;

/// How far somebody is through a content: of a mapped file hardly any pages stay.
pub(crate) struct ReleasingPass<'a> {
    content: TraceBytes<'a>,
    held: usize,
}

impl<'a> ReleasingPass<'a> {
    /// Through a content of which nothing was looked at.
    pub(crate) fn through(content: TraceBytes<'a>) -> ReleasingPass<'a> {
        ReleasingPass { content, held: 0 }
    }

    /// So many bytes more were looked through.
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.held += bytes;
        if self.held > MAX_HELD_BYTES {
            self.content.release_pages();
            self.held = 0;
        }
    }
}
