//! A second implementation of the statistics: every list is written out, every rank is found by
//! counting.

use std::collections::BTreeMap;

use workspan_analysis::statistics::{Depth, Distribution, ReadyTimes, Statistics, statistics};
use workspan_analysis::{Options, strand_facts};
use workspan_dag::Dag;

use crate::random::clock::Times;
use crate::random::run::Run;
use crate::random::slow::{Measure, Slow};

/// The smallest value that is not below `percent` of all; 0 if there are none.
fn percentile(values: &[u128], percent: usize) -> u128 {
    let enough = |v: &&u128| {
        let below = values.iter().filter(|w| w <= v).count();
        below * 100 >= percent * values.len()
    };
    values.iter().filter(enough).min().copied().unwrap_or(0)
}

fn same(fast: &Distribution, values: &[u128], what: &str) {
    let found = [fast.minimum, fast.median, fast.p90, fast.p99, fast.maximum];
    let expected = [
        values.iter().min().copied().unwrap_or(0),
        percentile(values, 50),
        percentile(values, 90),
        percentile(values, 99),
        values.iter().max().copied().unwrap_or(0),
    ];
    assert_eq!(found.map(u128::from), expected, "{what}");
    assert_eq!(fast.count, values.len() as u64, "{what}");
    assert_eq!(
        (fast.sum, fast.estimated),
        (values.iter().sum(), 0),
        "{what}"
    );
    for (i, &n) in fast.histogram.iter().enumerate() {
        let inside = |v: &&u128| (**v).max(1) >= 1 << i && **v < 2 << i;
        assert_eq!(n, values.iter().filter(inside).count() as u64, "{what}");
    }
    assert_eq!(fast.histogram.iter().sum::<u64>(), fast.count, "{what}");
    assert_ne!(fast.histogram.last(), Some(&0), "{what}");
}

/// Number of leapfrogs of a run.
pub fn leapfrogs(run: &Run) -> u64 {
    let dag = workspan_reader::text::read(run.text(None).as_bytes()).unwrap();
    let all = statistics(&dag, &Options::default()).unwrap();
    all.steals.leapfrogs
}

pub fn check(dag: &Dag, options: &Options, slow: &Slow, m: Measure, times: &Times, context: &str) {
    let all = statistics(dag, options).unwrap();
    lengths(dag, options, &all, slow, m, context);
    ready(dag, &all, slow, context);
    depth(&all.ready, times, context);
    steals(&all, slow, times, context);
}

fn lengths(dag: &Dag, options: &Options, all: &Statistics, slow: &Slow, m: Measure, context: &str) {
    let facts = strand_facts(dag, options).unwrap();
    let sites: usize = slow.sites(m).len();
    assert_eq!((all.sites.len(), all.more_sites), (sites, 0), "{context}");
    for row in &all.sites {
        let label = dag.places[row.site as usize].label.as_str();
        let tasks: Vec<usize> = (0..slow.run.tasks.len())
            .filter(|&t| slow.site(t) == label)
            .collect();
        assert_eq!(row.tasks, tasks.len() as u64, "{label}, {context}");
        let own = |&t: &usize| slow.of_task[t].iter().map(|&s| slow.weight(s, m)).sum();
        let own: Vec<u128> = tasks.iter().map(own).collect();
        // A task's length saturates at 2^64 - 1, which hostile counters exceed.
        let lengths: Vec<u128> = own.iter().map(|&w| w.min(u128::from(u64::MAX))).collect();
        same(&row.task_lengths, &lengths, &format!("{label}, {context}"));
        // The reader decides which strands of no length are stored.
        let stored: Vec<u128> = (0..dag.strands.len())
            .filter(|&s| dag.tasks.site[dag.strands.task[s] as usize] == row.site)
            .map(|s| u128::from(facts.weight.get(s)))
            .collect();
        same(&row.strand_lengths, &stored, &format!("{label}, {context}"));
        assert_eq!(
            row.strand_lengths.sum,
            own.iter().sum::<u128>(),
            "{context}"
        );
    }
}

fn ready(dag: &Dag, all: &Statistics, slow: &Slow, context: &str) {
    let mut waited: BTreeMap<(&str, usize), Vec<u128>> = BTreeMap::new();
    let mut stolen: BTreeMap<(&str, usize), u64> = BTreeMap::new();
    for (s, strand) in slow.strands.iter().enumerate() {
        let Some((ready, kind, by)) = slow.readied(s) else {
            continue;
        };
        let key = (slow.site(strand.task), kind);
        if ready < strand.start {
            let times = waited.entry(key).or_default();
            times.push(u128::from(strand.start - ready));
        }
        *stolen.entry(key).or_default() += u64::from(slow.is_steal(s, by));
    }
    let compare = |fast: &ReadyTimes, is_included: &dyn Fn(&(&str, usize)) -> bool| {
        let times = waited.iter().filter(|w| is_included(w.0));
        let times: Vec<u128> = times.flat_map(|w| w.1.iter().copied()).collect();
        same(&fast.times, &times, context);
        let stolen = stolen.iter().filter(|w| is_included(w.0));
        assert_eq!(fast.steals, stolen.map(|w| w.1).sum::<u64>(), "{context}");
    };
    for kind in 0..7 {
        compare(&all.ready_by_edge[kind], &|key| key.1 == kind);
    }
    for row in &all.sites {
        let label = dag.places[row.site as usize].label.as_str();
        compare(&row.ready, &|key| key.0 == label);
        for (kind, fast) in row.ready_by_edge.iter().enumerate() {
            compare(fast, &|key| *key == (label, kind));
        }
        let starts: u64 = row.ready_by_edge.iter().map(|r| r.starts).sum();
        assert_eq!(row.ready.starts, starts);
    }
    let roots = dag.tasks.creator.iter().zip(&dag.tasks.first);
    let roots = roots.filter(|(creator, _)| **creator == workspan_dag::NONE);
    let unready = roots
        .filter(|(_, first)| {
            let mut any = false;
            dag.for_each_predecessor(**first, |_, _| any = true);
            !any
        })
        .count();
    let starts: u64 = all.ready_by_edge.iter().map(|r| r.starts).sum();
    assert_eq!(starts as usize, dag.strands.len() - unready, "{context}");
}

fn depth(fast: &Depth, times: &Times, context: &str) {
    let ticks = times.ready.iter().map(|by| by.iter().sum::<u64>());
    let ticks: Vec<u64> = ticks.collect();
    let bins = ticks.len().min(120);
    assert_eq!(
        (fast.mean.len(), fast.maximum.len()),
        (bins, bins),
        "{context}"
    );
    for i in 0..bins {
        let inside = &ticks[ticks.len() * i / bins..ticks.len() * (i + 1) / bins];
        let mean = inside.iter().sum::<u64>() as f64 / inside.len() as f64;
        assert!((fast.mean[i] - mean).abs() < 1e-9, "bin {i}, {context}");
        assert_eq!(Some(&fast.maximum[i]), inside.iter().max(), "{context}");
    }
    assert_eq!(fast.maximum_all, ticks.iter().copied().max().unwrap_or(0));
    let mean = ticks.iter().sum::<u64>() as f64 / ticks.len().max(1) as f64;
    assert!((fast.mean_all - mean).abs() < 1e-9, "{context}");
}

fn steals(all: &Statistics, slow: &Slow, times: &Times, context: &str) {
    let fast = &all.steals;
    assert_eq!(
        (fast.reported, fast.count),
        (false, times.steals),
        "{context}"
    );
    let mut pairs: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    let mut first: BTreeMap<usize, u64> = BTreeMap::new();
    let mut leaps: BTreeMap<usize, u64> = BTreeMap::new();
    for (s, strand) in slow.strands.iter().enumerate() {
        let Some((_, _, by)) = slow.readied(s).filter(|r| slow.is_steal(s, r.2)) else {
            continue;
        };
        *pairs.entry((strand.w, slow.strands[by].w)).or_default() += 1;
        let after = strand.start.saturating_sub(fast.first_spawn);
        let known = first.entry(strand.w).or_insert(after);
        *known = after.min(*known);
        let waits = slow.strands.iter().any(|after| {
            let before = after.waited_in.map(|b| &slow.strands[b]);
            let here = before.filter(|b| b.w == strand.w && after.w == strand.w);
            here.is_some_and(|b| b.end <= strand.start && strand.start < after.start)
        });
        *leaps.entry(strand.w).or_default() += u64::from(waits);
    }
    for worker in &fast.workers {
        let w = worker.thread as usize;
        assert_eq!(worker.first, first.get(&w).copied(), "{context}");
        assert_eq!(
            worker.leapfrogs,
            leaps.get(&w).copied().unwrap_or(0),
            "{context}"
        );
        // Deferred tasks by creator, and those that began there.
        let creators = slow.strands.iter().filter(|s| s.spawns && s.w == w);
        assert_eq!(worker.spawns, creators.count() as u64, "{context}");
        let began_here = slow.strands.iter().enumerate().filter(|(s, strand)| {
            let first = slow.of_task[strand.task].first() == Some(s);
            let by = strand.preds.iter().find(|p| slow.strands[p.0].spawns);
            let by = by.map(|p| &slow.strands[p.0]);
            first && strand.w == w && by.is_some_and(|by| by.w == w && by.task != strand.task)
        });
        assert_eq!(worker.inlined, began_here.count() as u64, "{context}");
        assert!(worker.inlined <= worker.spawns, "{context}");
        assert_eq!(worker.tries(), worker.steals + worker.failed, "{context}");
        // A thread outside the pools creates tasks, but takes none.
        let row = fast.matrix.get(w).map_or(&[][..], Vec::as_slice);
        for (victim, &n) in row.iter().enumerate() {
            let expected = pairs.get(&(w, victim)).copied().unwrap_or(0);
            assert_eq!(n, expected, "{context}");
        }
        assert_eq!(worker.steals, row.iter().sum::<u64>(), "{context}");
    }
    let creators = slow.strands.iter().enumerate().filter(|s| s.1.spawns);
    let spawned = creators.map(|(_, s)| s.end).min();
    assert_eq!(
        fast.first_spawn,
        spawned.unwrap_or(times.begin),
        "{context}"
    );
}
