//! Compares the analyses with the slow implementation, and with themselves.

use std::collections::BTreeMap;

use workspan_analysis::stretch::{RowKey, StretchOptions, stretch};
use workspan_analysis::{Metric, Options, Report, report, timeline};
use workspan_dag::Dag;

use crate::random::clock::{Low, Times};
use crate::random::dice::Dice;
use crate::random::run::Run;
use crate::random::slow::{Measure, Site, Slow};

fn read(text: &str) -> Dag {
    match workspan_reader::text::read(text.as_bytes()) {
        Ok(dag) => dag,
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn options_for(run: &Run, dice: &mut Dice) -> (Options, Measure) {
    let burden = dice.pick(&[None, None, Some(0), Some(9)]);
    let counted = run.counters
        && run
            .tasks
            .iter()
            .flat_map(|t| &t.lines)
            .any(|l| l.counter.is_some());
    let counter = counted && dice.percent(60);
    let (raw, count_blocked) = (dice.percent(25), dice.percent(25));
    let options = Options {
        metric: if counter {
            Metric::Counter("instructions".into())
        } else {
            Metric::Time
        },
        burden,
        raw,
        count_blocked,
    };
    let own = if counter { 15_000 } else { run.burden };
    let measure = Measure {
        raw,
        count_blocked,
        counter,
        burden: burden.unwrap_or(own),
    };
    (options, measure)
}

fn sites_of(dag: &Dag, report: &Report) -> BTreeMap<String, Site> {
    let rows = report.sites.iter().map(|r| {
        let site = Site {
            count: r.count,
            work: r.work,
            span: r.span,
            critical_work: r.critical_work,
        };
        (dag.places[r.site as usize].label.clone(), site)
    });
    rows.collect()
}

/// Everything in the report that the slow implementation has too.
pub fn check(run: &Run, dice: &mut Dice) {
    let text = if dice.percent(50) {
        run.text(Some(dice))
    } else {
        run.text(None)
    };
    let (options, m) = options_for(run, dice);
    let dag = read(&text);
    let slow = Slow::new(run);
    let fast = report(&dag, &options).unwrap();
    let context = format!("{options:?}\n{text}");

    let ws = &fast.work_span;
    assert_eq!(ws.work, slow.work(m), "work, {context}");
    assert_eq!(
        ws.span,
        slow.span(Measure { burden: 0, ..m }),
        "span, {context}"
    );
    assert_eq!(ws.burdened_span, slow.span(m), "burdened span, {context}");
    assert_eq!(ws.burden, m.burden);
    assert_eq!(ws.tasks, run.tasks.len() as u64);
    assert_eq!(ws.syncs, slow.waits);
    let spawns = run
        .tasks
        .iter()
        .filter(|t| t.kind == crate::random::run::Kind::Deferred)
        .count();
    assert_eq!(ws.spawns, spawns as u64);
    let blocked = Measure {
        count_blocked: !m.counter,
        burden: 0,
        ..m
    };
    assert_eq!(
        ws.work_with_blocked,
        slow.work(blocked),
        "work with blocked, {context}"
    );
    assert_eq!(
        ws.span_with_blocked,
        slow.span(blocked),
        "span with blocked, {context}"
    );
    check_critical_path(&dag, &fast, &slow, m, &context);

    let sites = slow.sites(Measure { burden: 0, ..m });
    let sites: BTreeMap<String, Site> = sites.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
    assert_eq!(sites_of(&dag, &fast), sites, "sites, {context}");
    check_rows(&dag, &fast, &context);
    if run.tasks.len().is_multiple_of(3) {
        crate::random::faster::check(&dag, &options, run, m, &context);
    }

    let times = slow.times(m);
    assert_eq!(
        times_of(&fast),
        Times {
            running: vec![],
            ready: vec![],
            alone: 0,
            low: vec![],
            ..times_clone(&times)
        },
        "{context}"
    );
    check_ready_path(&dag, &fast, &slow, &times, &context);
    check_profile(&dag, &options, &times, &context);
    check_low(&dag, &fast, &slow, &times, &context);
    crate::random::causes::check(&dag, &options, &fast.causes, &context);
    crate::random::statistics::check(&dag, &options, &slow, m, &times, &context);
    if run.probe_cost == 0 && !m.counter {
        let mut regions = BTreeMap::new();
        for r in &fast.regions {
            regions.insert(dag.labels[r.label as usize].clone(), (r.count, r.work));
        }
        let expected = slow.regions(m).into_iter().map(|(k, v)| (k.to_owned(), v));
        assert_eq!(regions, expected.collect(), "regions, {context}");
    }
}

/// Strands that take time, by thread, start and end: the DAG leaves some of the others out.
fn timed(dag: &Dag, strands: impl Iterator<Item = u32>) -> Vec<(u32, u64, u64)> {
    let strands = strands.map(|s| {
        let s = s as usize;
        (
            dag.strands.thread[s],
            dag.strands.start[s],
            dag.strands.end[s],
        )
    });
    strands.filter(|s| s.1 < s.2).collect()
}

fn timed_slow(slow: &Slow, strands: &[usize]) -> Vec<(u32, u64, u64)> {
    let strands = strands.iter().map(|&s| &slow.strands[s]);
    strands
        .map(|s| (s.w as u32, s.start, s.end))
        .filter(|s| s.1 < s.2)
        .collect()
}

fn check_critical_path(dag: &Dag, fast: &Report, slow: &Slow, m: Measure, context: &str) {
    let path = slow.critical_path(Measure { burden: 0, ..m });
    let own = timed(dag, fast.work_span.critical_path.iter().copied());
    assert_eq!(own, timed_slow(slow, &path), "critical path, {context}");
}

fn check_ready_path(dag: &Dag, fast: &Report, slow: &Slow, times: &Times, context: &str) {
    let path = &fast.breakdown.ready_path;
    assert_eq!(path.work, times.path_work, "ready path, {context}");
    let own = timed(dag, path.strands.iter().map(|s| s.0));
    assert_eq!(
        own,
        timed_slow(slow, &slow.ready_path()),
        "ready path, {context}"
    );
}

/// Checks the order of the rows, and the sums of their blocks.
fn check_rows(dag: &Dag, fast: &Report, context: &str) {
    assert_eq!(fast.sites[0].site, workspan_dag::ROOT_PLACE);
    let rest = &fast.sites[1..];
    assert!(
        rest.is_sorted_by(|a, b| a.critical_work >= b.critical_work),
        "order, {context}"
    );
    let mut blocks = 0;
    for row in &fast.sites {
        assert!(row.blocks.is_sorted_by(|a, b| a.work >= b.work));
        let critical: u128 = row.blocks.iter().map(|b| b.critical_work).sum();
        assert_eq!(critical, row.critical_work, "blocks, {context}");
        blocks += row.blocks.iter().map(|b| b.work).sum::<u128>();
    }
    assert_eq!(blocks, fast.work_span.work, "blocks, {context}");
    let count: u64 = fast
        .sites
        .iter()
        .flat_map(|r| &r.blocks)
        .map(|b| b.count)
        .sum();
    assert_eq!(count, dag.strands.len() as u64);
}

fn times_of(fast: &Report) -> Times {
    let b = &fast.breakdown;
    Times {
        begin: b.begin,
        end: b.end,
        work: b.work,
        descheduled: b.descheduled,
        blocked: b.blocked,
        recording: b.recording,
        oversubscribed: b.oversubscribed,
        delay: b.delay,
        delay_by_edge: b.delay_by_edge,
        delay_buried: b.delay_buried,
        no_work_sched: b.no_work_sched,
        no_work_app: b.no_work_app,
        buried: b.buried,
        buried_ticks: b.buried_ticks,
        path_work: b.ready_path.work,
        busy_delay: b.ready_path.busy_delay,
        scheduler_delay: b.ready_path.scheduler_delay,
        steals: fast.work_span.steals,
        ..Times::default()
    }
}

fn times_clone(t: &Times) -> Times {
    Times {
        running: t.running.clone(),
        ready: t.ready.clone(),
        low: t.low.clone(),
        ..*t
    }
}

fn check_profile(dag: &Dag, options: &Options, times: &Times, context: &str) {
    let ticks = times.running.len();
    let profile = timeline(dag, options, ticks + 5).unwrap().profile;
    assert_eq!((profile.begin, profile.end), (times.begin, times.end));
    let running: Vec<f64> = times.running.iter().map(|&n| n as f64).collect();
    let ready: Vec<[f64; 7]> = times.ready.iter().map(|r| r.map(|n| n as f64)).collect();
    assert_eq!(profile.running, running, "profile, {context}");
    assert_eq!(profile.ready, ready, "profile, {context}");
    let third = timeline(dag, options, ticks / 3).unwrap().profile;
    if let bins @ 1.. = third.running.len() {
        let sum = |i: usize| {
            running[ticks * i / bins..ticks * (i + 1) / bins]
                .iter()
                .sum::<f64>()
        };
        for (i, mean) in third.running.iter().enumerate() {
            let width = (ticks * (i + 1) / bins - ticks * i / bins) as f64;
            assert!((mean - sum(i) / width).abs() < 1e-9, "bin {i}, {context}");
        }
    }
    let mean = running.iter().sum::<f64>() / ticks.max(1) as f64;
    assert!((profile.mean_running - mean).abs() < 1e-9);
}

fn check_low(dag: &Dag, fast: &Report, slow: &Slow, times: &Times, context: &str) {
    let mut low: Vec<&Low> = times.low.iter().filter(|l| l.lost > 0).collect();
    low.sort_by_key(|l| (std::cmp::Reverse(l.lost), l.begin));
    low.truncate(10);
    let expected: Vec<(u64, u64, u128)> = low.iter().map(|l| (l.begin, l.end, l.lost)).collect();
    let own = fast
        .low_parallelism
        .iter()
        .map(|l| (l.begin, l.end, l.lost));
    assert_eq!(
        own.collect::<Vec<_>>(),
        expected,
        "low parallelism, {context}"
    );
    for (own, low) in fast.low_parallelism.iter().zip(&low) {
        let mut lengths: Vec<u64> = low.strands.values().map(|s| s.0).collect();
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        lengths.truncate(8);
        let own_lengths: Vec<u64> = own.strands.iter().map(|s| s.ticks).collect();
        assert_eq!(own_lengths, lengths, "low parallelism, {context}");
        for s in &own.strands {
            let i = s.strand as usize;
            let same = |u: &&usize| {
                let u = &slow.strands[**u];
                u.w as u32 == s.thread && u.start == dag.strands.start[i] && u.start < u.end
            };
            let strand = low.strands.keys().find(same).unwrap();
            assert_eq!((s.ticks, s.alone), low.strands[strand], "alone, {context}");
        }
    }
    let alone: u64 = fast.solo_blocks.iter().map(|a| a.ticks).sum();
    if fast.solo_blocks.len() < 10 {
        assert_eq!(alone, times.alone, "alone, {context}");
    }
}

/// Properties of any report, and relations between reports of related runs.
pub fn properties(run: &Run, dice: &mut Dice) {
    let (options, _) = options_for(run, dice);
    let plain = run.text(None);
    let dag = read(&plain);
    let first = report(&dag, &options).unwrap();
    let b = &first.breakdown;
    let sum = b.work
        + b.descheduled
        + b.blocked
        + b.recording
        + b.delay
        + b.no_work_sched
        + b.no_work_app;
    assert_eq!(
        sum,
        run.workers as u128 * u128::from(b.elapsed()),
        "{plain}"
    );
    assert_eq!(b.lost() + b.work, b.total());
    assert_eq!(b.delay_by_edge.iter().sum::<u128>(), b.delay, "{plain}");
    assert!(b.delay_buried <= b.delay);
    let path = &b.ready_path;
    assert_eq!(
        path.work + path.busy_delay + path.scheduler_delay,
        b.elapsed(),
        "{plain}"
    );
    let critical: u128 = first.sites.iter().map(|s| s.critical_work).sum();
    assert_eq!(critical, first.work_span.span, "{plain}");
    assert!(first.work_span.span <= first.work_span.burdened_span);
    assert!(first.work_span.span <= first.work_span.work);
    let (lower, upper) = first.work_span.speedup(run.workers as u32);
    assert!(0.0 < lower && upper <= run.workers as f64);

    regions_add_up(&dag, &first, &options, &plain);

    // The order of lines of different tasks has no meaning.
    let shuffled = read(&run.text(Some(dice)));
    assert_eq!(first, report(&shuffled, &options).unwrap(), "{plain}");
    assert_eq!(sites_of(&dag, &first), sites_of(&shuffled, &first));

    // Nor does the start of the clock, even just below the largest time.
    let end = run
        .tasks
        .iter()
        .flat_map(|t| &t.lines)
        .map(|l| l.t)
        .max()
        .unwrap();
    let off_end = run.offs.iter().map(|o| o.end).max().unwrap_or(0);
    let shift = (1 << 63) - 1 - end.max(off_end);
    let late = report(&read(&run.rescaled(1, shift).text(None)), &options).unwrap();
    assert_eq!(
        times_of(&late),
        Times {
            begin: b.begin + shift,
            end: b.end + shift,
            ..times_of(&first)
        }
    );
    assert_eq!(late.work_span, first.work_span);
    assert_eq!(late.sites, first.sites);
    assert_eq!(late.causes, first.causes);
    scaled(run, &options, &first);
}

/// Marked regions, which nest and overlap, add up to no more than the work, in all of the run and
/// on the critical path; a run compared with itself has the same rows without stretch.
fn regions_add_up(dag: &Dag, first: &Report, options: &Options, context: &str) {
    let ws = &first.work_span;
    let work: u128 = first.regions.iter().map(|r| r.work).sum();
    let critical: u128 = first.regions.iter().map(|r| r.critical_work).sum();
    // Each stretch of a strand has its own probes taken out.
    let probes = u128::from(dag.meta.probe_cost)
        * first
            .regions
            .iter()
            .map(|r| u128::from(r.count))
            .sum::<u128>();
    assert!(work <= ws.work + 2 * probes, "{context}");
    assert!(critical <= ws.span + 2 * probes, "{context}");
    if options.metric != Metric::Time {
        return;
    }
    let options = StretchOptions {
        measured: options.clone(),
        ..StretchOptions::default()
    };
    let same = stretch(dag, dag, first, &options).unwrap();
    assert_eq!(same.regions.len(), first.regions.len());
    for row in &first.regions {
        let label = &dag.labels[row.label as usize];
        let key = same.labels.iter().position(|l| l == label).unwrap();
        let key = RowKey::Region(key as u32);
        let own = same.regions.iter().find(|r| r.key == key).unwrap();
        assert_eq!(
            (own.time.serial, own.time.surplus()),
            (row.work, 0),
            "{context}"
        );
    }
}

/// Times multiplied by k give measures of time multiplied by k.
fn scaled(run: &Run, options: &Options, first: &Report) {
    if options.metric != Metric::Time {
        return;
    }
    let k = 1_000_003;
    let options = Options {
        burden: options.burden.map(|b| b * k),
        ..options.clone()
    };
    let large = report(&read(&run.rescaled(k, 0).text(None)), &options).unwrap();
    let times = |n: u128| n * u128::from(k);
    let (a, b) = (&first.work_span, &large.work_span);
    assert_eq!(times(a.work), b.work);
    assert_eq!(times(a.span), b.span);
    assert_eq!(times(a.burdened_span), b.burdened_span);
    assert_eq!(times(a.span_with_blocked), b.span_with_blocked);
    assert_eq!(a.critical_path, b.critical_path);
    assert_eq!((a.steals, a.syncs), (b.steals, b.syncs));
    let sums = |r: &Report| -> Vec<(u128, u128, u128)> {
        r.sites
            .iter()
            .map(|s| (s.work, s.span, s.critical_work))
            .collect()
    };
    let small: Vec<_> = sums(first)
        .iter()
        .map(|s| (times(s.0), times(s.1), times(s.2)))
        .collect();
    assert_eq!(small, sums(&large));
    let (a, b) = (&first.breakdown, &large.breakdown);
    assert_eq!(a.delay_by_edge.map(times), b.delay_by_edge);
    assert_eq!(first.causes.by_cause.map(times), large.causes.by_cause);
    assert_eq!(
        [
            a.work,
            a.recording,
            a.delay,
            a.no_work_app,
            a.no_work_sched,
            a.oversubscribed
        ]
        .map(times),
        [
            b.work,
            b.recording,
            b.delay,
            b.no_work_app,
            b.no_work_sched,
            b.oversubscribed
        ]
    );
}
