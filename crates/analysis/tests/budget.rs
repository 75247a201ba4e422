//! Runs recorded in full are replayed through the overhead budget with many seeds: the estimates must stand by what is known.

#![allow(clippy::unwrap_used, reason = "a test that can not go on has failed")]

use std::io::Cursor;
use std::path::Path;

use workspan_analysis::{Options, Report, report};
use workspan_dag::OpenOptions;
use workspan_recorder::budget::{Begun, Budget, Choice, Settings};
use workspan_trace::entry::{ClockPair, Finished, Site, SitePosition, push_varint};
use workspan_trace::wire::{Kind, put_head};
use workspan_trace::{ChunkKind, ClockKind, FileHeader, TraceWriter};

const SETTINGS: Settings = Settings {
    per_million: 50_000,
    hold: 0,
    join_ticks: 60,
    millisecond: 400_000,
    seed: 0,
};

/// How a task splits what it has to do.
#[derive(Clone, Copy)]
enum Shape {
    /// n into n − 1 and n − 2.
    Fibonacci,
    /// Anywhere.
    Random,
}

/// A run of joins on one thread, recorded in full or within a budget.
struct Run {
    shape: Shape,
    bytes: Vec<u8>,
    last: u64,
    now: u64,
    /// Makes strands: the same ones with and without a budget.
    strands: u64,
    budget: Option<Budget>,
    whole: bool,
    joins: u64,
    skipped: u64,
}

fn next(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random
}

impl Run {
    fn record(&mut self, kind: Kind, operands: &[u64]) {
        let mut room = [0u8; 16];
        // SAFETY: a head takes 9 bytes at most.
        let end = unsafe { put_head(room.as_mut_ptr(), kind, self.now - self.last) };
        let length = end as usize - room.as_ptr() as usize;
        self.bytes.extend_from_slice(&room[..length]);
        for &v in operands {
            push_varint(&mut self.bytes, v);
        }
        self.last = self.now;
    }

    /// A strand of 20 to 60 ticks, now and then of up to 2000.
    fn strand(&mut self) {
        let random = next(&mut self.strands);
        let odd = random % 1000 == 0;
        self.now += if odd {
            random >> 20 & 2047
        } else {
            20 + (random >> 20) % 41
        };
    }

    fn split(&mut self, size: u64) -> (u64, u64) {
        match self.shape {
            Shape::Fibonacci => (size - 1, size - 2),
            Shape::Random => {
                let a = next(&mut self.strands) % (size - 1) + 1;
                (a.min(size - 1), size - a.min(size - 1))
            }
        }
    }

    fn task(&mut self, size: u64, level: u32, recorded: bool) {
        self.strand();
        if size < 2 {
            return;
        }
        let (a, b) = self.split(size);
        let mut begun: Option<(Choice, Begun)> = None;
        if recorded && !self.whole {
            let now = self.now;
            begun = self
                .budget
                .as_mut()
                .map(|budget| budget.begin(1, level, now));
        }
        let choice = begun.map_or(Choice::Enter, |b| b.0);
        let class = [1, u64::from(level)];
        let before = self.joins;
        if choice == Choice::Sample {
            self.record(Kind::Sampled, &class);
        }
        self.whole |= matches!(choice, Choice::Sample | Choice::Learn);
        let recorded = recorded && choice != Choice::Skip;
        if choice == Choice::Skip {
            self.skipped += 1;
            self.record(Kind::Unrecorded, &class);
        }
        if recorded {
            self.joins += 1;
            self.record(Kind::Join, &[1]);
        }
        self.task(a, level + 1, recorded);
        if recorded {
            self.record(Kind::End, &[]);
            self.record(Kind::Next, &[]);
        }
        self.task(b, level + 1, recorded);
        if recorded {
            self.record(Kind::EndResume, &[]);
        }
        if choice == Choice::Skip {
            self.record(Kind::Recorded, &[]);
        }
        self.whole &= !matches!(choice, Choice::Sample | Choice::Learn);
        if let (Some((_, begun)), Some(budget)) = (begun, self.budget.as_mut()) {
            budget.end(begun, self.now, self.joins - before);
        }
        self.strand();
    }

    fn of(shape: Shape, size: u64, budget: Option<u64>) -> (Report, u64) {
        let settings = |seed| Settings { seed, ..SETTINGS };
        let mut run = Run {
            shape,
            bytes: Vec::new(),
            last: 0,
            now: 0,
            strands: 0x2545_f491_4f6c_dd1d,
            budget: budget.map(|seed| Budget::new(settings(seed), 0, 0)),
            whole: false,
            joins: 0,
            skipped: 0,
        };
        run.record(Kind::Root, &[]);
        run.task(size, 0, true);
        run.record(Kind::End, &[]);
        let header = FileHeader {
            clock: ClockKind::Nanoseconds,
            pid: 1,
            ..FileHeader::default()
        };
        let mut writer = TraceWriter::new(Cursor::new(Vec::new()), header).unwrap();
        writer.events(0, 0, (0, 0), &run.bytes).unwrap();
        let (ticks, ns) = (run.now, run.now);
        let finished = Finished {
            ticks,
            ns,
            dropped: 0,
            threads: 1,
        };
        let sites = ["?", "join"].map(|text| SitePosition::Label(text.into()));
        let sites = (0..).zip(sites).map(|(id, position)| Site {
            id,
            primitive: 1,
            position,
        });
        let pairs = [ClockPair { ticks: 0, ns: 0 }, ClockPair { ticks, ns }];
        let kinds = [ChunkKind::Sites, ChunkKind::Clock, ChunkKind::Finished];
        writer.all_entries(kinds[0], sites, Site::encode).unwrap();
        writer
            .all_entries(kinds[1], pairs, ClockPair::encode)
            .unwrap();
        writer
            .all_entries(kinds[2], [finished], Finished::encode)
            .unwrap();
        let bytes = writer.finish().unwrap().into_inner();
        let options = OpenOptions::default();
        let dag = workspan_dag::open::read(Path::new("t"), &bytes, &options).unwrap();
        assert_eq!(dag.meta.warnings, [""; 0]);
        (report(&dag, &Options::default()).unwrap(), run.skipped)
    }
}

/// Of 100 replays: how many have the true span in their interval, how many the true number of tasks, and how many have a span of half to
/// twice the true one. The work of all is the true one.
fn replays(shape: Shape, size: u64) -> (u32, u32, u32) {
    let (exact, _) = Run::of(shape, size, None);
    let exact = exact.work_span;
    assert_eq!(exact.estimated, None);
    let (mut spans, mut tasks, mut near) = (0, 0, 0);
    for seed in 1..=100 {
        let (found, skipped) = Run::of(shape, size, Some(seed * 0x9e37_79b9));
        let found = found.work_span;
        assert!(skipped > 20, "{skipped}");
        assert_eq!(found.work, exact.work, "the work is measured");
        let estimated = found.estimated.unwrap();
        let (low, high) = estimated.span;
        assert!(low <= found.span && found.span <= high);
        spans += u32::from((low..=high).contains(&exact.span));
        let (low, high) = estimated.tasks;
        tasks += u32::from((low..=high).contains(&exact.tasks));
        near += u32::from(found.span <= 2 * exact.span && exact.span <= 2 * found.span);
    }
    println!("spans {spans}, tasks {tasks}, within twice {near}");
    (spans, tasks, near)
}

#[test]
fn intervals_hold_the_truth_of_fibonacci_numbers() {
    let (spans, tasks, near) = replays(Shape::Fibonacci, 23);
    assert!(spans >= 95 && tasks >= 95 && near >= 95);
}

/// Few subtrees are drawn here, and no two are alike: docs/budget.md says how often the intervals are too narrow.
#[test]
fn spans_of_a_tree_split_anywhere_are_near_the_truth() {
    let (_, _, near) = replays(Shape::Random, 40_000);
    assert!(near >= 80, "{near}");
}
