//! The number of running strands, and of free workers meanwhile, counted tick by tick.

use workspan_analysis::{BusyTime, FreeTime, Options, SweepIndex, ready_path, strand_facts};
use workspan_dag::Dag;

use super::each_case;
use super::simulate::simulate;

/// Number of strands that run at `t`, and of those on the CPU.
fn running(dag: &Dag, t: u64) -> (usize, usize) {
    let strands = &dag.strands;
    let runs = |s: &usize| strands.start[*s] <= t && t < strands.end[*s];
    let off = |s: &usize| {
        let of_thread = dag.offs.iter().filter(|o| o.thread == strands.thread[*s]);
        of_thread.clone().any(|o| o.start <= t && t < o.end)
    };
    let all: Vec<usize> = (0..strands.len()).filter(runs).collect();
    (all.len(), all.iter().filter(|s| !off(s)).count())
}

#[test]
fn what_ran_in_a_part_is_what_ran_at_its_ticks() {
    let mut ticks = 0;
    each_case(300, |_, dice| {
        let run = simulate(dice);
        let dag = workspan_reader::text::read(run.text(None).as_bytes()).unwrap();
        let facts = strand_facts(&dag, &Options::default()).unwrap();
        let index = SweepIndex::new(&dag, &facts.ready, ready_path(&dag));
        let busy = BusyTime::new(&dag, &index);
        let free = FreeTime::new(&dag).unwrap();
        let last = dag.strands.end.iter().max().copied().unwrap_or(0);
        let mut at = || dice.below(last as usize + 1) as u64;
        let (a, b) = (at(), at());
        let (from, to) = (a.min(b), a.max(b));
        let (mut all, mut on_cpu, mut idle) = (0.0, 0.0, 0.0);
        for t in from..to {
            let (running, here) = running(&dag, t);
            all += running as f64;
            on_cpu += here as f64;
            let workers = f64::from(dag.meta.workers) - running as f64;
            idle += workers.max(0.0) / running.max(1) as f64;
        }
        ticks += to - from;
        let sums = free.sums(from, to);
        assert!((sums.0 - all).abs() < 1e-6, "{sums:?} {all}");
        // Time before anything runs does not count.
        assert!(sums.1 <= idle + 1e-6, "{sums:?} {idle}");
        let mean = on_cpu / (to - from).max(1) as f64;
        let mean_busy = busy.mean(&dag, &index, from, to);
        assert!((mean_busy - mean).abs() < 1e-9, "{mean_busy} {mean}");
    });
    assert!(ticks > 1000, "{ticks} ticks are too few to prove anything");
}
