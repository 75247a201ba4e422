//! The tiles of the timeline, compared with the slow implementation.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use workspan_analysis::{Options, report};
use workspan_dag::{Dag, NONE, OffCpuReason, TaskKind};
use workspan_view::Session;

use crate::pictures::look::{Tile, json, session, tile, tiles, top_level};
use crate::pictures::runs::{Shape, chain, make};
use crate::pictures::slow::{ROWS, Slow, Tick};

/// The shapes of runs of every kind; each run is small enough for the slow implementation.
fn shapes() -> Vec<Shape> {
    let usual = Shape::default();
    vec![
        usual,
        Shape {
            fan: 300,
            depth: 8,
            ..usual
        },
        Shape {
            workers: 1,
            threads: 1,
            depth: 8,
            ..usual
        },
        Shape {
            begin: (1 << 63) - 5_000,
            longest: 12,
            ..usual
        },
        Shape {
            workers: 2,
            threads: 3,
            longest: 3,
            depth: 13,
            ..usual
        },
        Shape {
            workers: 300,
            threads: 300,
            depth: 10,
            longest: 9,
            offs: false,
            ..usual
        },
        Shape { depth: 0, ..usual },
        Shape {
            workers: 9,
            threads: 9,
            longest: 400,
            depth: 9,
            ..usual
        },
    ]
}

fn share(ticks: u64, width: u64) -> f64 {
    match ticks {
        0 => 0.0,
        t if t == width => 255.0,
        t => ((t as f64 * 255.0 / width as f64 + 0.5).floor()).clamp(1.0, 254.0),
    }
}

/// The code of every strand according to the exact boxes; checks that these are complete.
fn codes(session: &Session, dag: &Dag, slow: &Slow) -> Vec<u64> {
    let mut codes = vec![u64::MAX; dag.strands.len()];
    let path: BTreeSet<usize> = slow
        .ready_path
        .strands
        .iter()
        .map(|p| p.0 as usize)
        .collect();
    for index in 0..tiles(session, 0) {
        let boxes = tile(session, "strands", 0, index);
        assert_eq!(
            boxes.facts["truncated"],
            boxes.facts["total"].as_u64().unwrap() > 8192
        );
        for (i, &id) in boxes.plane("id").iter().enumerate() {
            let s = id as usize;
            codes[s] = boxes.plane("code")[i] as u64;
            let since = |t: u64| (t - slow.begin) as f64;
            assert_eq!(boxes.plane("start")[i], since(dag.strands.start[s]));
            assert_eq!(boxes.plane("end")[i], since(dag.strands.end[s]));
            assert_eq!(boxes.plane("task")[i], f64::from(dag.strands.task[s]));
            let flags = boxes.plane("flags")[i] as u8;
            assert_eq!(flags & 1 != 0, slow.facts.critical.has(s as u32));
            assert_eq!(flags & 2 != 0, path.contains(&s));
            let ready = slow.facts.ready.of(dag, s as u32).map(|r| since(r.0));
            let told = boxes.plane("ready")[i];
            assert_eq!(ready, (!told.is_nan()).then_some(told));
        }
    }
    for (s, &code) in codes.iter().enumerate() {
        let has_row = (dag.strands.thread[s] as usize) < ROWS;
        assert_eq!(code != u64::MAX, has_row, "strand {s}");
    }
    codes
}

/// Compares a tile of rows with the ticks.
fn check_rows(dag: &Dag, slow: &Slow, codes: &[u64], tile: &Tile, level: u32, index: u64) {
    let width = 1u64 << level;
    let rows = (dag.meta.threads as usize).min(ROWS);
    let origin = index * 1024 * width;
    let mut touch: BTreeMap<(usize, usize), BTreeSet<usize>> = BTreeMap::new();
    let mut creates: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    let bin_of = |t: u64| {
        (t - slow.begin)
            .checked_sub(origin)
            .map(|t| (t / width) as usize)
    };
    for s in 0..dag.strands.len() {
        let row = dag.strands.thread[s] as usize;
        let (from, to) = (dag.strands.start[s], dag.strands.end[s]);
        let last = if from == to { to } else { to - 1 };
        let first = bin_of(from).unwrap_or(0);
        if let Some(last) = bin_of(last) {
            for bin in (first..=last).take_while(|b| *b < 1024) {
                touch.entry((row, bin)).or_default().insert(s);
            }
        }
    }
    for &creator in dag.tasks.creator.iter().filter(|&&c| c != NONE) {
        let end = dag.strands.end[creator as usize];
        if let Some(bin) = bin_of(end) {
            let row = dag.strands.thread[creator as usize] as usize;
            *creates.entry((row, bin)).or_default() += 1;
        }
    }
    let none = BTreeSet::new();
    for row in 0..rows {
        for bin in 0..1024 {
            let at = row * 1024 + bin;
            let from = (origin + bin as u64 * width).min(slow.ticks as u64) as usize;
            let to = (origin + (bin as u64 + 1) * width).min(slow.ticks as u64) as usize;
            let what = format!("level {level} tile {index} row {row} bin {bin}");
            let ticks = &slow.runs[row][from..to];
            let count = |f: &dyn Fn(&Tick) -> bool| {
                share(
                    ticks.iter().filter(|r| r.0 != NONE && f(r)).count() as u64,
                    width,
                )
            };
            let see = |name: &str| tile.plane(name)[at];
            assert_eq!(see("work"), count(&|r| r.1.is_none()), "work, {what}");
            let descheduled = count(&|r| r.1 == Some(OffCpuReason::Preempted));
            assert_eq!(see("descheduled"), descheduled, "{what}");
            assert_eq!(
                see("blocked"),
                count(&|r| r.1 == Some(OffCpuReason::Blocked)),
                "{what}"
            );
            let critical = count(&|r| slow.facts.critical.has(r.0));
            assert_eq!(see("critical"), critical, "{what}");
            for (kind, name) in ["delay", "no_work_sched", "no_work_app"].iter().enumerate() {
                let free = slow.free[row][from..to].iter();
                let ticks = free.filter(|&&f| usize::from(f) == kind).count();
                assert_eq!(see(name), share(ticks as u64, width), "{name}, {what}");
            }
            let strands = touch.get(&(row, bin)).unwrap_or(&none);
            assert_eq!(see("strands"), strands.len().min(65_535) as f64, "{what}");
            let made = creates.get(&(row, bin)).copied().unwrap_or(0);
            assert_eq!(see("creates"), made as f64, "creates, {what}");
            // No strand, or the longest; ties go to the earlier one.
            let inside = |s: usize| {
                let start = (dag.strands.start[s] - slow.begin).max(from as u64);
                (dag.strands.end[s] - slow.begin)
                    .min(to as u64)
                    .saturating_sub(start)
            };
            let longest = strands
                .iter()
                .max_by_key(|&&s| (inside(s), std::cmp::Reverse(s)));
            let id = longest.map_or(f64::from(NONE), |&s| s as f64);
            assert_eq!(see("strand"), id, "longest, {what}");
            // The code and the site with most time.
            let mut sums: BTreeMap<(u64, u64), u64> = BTreeMap::new();
            for &s in strands {
                let site = dag.tasks.site[dag.strands.task[s] as usize];
                *sums.entry((codes[s], u64::from(site))).or_default() += inside(s);
            }
            let most = sums.values().max();
            let code = see("code") as u64;
            match most {
                None => assert_eq!((code, see("site")), (65_535, 65_535.0), "{what}"),
                Some(most) => {
                    let best = sums.iter().any(|(k, n)| k.0 == code && n == most);
                    assert!(best, "code {code} of {sums:?}, {what}");
                }
            }
        }
    }
}

#[test]
fn tiles_are_what_the_ticks_say() {
    for (seed, shape) in shapes().into_iter().enumerate() {
        let dag = make(seed as u64, shape);
        let slow = Slow::new(&dag);
        let session = session(dag.clone());
        let codes = codes(&session, &dag, &slow);
        let top = top_level(&session);
        for level in [0, top / 2, top.saturating_sub(1), top] {
            let count = tiles(&session, level);
            let some = [0, count / 3, count / 2, count - 1];
            for index in some.into_iter().collect::<BTreeSet<_>>() {
                let rows = tile(&session, "rows", level, index);
                check_rows(&dag, &slow, &codes, &rows, level, index);
            }
        }
    }
}

#[test]
fn profiles_are_what_the_ticks_say_and_add_up_to_the_breakdown() {
    for (seed, shape) in shapes().into_iter().enumerate() {
        let dag = make(seed as u64 + 100, shape);
        let slow = Slow::new(&dag);
        let report = report(&dag, &Options::default()).unwrap();
        let session = session(dag);
        let names = [
            "running",
            "ready_create",
            "ready_create_continuation",
            "ready_wait_continuation",
            "ready_yield_continuation",
            "ready_end",
            "ready_depend",
            "ready_signal",
            "delay",
            "no_work_sched",
            "no_work_app",
            "descheduled",
            "blocked",
        ];
        for level in 0..=top_level(&session) {
            let mut sums = [0.0; 13];
            let width = 1usize << level;
            for index in 0..tiles(&session, level) {
                let profile = tile(&session, "profile", level, index);
                for (i, name) in names.iter().enumerate() {
                    for (bin, &mean) in profile.plane(name).iter().enumerate() {
                        let from = ((index as usize * 1024 + bin) * width).min(slow.ticks);
                        let to = (from + width).min(slow.ticks);
                        let ticks: u64 = slow.profile[from..to].iter().map(|t| t[i]).sum();
                        let close = (mean * width as f64 - ticks as f64).abs();
                        let what = format!("{name}, level {level} tile {index} bin {bin}");
                        assert!(close <= 1e-6 * ticks as f64, "{mean} of {ticks}: {what}");
                        sums[i] += mean * width as f64;
                    }
                }
            }
            let b = &report.breakdown;
            let parts = [
                (8, b.delay),
                (9, b.no_work_sched),
                (10, b.no_work_app),
                (11, b.descheduled),
                (12, b.blocked),
            ];
            for (i, part) in parts {
                let close = (sums[i] - part as f64).abs() <= 1e-4 * (part as f64 + 1.0);
                assert!(
                    close,
                    "{} at level {level}: {} of {part}",
                    names[i], sums[i]
                );
            }
        }
    }
}

/// Adjacent bins of a level add up to the bins of the level above.
#[test]
fn levels_agree() {
    let dag = make(
        7,
        Shape {
            fan: 200,
            ..Shape::default()
        },
    );
    let session = session(dag);
    let top = top_level(&session);
    assert!(top >= 5, "{top}");
    let sum = |level: u32, name: &str| -> f64 {
        let of = |index| {
            tile(&session, "rows", level, index)
                .plane(name)
                .iter()
                .sum::<f64>()
        };
        (0..tiles(&session, level)).map(of).sum()
    };
    let creates = sum(0, "creates");
    assert!(creates > 1000.0);
    for level in 0..=top {
        assert_eq!(sum(level, "creates"), creates, "level {level}");
    }
}

#[test]
fn arcs_are_the_steals_of_the_report() {
    for (seed, shape) in shapes().into_iter().enumerate() {
        let dag = make(seed as u64 + 200, shape);
        let steals = report(&dag, &Options::default()).unwrap().work_span.steals;
        let session = session(dag.clone());
        for level in 0..=top_level(&session) {
            let (mut total, mut pairs) = (0, 0);
            for index in 0..tiles(&session, level) {
                let arcs = tile(&session, "arcs", level, index);
                total += arcs.facts["total"].as_u64().unwrap();
                for pair in arcs.facts["pairs"].as_array().unwrap() {
                    pairs += pair[2].as_u64().unwrap();
                }
                let drawn = arcs.plane("strand");
                if arcs.facts["truncated"] == false {
                    assert_eq!(drawn.len() as u64, arcs.facts["total"]);
                }
                for (i, &s) in drawn.iter().enumerate() {
                    let thread = dag.strands.thread[s as usize] as usize;
                    let row = if thread < ROWS { thread } else { 65_535 };
                    assert_eq!(arcs.plane("to_row")[i], row as f64);
                    assert!(arcs.plane("from_t")[i] <= arcs.plane("to_t")[i]);
                    let from = arcs.plane("from_row")[i];
                    assert!(from != row as f64 || row == 65_535);
                }
            }
            assert_eq!(
                (total, pairs),
                (steals, steals),
                "level {level} of {shape:?}"
            );
        }
    }
}

#[test]
fn paths_add_up() {
    let mut waits = 0;
    for (seed, shape) in shapes().into_iter().enumerate() {
        let dag = make(seed as u64 + 300, shape);
        let report = report(&dag, &Options::default()).unwrap();
        let session = session(dag.clone());
        let strands = &dag.strands;
        let length = |s: u32| strands.end[s as usize] - strands.start[s as usize];
        let critical = report.work_span.critical_path.clone();
        let ready: Vec<u32> = report
            .breakdown
            .ready_path
            .strands
            .iter()
            .map(|s| s.0)
            .collect();
        for (kind, path) in [("critical", critical), ("ready", ready)] {
            let ticks: u64 = path.iter().map(|&s| length(s)).sum();
            let path: BTreeSet<u32> = path.into_iter().collect();
            for level in 0..=top_level(&session) {
                let mut sum = 0.0;
                let mut last = 0.0;
                let mut after = Value::Null;
                for index in 0..tiles(&session, level) {
                    let pieces = tile(&session, &format!("path?kind={kind}"), level, index);
                    let (start, end) = (pieces.plane("start"), pieces.plane("end"));
                    // Where the path only waits, the pieces before and after say from where to
                    // where.
                    if let Some(&first) = start.first() {
                        assert!(after.is_null() || after[1] == first, "{kind} level {level}");
                        after = Value::Null;
                    } else if last > 0.0 && !pieces.facts["after"].is_null() {
                        assert_eq!(pieces.facts["before"][2], last, "{kind} level {level}");
                        after = pieces.facts["after"].clone();
                        waits += 1;
                    }
                    assert!(start.len() <= 2 * 1024 + 1);
                    for i in 0..start.len() {
                        assert!(
                            start[i] >= last && end[i] > start[i],
                            "{kind} level {level}"
                        );
                        assert!(path.contains(&(pieces.plane("strand")[i] as u32)));
                        last = end[i];
                        sum += end[i] - start[i];
                    }
                }
                // Coarser pieces also cover gaps shorter than a bin.
                if level == 0 {
                    assert_eq!(sum, ticks as f64, "{kind} of {shape:?}");
                } else {
                    assert!(sum >= ticks as f64, "{kind} of {shape:?} at level {level}");
                }
            }
        }
        let told = json(&session, "critical?run=a");
        let weights = told["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| r["weight"].as_u64().unwrap());
        assert_eq!(u128::from(weights.sum::<u64>()), report.work_span.span);
        assert!(told["rows"].as_array().unwrap().len() <= 500);
    }
    assert!(waits > 0, "no tile lies inside a wait");
}

#[test]
fn queues_and_loads_are_means() {
    let session = session(make(3, Shape::default()));
    let top = top_level(&session);
    let elapsed = session.runs[0].model().unwrap().elapsed() as f64;
    let width = (1u64 << top) as f64;
    let rows = tile(&session, "rows", top, 0);
    let ticks: f64 = rows.plane("queue")[..1024]
        .iter()
        .map(|mean| mean * width)
        .sum();
    // The queue has 0, 1, … 19 tasks, each number for a twentieth of the run.
    assert!((ticks / elapsed - 9.5).abs() < 0.02, "{}", ticks / elapsed);
    let load: f64 = rows.plane("cpu")[1024..2048]
        .iter()
        .map(|b| b * width / 255.0)
        .sum();
    assert!((load / elapsed - 0.475).abs() < 0.01, "{}", load / elapsed);
    assert!(rows.plane("cpu")[..1024].iter().all(|&load| load == 0.0));
}

#[test]
fn queues_and_loads_nobody_told_follow_from_tasks_and_times_off_the_cpu() {
    let mut dag = make(3, Shape::default());
    dag.thread_events.clear();
    dag.meta.recorded = true;
    let (tasks, strands) = (&dag.tasks, &dag.strands);
    let waited = |task: usize| match (tasks.kind[task], tasks.creator[task]) {
        (TaskKind::Deferred, creator) if creator != NONE => {
            let begun = strands.start[tasks.first[task] as usize];
            begun - strands.end[creator as usize]
        }
        _ => 0,
    };
    let waited: u64 = (0..tasks.len()).map(waited).sum();
    // Thread 0 has a load from the begin of its first strand or off-CPU time to the end of the
    // last.
    let own = || (0..strands.len()).filter(|&s| strands.thread[s] == 0);
    let offs = || dag.offs.iter().filter(|off| off.thread == 0);
    let begin = own()
        .map(|s| strands.start[s])
        .chain(offs().map(|o| o.start));
    let end = own().map(|s| strands.end[s]).chain(offs().map(|o| o.end));
    let off: u64 = offs().map(|o| o.end - o.start).sum();
    let on = end.max().unwrap() - begin.min().unwrap() - off;
    assert!(waited > 0 && off > 0 && on > 0);

    let session = session(dag);
    let top = top_level(&session);
    let width = (1u64 << top) as f64;
    let rows = tile(&session, "rows", top, 0);
    let ticks: f64 = rows.plane("queue").iter().map(|mean| mean * width).sum();
    assert!(
        (ticks / waited as f64 - 1.0).abs() < 1e-3,
        "{ticks} {waited}"
    );
    let load = &rows.plane("cpu")[..1024];
    let ticks: f64 = load.iter().map(|b| b * width / 255.0).sum();
    assert!((ticks / on as f64 - 1.0).abs() < 0.01, "{ticks} {on}");
}

#[test]
fn too_many_boxes_are_the_longest() {
    let dag = make(
        11,
        Shape {
            depth: 13,
            longest: 8,
            ..Shape::default()
        },
    );
    let lengths: Vec<u64> = (0..dag.strands.len())
        .map(|s| dag.strands.end[s] - dag.strands.start[s])
        .collect();
    let session = session(dag);
    let boxes = tile(&session, "strands", top_level(&session), 0);
    assert_eq!(boxes.facts["truncated"], true);
    assert_eq!(boxes.facts["total"], lengths.len());
    let shown: BTreeSet<usize> = boxes.plane("id").iter().map(|&id| id as usize).collect();
    assert_eq!(shown.len(), 8192);
    let least = shown.iter().map(|&s| lengths[s]).min().unwrap();
    let left_out = (0..lengths.len()).filter(|s| !shown.contains(s));
    assert!(left_out.map(|s| lengths[s]).max().unwrap() <= least);
}

#[test]
fn a_run_without_time_or_depth_enough_has_tiles_too() {
    for dag in [chain(1), chain(3000)] {
        let session = session(dag);
        for what in ["rows", "profile", "strands", "arcs", "path?kind=ready"] {
            tile(&session, what, top_level(&session), 0);
        }
    }
}
