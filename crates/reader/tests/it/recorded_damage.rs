//! Recorded traces that are damaged, or that no recorder could have written.

use std::path::Path;

use workspan_reader::OpenOptions;
use workspan_reader::open::read;
use workspan_trace::wire::Kind;

use crate::writer::{File, Lane, installed};

#[test]
fn damage_is_an_error_that_says_where_and_can_be_read_around() {
    let file = File {
        pieces: 3,
        ..File::new(installed(), Some(100))
    };
    let good = file.bytes();
    let tolerant = OpenOptions {
        allow_truncated: true,
        ..OpenOptions::default()
    };
    // The second chunk of the first thread.
    let mut bytes = good.clone();
    let second = 4096 + 64 + 64;
    let at = (4096 + 64..good.len())
        .find(|&i| good[i..].starts_with(b"WSck"))
        .unwrap()
        + 64;
    assert!(at >= second);
    bytes[at] ^= 1;
    let error = read(Path::new("t.wspan"), &bytes, &OpenOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(&format!("byte {}: the checksum", at - 64)),
        "{error}"
    );
    let whole = read(Path::new("t"), &good, &tolerant).unwrap();
    assert_eq!(whole.meta.unread, None);
    let dag = read(Path::new("t"), &bytes, &tolerant).unwrap();
    let unread = dag.meta.unread.unwrap();
    assert_eq!((unread.damaged, unread.threads), (1, 1));
    assert!(
        dag.meta
            .warnings
            .iter()
            .any(|w| w.contains("damaged in 1 place") && !w.contains("--allow-truncated")),
        "{:?}",
        dag.meta.warnings
    );
    assert!(
        dag.meta.warnings.iter().any(|w| w.contains("A chunk of")),
        "{:?}",
        dag.meta.warnings
    );

    // When each thread was seen last.
    let last = |dag: &workspan_dag::Dag| {
        let mut last = std::collections::BTreeMap::new();
        for (&thread, &end) in dag.strands.thread.iter().zip(&dag.strands.end) {
            let seen = last.entry(thread).or_insert(0);
            *seen = end.max(*seen);
        }
        last
    };
    let seen = last(&whole);
    for cut in (4096..good.len()).step_by(7) {
        let error = read(Path::new("t"), &good[..cut], &OpenOptions::default())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("the file is cut off") && error.contains("--allow-truncated"),
            "{error}"
        );
        match read(Path::new("t"), &good[..cut], &tolerant) {
            Err(error) => assert!(error.to_string().contains("no task"), "{error}"),
            // Users of the numbers must be able to see that they describe only a part.
            Ok(dag) => {
                assert!(
                    dag.meta
                        .unread
                        .is_some_and(|part| part.damaged > 0 && part.off_cpu),
                    "cut off at byte {cut}: {:?}",
                    dag.meta.unread
                );
                // Tasks that are open where a thread's records end do not go on without it.
                for (thread, end) in last(&dag) {
                    assert!(
                        seen.get(&thread).is_none_or(|&seen| end <= seen),
                        "cut off at byte {cut}: thread {thread} ends at {end}, {seen:?} in the whole trace"
                    );
                }
            }
        }
    }
}

/// A small number generator, so that the runs are the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

#[test]
fn no_sequence_of_records_and_no_bytes_break_the_reader() {
    let cases = std::env::var("WORKSPAN_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(4000);
    let mut numbers = Numbers(7);
    for case in 0..cases {
        let lanes = 1 + numbers.next(4);
        let mut file = File::new([], (numbers.next(2) == 0).then(|| numbers.next(500)));
        if case % 2 == 1 {
            file.notes.push(("ends", "late"));
        }
        for _ in 0..lanes {
            let mut lane = Lane::default();
            let mut t = 0u64;
            if numbers.next(10) == 0 {
                lane.bytes = (0..numbers.next(200))
                    .map(|_| numbers.next(256) as u8)
                    .collect();
            } else {
                for _ in 0..numbers.next(60) {
                    let step = if numbers.next(200) == 0 {
                        1 << 62
                    } else {
                        numbers.next(20)
                    };
                    t = t.saturating_add(step);
                    let kind = Kind::from_code(1 + numbers.next(40) as u8).unwrap();
                    let operands: Vec<u64> = match kind {
                        Kind::Begin | Kind::ResumeYielded => {
                            vec![numbers.next(lanes + 1), numbers.next(8)]
                        }
                        // The reader of heads would take the first operand for the kind.
                        Kind::Extended => vec![0],
                        Kind::Member => vec![
                            numbers.next(lanes),
                            numbers.next(3),
                            match numbers.next(20) {
                                0 => numbers.next(1 << 40),
                                _ => numbers.next(3),
                            },
                            numbers.next(3),
                        ],
                        Kind::Depends => {
                            let mut list = vec![numbers.next(lanes), numbers.next(8), 2];
                            list.extend((0..2).flat_map(|_| [numbers.next(7), numbers.next(3)]));
                            list
                        }
                        Kind::Join
                        | Kind::Team
                        | Kind::Scope
                        | Kind::Yield
                        | Kind::Leave
                        | Kind::PartBegin
                        | Kind::PartEnd => {
                            vec![numbers.next(3)]
                        }
                        Kind::RegionEnd | Kind::StealFailed | Kind::PoolEnd => {
                            vec![numbers.next(3)]
                        }
                        Kind::Create if numbers.next(2) == 0 => {
                            vec![
                                4 + numbers.next(4),
                                numbers.next(4),
                                numbers.next(lanes),
                                numbers.next(3),
                            ]
                        }
                        Kind::Create => vec![numbers.next(4), numbers.next(4)],
                        Kind::Wait => match numbers.next(6) {
                            0 => vec![0, 0],
                            5 => vec![0, 5],
                            1 => vec![1, 1, numbers.next(lanes), numbers.next(3)],
                            2 => vec![
                                2,
                                2,
                                2,
                                numbers.next(lanes),
                                numbers.next(5),
                                0,
                                numbers.next(5),
                            ],
                            3 => vec![0, 4, 1, numbers.next(6), numbers.next(3)],
                            _ => vec![2, 3, 1, numbers.next(4)],
                        },
                        Kind::Depend => {
                            vec![
                                numbers.next(lanes),
                                numbers.next(6),
                                numbers.next(lanes),
                                numbers.next(6),
                            ]
                        }
                        Kind::Steal => vec![
                            numbers.next(5),
                            numbers.next(2),
                            numbers.next(lanes),
                            numbers.next(5),
                        ],
                        Kind::Signal
                        | Kind::RegionBegin
                        | Kind::Worker
                        | Kind::Off
                        | Kind::Counter => {
                            vec![numbers.next(3), numbers.next(6)]
                        }
                        Kind::Pool => vec![numbers.next(3), numbers.next(5)],
                        Kind::Readings => vec![1, numbers.next(3), numbers.next(9)],
                        // Usually of a record shortly before; sometimes of a signal.
                        Kind::ResumeStopped => {
                            vec![numbers.next(lanes + 2), numbers.next(30)]
                        }
                        Kind::Skip => vec![numbers.next(4), numbers.next(3)],
                        Kind::Restart => vec![
                            numbers.next(4),
                            numbers.next(3),
                            numbers.next(3),
                            2,
                            numbers.next(4),
                            numbers.next(3),
                        ],
                        Kind::Folded => vec![0],
                        Kind::SkippedTasks => vec![numbers.next(1000)],
                        Kind::SkipBegin | Kind::SampleBegin => {
                            // A class of joins, or of tasks.
                            vec![numbers.next(3), numbers.next(4) | numbers.next(2) << 33]
                        }
                        Kind::StolenPart => {
                            vec![numbers.next(lanes), numbers.next(4), numbers.next(3)]
                        }
                        _ => vec![],
                    };
                    lane.at(t, kind, &operands);
                }
            }
            file.lanes.push(lane);
        }
        let bytes = file.bytes();
        let result = read(
            Path::new("t"),
            &bytes,
            &OpenOptions {
                allow_truncated: true,
                ..OpenOptions::default()
            },
        );
        match result {
            Ok(dag) => {
                let s = &dag.strands;
                for i in 0..s.len() {
                    assert!(s.start[i] <= s.end[i], "case {case}");
                    dag.for_each_predecessor(i as u32, |p, kind| {
                        let (at, end) = (s.start[i], s.end[p as usize]);
                        assert!(
                            p < i as u32 && end <= at,
                            "case {case}: {kind:?} {p} → {i}, {end} → {at}"
                        );
                    });
                }
            }
            Err(error) => assert!(
                error.to_string().contains("no task"),
                "case {case}: {error}"
            ),
        }
    }
}

#[test]
fn no_changed_byte_breaks_the_reader() {
    let mut numbers = Numbers(11);
    let good = File {
        pieces: 2,
        ..File::new(installed(), Some(100))
    }
    .bytes();
    for case in 0..3000 {
        let mut bytes = good.clone();
        for _ in 0..1 + numbers.next(4) {
            let at = numbers.next(good.len() as u64) as usize;
            // Most of the header page is empty.
            let at = if at < 4096 { at % 136 } else { at };
            bytes[at] = numbers.next(256) as u8;
        }
        bytes.truncate(good.len() - numbers.next(2) as usize * numbers.next(2000) as usize);
        for allow_truncated in [false, true] {
            match read(
                Path::new("t"),
                &bytes,
                &OpenOptions {
                    allow_truncated,
                    ..OpenOptions::default()
                },
            ) {
                Ok(dag) => assert!(
                    dag.tasks.len() <= 3,
                    "case {case}: more tasks than were written"
                ),
                Err(error) => assert!(error.to_string().len() < 400, "case {case}: {error}"),
            }
        }
    }
}
