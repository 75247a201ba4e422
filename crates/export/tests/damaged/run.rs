//! Runs of an artificial program, as the records that its threads would write.

use workspan_trace::ChunkKind;
use workspan_trace::entry::{
    ClockPair, Finished, FrameEntry, Label, Mapping, Note, OffCpu, PlaceEntry, SamplesEntry, Site,
    SitePosition, StackEntry, ThreadEntry, push_varint,
};
use workspan_trace::folded::{FoldedRecord, FoldedSite};
use workspan_trace::wire::{Kind, put_head};

/// A record in the parts that can be damaged.
#[derive(Debug, Clone)]
pub struct Record {
    pub t: u64,
    pub kind: Kind,
    pub operands: Vec<u64>,
    /// Bytes after the operands, taken as they are: a folded record.
    pub tail: Vec<u8>,
}

/// A chunk of the file; its header is made from these fields, even if they are wrong, with matching
/// checksums.
#[derive(Debug, Clone)]
pub struct Piece {
    pub kind: u8,
    pub flags: u8,
    pub thread: u32,
    pub seq: u32,
    /// From the payload by default.
    pub capacity: Option<u32>,
    pub committed: Option<u64>,
    pub base: (u64, u64),
    pub payload: Vec<u8>,
}

/// A run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Each thread's records, by time.
    pub threads: Vec<Vec<Record>>,
    /// How many of each thread's records go into a chunk.
    pub in_a_chunk: usize,
}

/// Random numbers from a seed, the same on every machine.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides.max(1)
    }
}

/// The running program: everything happens one after the other, on a clock shared by all threads.
struct Program {
    dice: Dice,
    run: Run,
    now: u64,
    /// Each thread's running counts of creates and scopes.
    created: Vec<u64>,
    scopes: Vec<u64>,
    /// Number of tasks still to be created.
    left: u32,
}

impl Run {
    /// A run of up to `tasks` tasks on `threads` threads.
    pub fn new(seed: u64, threads: usize, tasks: u32) -> Run {
        let mut program = Program {
            dice: Dice(seed),
            run: Run {
                threads: vec![Vec::new(); threads],
                in_a_chunk: usize::MAX,
            },
            now: 1_000,
            created: vec![0; threads],
            scopes: vec![0; threads],
            left: tasks,
        };
        program.whole();
        program.run.in_a_chunk = 1 + program.dice.roll(60) as usize;
        program.run
    }
}

impl Program {
    fn put(&mut self, thread: usize, kind: Kind, operands: &[u64]) {
        self.now += self.dice.roll(40);
        self.run.threads[thread].push(Record {
            t: self.now,
            kind,
            operands: operands.to_vec(),
            tail: Vec::new(),
        });
    }

    fn whole(&mut self) {
        let threads = self.run.threads.len();
        self.created[0] = 1;
        self.put(0, Kind::Root, &[]);
        self.put(0, Kind::Pool, &[0, threads as u64]);
        for thread in 0..threads {
            self.put(thread, Kind::Worker, &[0, thread as u64]);
        }
        self.body(0, 0);
        for thread in (0..threads).rev() {
            self.put(thread, Kind::WorkerEnd, &[]);
        }
        self.put(0, Kind::PoolEnd, &[0]);
        self.put(0, Kind::End, &[]);
    }

    /// What the task on top of this thread's stack does before it ends.
    fn body(&mut self, thread: usize, depth: u32) {
        for _ in 0..1 + self.dice.roll(4) {
            match self.dice.roll(9) {
                0 => self.mark(thread),
                1 => {
                    self.put(thread, Kind::Off, &[self.now % 2, 3]);
                    self.put(thread, Kind::Readings, &[1, 2, 500]);
                }
                2 => self.folded(thread),
                3 => {
                    self.put(thread, Kind::Yield, &[1]);
                    self.put(thread, Kind::Resume, &[]);
                }
                4 if self.left > 2 && depth < 40 => self.join(thread, depth),
                _ if self.left > 0 && depth < 40 => self.children(thread, depth),
                _ => {}
            }
        }
    }

    fn mark(&mut self, thread: usize) {
        let label = self.dice.roll(2);
        self.put(thread, Kind::RegionBegin, &[label, self.now % 2]);
        self.put(thread, Kind::PartBegin, &[2]);
        self.put(thread, Kind::Signal, &[2, 9]);
        self.put(thread, Kind::PartEnd, &[2]);
        self.put(thread, Kind::RegionEnd, &[label]);
    }

    fn folded(&mut self, thread: usize) {
        let folded = FoldedRecord {
            work: 30,
            span: 20,
            envelope: vec![(20, 1), (18, 4)],
            tasks: 6,
            spawns: 3,
            syncs: 3,
            strands: 15,
            levels: 2,
            ready_integral: 12,
            sites: vec![FoldedSite {
                site: 2,
                count: 6,
                work: 25,
                span: 15,
                critical_work: 14,
                lengths: vec![0, 2, 4],
            }],
            blocks: vec![(0, 3, 10), (3, 3, 20)],
            probes: 0,
            between: 0,
            off_cpu: 0,
            folding_off_cpu: 0,
            source: None,
        };
        let mut tail = Vec::new();
        folded.encode(&mut tail);
        self.put(thread, Kind::Folded, &[tail.len() as u64]);
        if let Some(record) = self.run.threads[thread].last_mut() {
            record.tail = tail;
        }
        self.now += 40;
        self.put(thread, Kind::Yield, &[0]);
        self.put(thread, Kind::Resume, &[]);
    }

    fn join(&mut self, thread: usize, depth: u32) {
        self.left -= 2;
        let deferred = self.created[thread];
        self.created[thread] += 2;
        self.put(thread, Kind::Join, &[1]);
        self.body(thread, depth + 1);
        let thief = self.dice.roll(self.run.threads.len() as u64) as usize;
        if thief == thread {
            self.put(thread, Kind::End, &[]);
            self.put(thread, Kind::Next, &[]);
            self.body(thread, depth + 1);
            self.put(thread, Kind::EndResume, &[]);
        } else {
            self.put(thread, Kind::End, &[]);
            self.stolen(thief, thread, deferred, depth);
            self.put(thread, Kind::Resume, &[]);
        }
    }

    /// Another thread takes a task, on top of its own stack.
    fn stolen(&mut self, thief: usize, creator: usize, count: u64, depth: u32) {
        let task = [creator as u64, count];
        self.put(
            thief,
            Kind::Steal,
            &[creator as u64 + 1, 0, task[0], task[1]],
        );
        self.put(thief, Kind::Begin, &task);
        self.body(thief, depth + 1);
        self.put(thief, Kind::End, &[]);
    }

    fn children(&mut self, thread: usize, depth: u32) {
        let scoped = self.dice.roll(2) == 0;
        let scope = [thread as u64, self.scopes[thread]];
        if scoped {
            self.scopes[thread] += 1;
            self.put(thread, Kind::Scope, &[scope[1] % 2]);
        }
        let mut children = Vec::new();
        for _ in 0..1 + self.dice.roll(3) {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            let count = self.created[thread];
            self.created[thread] += 1;
            match scoped {
                true => self.put(thread, Kind::Create, &[5, 2, scope[0], scope[1]]),
                false => self.put(thread, Kind::Create, &[1, 2]),
            }
            if let Some(&before) = children.last()
                && self.dice.roll(3) == 0
            {
                let place = thread as u64;
                self.put(thread, Kind::Depend, &[place, count, place, before]);
                self.put(thread, Kind::Depends, &[place, count, 1, 2, 4096]);
            }
            children.push(count);
        }
        match scoped {
            true => self.put(thread, Kind::Wait, &[3, 1, scope[0], scope[1]]),
            false => self.put(thread, Kind::Wait, &[3, 0]),
        }
        for count in children {
            let runner = self.dice.roll(self.run.threads.len() as u64) as usize;
            if runner == thread {
                self.put(thread, Kind::Begin, &[thread as u64, count]);
                self.body(thread, depth + 1);
                self.put(thread, Kind::End, &[]);
            } else {
                self.stolen(runner, thread, count, depth);
            }
        }
        self.put(thread, Kind::Resume, &[]);
    }
}

/// A thread's records as bytes, times counted from `base`.
fn encoded(records: &[Record], base: u64) -> Vec<u8> {
    let (mut out, mut last) = (Vec::new(), base);
    for record in records {
        let mut room = [0u8; 16];
        let since = record.t.saturating_sub(last);
        // SAFETY: a head takes 9 bytes at most.
        let end = unsafe { put_head(room.as_mut_ptr(), record.kind, since) };
        let length = end as usize - room.as_ptr() as usize;
        out.extend_from_slice(&room[..length]);
        for &v in &record.operands {
            push_varint(&mut out, v);
        }
        out.extend_from_slice(&record.tail);
        last = last.saturating_add(since);
    }
    out
}

fn entries<T>(kind: ChunkKind, all: &[T], encode: impl Fn(&T, &mut Vec<u8>)) -> Piece {
    let mut payload = Vec::new();
    for one in all {
        encode(one, &mut payload);
    }
    Piece {
        kind: kind as u8,
        flags: 1,
        thread: u32::MAX,
        seq: 0,
        capacity: None,
        committed: None,
        base: (0, 0),
        payload,
    }
}

impl Run {
    /// Last moment of the records.
    pub fn end(&self) -> u64 {
        let last = |records: &Vec<Record>| records.last().map_or(0, |r| r.t);
        self.threads.iter().map(last).max().unwrap_or(0)
    }

    /// The file's chunks, with at least one entry of every kind.
    pub fn pieces(&self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (thread, records) in (0..).zip(&self.threads) {
            for (seq, part) in (0..).zip(records.chunks(self.in_a_chunk.max(1))) {
                let base = part[0].t;
                pieces.push(Piece {
                    kind: ChunkKind::Events as u8,
                    flags: 1,
                    thread,
                    seq,
                    capacity: None,
                    committed: None,
                    base: (base, base / 2),
                    payload: encoded(part, base),
                });
            }
        }
        let site = |id, line| Site {
            id,
            primitive: 6,
            position: SitePosition::Location {
                file: "src/<main>.c".into(),
                line,
                column: 1,
            },
        };
        let sites = [site(0, 0), site(1, 12), site(2, 20), site(3, 25)];
        let label = |(id, text): (u32, &str)| Label {
            id,
            text: text.into(),
        };
        let labels: Vec<Label> = (0..).zip(["tree", "solve", "work"]).map(label).collect();
        let end = self.end();
        let pair = |ticks| ClockPair {
            ticks,
            ns: ticks / 2,
        };
        let place = PlaceEntry {
            site: 2,
            label: "src/main.c:20".into(),
            file: Some("src/main.c".into()),
            line: Some(20),
            function: Some("sum".into()),
            primitive: Some("task".into()),
            source: None,
        };
        let thread = |thread| ThreadEntry {
            waited_ns: 0,
            thread,
            tid: 100 + thread,
            start_ticks: 1_000,
            name: "worker".into(),
        };
        let threads: Vec<ThreadEntry> = (0..self.threads.len() as u32).map(thread).collect();
        let off = OffCpu {
            thread: 0,
            from: 1_000,
            to: end,
            preempted_ns: 20,
            blocked_ns: 30,
        };
        let frame = FrameEntry {
            id: 0,
            function: "sum".into(),
            file: None,
            line: Some(3),
            runtime: false,
        };
        let stack = StackEntry {
            id: 0,
            frames: vec![0, 0],
        };
        let samples = SamplesEntry {
            thread: 0,
            samples: vec![(1_100, 0), (end, 0)],
        };
        let mapping = Mapping {
            start: 4096,
            end: 8192,
            path: "/bin/true".into(),
            ..Mapping::default()
        };
        let finished = Finished {
            ticks: end.saturating_add(10),
            ns: end / 2 + 5,
            dropped: 0,
            threads: self.threads.len() as u64,
        };
        pieces.extend([
            entries(ChunkKind::Sites, &sites, Site::encode),
            entries(ChunkKind::Labels, &labels, Label::encode),
            entries(
                ChunkKind::Notes,
                &[Note::new("name", "made up")],
                Note::encode,
            ),
            entries(ChunkKind::Clock, &[pair(0), pair(end)], ClockPair::encode),
            entries(ChunkKind::Places, &[place], PlaceEntry::encode),
            entries(ChunkKind::Threads, &threads, ThreadEntry::encode),
            entries(ChunkKind::OffCpu, &[off], OffCpu::encode),
            entries(ChunkKind::Frames, &[frame], FrameEntry::encode),
            entries(ChunkKind::Stacks, &[stack], StackEntry::encode),
            entries(ChunkKind::Samples, &[samples], SamplesEntry::encode),
            entries(ChunkKind::Maps, &[mapping], Mapping::encode),
            entries(ChunkKind::Finished, &[finished], Finished::encode),
        ]);
        pieces
    }
}
