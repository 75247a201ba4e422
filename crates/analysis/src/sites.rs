//! Spawn sites (MODEL.md §3).
//!
//! A folded record has its own sites. They add to the counts; to the critical work if the folded
//! strand lies on the critical path; and to work and span if no instance of the same site is around
//! the fold.

use workspan_dag::{Dag, PlaceId, ROOT_PLACE, TaskId};

use crate::blocks::{BlockRow, blocks};
use crate::heaviest_paths::Heaviest;
use crate::outermost_sites;
use crate::parallel::run_both;
use crate::site_span::strands_backwards;
use crate::strand_lengths::StrandLengths;
use crate::subtrees::{Instances, Whole, each_instance};
use crate::weight::Weights;

/// One spawn site (MODEL.md §3).
#[derive(Debug, Clone, PartialEq)]
pub struct SiteRow {
    /// The place.
    pub site: PlaceId,
    /// Number of task instances.
    pub count: u64,
    /// Work of the outermost instances with all their descendants.
    pub work: u128,
    /// Σ of the heaviest path inside each outermost instance.
    pub span: u128,
    /// Weight of the critical path's strands that belong to tasks of this site.
    pub critical_work: u128,
    /// `critical_work` in percent of the span.
    pub critical_percent: f64,
    /// Code blocks of the site's tasks, in descending order of work.
    pub blocks: Vec<BlockRow>,
}

impl SiteRow {
    /// Site parallelism: work / span; 1 if no time passed.
    pub fn parallelism(&self) -> f64 {
        if self.span == 0 {
            1.0
        } else {
            self.work as f64 / self.span as f64
        }
    }
}

/// The sums of one site.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SiteSums {
    pub count: u64,
    pub work: u128,
    pub span: u128,
    critical_work: u128,
}

/// All sites, and the number of instances with an upper bound in place of their span (see
/// `Entries::span_inside`).
pub(crate) struct Sites {
    pub rows: Vec<SiteRow>,
    pub bounded: u64,
}

/// Every site with an instance, by its share of the critical path, the root first. Ties: by
/// descending work, then by label.
pub(crate) fn sites(
    dag: &Dag,
    weights: &Weights,
    heaviest: &Heaviest,
    critical_path: &[u32],
) -> Sites {
    let mut sums = vec![SiteSums::default(); dag.places.len()];
    let (mut blocks, bounded) = run_both(
        dag,
        || blocks(dag, weights, critical_path),
        || outermost(dag, weights, (weights, heaviest), &mut sums),
    );
    critical_work(dag, weights, critical_path, &mut sums);
    let span: u128 = critical_path.iter().map(|&s| weights.path(s, 0)).sum();
    let mut rows = Vec::new();
    for (site, sum) in sums.iter().enumerate() {
        if sum.count == 0 {
            continue;
        }
        let share = if span == 0 {
            0.0
        } else {
            sum.critical_work as f64 / span as f64
        };
        rows.push(SiteRow {
            site: site as PlaceId,
            count: sum.count,
            work: sum.work,
            span: sum.span,
            critical_work: sum.critical_work,
            critical_percent: 100.0 * share,
            blocks: std::mem::take(&mut blocks[site]),
        });
    }
    rows.sort_by(|a, b| {
        let root = (a.site != ROOT_PLACE).cmp(&(b.site != ROOT_PLACE));
        let most = (b.critical_work, b.work).cmp(&(a.critical_work, a.work));
        let label = |r: &SiteRow| (&dag.places[r.site as usize].label, r.site);
        root.then(most).then_with(|| label(a).cmp(&label(b)))
    });
    Sites { rows, bounded }
}

/// Counts, and work and span of outermost instances, by site. The spans are in the lengths that
/// `heaviest` was made of. Returns the number of spans that are only bounded.
pub(crate) fn outermost<L: StrandLengths>(
    dag: &Dag,
    weights: &Weights,
    (lengths, heaviest): (&L, &Heaviest),
    sums: &mut [SiteSums],
) -> u64 {
    for &site in &dag.tasks.site {
        sums[site as usize].count += 1;
    }
    if let Some(outermost) = outermost_sites::outermost_instances(dag, weights, (lengths, heaviest))
    {
        for instance in outermost {
            let sum = &mut sums[instance.site as usize];
            sum.work += instance.work;
            sum.span += instance.span;
        }
        return 0;
    }
    let mut outermost = OutermostInstances {
        dag,
        weights,
        lengths,
        active: vec![0; dag.places.len()],
        sums,
    };
    each_instance(dag, weights, (lengths, heaviest), &mut outermost)
}

struct OutermostInstances<'a, L> {
    dag: &'a Dag,
    weights: &'a Weights<'a>,
    lengths: &'a L,
    /// By site: number of instances that were entered and not left.
    active: Vec<u32>,
    sums: &'a mut [SiteSums],
}

impl<L: StrandLengths> Instances for OutermostInstances<'_, L> {
    fn enter(&mut self, task: TaskId) -> bool {
        let dag = self.dag;
        let site = dag.tasks.site[task as usize] as usize;
        self.active[site] += 1;
        let outermost = self.active[site] == 1;
        if dag.folded.is_empty() {
            return outermost;
        }
        for s in strands_backwards(dag, task) {
            let Some(fold) = dag.fold_of(s) else {
                continue;
            };
            for inner in &fold.sites {
                let sum = &mut self.sums[inner.site as usize];
                sum.count += inner.count;
                if self.active[inner.site as usize] == 0 {
                    sum.work += self.weights.inside(s, &fold, inner.work);
                    sum.span += self.lengths.inside(s, &fold, inner.span);
                }
            }
        }
        outermost
    }

    fn leave(&mut self, task: TaskId, whole: Option<Whole>) {
        let site = self.dag.tasks.site[task as usize] as usize;
        self.active[site] -= 1;
        if let Some(whole) = whole {
            self.sums[site].work += whole.work;
            self.sums[site].span += whole.span;
        }
    }
}

fn critical_work(dag: &Dag, weights: &Weights, critical_path: &[u32], sums: &mut [SiteSums]) {
    for &s in critical_path {
        let mut own = weights.path(s, 0);
        if let Some(fold) = dag.fold_of(s) {
            for inner in &fold.sites {
                let part = weights.inside(s, &fold, inner.critical_work).min(own);
                own -= part;
                sums[inner.site as usize].critical_work += part;
            }
        }
        let site = dag.tasks.site[dag.strands.task[s as usize] as usize];
        sums[site as usize].critical_work += own;
    }
}
