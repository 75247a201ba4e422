//! Folding (MODEL.md §7): from the records of one thread, those in which subtrees that ran on it
//! alone are one record.
//!
//! What comes out is at every moment a trace of the same run. A *section* is a stretch of a task
//! from the start of one of its strands on, with all the tasks that it created since. Where a
//! strand ends and all of these have been joined, the section has one entry and one exit, and its
//! records may be replaced by a folded one: then it is that strand. Sections of the tasks on the
//! stack lie in each other, and an inner one that is folded goes into the outer one, of whose
//! records it is a part, once more. A section is given up when it is as long as the grain, and when
//! one of §7's conditions does not hold: then so are those around it, and what is inside of it
//! stays as it is.
//!
//! A task of a scope that creates others into that same scope and ends before them, as those of
//! Rayon do, has one exit all the same, where its thread runs them next: they end where it does, at
//! the scope's wait. It is folded with them (`outward`).
//!
//! Beyond §7, these are never folded: detached tasks, tasks that did not wait for all of their
//! children, dependences, yields, what a loop's chunks create, records of counters, and sections
//! whose envelope has more than eight corners.

mod close;
mod constraints;
mod envelope;
mod histogram;
mod leaf_join;
mod leaf_task;
mod nested_record;
mod off_cpu;
mod options;
mod output;
mod path;
mod ready_outside;
mod records;
mod recycled_stack;
mod section;
mod stack;
mod tail_spawns;
mod thread_tail;
mod waits;

use workspan_trace::event::{Event, Events};
use workspan_trace::folded::FoldedRecord;
use workspan_trace::thread_state::ThreadState;

pub use crate::constraints::Cut;
use crate::constraints::Cuts;
use crate::histogram::Tally;
use crate::leaf_join::Fresh;
use crate::nested_record::Inner;
use crate::off_cpu::OffGaps;
pub use crate::off_cpu::OffWindow;
pub use crate::options::{FoldOptions, Thieves};
use crate::output::Output;
use crate::path::Paths;
use crate::ready_outside::Outside;
use crate::recycled_stack::Slots;
use crate::section::{Child, Frame, Group, Section, SiteSum};
use crate::tail_spawns::Members;
pub use crate::thread_tail::Tails;

/// Folds a thread's records as they come. Time O(1) a record, but for the sites and blocks of a
/// subtree; memory in proportion to the stack and to the records of one grain.
#[derive(Debug)]
pub struct Fold {
    thread: u32,
    options: FoldOptions,
    /// Counts of creates and of scopes.
    tasks: u64,
    scopes: u64,
    /// Time of the last record.
    now: u64,
    frames: Vec<Frame>,
    /// A join's child that is not on the stack yet; only until the next record is looked at.
    fresh: Option<Fresh>,
    /// Those of the topmost tasks, which may still be folded.
    sections: Slots<Section>,
    inner: Inner,
    children: Slots<Child>,
    groups: Slots<Group>,
    members: Members,
    outside: Outside,
    sites: Vec<SiteSum>,
    tally: Tally,
    paths: Paths,
    out: Output,
    folded: u64,
    /// A pause that was not taken out yet, for how much of it the thread was off the CPU, and how
    /// many more records it may lie before.
    pause: u64,
    pause_off: u64,
    pause_records: u8,
    off_gaps: OffGaps,
    /// Nothing is folded any more.
    over: bool,
    /// Taken out of each strand, in ticks.
    probes: u64,
    /// Which site each counts as; empty: itself.
    sites_as: Vec<u32>,
    cuts: Cuts,
    bad: bool,
    /// Bytes fed, up to and with the record that is looked at.
    fed: u64,
    says_sources: bool,
    saves_tasks: bool,
    /// Kept for their memory.
    record: FoldedRecord,
    encoded: Vec<u8>,
    instead: Vec<u8>,
}

/// Memory is looked at every so many records.
const LOOK: u32 = 1024;

impl Fold {
    /// For the thread of this number, which has counted so many creates and scopes before its first
    /// record here.
    pub fn new(thread: u32, (tasks, scopes): (u64, u64), options: FoldOptions) -> Fold {
        Fold {
            thread,
            options,
            tasks,
            scopes,
            now: 0,
            frames: Vec::new(),
            fresh: None,
            sections: Slots::default(),
            inner: Inner::default(),
            children: Slots::default(),
            groups: Slots::default(),
            members: Members::default(),
            outside: Outside::default(),
            sites: Vec::new(),
            tally: Tally::default(),
            paths: Paths::default(),
            out: Output::default(),
            folded: 0,
            pause: 0,
            pause_off: 0,
            pause_records: 0,
            off_gaps: OffGaps::default(),
            over: false,
            probes: 0,
            sites_as: Vec::new(),
            cuts: Cuts::default(),
            bad: false,
            fed: 0,
            says_sources: false,
            saves_tasks: false,
            record: FoldedRecord::default(),
            encoded: Vec::new(),
            instead: Vec::new(),
        }
    }

    /// For a thread that has this open at `t`, before its first record here: tasks that are on its
    /// stack stay as they are.
    pub fn going_on(thread: u32, open: &ThreadState, t: u64, options: FoldOptions) -> Fold {
        let mut fold = Fold::new(thread, (open.tasks, open.scopes), options);
        fold.restart(open.stack.iter().map(|task| task.state), t);
        fold
    }

    /// From now on. Larger is always possible; smaller gives up what is longer.
    pub fn set_grain(&mut self, grain: u64) {
        self.options.grain = grain;
    }

    /// From now on; ascending.
    pub fn set_kept(&mut self, kept: Vec<u32>) {
        self.options.kept = kept;
    }

    /// Weights are without the probes: each strand has one at its start and one at its end, which
    /// cost so many ticks each (MODEL.md §2). To be told before the first record.
    pub fn take_out_probes(&mut self, ticks: u64) {
        self.probes = ticks.saturating_mul(2);
    }

    /// Site `i` counts as site `sites[i]`, where several are one place to people: instances of one
    /// inside another's are not outermost then. To be told before the first record.
    pub fn count_sites_as(&mut self, sites: Vec<u32>) {
        self.sites_as = sites;
    }

    /// Folded records say which bytes they were folded from ([`FoldedRecord::source`]).
    pub fn say_sources(&mut self) {
        self.says_sources = true;
    }

    /// What stays is read into a graph, in which a task takes more room than its records: small
    /// subtrees are folded too, beside which others wait to run, as what is around all of them may
    /// become too long.
    pub fn save_tasks(&mut self) {
        self.saves_tasks = true;
    }

    /// What to do when, beside folding: in the order of time, all of it later than what was fed.
    pub fn plan(&mut self, cuts: Vec<(u64, Cut)>) {
        self.cuts = Cuts::new(cuts);
    }

    /// Takes whole records, the first of which counts its ticks from `base`.
    pub fn feed(&mut self, records: &[u8], base: u64) {
        self.out.start(base);
        self.out.feed(records);
        self.off_gaps.find(records, base);
        let mut events = Events::new(records, base);
        let (mut at, mut before, mut look) = (0, base, 0);
        let fed = self.fed;
        loop {
            if let Some(fresh) = self.fresh.take() {
                if let Some(t) = self.small(fresh, &mut events, (at, before), fed) {
                    (at, before, self.now) = (events.offset(), t, t);
                    continue;
                }
                self.push_fresh(fresh);
            }
            let Some((t, event)) = events.next() else {
                break;
            };
            let end = events.offset();
            if self.pause > 0 {
                self.take_pause(before, t);
            }
            if t >= self.off_gaps.next() {
                self.take_off(t);
            }
            if t >= self.cuts.next {
                self.cut(t);
            }
            self.fed = fed + end as u64;
            self.give_up_old(t);
            if let Event::Begin(name) = event
                && let Some(ended) = self.whole_leaf(name, (before, t), &mut events, at)
            {
                self.fed = fed + events.offset() as u64;
                (at, before, self.now) = (events.offset(), ended, ended);
                continue;
            }
            self.record(before, t, event, at..end);
            (at, before, self.now) = (end, t, t);
            look += 1;
            if look % LOOK == 0 && self.memory() > self.options.memory {
                self.give_up();
            }
        }
        self.out.flush();
        self.fed = fed + records.len() as u64;
        if events.is_bad() {
            self.bad = true;
            self.give_up();
            self.out.copy_bad(records.get(at..).unwrap_or(&[]));
        }
    }

    /// After the records fed so far the thread did something else for so many ticks, as folding
    /// them: they are no work, and don't make what is folded any longer. A strand that is not
    /// folded keeps them. For `off` of them it was off the CPU.
    pub fn paused(&mut self, ticks: u64, off: u64) {
        (self.pause, self.pause_off) = (ticks, off.min(ticks));
        // The records that are written next may have been on their way before the pause.
        self.pause_records = 8;
    }

    /// Nothing that was fed may be folded any more.
    pub fn finish(&mut self) {
        self.give_up();
    }

    /// Gives up sections, the outermost first, until the records of the rest take at most `bytes`.
    pub fn keep_pending_below(&mut self, bytes: usize) {
        while !self.sections.is_empty() && self.pending().0.len() > bytes {
            self.give_up_oldest();
        }
    }

    /// True when it was fed bytes that are no record.
    pub fn is_bad(&self) -> bool {
        self.bad
    }

    /// The records that stay as they are, and what the first one's ticks count from.
    pub fn firm(&self) -> (&[u8], u64) {
        self.out.before(self.boundary())
    }

    /// The records that may still be folded, and what the first one's ticks count from.
    pub fn pending(&self) -> (&[u8], u64) {
        let boundary = self.boundary();
        (self.out.after(boundary), boundary.last)
    }

    /// Time of the last record that came out.
    pub fn last(&self) -> u64 {
        self.out.mark().last
    }

    /// Forgets the firm records.
    pub fn take_firm(&mut self) {
        let boundary = self.boundary();
        self.out.take(boundary);
    }

    /// Folded records written so far, those folded into others later included.
    pub fn folded(&self) -> u64 {
        self.folded
    }

    /// The site that this one counts as.
    #[inline]
    fn site(&self, site: u32) -> u32 {
        self.sites_as.get(site as usize).copied().unwrap_or(site)
    }

    fn boundary(&self) -> output::Mark {
        self.sections.first().map_or(self.out.mark(), |s| s.mark)
    }

    /// Bytes of memory, about.
    pub fn memory(&self) -> usize {
        self.frames.len() * size_of::<Frame>()
            + self.sections.memory()
            + self.children.end() * size_of::<Child>()
            + self.groups.memory()
            + self.members.memory()
            + self.sites.len() * size_of::<SiteSum>()
            + self.tally.memory()
            + self.paths.memory()
            + self.out.memory()
    }
}
