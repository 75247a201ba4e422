//! Folding (MODEL.md §7): turns the records of one thread into records in which a subtree that ran
//! on that thread alone is a single record.
//!
//! The output is at every moment a trace of the same run. A *section* is a stretch of a task from
//! the start of one of its strands on, with all the tasks that the task has created since. Where a
//! strand ends and all of these tasks have been joined, the section has one entry and one exit. Its
//! records may then be replaced by one folded record, which makes it a single strand. The sections
//! of the tasks on the stack are nested, and an inner section that was folded is part of the outer
//! section's records, so it can be folded again with them. A section is given up when it is as long
//! as the grain, or when one of the conditions of §7 does not hold. All sections around it are
//! given up too; what is inside of it stays as it is.
//!
//! A task may create others into the scope that it is a member of and end before them, as tasks of
//! Rayon's scopes do. It still has one exit if its thread runs them next, because they all end at
//! the scope's wait. It is folded with them (`tail_spawns`).
//!
//! Beyond the conditions of §7, these are never folded: detached tasks, tasks that did not wait for
//! all of their children, dependences, yields, tasks that a loop's chunks create, records of
//! counters, and sections whose envelope has more than eight corners.

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

pub use crate::constraints::Constraint;
use crate::constraints::PendingConstraints;
use crate::histogram::Tally;
use crate::leaf_join::NewChild;
use crate::nested_record::NestedRecord;
use crate::off_cpu::OffCpuGaps;
pub use crate::off_cpu::OffCpuWindow;
pub use crate::options::{FoldOptions, StealKind};
use crate::output::Output;
use crate::path::Paths;
use crate::ready_outside::ReadyTasks;
use crate::recycled_stack::Slots;
use crate::section::{Child, Frame, Group, Section, SiteSum};
use crate::tail_spawns::Members;
pub use crate::thread_tail::ThreadTails;

/// Folds a thread's records as they come. Takes O(1) time per record, except for the sites and
/// blocks of a subtree. Memory is proportional to the stack and to the records of one grain.
#[derive(Debug)]
pub struct Fold {
    thread: u32,
    options: FoldOptions,
    /// The number of creates and of scopes so far.
    tasks: u64,
    scopes: u64,
    /// The time of the last record.
    now: u64,
    frames: Vec<Frame>,
    /// A join's child that is not on the stack yet; set only until the next record is read.
    fresh: Option<NewChild>,
    /// The sections of the topmost tasks, which may still be folded.
    sections: Slots<Section>,
    inner: NestedRecord,
    children: Slots<Child>,
    groups: Slots<Group>,
    members: Members,
    outside: ReadyTasks,
    sites: Vec<SiteSum>,
    tally: Tally,
    paths: Paths,
    out: Output,
    folded: u64,
    /// A pause that has not been taken out yet, how much of it the thread was off the CPU, and the
    /// number of further records that it may lie before.
    pause: u64,
    pause_off: u64,
    pause_records: u8,
    off_gaps: OffCpuGaps,
    /// Folding has ended: nothing is folded any more.
    over: bool,
    /// The time taken out of each strand for its probes, in ticks.
    probes: u64,
    /// The site that each site counts as. If empty, each counts as itself.
    sites_as: Vec<u32>,
    cuts: PendingConstraints,
    bad: bool,
    /// Bytes fed, including the current record.
    fed: u64,
    says_sources: bool,
    saves_tasks: bool,
    /// Scratch space, kept for its memory.
    record: FoldedRecord,
    encoded: Vec<u8>,
    instead: Vec<u8>,
}

/// The number of records between two checks of the memory in use.
const RECORDS_PER_MEMORY_CHECK: u32 = 1024;

impl Fold {
    /// Creates a folder for the thread with this number, which had made this many creates and
    /// scopes before its first record here.
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
            inner: NestedRecord::default(),
            children: Slots::default(),
            groups: Slots::default(),
            members: Members::default(),
            outside: ReadyTasks::default(),
            sites: Vec::new(),
            tally: Tally::default(),
            paths: Paths::default(),
            out: Output::default(),
            folded: 0,
            pause: 0,
            pause_off: 0,
            pause_records: 0,
            off_gaps: OffCpuGaps::default(),
            over: false,
            probes: 0,
            sites_as: Vec::new(),
            cuts: PendingConstraints::default(),
            bad: false,
            fed: 0,
            says_sources: false,
            saves_tasks: false,
            record: FoldedRecord::default(),
            encoded: Vec::new(),
            instead: Vec::new(),
        }
    }

    /// Creates a folder for a thread that has these tasks open at `t`, before its first record
    /// here. Tasks on its stack stay as they are.
    pub fn going_on(thread: u32, open: &ThreadState, t: u64, options: FoldOptions) -> Fold {
        let mut fold = Fold::new(thread, (open.tasks, open.scopes), options);
        fold.restart(open.stack.iter().map(|task| task.state), t);
        fold
    }

    /// Sets the grain, in ticks, from now on. A larger grain is always possible; a smaller one
    /// gives up longer sections.
    pub fn set_grain(&mut self, grain: u64) {
        self.options.grain = grain;
    }

    /// Sets the sites whose tasks are not folded from now on, in ascending order.
    pub fn set_unfolded_sites(&mut self, sites: Vec<u32>) {
        self.options.unfolded_sites = sites;
    }

    /// Takes the probes out of all weights: each strand has one at its start and one at its end,
    /// each of `ticks` ticks (MODEL.md §2). Call it before the first record.
    pub fn take_out_probes(&mut self, ticks: u64) {
        self.probes = ticks.saturating_mul(2);
    }

    /// Makes site `i` count as site `sites[i]`, where several sites are one place to the user. An
    /// instance of one inside another's is then not outermost. Call it before the first record.
    pub fn count_sites_as(&mut self, sites: Vec<u32>) {
        self.sites_as = sites;
    }

    /// Makes folded records name the bytes that they were folded from ([`FoldedRecord::source`]).
    pub fn say_sources(&mut self) {
        self.says_sources = true;
    }

    /// Folds small subtrees even while sibling tasks are ready to run, because the tasks around
    /// them may become too long to fold. For callers that build a graph, in which a task takes more
    /// room than its records.
    pub fn save_tasks(&mut self) {
        self.saves_tasks = true;
    }

    /// Sets what to do at certain times besides folding. The cuts are in order of time, and all are
    /// later than the records fed so far.
    pub fn plan(&mut self, cuts: Vec<(u64, Constraint)>) {
        self.cuts = PendingConstraints::new(cuts);
    }

    /// Takes whole records. The first record's ticks count from `base`.
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
            if look % RECORDS_PER_MEMORY_CHECK == 0 && self.memory() > self.options.memory {
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

    /// After the records fed so far, the thread did something else for `ticks` ticks, such as
    /// folding them. This time is not work and does not lengthen sections; a strand that is not
    /// folded keeps it. The thread was off the CPU for `off` of these ticks.
    pub fn paused(&mut self, ticks: u64, off: u64) {
        (self.pause, self.pause_off) = (ticks, off.min(ticks));
        // The next records may have been written before the pause.
        self.pause_records = 8;
    }

    /// Ends folding: no record that was fed may be folded any more.
    pub fn finish(&mut self) {
        self.give_up();
    }

    /// Gives up sections, the outermost first, until the records that may still be folded take at
    /// most `bytes`.
    pub fn keep_pending_below(&mut self, bytes: usize) {
        while !self.sections.is_empty() && self.pending().0.len() > bytes {
            self.give_up_oldest();
        }
    }

    /// Whether it was fed bytes that are not a record.
    pub fn is_bad(&self) -> bool {
        self.bad
    }

    /// The records that stay as they are, and the time from which the first one's ticks count.
    pub fn firm(&self) -> (&[u8], u64) {
        self.out.before(self.boundary())
    }

    /// The records that may still be folded, and the time from which the first one's ticks count.
    pub fn pending(&self) -> (&[u8], u64) {
        let boundary = self.boundary();
        (self.out.after(boundary), boundary.last)
    }

    /// The time of the last record written.
    pub fn last(&self) -> u64 {
        self.out.mark().last
    }

    /// Removes the firm records.
    pub fn take_firm(&mut self) {
        let boundary = self.boundary();
        self.out.take(boundary);
    }

    /// The number of folded records written so far, including those folded into others later.
    pub fn folded(&self) -> u64 {
        self.folded
    }

    /// The site that `site` counts as.
    #[inline]
    fn site(&self, site: u32) -> u32 {
        self.sites_as.get(site as usize).copied().unwrap_or(site)
    }

    fn boundary(&self) -> output::Mark {
        self.sections.first().map_or(self.out.mark(), |s| s.mark)
    }

    /// Memory used, in bytes (approximate).
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
