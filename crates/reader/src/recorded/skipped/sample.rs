//! What is measured of a subtree that was drawn to be recorded in full: its paths, its sizes, and
//! what it holds of each site.

use std::collections::BTreeMap;

/// A subtree that is nested deeper, or holds more joins or tasks, is not measured: a trace can't
/// ask for more memory than this.
pub(super) const DEEPEST: usize = 1 << 16;
pub(super) const MOST: usize = 1 << 22;

/// A path: its weight, and how many edges on it a thief can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::recorded) struct Path {
    pub weight: u64,
    pub edges: u32,
}

impl Path {
    fn add(&mut self, other: Path) {
        self.weight = self.weight.saturating_add(other.weight);
        self.edges = self.edges.saturating_add(other.edges);
    }
}

/// The heaviest path, and the one of most edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::recorded) struct Paths {
    pub heaviest: Path,
    pub longest: Path,
}

impl Paths {
    /// A strand of that weight follows.
    pub(super) fn run(&mut self, weight: u64) {
        let strand = Path { weight, edges: 0 };
        self.heaviest.add(strand);
        self.longest.add(strand);
    }

    pub(super) fn then(&mut self, other: Paths) {
        self.heaviest.add(other.heaviest);
        self.longest.add(other.longest);
    }

    /// The better of two ways, where the second begins with an edge that a thief can take.
    pub(super) fn or_stolen(self, other: Paths) -> Paths {
        self.or(Paths::default().then_stolen(other))
    }

    /// This way, then an edge that a thief can take, and the other.
    pub(super) fn then_stolen(mut self, other: Paths) -> Paths {
        self.then(other);
        self.heaviest.edges = self.heaviest.edges.saturating_add(1);
        self.longest.edges = self.longest.edges.saturating_add(1);
        self
    }

    /// The better of two ways.
    pub(super) fn or(self, other: Paths) -> Paths {
        let longer =
            (other.longest.edges, other.longest.weight) > (self.longest.edges, self.longest.weight);
        Paths {
            heaviest: if other.heaviest.weight > self.heaviest.weight {
                other.heaviest
            } else {
                self.heaviest
            },
            longest: if longer { other.longest } else { self.longest },
        }
    }
}

/// A join, or a task, with everything inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Node {
    /// Tasks created, a join's own two among them.
    pub tasks: u64,
    /// From its beginning to its end.
    pub ticks: u64,
    /// Weight of all strands inside.
    pub work: u64,
    pub paths: Paths,
    /// Creates one inside of the other.
    pub levels: u32,
}

impl Node {
    /// What has ended inside of another, but for its paths and its time.
    pub(super) fn add(&mut self, inside: Node) {
        self.tasks += inside.tasks;
        self.work = self.work.saturating_add(inside.work);
        self.levels = self.levels.max(inside.levels);
    }
}

/// What a drawn one holds of one site.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Inside {
    /// Tasks created there.
    pub tasks: u64,
    /// Weight of their own strands, and the sum of its squares over the tasks.
    pub own: u64,
    pub squares: f64,
    /// Work and span of the outermost of them, summed.
    pub work: u64,
    pub span: u64,
    /// Tasks by the power of two of their own weight.
    pub lengths: Vec<u64>,
    /// Those entered and not left.
    open: u32,
}

/// Where in a level as recorded stands how many sixteenths of a subtree a drawn one stands for
/// (docs/format.md, *sampled*).
const STANDS_FOR: u32 = 34;

/// A drawn join or task.
#[derive(Debug, Default)]
pub(super) struct Sample {
    pub site: u32,
    pub level: u64,
    /// Subtrees of its class that it stands for, by its chance of being drawn; 1 where the trace
    /// does not say.
    pub weight: f64,
    /// It as a whole.
    pub whole: Node,
    pub inside: BTreeMap<u32, Inside>,
    /// Integral of the deferred tasks that nobody had begun, in task·ticks.
    pub ready: u64,
    /// Waits of tasks; joins' are not counted.
    pub waits: u64,
    /// Its time without its probes.
    pub bare: u64,
    /// Its time, without what the kernel says its thread was off the CPU.
    pub ran: u64,
    /// What ended a strand in it, or began one.
    pub probes: u64,
}

impl Sample {
    /// Of a level as recorded.
    pub(super) fn new(site: u32, level: u64) -> Sample {
        let sixteenths = level >> STANDS_FOR;
        Sample {
            site,
            level: level & ((1 << STANDS_FOR) - 1),
            weight: if sixteenths > 0 {
                sixteenths as f64 / 16.0
            } else {
                1.0
            },
            ..Sample::default()
        }
    }

    /// A task of that site begins inside.
    pub(super) fn begins(&mut self, site: u32) {
        let inside = self.inside.entry(site).or_default();
        inside.open += 1;
        inside.tasks += 1;
    }

    /// It ends: the weight of its own strands, and with everything inside, along the heaviest path
    /// too.
    pub(super) fn ends(&mut self, site: u32, own: u64, work: u64, span: u64) {
        let inside = self.inside.entry(site).or_default();
        inside.open = inside.open.saturating_sub(1);
        inside.own = inside.own.saturating_add(own);
        inside.squares += (own as f64).powi(2);
        if inside.open == 0 {
            inside.work = inside.work.saturating_add(work);
            inside.span = inside.span.saturating_add(span);
        }
        let power = own.max(1).ilog2() as usize;
        if inside.lengths.len() <= power {
            inside.lengths.resize(power + 1, 0);
        }
        inside.lengths[power] += 1;
    }
}

/// How a measurement stands after a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Open,
    /// What is measured has ended.
    Whole,
    /// Somebody stole from it, or it does more than can be measured.
    Spoilt,
}
