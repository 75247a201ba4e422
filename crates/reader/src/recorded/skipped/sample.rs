//! The measurements of a sampled subtree: its paths, its sizes, and its contents per site.

use std::collections::BTreeMap;

/// The largest depth, and the largest number of joins or tasks, of a subtree that is measured. They
/// bound the memory that a trace can claim.
pub(super) const MAX_DEPTH: usize = 1 << 16;
pub(super) const MAX_TASKS: usize = 1 << 22;

/// A path: its weight, and the number of its edges that a thief can take.
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

/// The heaviest path, and the path with the most edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::recorded) struct Paths {
    pub heaviest: Path,
    pub longest: Path,
}

impl Paths {
    /// Appends a strand with this weight.
    pub(super) fn run(&mut self, weight: u64) {
        let strand = Path { weight, edges: 0 };
        self.heaviest.add(strand);
        self.longest.add(strand);
    }

    pub(super) fn then(&mut self, other: Paths) {
        self.heaviest.add(other.heaviest);
        self.longest.add(other.longest);
    }

    /// The better of two alternatives, of which the second begins with an edge that a thief can
    /// take.
    pub(super) fn or_stolen(self, other: Paths) -> Paths {
        self.or(Paths::default().then_stolen(other))
    }

    /// Appends an edge that a thief can take, and then the other paths.
    pub(super) fn then_stolen(mut self, other: Paths) -> Paths {
        self.then(other);
        self.heaviest.edges = self.heaviest.edges.saturating_add(1);
        self.longest.edges = self.longest.edges.saturating_add(1);
        self
    }

    /// The better of two alternatives.
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
    /// The number of tasks created, including a join's own two.
    pub tasks: u64,
    /// The ticks from its beginning to its end.
    pub ticks: u64,
    /// The weight of all strands inside.
    pub work: u64,
    pub paths: Paths,
    /// The depth of nested creates.
    pub levels: u32,
}

impl Node {
    /// Adds something inside that has ended, except for its paths and its time.
    pub(super) fn add(&mut self, inside: Node) {
        self.tasks += inside.tasks;
        self.work = self.work.saturating_add(inside.work);
        self.levels = self.levels.max(inside.levels);
    }
}

/// The contents of one site in a sampled subtree.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct SampledSite {
    /// The number of tasks created there.
    pub tasks: u64,
    /// The weight of their own strands, and the sum of its squares over the tasks.
    pub own: u64,
    pub squares: f64,
    /// Work and span of the outermost of them, summed.
    pub work: u64,
    pub span: u64,
    /// The number of tasks by the power of two of their own weight.
    pub lengths: Vec<u64>,
    /// The number of tasks entered and not left.
    open: u32,
}

/// The bit position, in a recorded level, of the number of subtrees that a sampled one represents,
/// in sixteenths (docs/format.md, *sampled*).
const STANDS_FOR: u32 = 34;

/// A sampled join or task.
#[derive(Debug, Default)]
pub(super) struct Sample {
    pub site: u32,
    pub level: u64,
    /// The number of subtrees of its class that it represents, from its probability of being drawn;
    /// 1 if the trace does not have it.
    pub weight: f64,
    /// The subtree as a whole.
    pub whole: Node,
    pub inside: BTreeMap<u32, SampledSite>,
    /// The integral of the number of deferred tasks that have not begun, in task·ticks.
    pub ready: u64,
    /// The number of waits of tasks; those of joins are not counted.
    pub waits: u64,
    /// Its time without its probes.
    pub bare: u64,
    /// Its time without its thread's off-CPU time, as measured by the kernel.
    pub ran: u64,
    /// The number of strand begins and ends in it.
    pub probes: u64,
}

impl Sample {
    /// Creates a sample from a recorded level.
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

    /// A task of this site begins inside.
    pub(super) fn begins(&mut self, site: u32) {
        let inside = self.inside.entry(site).or_default();
        inside.open += 1;
        inside.tasks += 1;
    }

    /// A task of this site ends, with the weight of its own strands, and its work and span
    /// including everything inside.
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

/// The state of a measurement after a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Open,
    /// The measured subtree has ended.
    Whole,
    /// A task was stolen from it, or it is too large to be measured.
    Spoilt,
}
