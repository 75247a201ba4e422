//! The names of threads. A thread often gets its name after its first record.

use super::{Own, Owner, owner_of};
use crate::process::{self, Recording};
use crate::system::{self, KeepErrno};
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::ThreadName;

/// A zero-terminated name, as the kernel has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Name([u8; 16]);

impl Name {
    /// The calling thread's name.
    pub(super) fn now() -> Name {
        let mut name = [0u8; 16];
        // SAFETY: PR_GET_NAME writes up to 16 bytes, including a terminating zero.
        unsafe { system::prctl(system::PR_GET_NAME, name.as_mut_ptr()) };
        let end = name.iter().position(|&byte| byte == 0);
        let end = end.unwrap_or(name.len());
        name[end..].fill(0);
        Name(name)
    }

    pub(super) fn text(&self) -> String {
        let end = self.0.iter().position(|&byte| byte == 0);
        String::from_utf8_lossy(&self.0[..end.unwrap_or(self.0.len())]).into_owned()
    }
}

/// Writes the calling thread's name to the trace if the thread has records and its name has
/// changed.
pub(crate) fn note_name() {
    let handle = Own::get();
    // SAFETY: the handle is the calling thread's or null, possibly emptied in a child.
    let is_live = unsafe { handle.as_ref() }.is_some_and(|handle| !handle.table.is_null());
    if let Some(recording) = process::recording().filter(|_| is_live) {
        let _errno = KeepErrno::new();
        // SAFETY: the handle is the calling thread's, and the first field of its owner.
        update(recording, unsafe { &mut *owner_of(handle) });
    }
}

/// [`note_name`] for the owner of a thread's handle.
pub(super) fn update(recording: &Recording, owner: &mut Owner) {
    let name = Name::now();
    if name == owner.name {
        return;
    }
    owner.name = name;
    let entry = ThreadName {
        thread: owner.handle.thread,
        name: name.text(),
    };
    let mut bytes = Vec::new();
    entry.encode(&mut bytes);
    crate::intern::append(recording, ChunkKind::ThreadNames, &bytes);
}
