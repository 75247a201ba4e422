//! Parts of a run that can be looked at as if nothing else took time: what a region or a part
//! marks, and the tasks of a spawn site with everything below them.

use std::sync::OnceLock;

use workspan_analysis::{SectionTarget, only, section};
use workspan_dag::{Dag, PlaceId, ROOT_PLACE};

use super::{Run, RunModel};

/// Maximum number of labels, and of sites, that are offered as parts.
const MAX_LABELS: usize = 64;
const MAX_SITES: usize = 24;

/// Once the opened parts of a run have this number of strands together, no further part is opened.
const MAX_STRANDS: usize = 8_000_000;

/// A part of a run that is offered.
#[derive(Debug)]
pub(crate) struct Part {
    /// `region`, `part` or `site`.
    pub(crate) kind: &'static str,
    /// The label of the region or part, or the label of the site.
    pub(crate) label: String,
    /// How often the region or part was opened, or the site's number of tasks.
    pub(crate) count: u64,
    what: SectionTarget,
    /// The part as a run: `a~r0`, `a~p1`, `a~s7` of run `a`.
    pub(crate) run: Run,
    /// Number of tasks inside, once the part is loaded.
    pub(crate) made: OnceLock<Result<u64, String>>,
}

/// The parts of a run that are offered.
pub(super) fn parts(of: &Run, model: &RunModel) -> Vec<Part> {
    let dag = &*model.dag;
    let part = |kind, letter: char, number: u32, label: String, count, what| Part {
        kind,
        label,
        count,
        what,
        run: Run::new(
            format!("{}~{letter}{number}", of.id),
            of.path.clone(),
            of.bytes,
        ),
        made: OnceLock::new(),
    };
    let mut all = Vec::new();
    for (kind, letter, list) in [("region", 'r', &dag.regions), ("part", 'p', &dag.parts)] {
        let mut counts = vec![0u64; dag.labels.len()];
        for region in list {
            counts[region.label as usize] += 1;
        }
        let marked = (0..).zip(counts).filter(|c| c.1 > 0).take(MAX_LABELS);
        all.extend(marked.map(|(label, count)| {
            let what = match letter {
                'r' => SectionTarget::Region(label),
                _ => SectionTarget::Part(label),
            };
            let name = dag.labels[label as usize].clone();
            part(kind, letter, label, name, count, what)
        }));
    }
    let counts = tasks_of(dag);
    let sites = model.sites.places.iter().filter(|&&p| p != ROOT_PLACE);
    all.extend(sites.take(MAX_SITES).map(|&place| {
        let label = dag.places[place as usize].label.clone();
        let count = counts[place as usize];
        part(
            "site",
            's',
            place,
            label,
            count,
            SectionTarget::Site(vec![place]),
        )
    }));
    all
}

/// Number of tasks created at each place, including those in folded records.
fn tasks_of(dag: &Dag) -> Vec<u64> {
    let mut counts = vec![0u64; dag.places.len()];
    let mut add = |place: PlaceId, tasks: u64| {
        if let Some(count) = counts.get_mut(place as usize) {
            *count = count.saturating_add(tasks);
        }
    };
    for &site in &dag.tasks.site {
        add(site, 1);
    }
    for (_, folded) in dag.folded.iter() {
        for site in &folded.sites {
            add(site.site, site.count);
        }
    }
    counts
}

impl Part {
    /// The run's DAG with the part's time alone, and the number of tasks inside. All times are the
    /// run's, so that pictures of part and run can be laid over each other.
    pub(crate) fn dag(&self, of: &RunModel) -> Result<(Dag, u64), String> {
        only(&of.dag, &self.what, &of.options).map_err(|e| e.to_string())
    }

    /// The run's DAG with a clock that stands still while the part is not open, as for `--only`.
    /// Strands and tasks have the same numbers as in [`Part::dag`].
    pub(crate) fn section(&self, of: &RunModel) -> Result<Dag, String> {
        section(&of.dag, &self.what, &self.label, &of.options).map_err(|e| e.to_string())
    }

    /// The argument of `--only` for the part: `region:solve`.
    pub(crate) fn argument(&self) -> String {
        format!("{}:{}", self.kind, self.label)
    }
}

/// Whether one more part may be opened.
pub(crate) fn has_room(parts: &[Part]) -> bool {
    let opened = parts.iter().filter_map(|part| part.run.model.get());
    opened.map(|p| p.dag.strands.len()).sum::<usize>() < MAX_STRANDS
}
