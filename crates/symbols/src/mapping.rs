//! The memory mappings of a process's modules.

use std::path::PathBuf;

/// An executable mapping of a recorded process, as in `/proc/PID/maps`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// First address after it.
    pub end: u64,
    /// Offset of `start` in the file.
    pub offset: u64,
    /// The file.
    pub path: PathBuf,
    /// Its GNU build id at the time of the run; empty if it had none.
    pub build_id: Vec<u8>,
}

/// The mapping that holds `address`, and the address's offset in its file.
pub(crate) fn find(mappings: &[Mapping], address: u64) -> Option<(usize, u64)> {
    mappings.iter().enumerate().find_map(|(index, m)| {
        let inside = address >= m.start && address < m.end;
        inside.then(|| (index, (address - m.start).wrapping_add(m.offset)))
    })
}
