//! A run in which only one thing takes time: a region, a part, or the tasks of a spawn site with
//! all their descendants.

use workspan_dag::section::counts_inside;
use workspan_dag::{Dag, NONE, PlaceId, Region, Section, SectionClock, SectionKind, Stretch};

use crate::options::{Error, Options};
use crate::regions::each_part;
use crate::weight::Weights;

/// The code that takes time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionTarget {
    /// Regions of a label (an index into `dag.labels`).
    Region(u32),
    /// Parts of a label.
    Part(u32),
    /// Tasks created at these places, with all their descendants.
    Site(Vec<PlaceId>),
}

/// The run in which nothing else takes time, and the number of its tasks that are inside, in part
/// or in whole. Edges from one piece to the next remain (`Dag::keep_only`). So its work is that of
/// the pieces, and its span is the heaviest path of pieces. Every piece keeps its time.
///
/// # Errors
/// The metric is not in the run.
pub fn only(dag: &Dag, what: &SectionTarget, options: &Options) -> Result<(Dag, u64), Error> {
    let mut own = dag.clone();
    let stretches = stretches(dag, &mut own, what, options)?;
    let mut tasks: Vec<u32> = stretches
        .iter()
        .map(|stretch| dag.strands.task[stretch.0 as usize])
        .collect();
    tasks.sort_unstable();
    tasks.dedup();
    let folded = stretches.iter().filter_map(|s| dag.fold_of(s.0));
    let folded: u64 = folded.map(|fold| fold.tasks).sum();
    own.keep_only(&stretches);
    Ok((own, tasks.len() as u64 + folded))
}

/// The section as a run of its own, shown to people as `name`. Nothing else takes time, and time
/// advances only while the section is open ([`only`], [`SectionClock`]). A region or a part is open
/// from its begin to its end; a site from the begin of each of its tasks to the end of its last
/// descendant. Code of the section that runs later than that still counts as inside.
/// `dag.meta.section` describes the section.
///
/// # Errors
/// The metric is not in the run.
pub fn section(
    dag: &Dag,
    what: &SectionTarget,
    name: &str,
    options: &Options,
) -> Result<Dag, Error> {
    let mut own = dag.clone();
    let stretches = stretches(dag, &mut own, what, options)?;
    let mut open: Vec<(u64, u64)> = stretches.iter().map(|s| (s.1, s.2)).collect();
    let of_label = |regions: &[Region], label: u32| {
        let of_label = regions.iter().filter(|region| region.label == label);
        of_label.cloned().collect::<Vec<_>>()
    };
    let (kind, marked) = match what {
        SectionTarget::Region(label) => (SectionKind::Region, of_label(&dag.regions, *label)),
        SectionTarget::Part(label) => (SectionKind::Part, of_label(&dag.parts, *label)),
        SectionTarget::Site(_) => (SectionKind::Site, Vec::new()),
    };
    open.extend(marked.iter().map(|r| (r.begin.1, r.end.1)));
    if let SectionTarget::Site(places) = what {
        open.extend(of_outermost(dag, places));
    }
    let at = |task: &u32| match what {
        SectionTarget::Site(places) => places.contains(&dag.tasks.site[*task as usize]),
        _ => false,
    };
    let count = match what {
        SectionTarget::Site(_) => (0..dag.tasks.len() as u32).filter(at).count(),
        _ => marked.len(),
    };
    let clock = SectionClock::new(open);
    let (tasks, spawns, syncs) = counts_inside(dag, &stretches, &marked);
    let taken: u128 = time(
        &clock,
        (0..dag.strands.len()).map(|s| (dag.strands.start[s], dag.strands.end[s])),
    );
    let inside: u128 = time(&clock, stretches.iter().map(|s| (s.1, s.2)));
    let folded = folded_elsewhere(dag, what, &stretches);
    own.keep_only(&stretches);
    own.take_times(&clock);
    own.meta.section = Some(Section {
        kind,
        name: name.to_owned(),
        count: count as u64,
        tasks,
        spawns,
        syncs,
        elsewhere: taken.saturating_sub(inside),
        folded,
    });
    Ok(own)
}

/// Total time of the intervals by the clock.
fn time(clock: &SectionClock, intervals: impl Iterator<Item = (u64, u64)>) -> u128 {
    let ticks = intervals.map(|(from, to)| clock.at(to).saturating_sub(clock.at(from)));
    ticks.map(u128::from).sum()
}

/// Number of tasks of the site that are inside folded strands outside the section.
fn folded_elsewhere(dag: &Dag, what: &SectionTarget, stretches: &[Stretch]) -> u64 {
    let SectionTarget::Site(places) = what else {
        return 0;
    };
    let mut inside: Vec<u32> = stretches.iter().map(|s| s.0).collect();
    inside.sort_unstable();
    let others = dag
        .folded
        .iter()
        .filter(|f| inside.binary_search(&f.0).is_err());
    let sites = others.flat_map(|f| f.1.sites);
    let of_site = sites.filter(|row| places.contains(&row.site));
    of_site.map(|row| row.count).sum()
}

/// The stretches of strands that are inside. `own` is a working copy of `dag`, which is restored
/// afterwards.
fn stretches(
    dag: &Dag,
    own: &mut Dag,
    what: &SectionTarget,
    options: &Options,
) -> Result<Vec<Stretch>, Error> {
    Ok(match what {
        SectionTarget::Region(label) => marked_time(own, &dag.regions, *label, options)?,
        SectionTarget::Part(label) => marked_time(own, &dag.parts, *label, options)?,
        SectionTarget::Site(places) => of_site(dag, places),
    })
}

/// The time that the regions of a label cover as if there were no other regions. Regions nested in
/// other regions are not in the partition, so `own` has only these meanwhile.
fn marked_time(
    own: &mut Dag,
    regions: &[Region],
    label: u32,
    options: &Options,
) -> Result<Vec<Stretch>, Error> {
    let of_label = regions.iter().filter(|region| region.label == label);
    let all = std::mem::replace(&mut own.regions, of_label.cloned().collect());
    let weights = Weights::new(own, options)?;
    let mut stretches = Vec::new();
    each_part(own, &weights, options, |part| {
        stretches.push((part.strand, part.time.0, part.time.1));
    });
    own.regions = all;
    Ok(stretches)
}

/// By task: the outermost task of the site that it is or descends from, or [`NONE`].
fn outermost(dag: &Dag, places: &[PlaceId]) -> Vec<u32> {
    let mut outermost = vec![NONE; dag.tasks.len()];
    // In topological order, so a task's creator comes before it.
    for s in 0..dag.strands.len() {
        let task = dag.strands.task[s] as usize;
        if dag.tasks.first[task] == s as u32 {
            let parent = dag.tasks.parent[task];
            let above = outermost.get(parent as usize).copied().unwrap_or(NONE);
            outermost[task] = match above {
                NONE if places.contains(&dag.tasks.site[task]) => task as u32,
                above => above,
            };
        }
    }
    outermost
}

fn of_site(dag: &Dag, places: &[PlaceId]) -> Vec<Stretch> {
    let outermost = outermost(dag, places);
    let strands = &dag.strands;
    let inside = |s: &usize| outermost[strands.task[*s] as usize] != NONE;
    let strand = |s: usize| (s as u32, strands.start[s], strands.end[s]);
    (0..strands.len()).filter(inside).map(strand).collect()
}

/// The intervals from the begin of each outermost task of the site to the last end of it or its
/// descendants.
fn of_outermost(dag: &Dag, places: &[PlaceId]) -> Vec<(u64, u64)> {
    let outermost = outermost(dag, places);
    let mut open: Vec<(u64, u64)> = vec![(u64::MAX, 0); dag.tasks.len()];
    for s in 0..dag.strands.len() {
        let task = outermost[dag.strands.task[s] as usize];
        if let Some(open) = open.get_mut(task as usize) {
            open.0 = open.0.min(dag.strands.start[s]);
            open.1 = open.1.max(dag.strands.end[s]);
        }
    }
    open.retain(|open| open.0 < open.1);
    open
}
