//! Random programs of joins whose threads go from strand to strand without a pause, except for
//! occasional steals.

use crate::random::dice::Dice;
use crate::random::run::{Event, For, Kind, Line, Off, Run, Task};

/// A task on a thread's stack, and the join it waits for.
struct On {
    task: usize,
    waits: Option<usize>,
}

struct Join {
    deferred: usize,
    begun: bool,
    /// Whether the deferred child and the inline one have ended.
    ended: [bool; 2],
}

struct Busy<'a> {
    dice: &'a mut Dice,
    tasks: Vec<Task>,
    /// By task: which half of which join it is.
    half: Vec<Option<(usize, usize)>>,
    joins: Vec<Join>,
    stacks: Vec<Vec<On>>,
    /// When each thread's strand ends, or it looks for work again.
    at: Vec<u64>,
}

/// A program of some hundred strands.
pub fn busy(dice: &mut Dice) -> Run {
    let workers = dice.pick(&[2, 2, 2, 3, 4]);
    let most = 60 + dice.below(60);
    let mut busy = Busy {
        dice,
        tasks: Vec::new(),
        half: Vec::new(),
        joins: Vec::new(),
        stacks: (0..workers).map(|_| Vec::new()).collect(),
        at: vec![0; workers],
    };
    let root = busy.task(None, Kind::Root, None);
    busy.begin(0, root, 0);
    while busy.stacks.iter().any(|stack| !stack.is_empty()) {
        let next = (0..workers).min_by_key(|&w| busy.at[w]).unwrap();
        busy.step(next, most);
    }
    let end = busy.at.iter().copied().max().unwrap();
    let mut offs = Vec::new();
    for w in 0..workers {
        let mut t = busy.dice.below(200) as u64;
        while busy.dice.percent(40) && t < end {
            let length = 1 + busy.dice.below(30) as u64;
            let blocked = busy.dice.percent(50);
            let (start, end) = (t, t + length);
            offs.push(Off {
                w,
                start,
                end,
                blocked,
            });
            t += length + busy.dice.below(300) as u64;
        }
    }
    Run {
        workers,
        threads: workers,
        continuation_stealing: false,
        burden: 5,
        probe_cost: 1,
        counters: false,
        tasks: busy.tasks,
        offs,
    }
}

impl Busy<'_> {
    fn task(&mut self, parent: Option<usize>, kind: Kind, half: Option<(usize, usize)>) -> usize {
        let index = self.tasks.len();
        let site = self.dice.pick(&["a.rs:1", "a.rs:2", "a.rs:3"]);
        self.tasks.push(Task {
            number: index as u64,
            parent,
            kind,
            site: parent.map(|_| site),
            lines: Vec::new(),
        });
        self.half.push(half);
        index
    }

    fn line(&mut self, w: usize, task: usize, event: Event) {
        let t = self.at[w];
        self.tasks[task].lines.push(Line {
            t,
            w,
            event,
            counter: None,
        });
    }

    /// Begins a strand on thread `w`.
    fn runs(&mut self, w: usize) {
        self.at[w] += 1 + self.dice.below(20) as u64;
    }

    fn begin(&mut self, w: usize, task: usize, after: u64) {
        self.at[w] += after;
        self.line(w, task, Event::Begin);
        self.stacks[w].push(On { task, waits: None });
        self.runs(w);
    }

    fn step(&mut self, w: usize, most: usize) {
        let Some(&On { task, waits }) = self.stacks[w].last() else {
            return self.steal(w);
        };
        if waits.is_some() {
            return self.wait(w);
        }
        let may_join = self.joins.len() < most;
        match self.half[task] {
            _ if may_join && (self.half[task].is_none() || self.dice.percent(60)) => {
                self.join(w, task);
            }
            Some((join, half)) => {
                self.line(w, task, Event::End);
                self.joins[join].ended[half] = true;
                self.stacks[w].pop();
                self.wait(w);
            }
            None => {
                self.line(w, task, Event::End);
                self.stacks[w].pop();
            }
        }
    }

    fn join(&mut self, w: usize, parent: usize) {
        let join = self.joins.len();
        let deferred = self.task(Some(parent), Kind::Deferred, Some((join, 0)));
        let inline = self.task(Some(parent), Kind::Inline, Some((join, 1)));
        let id = join as u64;
        self.line(w, parent, Event::Scope { id, tree: false });
        for child in [deferred, inline] {
            let (scope, named) = (Some(id), true);
            self.line(
                w,
                parent,
                Event::Create {
                    child,
                    scope,
                    named,
                },
            );
            self.line(w, parent, Event::Resume);
        }
        self.line(w, parent, Event::Wait(For::Scope(id)));
        self.joins.push(Join {
            deferred,
            begun: false,
            ended: [false; 2],
        });
        self.stacks[w].last_mut().unwrap().waits = Some(join);
        self.begin(w, inline, 0);
    }

    /// The top of the stack waits, or the stack is empty: the other half runs next if no thread has
    /// it.
    fn wait(&mut self, w: usize) {
        let top = self.stacks[w].last();
        let Some((task, join)) = top.and_then(|on| Some((on.task, on.waits?))) else {
            return self.steal(w);
        };
        if !self.joins[join].begun {
            self.joins[join].begun = true;
            return self.begin(w, self.joins[join].deferred, 0);
        }
        if self.joins[join].ended == [true; 2] {
            self.stacks[w].last_mut().unwrap().waits = None;
            self.line(w, task, Event::Resume);
            return self.runs(w);
        }
        self.steal(w);
    }

    fn steal(&mut self, w: usize) {
        match self.joins.iter().position(|join| !join.begun) {
            Some(join) => {
                self.joins[join].begun = true;
                let after = self.dice.below(3) as u64;
                self.begin(w, self.joins[join].deferred, after);
            }
            None => self.at[w] += 1 + self.dice.below(60) as u64,
        }
    }
}
