//! Random runs, large enough for the pyramid to store blocks.

use workspan_dag::build::{Mode, build};
use workspan_dag::raw::{RawEnd, RawStrand, RawTask, RawTrace};
use workspan_dag::{
    Dag, Meta, NONE, OffCpuInterval, OffCpuReason, Place, Steal, TaskKind, ThreadEvent,
};

use crate::pictures::dice::Dice;

/// The parameters of a random run.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub workers: u32,
    pub threads: u32,
    pub depth: u32,
    /// Maximum length of a strand.
    pub longest: usize,
    /// The begin of the run.
    pub begin: u64,
    /// Number of children of a leaf loop; 0 for no loops.
    pub fan: usize,
    pub offs: bool,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape {
            workers: 4,
            threads: 5,
            depth: 11,
            longest: 40,
            begin: 1000,
            fan: 0,
            offs: true,
        }
    }
}

struct Making<'a> {
    dice: &'a mut Dice,
    shape: Shape,
    raw: RawTrace,
}

/// A binary recursion with loops of creates at its leaves. A task with several threads to itself
/// gives half of them away.
pub fn make(seed: u64, shape: Shape) -> Dag {
    let mut dice = Dice::new(seed);
    let places = ["root", "a.rs:1", "b.rs:2", "c.rs:3"].map(|label| Place {
        label: label.into(),
        function: (label == "b.rs:2").then(|| "m::b::{{closure}}".into()),
        ..Place::default()
    });
    let mut making = Making {
        shape,
        raw: RawTrace {
            meta: Meta {
                workers: shape.workers,
                threads: shape.threads,
                ticks_per_second: 1_000_000_000,
                ..Meta::default()
            },
            places: places.into(),
            ..RawTrace::default()
        },
        dice: &mut dice,
    };
    let root = making.task(NONE, 0);
    let end = making.run(
        root,
        0,
        shape.threads.min(shape.workers),
        shape.depth,
        shape.begin,
    );
    making.around(end);
    build(making.raw, Mode::Strict).unwrap()
}

impl Making<'_> {
    fn task(&mut self, parent: u32, site: u32) -> u32 {
        let task = self.raw.tasks.len() as u32;
        self.raw.tasks.push(RawTask {
            number: u64::from(task),
            parent,
            kind: match (parent, self.dice.below(6)) {
                (NONE, _) => TaskKind::Root,
                (_, 0) => TaskKind::Inline,
                _ => TaskKind::Deferred,
            },
            site,
            scope: NONE,
        });
        task
    }

    fn strand(&mut self, task: u32, thread: u32, start: u64, end: u64, end_op: RawEnd) {
        let at = 1 + self.dice.below(3) as u32;
        self.raw.strands.push(RawStrand {
            task,
            thread,
            start,
            end,
            end_op,
            at,
            keep: false,
        });
    }

    fn some(&mut self) -> u64 {
        if self.dice.percent(30) {
            return self.dice.below(2) as u64;
        }
        self.dice.below(self.shape.longest) as u64
    }

    fn run(&mut self, task: u32, thread: u32, threads: u32, depth: u32, t: u64) -> u64 {
        if depth == 0 {
            return self.leaf(task, thread, t);
        }
        let site = 1 + self.dice.below(3) as u32;
        let (a, b) = (self.task(task, site), self.task(task, site));
        let created = t + self.some();
        self.strand(task, thread, t, created, RawEnd::Create(b));
        let t = created + self.some();
        self.strand(task, thread, created, t, RawEnd::Create(a));
        self.strand(task, thread, t, t, RawEnd::WaitChildren);
        let half = threads.div_ceil(2);
        let begin = t + self.some() / 4;
        let first = self.run(a, thread, half, depth - 1, begin);
        let second = if threads > 1 {
            let begin = created + self.some();
            self.run(b, thread + half, threads - half, depth - 1, begin)
        } else {
            let begin = first + self.some() / 4;
            self.run(b, thread, 1, depth - 1, begin)
        };
        let resumed = first.max(second) + self.some() / 4;
        let end = resumed + self.some();
        self.strand(task, thread, resumed, end, RawEnd::End);
        end
    }

    fn leaf(&mut self, task: u32, thread: u32, t: u64) -> u64 {
        let mut t = t;
        if self.shape.fan > 0 && self.dice.percent(20) {
            let mut children = Vec::new();
            for _ in 0..self.shape.fan {
                let child = self.task(task, 3);
                children.push(child);
                let end = t + 1 + self.some() / 8;
                self.strand(task, thread, t, end, RawEnd::Create(child));
                t = end;
            }
            self.strand(task, thread, t, t, RawEnd::WaitChildren);
            for child in children {
                let begin = t + self.some() / 16;
                t = begin + self.some() / 4;
                self.strand(child, thread, begin, t, RawEnd::End);
            }
        }
        let end = t + self.some();
        self.strand(task, thread, t, end, RawEnd::End);
        end
    }

    /// Adds what does not belong to the tasks: another root outside the pool, times off the CPU,
    /// queues, and steals that the runtime reported.
    fn around(&mut self, end: u64) {
        let begin = self.shape.begin;
        if self.shape.threads > self.shape.workers {
            let root = self.task(NONE, 0);
            let thread = self.shape.threads - 1;
            let (a, b) = (begin + (end - begin) / 3, begin + (end - begin) / 2);
            self.strand(root, thread, a, b, RawEnd::End);
        }
        for thread in 0..self.shape.threads {
            let mut t = begin;
            while self.shape.offs && self.dice.percent(97) {
                t += 1 + self.some() * 8;
                let until = t + self.some();
                if until >= end {
                    break;
                }
                self.raw.offs.push(OffCpuInterval {
                    thread,
                    start: t,
                    end: until,
                    why: if self.dice.percent(50) {
                        OffCpuReason::Blocked
                    } else {
                        OffCpuReason::Preempted
                    },
                    on: None,
                });
                t = until;
            }
        }
        for i in 0..20 {
            let t = begin + (end - begin) / 20 * i;
            let events = &mut self.raw.thread_events;
            events.push((t, 0, ThreadEvent::Queue(i)));
            events.push((t, 1 % self.shape.threads, ThreadEvent::Cpu(0.5)));
        }
        for task in 0..self.raw.tasks.len() as u32 {
            // Each lookup searches all strands.
            if task < 10_000 && self.dice.percent(1) {
                let thread = self.raw.strands.iter().find(|s| s.task == task);
                self.raw.steals.push(Steal {
                    t: begin,
                    thief: thread.map_or(0, |s| s.thread),
                    victim: NONE,
                    task,
                    leap: true,
                });
            }
        }
    }
}

/// `count` tasks; each creates the next one and waits for it.
pub fn chain(count: u32) -> Dag {
    let mut raw = RawTrace {
        meta: Meta {
            workers: 1,
            threads: 1,
            ticks_per_second: 1_000_000_000,
            ..Meta::default()
        },
        places: vec![Place::default(), Place::default()],
        ..RawTrace::default()
    };
    for task in 0..count {
        raw.tasks.push(RawTask {
            number: u64::from(task),
            parent: task.wrapping_sub(1),
            kind: if task == 0 {
                TaskKind::Root
            } else {
                TaskKind::Deferred
            },
            site: u32::from(task > 0),
            scope: NONE,
        });
        let (down, up) = (u64::from(task), u64::from(2 * count - task));
        let mut strand = |start, end, end_op| {
            raw.strands.push(RawStrand {
                task,
                thread: 0,
                start,
                end,
                end_op,
                at: 1,
                keep: false,
            });
        };
        if task + 1 < count {
            strand(down, down + 1, RawEnd::Create(task + 1));
            strand(down + 1, down + 1, RawEnd::WaitChildren);
            strand(up - 1, up, RawEnd::End);
        } else {
            strand(down, down + 1, RawEnd::End);
        }
    }
    build(raw, Mode::Strict).unwrap()
}
