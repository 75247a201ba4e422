//! A run with the time of one thing alone: a region, a part, or the tasks of a spawn site with all
//! below them.

use workspan_dag::{Dag, NONE, PlaceId, Region, Stretch};

use crate::options::{Error, Options};
use crate::regions::each_part;
use crate::weight::Weights;

/// What alone takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Only {
    /// Regions of a label (an index into `dag.labels`).
    Region(u32),
    /// Parts of a label.
    Part(u32),
    /// Tasks created at a place, with all that they created.
    Site(PlaceId),
}

/// The run in which nothing else takes time, and how many of its tasks are inside, in part or in
/// whole. What led from one piece to the next still does (`Dag::keep_only`), so its work is that of
/// the pieces, and its span the most of them on one path.
///
/// # Errors
/// The metric is not in the run.
pub fn only(dag: &Dag, what: Only, options: &Options) -> Result<(Dag, u64), Error> {
    let mut own = dag.clone();
    let stretches = match what {
        Only::Region(label) => marked_time(&mut own, &dag.regions, label, options)?,
        Only::Part(label) => marked_time(&mut own, &dag.parts, label, options)?,
        Only::Site(place) => of_site(dag, place),
    };
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

/// The time that the regions of a label cover as if there were no others. Regions inside of regions
/// are no part, so `own` has these alone meanwhile.
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

fn of_site(dag: &Dag, place: PlaceId) -> Vec<Stretch> {
    let mut inside = vec![false; dag.tasks.len()];
    let mut stretches = Vec::new();
    // In topological order, so a task's creator comes before it.
    for s in 0..dag.strands.len() {
        let task = dag.strands.task[s] as usize;
        if dag.tasks.first[task] == s as u32 {
            let parent = dag.tasks.parent[task];
            inside[task] =
                dag.tasks.site[task] == place || (parent != NONE && inside[parent as usize]);
        }
        if inside[task] {
            stretches.push((s as u32, dag.strands.start[s], dag.strands.end[s]));
        }
    }
    stretches
}
