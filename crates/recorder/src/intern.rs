//! Entries that records refer to by number (sites and labels), each written to the file when it is
//! first seen, and notes, mappings and all other entries. They are under one lock and off the hot
//! path: front ends cache the numbers.

use std::collections::{BTreeMap, BTreeSet};

use crate::emergency_heap;
use crate::mapped::Segments;
use crate::process::{Recording, entry_chunk};
use crate::spool::MappedChunk;
use crate::system::KeepErrno;
use core::sync::atomic::Ordering;
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::{Label, Mapping, Note, Site, SitePosition};
use workspan_trace::hand_off;
use workspan_trace::note_keys;
use workspan_trace::wire::primitive;

/// The smallest size of a chunk of entries, in bytes.
const MIN_CHUNK_SIZE: usize = 16 << 10;
const KINDS: usize = ChunkKind::RankCalls as usize + 1;
/// Keys of notes that a trace may have several of, because a program may use more than one runtime.
const REPEATABLE_KEYS: [&str; 2] = [note_keys::RUNTIME, note_keys::WARNING];

/// The entries seen so far, and the chunks that they are written to.
pub(crate) struct InternTable {
    sites: BTreeMap<Vec<u8>, u32>,
    labels: BTreeMap<String, u32>,
    /// Keys of notes, or key and value of those in [`REPEATABLE_KEYS`].
    notes: BTreeSet<String>,
    mapped: Segments,
    streams: [Stream; KINDS],
}

#[derive(Clone, Copy, Default)]
struct Stream {
    chunk: Option<MappedChunk>,
    used: usize,
    seq: u32,
}

// SAFETY: the chunks are written only under the lock around `InternTable`.
unsafe impl Send for InternTable {}

impl InternTable {
    pub(crate) fn new() -> Self {
        InternTable {
            sites: BTreeMap::new(),
            labels: BTreeMap::new(),
            notes: BTreeSet::new(),
            mapped: Segments::default(),
            streams: [Stream::default(); KINDS],
        }
    }

    /// Appends entries to the stream of their kind. They are in the file when this returns, or
    /// dropped if there is no space.
    fn append(&mut self, recording: &Recording, kind: ChunkKind, bytes: &[u8]) {
        let stream = &mut self.streams[kind as usize];
        if let Some(chunk) = stream.chunk
            && stream.used + bytes.len() > chunk.capacity()
        {
            stream.chunk = None;
            // SAFETY: only this stream uses the chunk, and it stops using it here.
            unsafe { recording.spool.seal(chunk, true) };
        }
        let chunk = match stream.chunk {
            Some(chunk) => chunk,
            None => {
                let small = matches!(
                    kind,
                    ChunkKind::Clock
                        | ChunkKind::Labels
                        | ChunkKind::Notes
                        | ChunkKind::OffCpu
                        | ChunkKind::CpuReadings
                        | ChunkKind::ThreadNames
                );
                let least = if small { 4 << 10 } else { MIN_CHUNK_SIZE };
                let size = (bytes.len() + 1024)
                    .max(least)
                    .next_multiple_of(recording.page);
                let Some(chunk) = recording.spool.chunk(size, entry_chunk(kind, stream.seq)) else {
                    recording
                        .spool
                        .dropped()
                        .fetch_add(bytes.len() as u64, Ordering::Relaxed);
                    return;
                };
                *stream = Stream {
                    chunk: Some(chunk),
                    used: 0,
                    seq: stream.seq + 1,
                };
                chunk
            }
        };
        if hand_off::append(&chunk, stream.used, bytes) {
            stream.used += bytes.len();
        }
    }

    fn site(&mut self, recording: &Recording, primitive: u8, position: SitePosition) -> u32 {
        let mut key = Vec::new();
        position.encode(primitive, &mut key);
        if let Some(&id) = self.sites.get(&key) {
            return id;
        }
        if self.sites.is_empty() && key != unknown_key() {
            self.site(recording, primitive::UNKNOWN, unknown());
        }
        let id = self.sites.len() as u32;
        if let Some(grain) = &recording.grain {
            grain.site(id, &position);
        }
        let mut bytes = Vec::new();
        Site {
            id,
            primitive,
            position,
        }
        .encode(&mut bytes);
        self.append(recording, ChunkKind::Sites, &bytes);
        self.sites.insert(key, id);
        id
    }
}

/// Site 0, which every call gets while nothing is recorded.
fn unknown() -> SitePosition {
    SitePosition::Label("?".into())
}

fn unknown_key() -> Vec<u8> {
    let mut key = Vec::new();
    unknown().encode(primitive::UNKNOWN, &mut key);
    key
}

/// Appends entries of a kind.
pub(crate) fn append(recording: &Recording, kind: ChunkKind, bytes: &[u8]) {
    if let Ok(mut interned) = recording.interned.lock() {
        interned.append(recording, kind, bytes);
    }
}

/// Addresses from here on are marks that front ends put among addresses.
const FIRST_MARK: u64 = 1 << 56;

fn addresses(position: &mut SitePosition) -> &mut [u64] {
    match position {
        SitePosition::Stack { addresses, .. } | SitePosition::Calls { addresses, .. } => addresses,
        SitePosition::Address { address, .. } => core::slice::from_mut(address),
        _ => &mut [],
    }
}

/// The number of a site; 0 if nothing is recorded.
pub(crate) fn site(primitive: u8, mut position: SitePosition) -> u32 {
    let _errno = KeepErrno::new();
    let Some(recording) = crate::process::recording() else {
        return 0;
    };
    let has_addresses = !addresses(&mut position).is_empty();
    // Asked before the lock is taken, because the question takes the loader's lock.
    let unloads = if has_addresses {
        crate::objects::unloads()
    } else {
        0
    };
    let Ok(mut interned) = recording.interned.lock() else {
        return 0;
    };
    let is_current = |interned: &InternTable, position: &mut SitePosition| {
        !has_addresses
            || interned.mapped.unloads == unloads
                && addresses(position)
                    .iter()
                    .all(|&a| a >= FIRST_MARK || interned.mapped.shown_address(a).is_some())
    };
    if !is_current(&interned, &mut position) && !emergency_heap::is_touched() {
        drop(interned);
        note_mappings(recording);
        let Ok(again) = recording.interned.lock() else {
            return 0;
        };
        interned = again;
    }
    for address in addresses(&mut position) {
        if *address < FIRST_MARK {
            *address = interned.mapped.shown_address(*address).unwrap_or(*address);
        }
    }
    let mut key = Vec::new();
    position.encode(primitive, &mut key);
    if let Some(&id) = interned.sites.get(&key) {
        return id;
    }
    if emergency_heap::is_touched() {
        return 0;
    }
    interned.site(recording, primitive, position)
}

/// The number of a text.
pub(crate) fn label(text: String) -> u32 {
    let _errno = KeepErrno::new();
    crate::process::recording().map_or(0, |recording| label_of(recording, text))
}

/// The number of a text in a recording.
pub(crate) fn label_of(recording: &Recording, text: String) -> u32 {
    let Ok(mut interned) = recording.interned.lock() else {
        return 0;
    };
    if let Some(&id) = interned.labels.get(&text) {
        return id;
    }
    if emergency_heap::is_touched() {
        return 0;
    }
    let id = interned.labels.len() as u32;
    let mut bytes = Vec::new();
    Label {
        id,
        text: text.clone(),
    }
    .encode(&mut bytes);
    interned.append(recording, ChunkKind::Labels, &bytes);
    interned.labels.insert(text, id);
    id
}

/// Stores a fact, unless there is one with this key. Facts with a key in [`REPEATABLE_KEYS`] are
/// stored unless there is one with this key and value.
pub(crate) fn note(key: String, value: String) {
    let _errno = KeepErrno::new();
    if let Some(recording) = crate::process::recording() {
        note_all(recording, &[(key, value)]);
    }
}

/// Stores facts.
pub(crate) fn note_all(recording: &Recording, notes: &[(String, String)]) {
    let Ok(mut interned) = recording.interned.lock() else {
        return;
    };
    for (key, value) in notes {
        let known = if REPEATABLE_KEYS.contains(&key.as_str()) {
            format!("{key}={value}")
        } else {
            key.clone()
        };
        if interned.notes.insert(known) {
            let mut bytes = Vec::new();
            Note::new(key.as_str(), value.as_str()).encode(&mut bytes);
            interned.append(recording, ChunkKind::Notes, &bytes);
        }
    }
}

/// Stores the executable mappings that are new. The loader is called without holding the lock.
pub(crate) fn note_mappings(recording: &Recording) {
    if emergency_heap::is_touched() {
        return;
    }
    let unloads = crate::objects::unloads();
    // More about the files takes system calls, which a sandbox of the program may no longer allow.
    let known = recording.interned.lock().map_or_else(
        |_| Vec::new(),
        |interned| match interned.mapped.unloads == unloads {
            true => interned.mapped.there(),
            false => Vec::new(),
        },
    );
    if crate::objects::all_code(&mut |segment| known.contains(&segment)) {
        return;
    }
    let mappings: Vec<Mapping> = crate::objects::executable_mappings();
    let Ok(mut interned) = recording.interned.lock() else {
        return;
    };
    interned.mapped.unloads = unloads;
    for mapping in interned.mapped.update(mappings) {
        let mut bytes = Vec::new();
        mapping.encode(&mut bytes);
        interned.append(recording, ChunkKind::Maps, &bytes);
    }
}
