//! Measured speedups compared with predicted ones: Cilkview's published table, and the remarks
//! where the two differ.

use workspan_analysis::Limits;
use workspan_analysis::scale::{BareRuns, Logical, Reason, RecordedRun, Remark, Runs, scale};

const MS: u64 = 1_000_000;

/// MODEL.md §8, example C: Cilkview's fig. 6.
const CILKVIEW: Logical = Logical {
    work: 5_570_609_776,
    span: 261_374_874,
    burdened_span: 262_078_779,
    spawns: 8_518_398,
    syncs: 8_518_398,
    limits: Limits {
        lock: None,
        span_without_lock_order: None,
        shares: None,
        blocked: None,
    },
};

fn recorded(asked: u32, workers: u32, work_ms: u64) -> RecordedRun {
    RecordedRun {
        asked,
        workers,
        tasks: 100,
        work: (work_ms * MS) as f64,
        descheduled: 0.0,
        blocked: 0.0,
        delay: 0.0,
    }
}

/// Runs with these times in ms on each number of workers, of a program whose work is 1000 ms and
/// span 1 ms.
fn runs(times: &[(u32, &[u64])]) -> Runs {
    let bare = |&(workers, times): &(u32, &[u64])| BareRuns {
        workers,
        times: times.iter().map(|t| t * MS).collect(),
    };
    Runs {
        cpus: 8,
        bare: times.iter().map(bare).collect(),
        logical: Some(Logical {
            work: 1_000_000,
            span: 1_000,
            burdened_span: 2_000,
            spawns: 99,
            syncs: 99,
            ..Logical::default()
        }),
        recorded: vec![recorded(8, 8, 1000), recorded(1, 1, 1000)],
        ..Runs::default()
    }
}

#[test]
fn cilkviews_published_table() {
    let of = scale(Runs {
        cpus: 4,
        logical: Some(CILKVIEW),
        also: vec![2, 4, 8, 16, 32],
        ..Runs::default()
    });
    let logical = of.logical.unwrap();
    assert_eq!(format!("{:.2}", logical.parallelism()), "21.31");
    assert_eq!(format!("{:.2}", logical.burdened_parallelism()), "21.26");
    assert_eq!(format!("{:.0}", logical.average_maximal_strand()), "218");
    let table: Vec<String> = of
        .points
        .iter()
        .map(|point| {
            let (lower, upper) = point.bounds.unwrap();
            format!("{}: {lower:.2}-{upper:.2}", point.workers)
        })
        .collect();
    let published = [
        "2: 1.85-2.00",
        "4: 3.23-4.00",
        "8: 5.13-8.00",
        "16: 7.27-16.00",
        "32: 9.20-21.31",
    ];
    assert_eq!(table, published);
    assert_eq!(of.remarks, [Remark::Unjudged]);
}

#[test]
fn a_curve_between_the_bounds_is_explained() {
    let of = scale(runs(&[
        (1, &[1000, 1010, 1005]),
        (4, &[255, 260, 258]),
        (8, &[130, 131, 140]),
    ]));
    assert_eq!(of.remarks, [Remark::Inside]);
    let on_four = of.points.iter().find(|p| p.workers == 4).unwrap();
    let measured = on_four.measured.as_ref().unwrap();
    assert_eq!(measured.times, [255 * MS, 258 * MS, 260 * MS]);
    assert_eq!(measured.median(), 258 * MS);
    assert!((measured.speedup.unwrap() - 1005.0 / 258.0).abs() < 1e-12);
    assert!((measured.best.unwrap() - 1000.0 / 255.0).abs() < 1e-12);
}

/// The largest reason is named.
#[test]
fn a_curve_below_the_band_has_a_reason() {
    let slow = || {
        runs(&[
            (1, &[1000, 1001, 1002]),
            (4, &[260, 260, 261]),
            (8, &[250, 251, 252]),
        ])
    };
    let below = |mut runs: Runs, change: &dyn Fn(&mut RecordedRun)| {
        change(&mut runs.recorded[0]);
        let remarks = scale(runs).remarks;
        match &remarks[..] {
            [Remark::Below { workers, reason }] => {
                assert_eq!(workers, &[8]);
                *reason
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(below(slow(), &|_| {}), Reason::Unknown);
    assert_eq!(below(slow(), &|r| r.delay = 0.04), Reason::Unknown);
    assert_eq!(below(slow(), &|r| r.delay = 0.3), Reason::Delay(0.3));
    assert_eq!(
        below(slow(), &|r| (r.delay, r.blocked) = (0.1, 0.2)),
        Reason::Blocked(0.2)
    );
    assert_eq!(
        below(slow(), &|r| (r.blocked, r.descheduled) = (0.1, 0.2)),
        Reason::Descheduled(0.2)
    );
    // Twice the work makes half of the time stretch.
    assert_eq!(
        below(slow(), &|r| (r.descheduled, r.work) = (0.4, 2.0e9)),
        Reason::Stretch(2.0)
    );
    assert_eq!(
        below(slow(), &|r| (r.descheduled, r.work) = (0.6, 2.0e9)),
        Reason::Descheduled(0.6)
    );
}

#[test]
fn above_noisy_crowded_and_short_are_told_apart() {
    let above = scale(runs(&[(1, &[1000; 3]), (4, &[200; 3])]));
    assert_eq!(above.remarks, [Remark::Above(vec![4])]);
    // The fastest run is inside the band, the median below it.
    let noisy = scale(runs(&[(1, &[1000; 3]), (4, &[251, 400, 500])]));
    assert_eq!(noisy.remarks, [Remark::Noisy(vec![4])]);
    // Beyond the CPUs nothing is judged, however slow it is.
    let crowded = scale(runs(&[(1, &[1000; 3]), (4, &[252; 3]), (16, &[900; 3])]));
    assert_eq!(crowded.remarks, [Remark::Inside, Remark::Crowded(vec![16])]);
    let short = scale(runs(&[(1, &[40; 3]), (4, &[10; 3])]));
    assert_eq!(short.remarks, [Remark::Inside, Remark::Short(10 * MS)]);
    // Without runs on one worker there is no speedup.
    let without = scale(runs(&[(4, &[250; 3])]));
    assert_eq!(without.remarks, [Remark::Unjudged]);
}

#[test]
fn a_program_that_ignores_the_number_of_workers_is_noticed() {
    let with = |recorded: Vec<RecordedRun>| {
        scale(Runs {
            recorded,
            ..runs(&[(1, &[1000; 3]), (4, &[252; 3])])
        })
        .remarks
    };
    let ignores = with(vec![recorded(4, 4, 1000), recorded(1, 4, 1000)]);
    // The curve lies between the bounds, but that has no meaning here.
    assert_eq!(
        ignores,
        [Remark::Ignores {
            asked: vec![1, 4],
            workers: 4
        }]
    );
    let differs = with(vec![recorded(4, 5, 1000), recorded(1, 2, 1000)]);
    assert_eq!(
        differs,
        [
            Remark::Differs {
                asked: 4,
                workers: 5
            },
            Remark::Inside
        ]
    );
    let same = with(vec![recorded(4, 4, 1000), recorded(1, 1, 1000)]);
    assert_eq!(same, [Remark::Inside]);
    // One recorded run can't distinguish a fixed number of workers from one that followed the
    // request.
    assert_eq!(with(vec![recorded(4, 4, 1000)]), [Remark::Inside]);
}
