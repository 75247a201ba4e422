//! Strand positions in words: "the join at src/sort.rs:37", "the end of the task".

use workspan_analysis::{CodeBlock, is_same_file};
use workspan_dag::{Dag, EndKind, NONE, Place, PlaceId, ROOT_PLACE, StartKind};

use crate::page::{Piece, Tone, columns, plain};

/// The place behind an id that may be "unknown".
pub(crate) fn place(dag: &Dag, id: PlaceId) -> Option<&Place> {
    if id == NONE {
        None
    } else {
        dag.places.get(id as usize)
    }
}

/// The label of a place as shown to people.
pub(crate) fn label(dag: &Dag, id: PlaceId) -> &str {
    place(dag, id).map_or("?", |p| p.label.as_str())
}

/// Name of the primitive at a place; if unknown, the model's word for it.
fn primitive<'a>(dag: &'a Dag, id: PlaceId, word: &'a str) -> &'a str {
    place(dag, id)
        .and_then(|p| p.primitive.as_deref())
        .filter(|p| *p != "?")
        .unwrap_or(word)
}

fn start_word(kind: StartKind) -> &'static str {
    match kind {
        StartKind::Begin => "start",
        StartKind::AfterCreate => "create",
        StartKind::AfterWait => "wait",
        StartKind::AfterYield => "yield",
        StartKind::AfterSignal => "signal",
        StartKind::AfterHandoff => "handoff",
    }
}

fn at(dag: &Dag, id: PlaceId, word: &str, many: bool) -> Vec<Piece> {
    match place(dag, id) {
        Some(p) => vec![
            plain(format!("the {} at ", primitive(dag, id, word))),
            (Tone::Path, p.label.clone()),
        ],
        None if many => vec![plain(format!("their {word}"))],
        None => vec![plain(format!("its {word}"))],
    }
}

/// Where a strand starts, or several if `many`, in words after "from".
pub(crate) fn start_words(dag: &Dag, block: &CodeBlock, many: bool) -> Vec<Piece> {
    match block.from_kind {
        StartKind::Begin if many => vec![plain("their start")],
        StartKind::Begin => vec![plain("its start")],
        kind => at(dag, block.from, start_word(kind), many),
    }
}

/// Where a strand ends, or several if `many`, in words after "to".
pub(crate) fn end_words(dag: &Dag, block: &CodeBlock, many: bool) -> Vec<Piece> {
    match block.to_kind {
        EndKind::End if many => vec![plain("their end")],
        EndKind::End => vec![plain("the end of the task")],
        kind => at(dag, block.to, kind.name(), many),
    }
}

/// Start and end of a block in a table cell of `width` columns: `join src/sort.rs:37 -> end`. The
/// second file is left out if it equals the first; folders are left out if there is no room for
/// them.
pub(crate) fn cell(dag: &Dag, block: &CodeBlock, width: usize) -> String {
    let full = ends(dag, block, false);
    if columns(&full) <= width {
        full
    } else {
        ends(dag, block, true)
    }
}

/// A code block in a table's cell, for tables with the blocks of all sites: the root's blocks are
/// marked, and one that begins with its task or has no position of its own names the task's site.
pub(crate) fn owned_cell(dag: &Dag, block: &CodeBlock, width: usize) -> String {
    let owner = match block.from_kind {
        _ if block.site == ROOT_PLACE => "root: ".to_string(),
        StartKind::Begin => {
            let at = place(dag, block.site).map(|p| short_position(dag, p));
            match at {
                Some(Some(position)) => format!("{position}: "),
                _ => format!("{}: ", label(dag, block.site)),
            }
        }
        _ => String::new(),
    };
    let room = width.saturating_sub(columns(&owner));
    format!("{owner}{}", cell(dag, block, room))
}

fn ends(dag: &Dag, block: &CodeBlock, short: bool) -> String {
    let at = |id: PlaceId, word: &str, known: Option<&str>| {
        let Some(p) = place(dag, id) else {
            return word.to_string();
        };
        let same = p
            .file
            .as_deref()
            .is_some_and(|file| known.is_some_and(|k| is_same_file(k, file)));
        let position = match lines(p) {
            Some(lines) if same => format!(":{lines}"),
            Some(_) if short => short_position(dag, p).unwrap_or_else(|| p.label.clone()),
            _ => p.label.clone(),
        };
        format!("{} {position}", primitive(dag, id, word))
    };
    let file = |id: PlaceId| place(dag, id).and_then(|p| p.file.as_deref());
    let (start, known) = match block.from_kind {
        StartKind::Begin => ("start".to_string(), None),
        kind => (at(block.from, start_word(kind), None), file(block.from)),
    };
    let end = match block.to_kind {
        EndKind::End => "end".to_string(),
        kind => at(block.to, kind.name(), known),
    };
    format!("{start} -> {end}")
}

/// The task of a strand: "the root task", "the task created at src/sort.rs:37".
pub(crate) fn owner_words(dag: &Dag, site: PlaceId, many: bool) -> Vec<Piece> {
    if site == ROOT_PLACE {
        return vec![plain("the root task")];
    }
    vec![
        plain(match (is_thread(dag, site), many) {
            (false, true) => "tasks created at ",
            (false, false) => "the task created at ",
            (true, true) => "threads started at ",
            (true, false) => "the thread started at ",
        }),
        (Tone::Path, label(dag, site).to_string()),
    ]
}

/// Whether the tasks of a site are threads that the program started.
pub(crate) fn is_thread(dag: &Dag, site: PlaceId) -> bool {
    dag.places.get(site as usize).is_some_and(Place::is_thread)
}

/// The site in a table's cell of `width` columns: its label, and the function that contains it.
/// Folders are left out if there is no room for them.
pub(crate) fn site_cell(dag: &Dag, site: PlaceId, width: usize) -> String {
    let name = label(dag, site);
    let at = place(dag, site);
    // The label of a place without a line is the function's name.
    let function = match at.filter(|p| p.line.is_some()) {
        Some(p) => match p.function.as_deref() {
            Some(f) if f != name => format!(" `{}`", short_function(f)),
            _ => String::new(),
        },
        None => String::new(),
    };
    match at.and_then(|p| short_position(dag, p)) {
        Some(position) if columns(name) + columns(&function) > width => {
            format!("{position}{function}")
        }
        _ => format!("{name}{function}"),
    }
}

/// `12`, or `10-12` for a chain of calls.
fn lines(place: &Place) -> Option<String> {
    place.file.as_ref()?;
    let line = place.line?;
    Some(place.lines().map_or(line.to_string(), str::to_owned))
}

/// File and lines without folders, except those that distinguish the file from others of the run:
/// `sort.rs:37`, `plumbing/mod.rs:410`; for a dependency `rayon: slice/mod.rs:12`.
fn short_position(dag: &Dag, place: &Place) -> Option<String> {
    let (file, lines) = (place.file.as_deref()?, lines(place)?);
    let (package, path) = match file.split_once("/src/") {
        Some((package, inside)) => match package_name(package) {
            Some(name) => (Some(name), inside),
            None => (None, file),
        },
        None => (None, file),
    };
    let others = || dag.places.iter().filter_map(|p| p.file.as_deref());
    let last = path.rsplit('/').next().unwrap_or(path);
    let says_nothing = last == "mod.rs" || (last == "lib.rs" && package.is_none());
    let mut components = usize::from(says_nothing) + 1;
    let mut short = end_of(path, components);
    // A package's name distinguishes its files from all others.
    while package.is_none()
        && short.len() < path.len()
        && others().any(|other| !is_same_file(other, file) && is_end_of(other, short))
    {
        components += 1;
        short = end_of(path, components);
    }
    Some(match package {
        Some(name) => format!("{name}: {short}:{lines}"),
        None => format!("{short}:{lines}"),
    })
}

/// The name in `rayon-1.12.0`.
fn package_name(folder: &str) -> Option<&str> {
    let (name, version) = folder.split_once('-').and_then(|_| {
        folder
            .match_indices('-')
            .map(|(at, _)| (&folder[..at], &folder[at + 1..]))
            .find(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()))
    })?;
    (!name.contains('/') && version.contains('.')).then_some(name)
}

/// The last `parts` of a path.
fn end_of(path: &str, parts: usize) -> &str {
    match path.rmatch_indices('/').nth(parts - 1) {
        Some((at, _)) => &path[at + 1..],
        None => path,
    }
}

fn is_end_of(path: &str, end: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// A function without its modules: `sort::msort` becomes `msort`, `<T as Trait>::go` stays.
pub(crate) fn short_function(name: &str) -> &str {
    if name.contains(['<', '{', ' ']) {
        return name;
    }
    name.rsplit("::").next().unwrap_or(name)
}
