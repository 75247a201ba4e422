//! `health LEVELS CHILDREN STEPS CUTOFF`: simulates a tree of villages with hospitals for STEPS
//! days. A day of a village: a task for each child village, then three passes over its own lists,
//! wait, then two more passes. Villages CUTOFF levels below the root and deeper are serial. A child
//! hands patients to its parent's list under the parent's lock.

use std::sync::{Mutex, PoisonError};

use workspan_bench::numbers::mixed;

use crate::program::{Arguments, Outcome, Program, outcome};

const CHECK_DAYS: u32 = 3;
const CONVALESCENCE_DAYS: u32 = 12;
const PEOPLE_PER_STAFF: usize = 10;
/// Chances in ten thousand.
const SICK: u64 = 20;
const TREATED_HERE: u64 = 7000;
const MOVED_ON: u64 = 3000;

struct Patient {
    id: u64,
    draws: u64,
    days_left: u32,
    visits: u64,
}

impl Patient {
    fn draw(&mut self) -> u64 {
        let drawn = mixed((self.id << 24) | self.draws) % 10_000;
        self.draws += 1;
        drawn
    }
}

type Patients = Vec<Patient>;

/// The data that only the village itself changes.
#[derive(Default)]
struct RaggedArray {
    free_staff: usize,
    population: Patients,
    waiting: Patients,
    assess: Patients,
    inside: Patients,
}

/// Patients that children pass on.
type Arriving = Mutex<Patients>;

struct Village {
    own: RaggedArray,
    arriving: Arriving,
    children: Vec<Village>,
}

impl RaggedArray {
    fn leave_hospital(&mut self) {
        for mut patient in std::mem::take(&mut self.inside) {
            patient.days_left -= 1;
            if patient.days_left > 0 {
                self.inside.push(patient);
            } else {
                self.free_staff += 1;
                self.population.push(patient);
            }
        }
    }

    fn assess_patients(&mut self, parent: Option<&Arriving>) {
        for mut patient in std::mem::take(&mut self.assess) {
            patient.days_left -= 1;
            if patient.days_left > 0 {
                self.assess.push(patient);
                continue;
            }
            let here = patient.draw() < TREATED_HERE;
            match parent {
                Some(parent) if !here => {
                    self.free_staff += 1;
                    let mut arriving = parent.lock().unwrap_or_else(PoisonError::into_inner);
                    arriving.push(patient);
                }
                _ if patient.draw() < MOVED_ON => {
                    patient.days_left = CONVALESCENCE_DAYS;
                    self.inside.push(patient);
                }
                _ => {
                    self.free_staff += 1;
                    self.population.push(patient);
                }
            }
        }
    }

    fn admit(&mut self) {
        let admitted = self.waiting.len().min(self.free_staff);
        self.free_staff -= admitted;
        for mut patient in self.waiting.drain(..admitted) {
            patient.days_left = CHECK_DAYS;
            self.assess.push(patient);
        }
    }

    /// In an order that does not depend on the schedule.
    fn receive(&mut self, arriving: &mut Arriving) {
        let arriving = arriving.get_mut().unwrap_or_else(PoisonError::into_inner);
        arriving.sort_unstable_by_key(|patient| patient.id);
        self.waiting.append(arriving);
    }

    fn fall_ill(&mut self) {
        for mut patient in std::mem::take(&mut self.population) {
            if patient.draw() < SICK {
                patient.visits += 1;
                self.waiting.push(patient);
            } else {
                self.population.push(patient);
            }
        }
    }
}

impl Village {
    fn new(level: usize, branching: usize, next_id: &mut u64) -> Self {
        let staff = 1 << level;
        let mut own = RaggedArray {
            free_staff: staff,
            ..RaggedArray::default()
        };
        for _ in 0..staff * PEOPLE_PER_STAFF {
            own.population.push(Patient {
                id: *next_id,
                draws: 0,
                days_left: 0,
                visits: 0,
            });
            *next_id += 1;
        }
        let children = if level > 1 { branching } else { 0 };
        Self {
            own,
            arriving: Arriving::default(),
            children: (0..children)
                .map(|_| Self::new(level - 1, branching, next_id))
                .collect(),
        }
    }

    fn day(&mut self, parent: Option<&Arriving>, levels_of_tasks: usize) {
        let (own, arriving) = (&mut self.own, &self.arriving);
        let mut own_passes = || {
            own.leave_hospital();
            own.assess_patients(parent);
            own.admit();
        };
        if levels_of_tasks > 0 {
            rayon::scope(|scope| {
                for child in &mut self.children {
                    scope.spawn(move |_| child.day(Some(arriving), levels_of_tasks - 1));
                }
                own_passes();
            });
        } else {
            for child in &mut self.children {
                child.day(Some(arriving), 0);
            }
            own_passes();
        }
        self.own.receive(&mut self.arriving);
        self.own.fall_ill();
    }

    /// People, of them those waiting, assessed and inside, and their visits.
    fn count(&self, sums: &mut [u64; 5]) {
        let own = &self.own;
        let lists = [&own.population, &own.waiting, &own.assess, &own.inside];
        for (k, list) in lists.into_iter().enumerate() {
            sums[0] += list.len() as u64;
            if k > 0 {
                sums[k] += list.len() as u64;
            }
            sums[4] += list.iter().map(|patient| patient.visits).sum::<u64>();
        }
        self.children.iter().for_each(|child| child.count(sums));
    }
}

/// The sums; `None` if a person is lost.
fn sums(root: &Village, people: u64) -> Option<[u64; 5]> {
    let mut sums = [0; 5];
    root.count(&mut sums);
    (sums[0] == people).then_some(sums)
}

fn run(arguments: &Arguments) -> Outcome {
    let made = || {
        let mut people = 0;
        let levels = arguments.number(0).clamp(1, 8);
        let root = Village::new(levels, arguments.number(1), &mut people);
        (root, people)
    };
    let (steps, cutoff) = (arguments.number(2), arguments.number(3));
    let (mut root, people) = made();
    arguments.timed(|| (0..steps).for_each(|_| root.day(None, cutoff)));
    let Some(found) = sums(&root, people) else {
        return outcome(false, "health: somebody is lost".into());
    };
    let mut correct = true;
    if arguments.check() {
        let (mut root, people) = made();
        (0..steps).for_each(|_| root.day(None, 0));
        correct = sums(&root, people) == Some(found);
    }
    let [people, waiting, assessed, inside, visits] = found;
    outcome(
        correct,
        format!(
            "health: {people} people, {waiting} waiting, {assessed} assessed, {inside} inside, {visits} visits"
        ),
    )
}

pub const PROGRAM: Program = Program {
    name: "health",
    usage: "[LEVELS] [CHILDREN] [STEPS] [CUTOFF]",
    test: [3, 4, 20, 3, 0],
    small: [4, 12, 300, 3, 0],
    large: [4, 36, 365, 3, 0],
    run,
};
