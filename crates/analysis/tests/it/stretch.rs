//! Serial and parallel runs compared (MODEL.md §6): example E exactly, the sum of the loss, and the
//! matching of tasks.

use std::fmt::Write;

use workspan_analysis::stretch::{
    Latency, RowKey, Stretch, StretchError, StretchOptions, StretchRow, stretch,
};
use workspan_analysis::{Options, report};
use workspan_dag::Dag;

fn dag(text: &str) -> Dag {
    workspan_reader::text::read(text.as_bytes()).unwrap()
}

fn compared(
    serial: &str,
    parallel: &str,
    options: &StretchOptions,
) -> Result<Stretch, StretchError> {
    let (serial, parallel) = (dag(serial), dag(parallel));
    let report = report(&parallel, &Options::default()).unwrap();
    stretch(&serial, &parallel, &report, options)
}

fn header(workers: u32, more: &str) -> String {
    format!(r#"{{"workspan_trace":1,"workers":{workers},"time_unit":"ns","steals":"child"{more}}}"#)
        + "\n"
}

/// A chain of tasks, one per level, whose own strands take `work` ns with `misses` cache misses;
/// other levels take no time.
fn chain(workers: u32, rows: &[(u32, u64, u64)]) -> String {
    let deepest = rows.iter().map(|r| r.0).max().unwrap();
    let mut text = header(workers, "");
    let mut t = 0;
    for level in 0..=deepest {
        let (_, work, misses) = rows
            .iter()
            .find(|r| r.0 == level)
            .copied()
            .unwrap_or_default();
        writeln!(text, r#"{{"ev":"begin","t":{t},"w":0,"task":{level}}}"#).unwrap();
        t += work;
        let counters = format!(r#""counters":{{"cache_misses":{misses}}}"#);
        if level < deepest {
            let child = level + 1;
            writeln!(
                text,
                r#"{{"ev":"create","t":{t},"w":0,"task":{level},"child":{child},"site":"fft.c:90",{counters}}}"#
            )
            .unwrap();
            writeln!(text, r#"{{"ev":"resume","t":{t},"w":0,"task":{level}}}"#).unwrap();
            writeln!(text, r#"{{"ev":"wait","t":{t},"w":0,"task":{level}}}"#).unwrap();
        } else {
            writeln!(
                text,
                r#"{{"ev":"end","t":{t},"w":0,"task":{level},{counters}}}"#
            )
            .unwrap();
        }
    }
    for level in (0..deepest).rev() {
        writeln!(text, r#"{{"ev":"resume","t":{t},"w":0,"task":{level}}}"#).unwrap();
        writeln!(text, r#"{{"ev":"end","t":{t},"w":0,"task":{level}}}"#).unwrap();
    }
    text
}

fn rounded(v: f64, digits: i32) -> f64 {
    let unit = 10f64.powi(digits);
    (v * unit).round() / unit
}

/// MODEL.md §8, example E: levels 18 to 20 of SWoPP'13's table.
#[test]
fn example_e_exactly() {
    let serial = chain(
        1,
        &[
            (18, 42_908_416, 10_764),
            (19, 6_409_045_248, 8_833_358),
            (20, 1_527_187_456, 7_272_947),
        ],
    );
    let parallel = chain(
        32,
        &[
            (18, 50_275_072, 667_502),
            (19, 9_717_456_640, 76_261_509),
            (20, 2_637_724_928, 23_482_007),
        ],
    );
    let options = StretchOptions {
        latencies: vec![Latency {
            counter: "cache-misses".into(),
            ns: 373.0,
        }],
        ..StretchOptions::default()
    };
    let result = compared(&serial, &parallel, &options).unwrap();
    assert_eq!(result.latencies, [(0, 373.0)]);
    let rows: Vec<(u32, f64, f64)> = result
        .levels
        .iter()
        .filter(|row| row.time.parallel > 0)
        .map(|row| {
            let RowKey::Level(level) = row.key else {
                panic!("{:?}", row.key)
            };
            let stretch = rounded(row.time.relative().unwrap() * 100.0, 1);
            // 33.25 is printed as 33.2 there, because the table truncates.
            let times = row.explains(0, 373.0, result.tick).unwrap();
            (level, stretch, (times * 10.0).floor() / 10.0)
        })
        .collect();
    assert_eq!(rows, [(18, 17.2, 33.2), (19, 51.6, 7.6), (20, 72.7, 5.4)]);
    assert_eq!(
        result.total.time.surplus(),
        7_366_656 + 3_308_411_392 + 1_110_537_472
    );
    assert_eq!(result.matched.unmatched_share(), 0.0);
}

/// On two workers, times in ns: the root prepares, spawns a task, works itself, waits and ends. The
/// task has a child of its own when `nested`.
fn fork(workers: u32, prepare: u64, own: u64, task: u64, nested: bool) -> String {
    let places = r#","places":[{"label":"root"},{"label":"a.c:5"},{"label":"a.c:9"}]"#;
    let mut text = header(workers, places);
    let other = workers - 1;
    let begun = if workers > 1 { prepare } else { prepare + own };
    let waits = prepare + own;
    write!(
        text,
        r#"{{"ev":"begin","t":0,"w":0,"task":0}}
{{"ev":"create","t":{prepare},"w":0,"task":0,"child":1,"site":"a.c:5","at":"a.c:5"}}
{{"ev":"resume","t":{prepare},"w":0,"task":0}}
{{"ev":"wait","t":{waits},"w":0,"task":0,"at":"a.c:9"}}
{{"ev":"begin","t":{begun},"w":{other},"task":1}}
"#
    )
    .unwrap();
    let mut end = begun + task;
    if nested {
        write!(
            text,
            r#"{{"ev":"create","t":{end},"w":{other},"task":1,"child":2,"site":"a.c:5","at":"a.c:5"}}
{{"ev":"resume","t":{end},"w":{other},"task":1}}
{{"ev":"wait","t":{end},"w":{other},"task":1,"at":"a.c:9"}}
{{"ev":"begin","t":{end},"w":{other},"task":2}}
{{"ev":"end","t":{child},"w":{other},"task":2}}
{{"ev":"resume","t":{child},"w":{other},"task":1}}
"#,
            child = end + 7
        )
        .unwrap();
        end += 7;
    }
    let joined = end.max(waits);
    write!(
        text,
        r#"{{"ev":"end","t":{end},"w":{other},"task":1}}
{{"ev":"resume","t":{joined},"w":0,"task":0}}
{{"ev":"end","t":{last},"w":0,"task":0}}
"#,
        last = joined + 10
    )
    .unwrap();
    text
}

fn sum(rows: &[StretchRow]) -> i128 {
    rows.iter().map(|r| r.time.surplus()).sum()
}

#[test]
fn the_loss_closes_and_the_rows_add_up() {
    for (parallel, name) in [
        (fork(2, 100, 400, 450, false), "alike"),
        (fork(2, 130, 400, 520, true), "split differently"),
        (fork(1, 100, 400, 450, false), "one worker"),
    ] {
        let result = compared(
            &fork(1, 100, 380, 400, false),
            &parallel,
            &StretchOptions::default(),
        );
        let result = result.unwrap();
        let loss = &result.loss;
        assert_eq!(
            loss.parts().iter().map(|p| p.1).sum::<i128>(),
            loss.total,
            "{name}"
        );
        let elapsed = u128::from(loss.workers) * u128::from(loss.elapsed);
        assert_eq!(
            loss.total,
            elapsed as i128 - loss.serial_work as i128,
            "{name}"
        );
        assert_eq!(loss.serial_work, 100 + 380 + 400 + 10, "{name}");
        for rows in [&result.blocks, &result.sites, &result.levels] {
            assert_eq!(sum(rows), loss.stretch, "{name}");
        }
    }
}

#[test]
fn what_took_longer_leads_and_is_found_by_path() {
    let options = StretchOptions::default();
    let result = compared(
        &fork(1, 100, 380, 400, false),
        &fork(2, 100, 380, 520, false),
        &options,
    );
    let result = result.unwrap();
    assert_eq!(result.loss.stretch, 120);
    let RowKey::Site(site) = result.sites[0].key else {
        panic!("{:?}", result.sites[0])
    };
    assert_eq!(result.places[site as usize].label, "a.c:5");
    assert_eq!(result.sites[0].time.relative(), Some(0.3));
    // Everything ran in tasks that both trees have at the same path.
    assert_eq!(result.matched.path.parallel, 100 + 380 + 520 + 10);
    assert_eq!(result.matched.site_and_level.parallel, 0);
    assert_eq!(result.subtrees.len(), 1);
    assert_eq!(result.subtrees[0].time.surplus(), 120);
    assert_eq!(result.warnings, Vec::<String>::new());
}

#[test]
fn where_the_runtime_split_differently_site_and_level_match() {
    let options = StretchOptions::default();
    let result = compared(
        &fork(1, 100, 380, 400, false),
        &fork(2, 100, 380, 400, true),
        &options,
    );
    let matched = result.unwrap().matched;
    // The task itself is at the same path; its child of 7 ns has a site that the serial run does
    // not have on that level.
    assert_eq!(matched.path.parallel, 890);
    assert_eq!((matched.none.parallel, matched.none.serial), (7, 0));
    // With the same number of children but another shape below the root, level and site decide.
    let flat = |children: &[u64]| {
        let mut text = header(1, "");
        text.push_str("{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}\n");
        let mut t = 0;
        for (i, work) in children.iter().enumerate() {
            let task = i + 1;
            let end = t + work;
            write!(
                text,
                r#"{{"ev":"create","t":{t},"w":0,"task":0,"child":{task},"site":"a.c:5"}}
{{"ev":"resume","t":{t},"w":0,"task":0}}
{{"ev":"wait","t":{t},"w":0,"task":0}}
{{"ev":"begin","t":{t},"w":0,"task":{task}}}
{{"ev":"end","t":{end},"w":0,"task":{task}}}
{{"ev":"resume","t":{end},"w":0,"task":0}}
"#
            )
            .unwrap();
            t = end;
        }
        writeln!(text, r#"{{"ev":"end","t":{t},"w":0,"task":0}}"#).unwrap();
        text
    };
    let result = compared(&flat(&[50, 50]), &flat(&[30, 30, 60]), &options).unwrap();
    assert_eq!(
        result.matched.path.parallel, 0,
        "the root has no work of its own"
    );
    assert_eq!(
        (
            result.matched.site_and_level.serial,
            result.matched.site_and_level.parallel
        ),
        (100, 120)
    );
    assert_eq!(
        result.sites[0].strands,
        workspan_analysis::stretch::Pair {
            serial: 2,
            parallel: 3
        }
    );
}

#[test]
fn clocks_of_different_rates_are_brought_to_one() {
    let slow = fork(1, 100, 380, 400, false).replace("\"ns\"", "\"cycles\",\"clock_hz\":500000000");
    let result = compared(
        &slow,
        &fork(2, 200, 760, 800, false),
        &StretchOptions::default(),
    );
    let result = result.unwrap();
    // 890 ticks of 2 ns against 1770 ns: only the last 10 of the root differ.
    assert_eq!(result.total.time.serial, 1780);
    assert_eq!(result.loss.stretch, -10);
}

#[test]
fn doubts_are_said_and_missing_counters_named() {
    let two = fork(2, 100, 400, 450, false);
    let result = compared(
        &two,
        &fork(1, 100, 400, 450, false),
        &StretchOptions::default(),
    )
    .unwrap();
    assert!(
        result.warnings[0].contains("2 workers"),
        "{:?}",
        result.warnings
    );
    assert!(
        result.warnings[1].contains("1 worker, so"),
        "{:?}",
        result.warnings
    );
    let options = StretchOptions {
        latencies: vec![Latency {
            counter: "cats".into(),
            ns: 1.0,
        }],
        ..StretchOptions::default()
    };
    let serial = chain(1, &[(0, 10, 5)]);
    let error = compared(&serial, &two, &options).unwrap_err().to_string();
    assert!(
        error.contains("cats") && error.contains("cache_misses"),
        "{error}"
    );
}
