//! Code that a person or a program names: spawn sites, source lines, code blocks, regions. For a
//! name that the trace does not have, finds the closest ones.

use workspan_dag::{Dag, PlaceId, ROOT_PLACE};

use crate::blocking_places::program_line;
use crate::blocks::{BlockTable, CodeBlock, block_name, block_strands};
use crate::what_if::{Target, contains_place};

/// The trace has no code of that name. The message lists the closest names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownCode(String);

/// Returns the error with a formatted message.
macro_rules! no_such_code {
    ($($message:tt)*) => { return Err(UnknownCode(format!($($message)*))) }
}

/// Lines of a file, for instance `src/io.rs:10-40` or `src/io.rs:10`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineRange {
    /// The file, or the end of its path.
    pub file: String,
    /// First line.
    pub from: u32,
    /// Last line.
    pub to: u32,
}

/// Reads a range of lines.
///
/// # Errors
/// The text is not a line range; the message says what was expected.
pub fn line_range(text: &str) -> Result<LineRange, String> {
    let expected = || {
        format!(
            "`{text}` is not a line range; expected FILE:FROM-TO or FILE:LINE, as src/io.rs:10-40"
        )
    };
    let (file, lines) = text.rsplit_once(':').ok_or_else(expected)?;
    let number = |n: &str| n.trim().parse::<u32>().ok().filter(|&n| n > 0);
    let (from, to) = match lines.split_once('-') {
        Some((from, to)) => (number(from), number(to)),
        None => (number(lines), number(lines)),
    };
    match (from, to) {
        (Some(from), Some(to)) if !file.is_empty() && from <= to => Ok(LineRange {
            file: file.to_owned(),
            from,
            to,
        }),
        (Some(from), Some(to)) if from > to => Err(format!(
            "`{text}` ends before it begins; expected FILE:FROM-TO with FROM at most TO"
        )),
        _ => Err(expected()),
    }
}

/// The target of the tasks created at `name`: a label as the report shows it, the end of its path,
/// or its function.
///
/// # Errors
/// There is no such site; the message lists the closest ones.
pub fn site(dag: &Dag, name: &str, subtree: bool) -> Result<Target, UnknownCode> {
    let sites = spawn_sites(dag);
    let place = |p: &PlaceId| &dag.places[*p as usize];
    let function = |p: &PlaceId| place(p).function.as_deref();
    let range = line_range(name).ok();
    let lies = |p: &PlaceId| {
        let range = range.as_ref();
        range.is_some_and(|r| contains_place(place(p), (&r.file, r.from, r.to)))
    };
    let last = |f: &str| f.rsplit("::").next() == Some(name);
    let ways: [&dyn Fn(&PlaceId) -> bool; 5] = [
        &|p| place(p).label == name,
        &|p| *p == ROOT_PLACE && name == "root",
        &lies,
        &|p| function(p) == Some(name),
        &|p| function(p).is_some_and(last),
    ];
    for way in ways {
        let places: Vec<PlaceId> = sites.iter().copied().filter(|p| way(p)).collect();
        if !places.is_empty() {
            return Ok(Target::Site { places, subtree });
        }
    }
    let labels = sites.iter().map(|p| place(p).label.as_str());
    no_such_code!(
        "no tasks were created at `{name}`{}",
        hint(name, labels, "the spawn sites")
    )
}

/// The target of the code blocks of that name.
///
/// # Errors
/// There is no such block; the message lists the closest ones.
pub fn block(dag: &Dag, name: &str) -> Result<Target, UnknownCode> {
    let strands = block_strands(dag, name);
    if !strands.is_empty() {
        return Ok(Target::Strands(strands));
    }
    let mut table: BlockTable<()> = BlockTable::new();
    for s in 0..dag.strands.len() as u32 {
        table.number(CodeBlock::from_strand(dag, s));
    }
    let names: Vec<String> = table.keys.iter().map(|key| block_name(dag, key)).collect();
    let names = names.iter().map(String::as_str);
    no_such_code!(
        "no strands are of the code block `{name}`{}",
        hint(name, names, "the code blocks")
    )
}

/// The target of some lines.
///
/// # Errors
/// Nothing in the trace has a position there; the message lists the closest files or lines.
pub fn lines(dag: &Dag, range: &LineRange) -> Result<Target, UnknownCode> {
    let LineRange { file, from, to } = range;
    let at = |from: u32, to: u32| {
        dag.places
            .iter()
            .any(|p| contains_place(p, (file, from, to)))
            || dag.samples.frames.iter().any(|frame| {
                let place = workspan_dag::Place {
                    file: frame.file.clone(),
                    line: frame.line,
                    ..workspan_dag::Place::default()
                };
                contains_place(&place, (file, from, to))
            })
    };
    if at(*from, *to) {
        return Ok(Target::Lines {
            file: file.clone(),
            from: *from,
            to: *to,
        });
    }
    let frames = dag.samples.frames.iter().map(|f| (&f.file, f.line));
    let known = dag.places.iter().map(|p| (&p.file, p.line)).chain(frames);
    let known: Vec<(&str, u32)> = known
        .filter_map(|(file, line)| Some((file.as_deref()?, line?)))
        .collect();
    if at(1, u32::MAX) {
        let mut near: Vec<u32> = known
            .iter()
            .filter(|(f, _)| f.ends_with(file.as_str()) || file.ends_with(f))
            .map(|k| k.1)
            .collect();
        near.sort_unstable_by_key(|&line| (from.abs_diff(line).min(to.abs_diff(line)), line));
        near.dedup();
        near.truncate(MAX_CLOSEST);
        let near: Vec<String> = near.iter().map(|line| format!("{file}:{line}")).collect();
        no_such_code!(
            "no strand begins and no sample lies in {file}:{from}-{to}; the closest positions are {}",
            near.join(", ")
        );
    }
    let mut files: Vec<&str> = known.iter().map(|k| k.0).collect();
    files.sort_unstable();
    files.dedup();
    no_such_code!(
        "the trace has no position in a file `{file}`{}",
        hint(file, files.into_iter(), "the files")
    )
}

/// The target of the locks that threads waited for in some lines, or that were released there.
///
/// # Errors
/// No thread waited for a lock there; the message lists the lines where threads did.
pub fn lock(dag: &Dag, range: &LineRange) -> Result<Target, UnknownCode> {
    let mut objects = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for handoff in dag.handoffs.list.iter().filter(|h| h.is_order) {
        let stop = &dag.samples.stops[handoff.stop as usize];
        let Some(wait) = stop.wait else { continue };
        for stack in [stop.stack, wait.released_at] {
            let Some(frame) = program_line(dag, stack) else {
                continue;
            };
            let place = workspan_dag::Place {
                file: frame.file.clone(),
                line: frame.line,
                ..workspan_dag::Place::default()
            };
            if contains_place(&place, (&range.file, range.from, range.to)) {
                objects.push(wait.object);
            }
            if let (Some(file), Some(line), true) = (&frame.file, frame.line, stack == stop.stack) {
                lines.push(format!("{file}:{line}"));
            }
        }
    }
    objects.sort_unstable();
    objects.dedup();
    if !objects.is_empty() {
        return Ok(Target::Lock(objects));
    }
    lines.sort_unstable();
    lines.dedup();
    let LineRange { file, from, to } = range;
    if lines.is_empty() {
        no_such_code!(
            "no wait for a lock is known together with who released it (`workspan sql TRACE --query waits` lists the waits)"
        );
    }
    lines.truncate(MAX_CLOSEST);
    no_such_code!(
        "no thread waited for a lock in {file}:{from}-{to}; threads waited for locks at {}",
        lines.join(", ")
    )
}

/// The target of a region, by name.
///
/// # Errors
/// There is no region of that name; the message lists the closest ones.
pub fn region(dag: &Dag, name: &str) -> Result<Target, UnknownCode> {
    let labels = region_labels(dag);
    match labels.iter().find(|&&l| dag.labels[l as usize] == name) {
        Some(&label) => Ok(Target::Region(label)),
        None => no_such_code!(
            "no region `{name}` was marked{}",
            hint(
                name,
                labels.iter().map(|&l| dag.labels[l as usize].as_str()),
                "the regions"
            )
        ),
    }
}

/// Labels of the trace's regions, in the order of their first opening.
pub fn region_labels(dag: &Dag) -> Vec<u32> {
    let mut opened: Vec<(u64, u32)> = dag.regions.iter().map(|r| (r.begin.1, r.label)).collect();
    opened.sort_unstable();
    let mut labels = Vec::new();
    for (_, label) in opened {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

/// Places that created tasks, including those inside folded strands, ascending; the root's first.
pub(crate) fn spawn_sites(dag: &Dag) -> Vec<PlaceId> {
    let folded = dag.folded.iter().flat_map(|f| f.1.sites).map(|s| s.site);
    let mut sites: Vec<PlaceId> = dag.tasks.site.iter().copied().chain(folded).collect();
    sites.sort_unstable();
    sites.dedup();
    sites.retain(|&s| (s as usize) < dag.places.len());
    sites
}

/// Maximum number of names offered.
const MAX_CLOSEST: usize = 3;

/// The text for a name that nothing in the trace has.
fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>, all: &str) -> String {
    let known: Vec<&str> = known.collect();
    if known.is_empty() {
        return "; the trace has none".to_owned();
    }
    let near = closest(name, &known);
    format!("; {all} closest to it: {}", near.join(", "))
}

/// The names of `known` that are most similar to `name`, best first.
pub fn closest<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    let mut near: Vec<(usize, &str)> = known.iter().map(|k| (distance(name, k), *k)).collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(MAX_CLOSEST).map(|n| n.1).collect()
}

/// The edit distance of two names (Levenshtein); 0 if one contains the other.
fn distance(a: &str, b: &str) -> usize {
    const MAX_CHARS: usize = 200;
    let cut = |text: &str| text.chars().take(MAX_CHARS).collect::<String>();
    let (a, b) = (cut(a), cut(b));
    let (short, long) = if a.len() < b.len() {
        (&a, &b)
    } else {
        (&b, &a)
    };
    if !short.is_empty() && long.contains(short.as_str()) {
        return 0;
    }
    strsim::levenshtein(&a, &b)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn ranges_of_lines() {
        let range = line_range("src/io.rs:10-40").unwrap();
        assert_eq!(
            (range.file.as_str(), range.from, range.to),
            ("src/io.rs", 10, 40)
        );
        let range = line_range("C:/io.rs:7").unwrap();
        assert_eq!(
            (range.file.as_str(), range.from, range.to),
            ("C:/io.rs", 7, 7)
        );
        for bad in [
            "src/io.rs",
            "src/io.rs:",
            ":3",
            "a:0",
            "a:-3",
            "a:3-",
            "a:x",
            "a:4-3",
        ] {
            assert!(line_range(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_closest_names_come_first() {
        let known = ["src/sort.rs:37", "src/merge.rs:9", "root", "src/sort.rs:43"];
        assert_eq!(closest("src/sort.rs:38", &known)[0], "src/sort.rs:37");
        assert_eq!(closest("sort.rs:43", &known)[0], "src/sort.rs:43");
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
