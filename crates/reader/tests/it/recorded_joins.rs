//! Runs of joins alone, made up by a scheduler that knows what it did.

use workspan_dag::StartKind;
use workspan_trace::wire::Kind;

use crate::dice::Dice;
use crate::writer::{File, Lane, dag};

/// A task on a thread's stack: which half of which join it is (2 · join + 1 for the inline one),
/// and the join it waits for.
#[derive(Clone, Copy)]
struct On {
    half: Option<usize>,
    waits: Option<usize>,
}

/// A join: the deferred half's name, whether it has begun, and which halves have ended.
#[derive(Clone, Copy)]
struct Join {
    name: (u64, u64),
    begun: bool,
    ended: [bool; 2],
}

/// A scheduler with a clock, made up as it goes.
struct Run {
    dice: Dice,
    lanes: Vec<Lane>,
    created: Vec<u64>,
    stacks: Vec<Vec<On>>,
    joins: Vec<Join>,
    now: u64,
    /// 0: now and then two records have one time.
    least: u64,
}

impl Run {
    /// A program of about so many joins on so many workers.
    fn file(seed: u64, workers: usize, joins: usize, least: u64) -> File {
        let mut run = Run {
            dice: Dice(seed),
            lanes: vec![Lane::default(); workers + 1],
            created: vec![0; workers + 1],
            stacks: vec![Vec::new(); workers + 1],
            joins: Vec::new(),
            now: 1,
            least,
        };
        run.tell(0, Kind::Root, &[]);
        run.tell(0, Kind::Pool, &[0, workers as u64]);
        run.tell(0, Kind::Yield, &[0]);
        for worker in 1..=workers {
            run.tell(worker, Kind::Worker, &[0, worker as u64 - 1]);
        }
        run.now += 1;
        run.tell(1, Kind::ResumeYielded, &[0, 0]);
        run.stacks[1].push(On {
            half: None,
            waits: None,
        });
        while run.stacks.iter().any(|stack| !stack.is_empty()) {
            run.now += run.least + run.dice.roll(3);
            let lane = 1 + run.dice.roll(workers as u64) as usize;
            run.step(lane, joins);
        }
        run.now += 1;
        run.tell(0, Kind::Resume, &[]);
        let mut file = File::new(run.lanes, Some(run.now + 5));
        file.pieces = 1 + run.dice.roll(3) as usize;
        file
    }

    fn tell(&mut self, lane: usize, kind: Kind, operands: &[u64]) {
        self.lanes[lane].at(self.now, kind, operands);
    }

    fn step(&mut self, lane: usize, most: usize) {
        let Some(&On { half, waits }) = self.stacks[lane].last() else {
            return self.steal(lane);
        };
        match waits {
            Some(join) if self.joins[join].ended == [true; 2] => {
                self.tell(lane, Kind::Resume, &[]);
                self.goes_on(lane);
            }
            Some(_) => self.steal(lane),
            None if self.joins.len() < most && self.dice.roll(2) == 0 => self.join(lane),
            None => match half {
                Some(half) => self.end(lane, half),
                None if self.joins.len() < most => {}
                None => {
                    self.tell(lane, Kind::Leave, &[0]);
                    self.stacks[lane].pop();
                }
            },
        }
        if self.dice.roll(30) == 0 {
            self.tell(lane, Kind::Off, &[1, 1]);
        }
    }

    fn goes_on(&mut self, lane: usize) {
        if let Some(top) = self.stacks[lane].last_mut() {
            top.waits = None;
        }
    }

    fn join(&mut self, lane: usize) {
        let site = 1 + self.dice.roll(2);
        self.tell(lane, Kind::Join, &[site]);
        let join = self.joins.len();
        self.joins.push(Join {
            name: (lane as u64, self.created[lane]),
            begun: false,
            ended: [false; 2],
        });
        self.created[lane] += 2;
        self.stacks[lane].last_mut().unwrap().waits = Some(join);
        self.begin(lane, 2 * join + 1);
    }

    fn begin(&mut self, lane: usize, half: usize) {
        self.stacks[lane].push(On {
            half: Some(half),
            waits: None,
        });
    }

    /// The task on top ends, with what its thread does next at the same time.
    fn end(&mut self, lane: usize, half: usize) {
        let join = half / 2;
        self.joins[join].ended[half % 2] = true;
        self.stacks[lane].pop();
        let own = self.stacks[lane]
            .last()
            .is_some_and(|on| on.waits == Some(join));
        let Join { begun, ended, .. } = self.joins[join];
        if own && !begun {
            self.tell(lane, Kind::End, &[]);
            self.tell(lane, Kind::Next, &[]);
            self.joins[join].begun = true;
            self.begin(lane, 2 * join);
        } else if own && ended == [true; 2] && self.dice.roll(5) > 0 {
            self.tell(lane, Kind::EndResume, &[]);
            self.goes_on(lane);
        } else {
            self.tell(lane, Kind::End, &[]);
        }
    }

    /// A thread without work takes the oldest that there is, if it is lucky.
    fn steal(&mut self, lane: usize) {
        let free = self.joins.iter().position(|join| !join.begun);
        let Some(join) = free.filter(|_| self.dice.roll(4) == 0) else {
            return;
        };
        let (victim, count) = self.joins[join].name;
        self.joins[join].begun = true;
        let leap = u64::from(!self.stacks[lane].is_empty());
        self.tell(lane, Kind::Steal, &[victim + 1, leap, victim, count]);
        self.tell(lane, Kind::Begin, &[victim, count]);
        self.begin(lane, 2 * join);
    }
}

#[test]
fn runs_of_joins_are_read_as_they_were() {
    let mut steals = 0;
    for seed in 0..300 {
        let (workers, joins) = (1 + seed as usize % 5, 1 + seed as usize);
        let read = dag(&Run::file(seed, workers, joins, 1));
        assert!(read.meta.warnings.is_empty(), "{:?}", read.meta.warnings);
        assert_eq!(read.tasks.len(), 1 + 2 * joins, "seed {seed}");
        assert_eq!(read.waits.after.len(), joins, "seed {seed}");
        for wait in 0..joins {
            let joined = read.waits.tasks.get(wait);
            let parents = joined.iter().map(|&t| read.tasks.parent[t as usize]);
            let own = read.strands.task[read.waits.after[wait] as usize];
            assert_eq!(parents.collect::<Vec<_>>(), [own; 2], "seed {seed}");
        }
        let begun = |kind| read.strands.start_kind.iter().filter(move |k| **k == kind);
        assert_eq!(begun(StartKind::Begin).count(), 1 + 2 * joins);
        steals += read.steals.len();
    }
    assert!(
        steals > 1000,
        "{steals} steals are too few to prove anything"
    );
}
