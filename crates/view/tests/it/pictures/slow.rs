//! A second implementation of the timeline, tick by tick.

use workspan_analysis::{Options, ReadyPath, StrandFacts, report, strand_facts};
use workspan_dag::{Dag, NONE, OffCpuReason};

/// What a thread does in a tick: its strand, and why it is off the CPU.
pub type Tick = (u32, Option<OffCpuReason>);

pub const ROWS: usize = 256;

/// The state of the run in every tick.
pub struct Slow {
    pub begin: u64,
    pub ticks: usize,
    /// By thread and tick: the strand that runs, and whether and why it is off the CPU.
    pub runs: Vec<Vec<(u32, Option<OffCpuReason>)>>,
    /// By tick: the numbers in the profile's order: working, ready by kind, delay, no-work of the
    /// scheduler and of the program, descheduled, blocked.
    pub profile: Vec<[u64; 13]>,
    /// By row and tick: 0 delay, 1 no-work of the scheduler, 2 no-work of the program, 3 neither.
    pub free: Vec<Vec<u8>>,
    pub facts: StrandFacts,
    pub ready_path: ReadyPath,
}

impl Slow {
    pub fn new(dag: &Dag) -> Slow {
        let options = Options::default();
        let facts = strand_facts(dag, &options).unwrap();
        let ready_path = report(dag, &options).unwrap().breakdown.ready_path;
        let strands = &dag.strands;
        let begin = *strands.start.iter().min().unwrap();
        let end = *strands.end.iter().max().unwrap();
        let ticks = (end - begin) as usize;
        let threads = dag.meta.threads as usize;
        let at = |t: u64| (t - begin) as usize;
        let mut runs = vec![vec![(NONE, None); ticks]; threads];
        for s in 0..strands.len() {
            let (from, to) = (at(strands.start[s]), at(strands.end[s]));
            for tick in &mut runs[strands.thread[s] as usize][from..to] {
                assert_eq!(tick.0, NONE, "two strands at once on a thread");
                tick.0 = s as u32;
            }
        }
        for off in &dag.offs {
            let clamp = |t: u64| at(t.clamp(begin, end));
            for tick in &mut runs[off.thread as usize][clamp(off.start)..clamp(off.end)] {
                tick.1 = Some(off.why);
            }
        }
        let mut ready = vec![[0u64; 7]; ticks + 1];
        for (i, &s) in facts.ready.strands().iter().enumerate() {
            let (since, kind) = (facts.ready.at(dag, i), facts.ready.kind(i));
            let start = strands.start[s as usize];
            for tick in &mut ready[at(since)..at(start)] {
                tick[kind as usize] += 1;
            }
        }
        let mut gap = vec![false; ticks];
        for pair in ready_path.strands.windows(2) {
            let (a, b) = (pair[0].0 as usize, pair[1].0 as usize);
            for tick in &mut gap[at(strands.end[a])..at(strands.start[b])] {
                *tick = true;
            }
        }
        let workers = u64::from(dag.meta.workers);
        let mut profile = Vec::new();
        let mut free = vec![Vec::new(); threads.min(ROWS)];
        for t in 0..ticks {
            let count = |what: &dyn Fn(usize, &Tick) -> bool| {
                let all = runs.iter().enumerate();
                all.filter(|(w, r)| r[t].0 != NONE && what(*w, &r[t]))
                    .count() as u64
            };
            let working = count(&|_, r| r.1.is_none());
            let descheduled = count(&|_, r| r.1 == Some(OffCpuReason::Preempted));
            let blocked = count(&|w, r| r.1 == Some(OffCpuReason::Blocked) && (w as u64) < workers);
            let p = (working + descheduled + blocked).min(workers);
            let r: u64 = ready[t].iter().sum();
            let (delay, idle) = ((workers - p).min(r), (workers - p).saturating_sub(r));
            let sched = gap[t] && p < workers;
            let d = descheduled.min(workers - working.min(workers));
            let b = p - working.min(workers) - d;
            let k = ready[t];
            profile.push([
                working,
                k[0],
                k[1],
                k[2],
                k[3],
                k[4],
                k[5],
                k[6],
                delay,
                if sched { idle } else { 0 },
                if sched { 0 } else { idle },
                d,
                b,
            ]);
            let (mut delay, mut idle) = (delay, idle);
            for (row, free) in free.iter_mut().enumerate() {
                let is_free = (row as u64) < workers && runs[row][t].0 == NONE;
                free.push(if !is_free {
                    3
                } else if delay > 0 {
                    delay -= 1;
                    0
                } else if idle > 0 {
                    idle -= 1;
                    if sched { 1 } else { 2 }
                } else {
                    3
                });
            }
        }
        Slow {
            begin,
            ticks,
            runs,
            profile,
            free,
            facts,
            ready_path,
        }
    }
}
