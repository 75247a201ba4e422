//! Bytes that are looked through from one end to the other.

use crate::open::Content;

/// Bytes of a mapped file that are looked through before they are let go.
const HELD: usize = 8 << 20;

/// How far somebody is through a content: of a mapped file hardly any pages stay.
pub(crate) struct Passing<'a> {
    content: Content<'a>,
    held: usize,
}

impl<'a> Passing<'a> {
    /// Through a content of which nothing was looked at.
    pub(crate) fn through(content: Content<'a>) -> Passing<'a> {
        Passing { content, held: 0 }
    }

    /// So many bytes more were looked through.
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.held += bytes;
        if self.held > HELD {
            self.content.let_go();
            self.held = 0;
        }
    }
}
