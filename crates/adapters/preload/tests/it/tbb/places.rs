//! Sites of a recording, resolved like `workspan record` does after the run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use workspan_symbols::{Mapping, Position, Site, Workspace, resolve};
use workspan_trace::entry::{self, SitePosition, entries};
use workspan_trace::event::{Event, Events};
use workspan_trace::wire::primitive;
use workspan_trace::{ChunkKind, Tolerance, Trace};

/// A resolved site.
#[derive(Debug)]
pub struct At(pub Position);

impl At {
    /// Whether it is a line of the source with one of these texts, or, if the text begins a
    /// function, a line inside of it. `|` separates texts.
    pub fn is_in(&self, source: &str, texts: &str) -> bool {
        let Some(line) = self.0.line else {
            return false;
        };
        let lines: Vec<&str> = source.lines().collect();
        texts.split('|').any(|text| {
            lines.iter().enumerate().any(|(first, l)| {
                let last = if l.ends_with('{') && l.contains("static") {
                    first + lines[first..].iter().position(|l| *l == "}").unwrap_or(0)
                } else {
                    first
                };
                l.contains(text) && (first + 1..=last + 1).contains(&(line as usize))
            })
        })
    }
}

/// Primitive and position of all tasks created in the recording, without duplicates.
pub fn of_tasks(file: &Path) -> Vec<(String, At)> {
    let bytes = std::fs::read(file).unwrap();
    let trace = Trace::open(&bytes).unwrap();
    let mut sites = BTreeMap::new();
    let mut mappings = Vec::new();
    let mut used = BTreeSet::new();
    for chunk in trace.chunks(Tolerance::Tolerant) {
        let Ok(chunk) = chunk else { continue };
        match chunk.kind {
            ChunkKind::Sites => sites.extend(
                entries(chunk.payload)
                    .filter_map(entry::Site::decode)
                    .map(|site| (site.id, site)),
            ),
            ChunkKind::Maps => mappings.extend(
                entries(chunk.payload)
                    .filter_map(entry::Mapping::decode)
                    .map(|entry| Mapping {
                        start: entry.start,
                        end: entry.end,
                        offset: entry.file_offset,
                        path: PathBuf::from(entry.path),
                        build_id: entry.build_id,
                    }),
            ),
            ChunkKind::Events => {
                for (_, event) in Events::new(chunk.payload, chunk.base_ticks) {
                    if let Event::Create { site, .. } = event {
                        used.insert(site);
                    }
                }
            }
            _ => {}
        }
    }
    let asked: Vec<(u8, Site)> = used
        .iter()
        .map(|site| {
            let site = &sites[site];
            let SitePosition::Calls { addresses, name } = &site.position else {
                panic!("{site:?}");
            };
            let call = Site::Calls {
                addresses: addresses.clone(),
                name: name.clone(),
            };
            (site.primitive, call)
        })
        .collect();
    let raw: Vec<Site> = asked.iter().map(|(_, site)| site.clone()).collect();
    let resolution = resolve(&raw, &mappings, &Workspace::default());
    asked
        .iter()
        .zip(resolution.positions)
        .map(|((code, _), position)| {
            (
                primitive::NAMES[usize::from(*code)].to_owned(),
                At(position),
            )
        })
        .collect()
}
