//! Runs of joins alone: the one walk that takes them gives what the reader and the builder give
//! that take everything.

use workspan_dag::Dag;
use workspan_dag::build::{Mode, build};
use workspan_reader::OpenOptions;
use workspan_reader::recorded::{of_joins, read};
use workspan_trace::wire::Kind;

use crate::dice::Dice;
use crate::writer::{File, Lane, installed, lane};

/// Both ways, in one walk first; `None` where the one walk gives up.
fn both(file: &File) -> Option<(Dag, Dag)> {
    let options = OpenOptions {
        allow_truncated: true,
        ..OpenOptions::default()
    };
    let bytes = file.bytes();
    let walked = of_joins(&bytes, &options).unwrap()?;
    let told = read(&bytes, &options).unwrap();
    Some((walked, build(told, Mode::Repair).unwrap()))
}

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
fn sound_runs_are_walked_and_come_out_the_same() {
    let mut steals = 0;
    for seed in 0..300 {
        let workers = 1 + seed as usize % 5;
        let file = Run::file(seed, workers, 1 + seed as usize, 1);
        let (walked, in_steps) = both(&file).unwrap_or_else(|| panic!("seed {seed} was not taken"));
        assert_eq!(walked, in_steps, "seed {seed}");
        assert!(
            walked.meta.warnings.is_empty(),
            "{:?}",
            walked.meta.warnings
        );
        steals += walked.steals.len();
    }
    assert!(
        steals > 1000,
        "{steals} steals are too few to prove anything"
    );
}

/// Records of several threads at one tick: the order of their strands is not that of the threads.
#[test]
fn runs_with_ties_come_out_the_same() {
    let (mut taken, mut moved) = (0, 0);
    for seed in 0..600 {
        let file = Run::file(seed, 2 + seed as usize % 3, 40, 0);
        let Some((walked, in_steps)) = both(&file) else {
            continue;
        };
        assert_eq!(walked, in_steps, "seed {seed}");
        taken += 1;
        let (strands, at_once) = (&walked.strands, |s: usize| walked.strands.start[s]);
        let back =
            |s: &usize| at_once(*s) == at_once(s - 1) && strands.thread[*s] < strands.thread[s - 1];
        moved += (1..strands.len()).filter(back).count();
    }
    assert!(
        taken > 100 && moved > 100,
        "{taken} runs, {moved} strands out of the threads' order"
    );
}

#[test]
fn the_installed_join_is_walked() {
    let (walked, in_steps) = both(&File::new(installed(), Some(100))).unwrap();
    assert_eq!(walked, in_steps);
}

/// Whatever the walk takes of a damaged run, it reads as all else does.
#[test]
fn what_is_taken_of_damaged_runs_is_the_same() {
    let (mut dice, mut taken) = (Dice(3), 0);
    for case in 0..6000 {
        let mut file = Run::file(case, 1 + case as usize % 3, 12, dice.roll(2));
        file.pieces = 1;
        for _ in 0..1 + dice.roll(2) {
            let lanes = file.lanes.len() as u64;
            let bytes = &mut file.lanes[dice.roll(lanes) as usize].bytes;
            if bytes.is_empty() {
                continue;
            }
            let at = dice.roll(bytes.len() as u64) as usize;
            match dice.roll(3) {
                0 => bytes[at] = dice.roll(256) as u8,
                1 => bytes[at] ^= 1 << dice.roll(8),
                _ => bytes.truncate(at),
            }
        }
        if let Some((walked, in_steps)) = both(&file) {
            assert_eq!(walked, in_steps, "case {case}");
            taken += 1;
        }
    }
    assert!(taken > 100, "{taken} runs");
}

/// A task that nobody ended, and a record of another kind, are for those who take everything.
#[test]
fn other_runs_are_left_to_others() {
    let open = lane(&[
        (0, Kind::Root, &[]),
        (5, Kind::Join, &[1]),
        (9, Kind::End, &[]),
    ]);
    assert!(both(&File::new([open], Some(10))).is_none());
    let created = lane(&[
        (0, Kind::Root, &[]),
        (5, Kind::Create, &[2, 1]),
        (9, Kind::End, &[]),
    ]);
    assert!(both(&File::new([created], Some(10))).is_none());
}
