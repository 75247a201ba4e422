//! Turns sites into places: those resolved after the run if there are any, otherwise the raw site's
//! own information.

use std::collections::BTreeMap;

use workspan_trace::entry::{PlaceEntry, Site, SitePosition};
use workspan_trace::wire::primitive;

use super::chunks_by_thread::TraceChunks;
use workspan_dag::{NONE, Place, PlaceId, ROOT_PLACE, Reporter};

/// All places, and the place of each site.
#[derive(Debug)]
pub(super) struct Places {
    pub list: Vec<Place>,
    of_site: Vec<PlaceId>,
    unknown: PlaceId,
    /// Whether there are addresses that were not resolved.
    pub unresolved: bool,
}

impl Places {
    /// The place of a site; "?" for a site that is not in the file.
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

    /// For each site, the first site with the same place.
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

    /// The place of an optional site.
    pub(super) fn of_optional(&self, site: Option<u32>) -> PlaceId {
        site.map_or(NONE, |site| self.of(site))
    }
}

/// Builds the list of places. Sites that look the same to the user are one place.
pub(super) fn places(chunks: &TraceChunks<'_>) -> Places {
    let mut list = vec![Place {
        label: "root".into(),
        ..Place::default()
    }];
    let unknown = Place {
        label: "?".into(),
        ..Place::default()
    };
    let mut known: BTreeMap<Key, LinePlaces> = BTreeMap::new();
    known.entry(key(&unknown)).or_default().first = Some(1);
    list.push(unknown);
    let ids = chunks.sites.keys().chain(chunks.places.keys());
    // Numbers far beyond the number of sites are ignored.
    let room = (chunks.sites.len() + chunks.places.len()).saturating_mul(2) + 16;
    let most = ids
        .copied()
        .filter(|&id| (id as usize) < room)
        .max()
        .map_or(0, |id| id as usize + 1);
    let mut of_site = vec![1; most];
    for (id, place_of) in of_site.iter_mut().enumerate() {
        let id = id as u32;
        let site = chunks.sites.get(&id);
        let resolved = chunks.places.get(&id).map(resolved_place);
        let Some(mut place) = resolved.or_else(|| site.map(raw_place)) else {
            continue;
        };
        place.reporter = site.and_then(reporter);
        let name = bare_name(place.function.as_deref()).map(str::to_owned);
        let line = known.entry(key(&place)).or_default();
        let same = match &name {
            None => line.first,
            // The first one may be in a function that was not known.
            Some(name) if !line.by_name.is_empty() => line.by_name.get(name).copied(),
            Some(_) => line.first,
        };
        let place = match same {
            Some(same) if name.is_some() && line.by_name.is_empty() => {
                list[same as usize].function = place.function;
                same
            }
            Some(same) => same,
            None => {
                list.push(place);
                list.len() as PlaceId - 1
            }
        };
        line.first.get_or_insert(place);
        if let Some(name) = name {
            line.by_name.entry(name).or_insert(place);
        }
        *place_of = place;
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
    Option<Reporter>,
);

/// The places of one line.
#[derive(Debug, Default)]
struct LinePlaces {
    first: Option<PlaceId>,
    /// Places by the name of the function; empty while no name is known.
    by_name: BTreeMap<String, PlaceId>,
}

/// The properties that distinguish places, except the functions of a line ([`bare_name`]).
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
        place.reporter,
    )
}

/// The last word of a function's name. Words before it do not distinguish places of a line, because
/// the name of an inlined function may lack its type. Neither do arguments, which differ between
/// instances of a template. Functions with several names on a line come from one macro, or from one
/// file that was compiled several times. `None` if the name says nothing: closures and blocks that
/// a compiler extracted from a function have numbers as names.
fn bare_name(function: Option<&str>) -> Option<&str> {
    let name = function?;
    let (mut depth, mut start, mut last) = (0u32, None, None);
    for (at, byte) in name.bytes().chain([b'.']).enumerate() {
        let is_word = depth == 0 && (byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80);
        if is_word {
            start.get_or_insert(at);
            continue;
        }
        let word = start.take().map(|start: usize| &name[start..at]);
        last = word
            .filter(|word| !matches!(*word, "const" | "operator"))
            .or(last);
        match byte {
            b'<' | b'(' | b'{' | b'[' => depth += 1,
            b'>' | b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            // Suffixes of compilers: `.omp_outlined`, `._omp_fn.0`, `.cold`.
            b'.' if depth == 0 => break,
            _ => {}
        }
    }
    last
}

fn resolved_place(entry: &PlaceEntry) -> Place {
    Place {
        label: entry.label.clone(),
        file: entry.file.clone(),
        line: entry.line,
        function: entry.function.clone(),
        primitive: entry.primitive.clone(),
        source: entry.source.clone(),
        ..Place::default()
    }
}

/// How a task's place is known. Calls of `workspan.h` and of the Rust API name a source line; hooks
/// in runtimes have an address, or a primitive of that runtime.
fn reporter(site: &Site) -> Option<Reporter> {
    let named = matches!(
        site.position,
        SitePosition::Location { .. } | SitePosition::Label(_)
    );
    match site.primitive {
        primitive::UNKNOWN => None,
        primitive::API => Some(Reporter::Program),
        primitive::TASK if named => Some(Reporter::Program),
        _ => Some(Reporter::Runtime),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_function_is_what_people_call_it() {
        for (name, bare) in [
            ("alpha_work", Some("alpha_work")),
            ("alpha_work._omp_fn.0", Some("alpha_work")),
            ("work.omp_outlined_debug__", Some("work")),
            (".omp_outlined.", None),
            ("msort::sort::{{closure}}", Some("sort")),
            ("<msort::Sorter<T> as msort::Sort>::sort", Some("sort")),
            ("void Grid::sweep<int>(int, int) const", Some("sweep")),
            ("main::{lambda(int)#1}::operator()(int) const", Some("main")),
            ("größe", Some("größe")),
            ("?", None),
        ] {
            assert_eq!(bare_name(Some(name)), bare, "{name}");
        }
        assert_eq!(bare_name(None), None);
    }

    #[test]
    fn functions_of_one_line_are_told_apart_by_their_names() {
        let functions = [
            None,
            Some("grid::sweep"),
            Some("<grid::Grid<f64>>::sweep"),
            Some("beta_work._omp_fn.0"),
            Some(".omp_outlined."),
            Some("sweep"),
        ];
        let entry = |(site, function): (u32, Option<&str>)| PlaceEntry {
            site,
            label: "grid.rs:7".into(),
            file: Some("grid.rs".into()),
            line: Some(7),
            function: function.map(str::to_owned),
            primitive: Some("task".into()),
            source: None,
        };
        let entries = (0..).zip(functions).map(entry);
        let chunks = TraceChunks {
            places: entries.map(|entry| (entry.site, entry)).collect(),
            ..TraceChunks::default()
        };
        let places = places(&chunks);
        // The root and the unknown place come first.
        assert_eq!(places.of_site, [2, 2, 2, 3, 2, 2]);
        let functions = places.list[2..].iter().map(|p| p.function.as_deref());
        let functions: Vec<_> = functions.collect();
        assert_eq!(
            functions,
            [Some("grid::sweep"), Some("beta_work._omp_fn.0")]
        );
    }
}
