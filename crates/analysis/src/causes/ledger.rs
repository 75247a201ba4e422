//! The books: lost worker-ticks by cause and place, kept as the sweep goes.

use std::cell::OnceCell;

use workspan_dag::{Dag, NONE, OffWhy, StrandId};

use super::folded_gaps::folded_gaps;
use super::grain::Grain;
use super::off_cpu::OffCpu;
use super::other_threads::OtherThreads;
use super::path_strand::PathStrands;
use super::pools::PoolUse;
use super::preemption::Preemption;
use super::probes::probes;
use super::ready_strand::{ReadyStrands, whole_site};
use super::spawn_loop::SpawnLoops;
use super::task_size::{TaskSize, by_site};
use super::{Cause, Causes, Costs, Evidence, Finding, Place};
use crate::blocks::{BlockTable, CodeBlock};
use crate::breakdown::Breakdown;
use crate::ready::{Readiness, ReadyInterval};
use crate::ready_path::ReadyPath;
use crate::runtime_gaps::RuntimeGap;
use crate::sweep::{Moment, Observer};

/// Places kept.
pub(super) const PLACES: usize = 20;

/// A cause and its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Entry {
    pub cause: Cause,
    pub key: CodeBlock,
    /// See [`Evidence::tasks`].
    pub tasks: Option<u64>,
}

impl Entry {
    pub(super) fn new(cause: Cause, key: CodeBlock) -> Entry {
        Entry {
            cause,
            key,
            tasks: None,
        }
    }
}

/// What one cause lost at one place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group {
    pub(super) lost: u128,
    pub(super) strands: u64,
    pub(super) ticks: u64,
    pub(super) longest: u64,
    pub(super) alone: u64,
    pub(super) tasks: Option<u64>,
    pub(super) probes: u128,
    /// The strand `longest` is of.
    pub(super) strand: StrandId,
}

/// Groups by cause and place.
pub(crate) struct Book {
    causes: Vec<(BlockTable, Vec<Group>)>,
}

impl Book {
    pub(crate) fn new() -> Book {
        let empty = |_: &Cause| (BlockTable::new(), Vec::new());
        Book {
            causes: Cause::ALL.iter().map(empty).collect(),
        }
    }

    pub(super) fn group(&mut self, cause: Cause, key: CodeBlock) -> &mut Group {
        let (table, groups) = &mut self.causes[cause as usize];
        let number = table.number(key);
        if number == groups.len() {
            groups.push(Group {
                lost: 0,
                strands: 0,
                ticks: 0,
                longest: 0,
                alone: 0,
                tasks: None,
                probes: 0,
                strand: NONE,
            });
        }
        &mut groups[number]
    }

    /// `lost` worker-ticks more, beside those the strand's own time off the CPU is.
    fn add_beside(&mut self, cause: Cause, key: CodeBlock, lost: u128, strand: StrandId) {
        let group = self.group(cause, key);
        group.lost += lost;
        if group.strand == NONE {
            group.strand = strand;
        }
    }

    /// `lost` worker-ticks because of `strand`, for `ticks`.
    pub(super) fn add(
        &mut self,
        cause: Cause,
        key: CodeBlock,
        lost: u128,
        strand: StrandId,
        ticks: u64,
    ) -> &mut Group {
        let group = self.group(cause, key);
        group.lost += lost;
        group.strands += 1;
        group.ticks = group.ticks.saturating_add(ticks);
        if group.strand == NONE || ticks > group.longest {
            (group.longest, group.strand) = (ticks, strand);
        }
        group
    }

    fn sum(&self) -> u128 {
        let groups = self.causes.iter().flat_map(|c| &c.1);
        groups.map(|g| g.lost).sum()
    }

    /// Makes the sum `target`, which is not more than it is; each group keeps its share.
    fn shrink(&mut self, target: u128) {
        let sum = self.sum();
        if sum == target {
            return;
        }
        let share = target as f64 / sum as f64;
        let mut left = target;
        for group in self.causes.iter_mut().flat_map(|c| &mut c.1) {
            group.lost = ((group.lost as f64 * share) as u128).min(left);
            left -= group.lost;
        }
        let groups = self.causes.iter_mut().flat_map(|c| &mut c.1);
        if let Some(largest) = groups.reduce(|a, b| if b.lost > a.lost { b } else { a }) {
            largest.lost += left;
        }
    }

    /// What was lost here was lost to probes.
    fn are_probes(&mut self) {
        for group in self.causes.iter_mut().flat_map(|c| &mut c.1) {
            group.probes = group.lost;
        }
    }

    /// Adds all of `other`.
    fn take(&mut self, other: Book) {
        for (cause, (table, groups)) in Cause::ALL.into_iter().zip(other.causes) {
            for (key, group) in table.keys.into_iter().zip(groups) {
                let own = self.group(cause, key);
                own.lost += group.lost;
                own.strands += group.strands;
                own.ticks = own.ticks.saturating_add(group.ticks);
                own.alone += group.alone;
                own.probes += group.probes;
                own.tasks = own.tasks.max(group.tasks);
                if own.strand == NONE || group.longest > own.longest {
                    own.longest = group.longest;
                    own.strand = group.strand;
                }
            }
        }
    }

    fn by_cause(&self) -> [u128; Cause::ALL.len()] {
        let sum = |cause: Cause| self.causes[cause as usize].1.iter().map(|g| g.lost).sum();
        Cause::ALL.map(sum)
    }

    /// Most lost first, at most [`PLACES`]; `evidence` completes what a group shows.
    pub(super) fn places(
        &self,
        dag: &Dag,
        evidence: impl Fn(&Finding, Evidence) -> Evidence,
    ) -> Vec<Finding> {
        let mut found: Vec<(Cause, &CodeBlock, &Group)> = Vec::new();
        for (cause, (table, groups)) in Cause::ALL.into_iter().zip(&self.causes) {
            if cause != Cause::None {
                let groups = table.keys.iter().zip(groups).filter(|(_, g)| g.lost > 0);
                found.extend(groups.map(|(key, group)| (cause, key, group)));
            }
        }
        found.sort_by(|a, b| {
            let most = b.2.lost.cmp(&a.2.lost).then(a.0.cmp(&b.0));
            most.then_with(|| a.1.order(dag).cmp(&b.1.order(dag)))
        });
        found.truncate(PLACES);
        let finding = |(cause, key, group): (Cause, &CodeBlock, &Group)| {
            let plain = Evidence {
                strands: group.strands,
                ticks: group.ticks,
                longest: group.longest,
                alone: (group.alone > 0).then_some(group.alone),
                tasks: group.tasks,
                probe_ticks: match (cause, u64::try_from(group.probes)) {
                    (Cause::GrainFine, Ok(ticks)) if ticks > 0 => Some(ticks),
                    _ => None,
                },
                ..Evidence::default()
            };
            let mut finding = Finding {
                cause,
                place: Place {
                    site: key.site,
                    from: key.from,
                    from_kind: key.from_kind,
                    to: key.to,
                    to_kind: key.to_kind,
                    strand: group.strand,
                },
                lost: group.lost,
                evidence: plain,
            };
            finding.evidence = evidence(&finding, plain);
            finding
        };
        found.into_iter().map(finding).collect()
    }
}

/// No work while a strand of the ready path ran, not yet in the book.
#[derive(Debug, Clone, Copy)]
struct Open {
    entry: Entry,
    strand: StrandId,
    lost: u128,
    ticks: u64,
    alone: u64,
}

/// Keeps the book over a sweep.
pub(crate) struct Ledger<'a> {
    dag: &'a Dag,
    costs: Costs,
    workers: u64,
    grain: Grain,
    loops: SpawnLoops,
    ready: ReadyStrands<'a>,
    on_path: PathStrands<'a>,
    path: &'a [(StrandId, Option<workspan_dag::EdgeKind>)],
    /// The first strand of the path that has not yet started.
    next: usize,
    /// The strand of the path last asked about, and its cause.
    asked: Option<(usize, Entry)>,
    open: Option<Open>,
    /// No work in the present gap of the path.
    in_gap: u128,
    off: OffCpu<'a>,
    others: OtherThreads<'a>,
    pools: Option<PoolUse<'a>>,
    preempted: Preemption,
    book: Book,
}

impl<'a> Ledger<'a> {
    pub(crate) fn new(
        dag: &'a Dag,
        costs: Costs,
        readiness: &'a Readiness,
        path: &'a ReadyPath,
    ) -> Ledger<'a> {
        let grain = Grain::new(dag, costs);
        let path = path.strands.as_slice();
        Ledger {
            dag,
            costs,
            workers: u64::from(dag.meta.workers.max(1)),
            loops: SpawnLoops::new(dag, path, &grain, costs.steal),
            grain,
            ready: ReadyStrands::new(dag, costs, &readiness.paused),
            on_path: PathStrands::new(dag, path),
            path,
            next: 0,
            asked: None,
            open: None,
            in_gap: 0,
            off: OffCpu::new(dag),
            others: OtherThreads::new(dag),
            pools: PoolUse::new(dag),
            preempted: Preemption::new(dag),
            book: Book::new(),
        }
    }

    /// The causes of all that `breakdown`, of the same sweep, calls lost.
    pub(crate) fn finish(mut self, breakdown: &Breakdown, between: &[RuntimeGap]) -> Causes {
        self.close();
        let nobody = std::mem::take(&mut self.in_gap);
        self.book.group(Cause::None, whole_site(NONE)).lost += nobody;
        let mut probes = probes(self.dag, self.costs);
        let mut inside = folded_gaps(between, self.costs);
        for (book, target) in [
            (&mut inside, breakdown.delay_folded),
            (&mut self.off.descheduled, breakdown.descheduled),
            (&mut self.off.blocked, breakdown.blocked),
            (&mut probes, breakdown.recording),
        ] {
            book.shrink(target);
        }
        probes.are_probes();
        self.book.take(inside);
        self.book.take(self.off.descheduled);
        self.book.take(self.off.blocked);
        self.book.take(probes);
        divide_preempted(&mut self.book, &self.preempted, self.dag, breakdown);
        let show = EvidenceSource {
            dag: self.dag,
            sizes: OnceCell::new(),
            loops: &self.loops,
            steal: (self.costs.steal > 0).then_some(self.costs.steal),
        };
        Causes {
            total: breakdown.total(),
            lost: breakdown.lost(),
            by_cause: self.book.by_cause(),
            places: self.book.places(self.dag, |f, e| show.evidence(f, e)),
        }
    }

    /// The cause of no work while strand `at` of the path runs.
    fn cause_of(&mut self, at: usize, moment: &Moment) -> (Entry, StrandId) {
        let s = self.path[at].0;
        let thread = self.dag.strands.thread[s as usize] as usize;
        match self.off.why(thread) {
            None => {}
            Some(OffWhy::Preempted) => {
                return (Entry::new(Cause::Descheduled, whole_site(NONE)), s);
            }
            Some(OffWhy::Blocked) => return self.waiting(s, thread, moment),
        }
        let entry = match self.asked {
            Some((asked, entry)) if asked == at => entry,
            _ => self.on_path.cause(at, &self.grain, &self.loops),
        };
        self.asked = Some((at, entry));
        (entry, s)
    }

    /// The cause of no work while the thread of `s`, a strand of the path, has given up the CPU.
    fn waiting(&mut self, s: StrandId, thread: usize, moment: &Moment) -> (Entry, StrandId) {
        let (dag, is_worker) = (self.dag, self.dag.is_worker(thread as u32));
        let others = moment.running() - u64::from(is_worker);
        if others == 0 {
            let outside = !is_worker && self.others.ran(thread as u32, moment.begin);
            let cause = if outside {
                Cause::OtherThreads
            } else {
                Cause::Blocked
            };
            return (Entry::new(cause, CodeBlock::of(dag, s)), s);
        }
        // It waits for threads without an edge to tell for which: for the one strand that runs, where it is one.
        let own = if is_worker { thread } else { 0 };
        let other = moment.only_thread ^ own;
        let strand = match others {
            1 => self.off.strand(other),
            _ => NONE,
        };
        if strand == NONE {
            return (Entry::new(Cause::None, whole_site(NONE)), s);
        }
        let entry = match self.off.why(other) {
            Some(OffWhy::Preempted) => Entry::new(Cause::Descheduled, whole_site(NONE)),
            Some(OffWhy::Blocked) => Entry::new(Cause::Blocked, CodeBlock::of(dag, strand)),
            None => Entry::new(Cause::SerialStrand, CodeBlock::of(dag, strand)),
        };
        (entry, strand)
    }

    fn task(&self, strand: StrandId) -> usize {
        self.dag.strands.task[strand as usize] as usize
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            let Entry { cause, key, tasks } = open.entry;
            let thread = self.dag.strands.thread[open.strand as usize];
            let off = matches!(cause, Cause::Descheduled | Cause::Blocked);
            if off && self.dag.is_worker(thread) {
                return self.book.add_beside(cause, key, open.lost, open.strand);
            }
            let group = self
                .book
                .add(cause, key, open.lost, open.strand, open.ticks);
            group.alone += open.alone;
            group.tasks = group.tasks.max(tasks);
        }
    }
}

impl Observer for Ledger<'_> {
    fn start(&mut self, strand: StrandId, thread: usize) {
        self.off.start(thread, strand);
        if let Some(pools) = &mut self.pools {
            pools.start(strand, thread);
        }
    }

    fn end(&mut self, _: StrandId, thread: usize, time: u64) {
        self.off.end(thread, time);
        if let Some(pools) = &mut self.pools {
            pools.end(thread);
        }
    }

    fn off(&mut self, thread: usize, time: u64, why: Option<OffWhy>) {
        self.off.change(thread, time, why);
    }

    fn left(&mut self, waiting: &ReadyInterval, served: u64) {
        if served == 0 {
            return;
        }
        let s = waiting.strand;
        let mut gap = 0;
        if self.path.get(self.next).is_some_and(|p| p.0 == s) {
            gap = std::mem::take(&mut self.in_gap);
        }
        let mut served = served;
        if let Some(own) = (self.pools.as_ref()).and_then(|p| p.free_since(s, waiting.ready))
            && own < served
        {
            let (elsewhere, site) = (served - own, self.dag.tasks.site[self.task(s)]);
            served = own;
            let mut lost = u128::from(elsewhere);
            if own == 0 {
                lost += std::mem::take(&mut gap);
            }
            self.book
                .add(Cause::OtherPool, whole_site(site), lost, s, elsewhere);
            if own == 0 {
                return;
            }
        }
        let Entry { cause, key, .. } = self.ready.cause(waiting, served, &self.grain, &self.loops);
        let lost = u128::from(served) + gap;
        if cause == Cause::Descheduled {
            self.book.add_beside(cause, key, lost, s);
        } else {
            self.book.add(cause, key, lost, s, served);
        }
    }

    fn moment(&mut self, moment: &Moment) {
        let strands = &self.dag.strands;
        while let Some(&(s, _)) = self.path.get(self.next)
            && strands.start[s as usize] <= moment.begin
        {
            self.next += 1;
        }
        self.preempted.moment(moment);
        if let Some(pools) = &mut self.pools {
            pools.moment(moment.begin, moment.ticks());
        }
        let free = self.workers.saturating_sub(moment.running());
        let mut idle = free.saturating_sub(moment.ready);
        let mut lost = u128::from(idle) * u128::from(moment.ticks());
        if lost == 0 {
            return;
        }
        let Some(at) = self.next.checked_sub(1) else {
            self.book.group(Cause::None, whole_site(NONE)).lost += lost;
            return;
        };
        if strands.end[self.path[at].0 as usize] <= moment.begin {
            self.in_gap += lost;
            return;
        }
        let (entry, strand) = self.cause_of(at, moment);
        if let Some(pools) = &self.pools {
            let own = pools.idle_beside(strand, idle);
            let elsewhere = u128::from(idle - own) * u128::from(moment.ticks());
            if elsewhere > 0 {
                let key = whole_site(self.dag.tasks.site[self.task(strand)]);
                self.book
                    .add_beside(Cause::OtherPool, key, elsewhere, strand);
                self.book.group(Cause::OtherPool, key).ticks += moment.ticks();
                (idle, lost) = (own, lost - elsewhere);
                if idle == 0 {
                    return self.close();
                }
            }
        }
        if self
            .open
            .is_none_or(|o| (o.strand, o.entry) != (strand, entry))
        {
            self.close();
            self.open = Some(Open {
                entry,
                strand,
                lost: 0,
                ticks: 0,
                alone: 0,
            });
        }
        if let Some(open) = &mut self.open {
            open.lost += lost;
            open.ticks += moment.ticks();
            if moment.running() == 1 {
                open.alone += moment.ticks();
            }
        }
    }
}

/// Where the numbers of a finding's evidence come from that the book doesn't keep.
struct EvidenceSource<'a> {
    dag: &'a Dag,
    /// Made when first asked for.
    sizes: OnceCell<Vec<TaskSize>>,
    loops: &'a SpawnLoops,
    steal: Option<u64>,
}

impl EvidenceSource<'_> {
    fn evidence(&self, finding: &Finding, plain: Evidence) -> Evidence {
        let mut out = plain;
        let strand = finding.place.strand;
        match finding.cause {
            Cause::SpawnLoop | Cause::GrainFine => {
                let site = finding.place.site;
                let of = match self.loops.at_site(site) {
                    Some(run) => Some((u128::from(run.tasks), run.work)),
                    None => {
                        let sizes = self.sizes.get_or_init(|| by_site(self.dag));
                        sizes.get(site as usize).map(|size| (size.tasks, size.work))
                    }
                };
                if let Some((tasks, work)) = of {
                    out.tasks = u64::try_from(tasks).ok();
                    out.task_ticks = work.checked_div(tasks).and_then(|t| u64::try_from(t).ok());
                }
                out.steal_ticks = self.steal;
            }
            Cause::SlowThief => out.steal_ticks = self.steal,
            Cause::BuriedWait | Cause::BoundedQueue => out.above = self.above(strand),
            _ => {}
        }
        out
    }

    /// What the thread of `strand` ran last before it.
    fn above(&self, strand: StrandId) -> Option<StrandId> {
        let strands = &self.dag.strands;
        let thread = *strands.thread.get(strand as usize)?;
        let ran = |&s: &usize| strands.thread[s] == thread && strands.start[s] < strands.end[s];
        let last = (0..strand as usize).rev().find(ran)?;
        Some(last as StrandId)
    }
}

/// Gives what was lost to preemption to other programs and to the program's own threads.
fn divide_preempted(book: &mut Book, preempted: &Preemption, dag: &Dag, breakdown: &Breakdown) {
    let key = whole_site(NONE);
    let all = *book.group(Cause::Descheduled, key);
    let own = preempted.own(dag, breakdown, all.lost);
    if own > 0 {
        *book.group(Cause::Oversubscribed, key) = Group { lost: own, ..all };
        book.group(Cause::Descheduled, key).lost = all.lost - own;
    }
}
