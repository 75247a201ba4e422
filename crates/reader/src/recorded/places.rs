//! Sites to places: those resolved after the run where there are, else what the raw site says by itself.

use std::collections::BTreeMap;

use workspan_trace::entry::{PlaceEntry, Site, SitePosition};
use workspan_trace::wire::primitive;

use super::chunks_by_thread::TraceChunks;
use workspan_dag::{NONE, Place, PlaceId, ROOT_PLACE};

/// All places, and which one a site is.
#[derive(Debug)]
pub(super) struct Places {
    pub list: Vec<Place>,
    of_site: Vec<PlaceId>,
    unknown: PlaceId,
    /// True when there are addresses that were not resolved.
    pub unresolved: bool,
}

impl Places {
    /// The place of a site; "?" for one the file says nothing about.
    pub(super) fn of(&self, site: u32) -> PlaceId {
        self.of_site
            .get(site as usize)
            .copied()
            .unwrap_or(self.unknown)
    }

    /// The place of each site.
    pub(super) fn by_site(self) -> Vec<PlaceId> {
        self.of_site
    }

    /// By site, the first one that is the same place.
    pub(super) fn first_sites(&self) -> Vec<u32> {
        let mut first = vec![NONE; self.list.len()];
        let sites = (0..).zip(&self.of_site);
        sites
            .map(|(site, &place)| match first.get_mut(place as usize) {
                Some(first) if *first == NONE => {
                    *first = site;
                    site
                }
                Some(first) => *first,
                None => site,
            })
            .collect()
    }

    /// Likewise, where none may be given.
    pub(super) fn of_optional(&self, site: Option<u32>) -> PlaceId {
        site.map_or(NONE, |site| self.of(site))
    }
}

/// Makes the list of places. Sites that people would read as one and the same place are one.
pub(super) fn places(chunks: &TraceChunks<'_>) -> Places {
    let mut list = vec![Place {
        label: "root".into(),
        ..Place::default()
    }];
    let unknown = Place {
        label: "?".into(),
        ..Place::default()
    };
    let mut known: BTreeMap<Key, PlaceId> = BTreeMap::from([(key(&unknown), 1)]);
    list.push(unknown);
    let ids = chunks.sites.keys().chain(chunks.places.keys());
    // Numbers far beyond the number of sites are no one's.
    let room = (chunks.sites.len() + chunks.places.len()).saturating_mul(2) + 16;
    let most = ids
        .copied()
        .filter(|&id| (id as usize) < room)
        .max()
        .map_or(0, |id| id as usize + 1);
    let mut of_site = vec![1; most];
    for (id, of) in of_site.iter_mut().enumerate() {
        let id = id as u32;
        let resolved = chunks.places.get(&id).map(resolved_place);
        let Some(place) = resolved.or_else(|| chunks.sites.get(&id).map(raw_place)) else {
            continue;
        };
        *of = *known.entry(key(&place)).or_insert_with(|| {
            list.push(place);
            list.len() as PlaceId - 1
        });
    }
    debug_assert_eq!(ROOT_PLACE, 0);
    Places {
        list,
        of_site,
        unknown: 1,
        unresolved: chunks.places.is_empty() && chunks.sites.values().any(needs_symbols),
    }
}

type Key = (
    String,
    Option<String>,
    Option<u32>,
    Option<String>,
    Option<String>,
);

/// What tells places apart. A line of a file is one place, by whatever name the debug information has for its function: the
/// name of an inlined one may lack its type.
fn key(place: &Place) -> Key {
    let function = match place.line {
        Some(_) => None,
        None => place.function.clone(),
    };
    (
        place.label.clone(),
        place.file.clone(),
        place.line,
        function,
        place.primitive.clone(),
    )
}

fn resolved_place(entry: &PlaceEntry) -> Place {
    Place {
        label: entry.label.clone(),
        file: entry.file.clone(),
        line: entry.line,
        function: entry.function.clone(),
        primitive: entry.primitive.clone(),
        source: entry.source.clone(),
    }
}

fn needs_symbols(site: &Site) -> bool {
    match &site.position {
        SitePosition::Stack { addresses, .. } | SitePosition::Calls { addresses, .. } => {
            !addresses.is_empty()
        }
        SitePosition::Address { .. } => true,
        SitePosition::Location { .. } | SitePosition::Label(_) => false,
    }
}

fn raw_place(site: &Site) -> Place {
    let primitive = primitive::NAMES
        .get(usize::from(site.primitive))
        .filter(|&&name| name != "?");
    let primitive = primitive.map(|name| name.to_string());
    let at = |file: &str, line: u32| Place {
        label: format!("{file}:{line}"),
        file: Some(file.to_string()),
        line: Some(line),
        primitive: primitive.clone(),
        ..Place::default()
    };
    match &site.position {
        SitePosition::Location { file, line, .. } => at(file, *line),
        SitePosition::Stack {
            addresses,
            file,
            line,
        } => match addresses.first() {
            Some(address) => Place {
                label: format!("{address:#x}"),
                primitive,
                ..Place::default()
            },
            None => at(file, *line),
        },
        SitePosition::Address { address, .. } => Place {
            label: format!("{address:#x}"),
            primitive,
            ..Place::default()
        },
        SitePosition::Label(text) => Place {
            label: text.clone(),
            primitive,
            ..Place::default()
        },
        SitePosition::Calls { addresses, name } => Place {
            label: match addresses.first() {
                Some(address) => format!("{address:#x}"),
                None if name.is_empty() => "?".to_owned(),
                None => name.clone(),
            },
            primitive,
            ..Place::default()
        },
    }
}
