//! The data that the formats of other viewers have in common: threads, strands with their names,
//! steals, regions, running and ready strands.

use std::collections::BTreeMap;

use workspan_analysis::codes::Codes;
use workspan_analysis::{
    Error, Interval, IntervalObserver, Options, SweepIndex, ready_event, ready_path,
    stolen_strands, strand_facts,
};
use workspan_dag::{Dag, Region, StrandId, ThreadId};

/// A run as tracks.
pub(crate) struct Tracks<'a> {
    pub dag: &'a Dag,
    pub codes: Codes,
    begin: u64,
    rate: u128,
    /// Threads that ran something, and the threads of the pool.
    pub threads: Vec<ThreadId>,
    /// By strand: the stolen strands that it made ready.
    pub stolen_from: BTreeMap<StrandId, Vec<StrandId>>,
    /// Stolen strands, ascending.
    pub stolen: Vec<StrandId>,
    /// When the numbers of running and ready strands change: (time, running, ready).
    pub parallelism: Vec<(u64, u64, u64)>,
    /// Regions and parts, on as many lanes as are needed for overlaps.
    pub regions: Vec<Vec<Region>>,
}

/// Maximum number of threads with a track; a trace may have any number of threads.
const MAX_THREADS: usize = 4096;

impl<'a> Tracks<'a> {
    /// Measures the data of the tracks.
    pub(crate) fn new(dag: &'a Dag, options: &Options) -> Result<Tracks<'a>, Error> {
        let facts = strand_facts(dag, options)?;
        let codes = Codes::new(dag, |s| facts.weight.get(s as usize));
        let begin = dag.strands.start.iter().copied().min().unwrap_or(0);
        let mut ran = vec![false; dag.meta.threads as usize];
        for &thread in &dag.strands.thread {
            ran[thread as usize] = true;
        }
        let shown = |t: &ThreadId| ran[*t as usize];
        let threads = (0..dag.meta.threads).filter(shown).take(MAX_THREADS);
        let mut stolen_from: BTreeMap<StrandId, Vec<StrandId>> = BTreeMap::new();
        let mut stolen = Vec::new();
        for (s, _) in stolen_strands(dag) {
            if let Some(readied) = ready_event(dag, s) {
                stolen_from.entry(readied.by).or_default().push(s);
                stolen.push(s);
            }
        }
        let index = SweepIndex::new(dag, &facts.ready, ready_path(dag));
        let mut steps = Steps::default();
        index.each(dag, &facts.ready, (0, u64::MAX), &mut steps);
        let mut parallelism = steps.changes;
        let end = dag.strands.end.iter().copied().max().unwrap_or(begin);
        parallelism.push((end, 0, 0));
        Ok(Tracks {
            dag,
            codes,
            begin,
            rate: u128::from(dag.meta.tick_rate()),
            threads: threads.collect(),
            stolen_from,
            stolen,
            parallelism,
            regions: lanes(dag),
        })
    }

    /// Nanoseconds from the run's begin.
    pub(crate) fn ns(&self, t: u64) -> u64 {
        let ns = u128::from(t.saturating_sub(self.begin)) * 1_000_000_000 / self.rate;
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    /// The name of a thread's track.
    pub(crate) fn thread_name(&self, thread: ThreadId) -> String {
        if self.dag.is_worker(thread) {
            format!("worker {thread}")
        } else {
            format!("thread {thread}")
        }
    }

    /// The name of the process.
    pub(crate) fn process_name(&self) -> &str {
        self.dag.meta.program_name()
    }

    /// The name of a strand's slice: the code that it ran.
    pub(crate) fn name(&self, s: StrandId) -> &str {
        let code = self.codes.all.get(usize::from(self.codes.of(s)));
        code.map_or("?", |code| code.label.as_str())
    }

    /// Name of a region.
    pub(crate) fn region_name(&self, region: &Region) -> &str {
        let label = self.dag.labels.get(region.label as usize);
        label.map_or("?", String::as_str)
    }

    /// The index of the spawn site of the strand's task.
    pub(crate) fn site(&self, s: StrandId) -> u32 {
        self.dag.tasks.site[self.dag.strands.task[s as usize] as usize]
    }
}

/// Regions and parts by begin, each on the first free lane.
fn lanes(dag: &Dag) -> Vec<Vec<Region>> {
    let mut all: Vec<&Region> = dag.regions.iter().chain(&dag.parts).collect();
    all.sort_by_key(|r| (r.begin.1, std::cmp::Reverse(r.end.1), r.task));
    let mut lanes: Vec<Vec<Region>> = Vec::new();
    for region in all {
        let free =
            |lane: &&mut Vec<Region>| lane.last().is_none_or(|last| last.end.1 <= region.begin.1);
        match lanes.iter_mut().find(free) {
            Some(lane) => lane.push(region.clone()),
            None => lanes.push(vec![region.clone()]),
        }
    }
    lanes
}

/// Collects the changes of the numbers of running and ready strands.
#[derive(Default)]
struct Steps {
    changes: Vec<(u64, u64, u64)>,
}

impl IntervalObserver for Steps {
    fn interval(&mut self, now: &Interval) {
        let numbers = (now.running, now.ready_by_kind.iter().sum());
        if self.changes.last().is_none_or(|l| (l.1, l.2) != numbers) {
            self.changes.push((now.begin, numbers.0, numbers.1));
        }
    }
}
