//! Ten million tasks: the cost of their report. Prints its times, without an assertion.

use std::time::Instant;

use workspan_analysis::{Options, report};
use workspan_dag::build::{Mode, build};
use workspan_dag::raw::{RawEnd, RawStrand, RawTask, RawTrace};
use workspan_dag::{Meta, NONE, Place, TaskKind};

const WORKERS: u32 = 8;

/// A binary recursion: each task creates two, the first for its own thread's next worker while
/// there are some, and waits for them; leaves take 100 ticks.
struct Tree {
    raw: RawTrace,
}

impl Tree {
    fn strand(&mut self, task: u32, thread: u32, start: u64, end: u64, end_op: RawEnd) {
        self.raw.strands.push(RawStrand {
            task,
            thread,
            start,
            end,
            end_op,
            at: 1,
            keep: false,
        });
    }

    fn create(&mut self, parent: u32) -> u32 {
        let task = self.raw.tasks.len() as u32;
        self.raw.tasks.push(RawTask {
            number: u64::from(task),
            parent,
            kind: if parent == NONE {
                TaskKind::Root
            } else {
                TaskKind::Deferred
            },
            site: u32::from(parent != NONE),
            scope: NONE,
        });
        task
    }

    /// `task` runs on `threads` from `t` on, with `depth` levels below; returns its end.
    fn run(&mut self, task: u32, thread: u32, threads: u32, depth: u32, t: u64) -> u64 {
        if depth == 0 {
            self.strand(task, thread, t, t + 100, RawEnd::End);
            return t + 100;
        }
        let (a, b) = (self.create(task), self.create(task));
        self.strand(task, thread, t, t + 10, RawEnd::Create(b));
        self.strand(task, thread, t + 10, t + 10, RawEnd::Create(a));
        self.strand(task, thread, t + 10, t + 10, RawEnd::WaitChildren);
        let first = self.run(a, thread, threads.div_ceil(2), depth - 1, t + 12);
        let second = if threads > 1 {
            let half = threads.div_ceil(2);
            self.run(b, thread + half, threads - half, depth - 1, t + 40)
        } else {
            self.run(b, thread, 1, depth - 1, first + 3)
        };
        let end = first.max(second) + 3;
        self.strand(task, thread, end, end + 10, RawEnd::End);
        end + 10
    }
}

/// CPU time of this process, in seconds: utime and stime of proc(5) stat, in hundredths.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    let ticks = |i: usize| fields[i].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / 100.0
}

#[test]
#[ignore = "takes 3 GB and some seconds"]
fn ten_million_tasks() {
    let mut tree = Tree {
        raw: RawTrace {
            meta: Meta {
                workers: WORKERS,
                threads: WORKERS,
                ticks_per_second: 1_000_000_000,
                burden: 1_000,
                probe_cost: 5,
                ..Meta::default()
            },
            places: ["root", "tree.rs:5"]
                .map(|label| Place {
                    label: label.into(),
                    ..Place::default()
                })
                .into(),
            ..RawTrace::default()
        },
    };
    let root = tree.create(NONE);
    let depth = std::env::var("WORKSPAN_DEPTH").map_or(22, |depth| depth.parse().unwrap());
    tree.run(root, 0, WORKERS, depth, 0);
    let tasks = tree.raw.tasks.len();
    let dag = build(tree.raw, Mode::Repair).unwrap();
    let (start, cpu) = (Instant::now(), processor_time());
    let report = report(&dag, &Options::default()).unwrap();
    let took = start.elapsed();
    let causes = &report.causes;
    let cpu = processor_time() - cpu;
    let strands = dag.strands.len();
    println!("{tasks} tasks, {strands} strands: {took:.2?}, {cpu:.2} s of processor time");
    println!("{:?} of {}", causes.by_cause, causes.lost);
    assert_eq!(
        causes.by_cause.iter().sum::<u128>(),
        report.breakdown.lost()
    );
}
