//! Code named on the command line: spawn sites, source lines, regions; and what comes closest to a name that nothing has.

use anyhow::bail;
use workspan_analysis::{BlockTable, CodeBlock, Target, block_name, block_strands, lies_at};
use workspan_dag::{Dag, PlaceId, ROOT_PLACE};

/// Lines of a file, as `src/io.rs:10-40` or `src/io.rs:10`.
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
/// It is none; the message says what was expected.
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

/// The target of the tasks created at `name`: a label as the report shows it, the end of its path, or its function.
///
/// # Errors
/// There is no such site; the message has the closest ones.
pub fn site(dag: &Dag, name: &str, subtree: bool) -> anyhow::Result<Target> {
    let sites = spawn_sites(dag);
    let place = |p: &PlaceId| &dag.places[*p as usize];
    let function = |p: &PlaceId| place(p).function.as_deref();
    let range = line_range(name).ok();
    let lies = |p: &PlaceId| {
        let range = range.as_ref();
        range.is_some_and(|r| lies_at(place(p), (&r.file, r.from, r.to)))
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
    bail!(
        "no tasks were created at `{name}`{}",
        hint(name, labels, "the spawn sites")
    )
}

/// The target of the code blocks of that name.
///
/// # Errors
/// There is none; the message has the closest ones.
pub fn block(dag: &Dag, name: &str) -> anyhow::Result<Target> {
    let strands = block_strands(dag, name);
    if !strands.is_empty() {
        return Ok(Target::Strands(strands));
    }
    let mut table = BlockTable::new();
    for s in 0..dag.strands.len() as u32 {
        table.number(CodeBlock::of(dag, s));
    }
    let names: Vec<String> = table.keys.iter().map(|key| block_name(dag, key)).collect();
    let names = names.iter().map(String::as_str);
    bail!(
        "no strands are of the code block `{name}`{}",
        hint(name, names, "the code blocks")
    )
}

/// The target of some lines.
///
/// # Errors
/// Nothing in the trace has a position there; the message has the closest files or lines.
pub fn lines(dag: &Dag, range: &LineRange) -> anyhow::Result<Target> {
    let LineRange { file, from, to } = range;
    let at = |from: u32, to: u32| {
        dag.places.iter().any(|p| lies_at(p, (file, from, to)))
            || dag.samples.frames.iter().any(|frame| {
                let place = workspan_dag::Place {
                    file: frame.file.clone(),
                    line: frame.line,
                    ..workspan_dag::Place::default()
                };
                lies_at(&place, (file, from, to))
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
        near.truncate(CLOSEST);
        let near: Vec<String> = near.iter().map(|line| format!("{file}:{line}")).collect();
        bail!(
            "no strand begins and no sample lies in {file}:{from}-{to}; the closest positions are {}",
            near.join(", ")
        );
    }
    let mut files: Vec<&str> = known.iter().map(|k| k.0).collect();
    files.sort_unstable();
    files.dedup();
    bail!(
        "the trace has no position in a file `{file}`{}",
        hint(file, files.into_iter(), "the files")
    )
}

/// The target of a region, by name.
///
/// # Errors
/// There is none of that name; the message has the closest.
pub fn region(dag: &Dag, name: &str) -> anyhow::Result<Target> {
    let labels = region_labels(dag);
    match labels.iter().find(|&&l| dag.labels[l as usize] == name) {
        Some(&label) => Ok(Target::Region(label)),
        None => bail!(
            "no region `{name}` was marked{}",
            hint(
                name,
                labels.iter().map(|&l| dag.labels[l as usize].as_str()),
                "the regions"
            )
        ),
    }
}

/// Labels of the trace's regions, by first opening in the trace.
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

/// Places that created tasks, those inside of folded parts too, ascending; the root's first.
fn spawn_sites(dag: &Dag) -> Vec<PlaceId> {
    let folded = dag.folded.iter().flat_map(|f| f.1.sites).map(|s| s.site);
    let mut sites: Vec<PlaceId> = dag.tasks.site.iter().copied().chain(folded).collect();
    sites.sort_unstable();
    sites.dedup();
    sites.retain(|&s| (s as usize) < dag.places.len());
    sites
}

/// Names offered at most.
const CLOSEST: usize = 3;

/// What to say of a name that nothing has.
fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>, all: &str) -> String {
    let known: Vec<&str> = known.collect();
    if known.is_empty() {
        return "; the trace has none".to_owned();
    }
    let near = closest(name, &known);
    format!("; {all} closest to it: {}", near.join(", "))
}

/// Those of `known` that are most like `name`, best first.
pub fn closest<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    let mut near: Vec<(usize, &str)> = known.iter().map(|k| (unlike(name, k), *k)).collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(CLOSEST).map(|n| n.1).collect()
}

/// Letters to add, take or change to make one of the other (Levenshtein); one that holds the other is closer than that says.
fn unlike(a: &str, b: &str) -> usize {
    const LONGEST: usize = 200;
    let a: Vec<char> = a.chars().take(LONGEST).collect();
    let b: Vec<char> = b.chars().take(LONGEST).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    let text = |c: &[char]| c.iter().collect::<String>();
    let (short, long) = if a.len() < b.len() {
        (&a, &b)
    } else {
        (&b, &a)
    };
    if !short.is_empty() && text(long).contains(&text(short)) {
        return 0;
    }
    row[b.len()]
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
        assert_eq!(unlike("kitten", "sitting"), 3);
    }
}
