//! The facts that a process recorded about itself in addition to its events, and its sites resolved
//! to functions, files and lines.

use std::collections::BTreeSet;
use std::path::PathBuf;

use workspan_recorder::abi::INHERITED;
use workspan_symbols::{Mapping, Position, Site, Workspace};
use workspan_trace::Trace;
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::{self, Note, PlaceEntry, SitePosition};
use workspan_trace::event::{Event, Events};
use workspan_trace::note_keys::NAME;
use workspan_trace::reader::Tolerance;
use workspan_trace::wire::primitive;

use crate::trace_file::run_folder::program_name;

/// The contents of all chunks except events.
#[derive(Default)]
pub(crate) struct ProcessFacts {
    pub(crate) sites: Vec<entry::Site>,
    pub(crate) mappings: Vec<Mapping>,
    pub(crate) notes: Vec<Note>,
    pub(crate) tasks: u64,
    /// Whether the program started threads of its own.
    pub(crate) threads: bool,
    pub(crate) finished: bool,
    /// Whether there are readings of the threads' statistics.
    pub(crate) estimated: bool,
}

impl ProcessFacts {
    pub(crate) fn read(trace: &Trace<'_>) -> Self {
        let mut facts = Self::default();
        let chunks = || trace.chunks(Tolerance::Tolerant).flatten();
        let sites = chunks().filter(|chunk| chunk.kind == ChunkKind::Sites);
        let threads: BTreeSet<u32> = sites
            .flat_map(|chunk| entry::entries(chunk.payload).filter_map(entry::Site::decode))
            .filter(|site| site.primitive == primitive::THREAD)
            .map(|site| site.id)
            .collect();
        facts.threads = !threads.is_empty();
        for chunk in trace.chunks(Tolerance::Tolerant).flatten() {
            let bodies = || entry::entries(chunk.payload);
            match chunk.kind {
                ChunkKind::Events if facts.tasks == 0 => {
                    facts.tasks += count_tasks(chunk.payload, &threads);
                }
                ChunkKind::OffCpu => facts.estimated = true,
                ChunkKind::Finished => facts.finished |= !chunk.payload.is_empty(),
                ChunkKind::Sites => facts.sites.extend(bodies().filter_map(entry::Site::decode)),
                ChunkKind::Maps => facts
                    .mappings
                    .extend(bodies().filter_map(entry::Mapping::decode).map(mapping)),
                ChunkKind::Notes => {
                    facts
                        .notes
                        .extend(bodies().filter_map(Note::decode).map(|mut note| {
                            if note.key == NAME {
                                note.value = program_name(&note.value).to_owned();
                            }
                            note
                        }))
                }
                _ => {}
            }
        }
        facts
    }

    /// The values of a key's notes, without duplicates.
    pub(crate) fn all(&self, key: &str) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        for note in self.notes.iter().filter(|note| note.key == key) {
            if !values.contains(&note.value) {
                values.push(note.value.clone());
            }
        }
        values
    }

    /// A warning if the process has not ended yet.
    pub(crate) fn still_running(&self, pid: u32) -> Option<String> {
        // A process that ended and was not waited for has no program any more.
        let runs = !self.finished && std::fs::read_link(format!("/proc/{pid}/exe")).is_ok();
        runs.then(|| {
            format!(
                "Process {pid} was still running when the recorded program ended; its trace stops there."
            )
        })
    }

    pub(crate) fn number(&self, key: &str) -> u64 {
        let note = self.notes.iter().find(|note| note.key == key);
        note.and_then(|note| note.value.parse().ok()).unwrap_or(0)
    }

    pub(crate) fn name(&self) -> String {
        self.notes
            .iter()
            .find(|note| note.key == NAME)
            .map_or_else(|| "program".to_owned(), |note| note.value.clone())
    }

    pub(crate) fn resolve(&self, workspace: &Workspace) -> (Vec<PlaceEntry>, Vec<String>) {
        let mut by_id: Vec<(u32, usize)> = self
            .sites
            .iter()
            .enumerate()
            .map(|(at, site)| (site.id, at))
            .collect();
        by_id.sort_unstable();
        let at = |id: u32| Some(by_id[by_id.binary_search_by_key(&id, |&(id, _)| id).ok()?].1);
        let raw: Vec<Site> = self
            .sites
            .iter()
            .map(|site| raw(&site.position, at))
            .collect();
        let resolution = workspan_symbols::resolve(&raw, &self.mappings, workspace);
        let places = self
            .sites
            .iter()
            .zip(resolution.positions)
            .map(|(site, position)| place(site, position))
            .collect();
        (places, resolution.warnings)
    }
}

/// The number of tasks that the records create, except those of these sites.
fn count_tasks(payload: &[u8], threads: &BTreeSet<u32>) -> u64 {
    Events::new(payload, 0)
        .map(|(_, event)| match event {
            Event::Join { .. } => 2,
            Event::Create { site, .. } if threads.contains(&site) => 0,
            Event::Create { .. } | Event::Member { .. } => 1,
            _ => 0,
        })
        .sum()
}

fn mapping(entry: entry::Mapping) -> Mapping {
    Mapping {
        start: entry.start,
        end: entry.end,
        offset: entry.file_offset,
        path: PathBuf::from(entry.path),
        build_id: entry.build_id,
    }
}

fn raw(position: &SitePosition, at: impl Fn(u32) -> Option<usize>) -> Site {
    match position {
        SitePosition::Location { file, line, .. } => Site::Location {
            file: file.clone(),
            line: *line,
        },
        SitePosition::Stack {
            addresses,
            file,
            line,
        } => {
            let mut addresses = addresses.clone();
            // The stand-in's mark for the calling task's site, in place of the last address.
            let inherited = addresses
                .pop_if(|address| *address >= INHERITED as u64)
                .map(|mark| mark as u32);
            Site::Stack {
                addresses,
                inherited: inherited.and_then(at),
                library: (!file.is_empty()).then(|| (file.clone(), *line)),
            }
        }
        SitePosition::Address { address, is_return } => Site::Address {
            address: *address,
            returns: *is_return,
        },
        SitePosition::Label(label) => Site::Label(label.clone()),
        SitePosition::Calls { addresses, name } => Site::Calls {
            addresses: addresses.clone(),
            name: name.clone(),
        },
    }
}

fn place(site: &entry::Site, position: Position) -> PlaceEntry {
    PlaceEntry {
        site: site.id,
        label: position.label,
        file: position.file,
        line: position.line,
        function: position.function,
        primitive: (site.primitive != primitive::UNKNOWN)
            .then(|| {
                primitive::NAMES
                    .get(usize::from(site.primitive))
                    .map(|&name| name.to_owned())
            })
            .flatten(),
        source: position.source,
    }
}
