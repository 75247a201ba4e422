//! Assigns lost worker-ticks to causes and code blocks during the sweep.

use workspan_dag::{Dag, NONE, OffCpuReason, StrandId};

use super::book::{Book, Entry, Group};
use super::gaps_by_parent::{GapsByParent, folded_gaps};
use super::grain::Grain;
use super::off_cpu::OffCpu;
use super::other_threads::OtherThreads;
use super::path_strand::PathStrands;
use super::pools::PoolUse;
use super::preemption::Preemption;
use super::probes::probes;
use super::ready_strand::ReadyStrands;
use super::spawn_loop::SpawnLoops;
use super::task_size::{TaskSize, by_site};
use super::{Cause, Causes, Costs, Evidence, Finding};
use crate::blocks::CodeBlock;
use crate::breakdown::Breakdown;
use crate::off_cpu::off_between;
use crate::ready::{Readiness, ReadyInterval};
use crate::ready_path::ReadyPath;
use crate::runtime_gaps::RuntimeGap;
use crate::sweep::{FreeWorkerTicks, Moment, Observer};

/// Time without work while a strand of the ready path ran, not yet in the book.
#[derive(Debug, Clone, Copy)]
struct OpenStretch {
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
    /// Index of the first strand of the path that has not started yet.
    next: usize,
    /// The last queried strand of the path, and its cause.
    asked: Option<(usize, Entry)>,
    open: Option<OpenStretch>,
    /// Time without work in the current gap of the path, in worker-ticks.
    in_gap: u128,
    off: OffCpu<'a>,
    others: OtherThreads<'a>,
    pools: Option<PoolUse<'a>>,
    preempted: Preemption,
    sizes: Vec<TaskSize>,
    own_gaps: GapsByParent,
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
        let sizes = by_site(dag, costs.probe);
        Ledger {
            own_gaps: GapsByParent::new(dag, &sizes, costs),
            sizes,
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

    /// The causes of all losses in `breakdown`, which comes from the same sweep.
    pub(crate) fn finish(mut self, breakdown: &Breakdown, between: &[RuntimeGap]) -> Causes {
        self.close();
        let nobody = std::mem::take(&mut self.in_gap);
        self.book
            .group(Cause::None, CodeBlock::whole_site(NONE))
            .lost += nobody;
        let mut probes = probes(self.dag, self.costs);
        let mut inside = folded_gaps(self.dag, between, &self.sizes, self.costs);
        let blocked = self.off.blocked.sum().min(breakdown.blocked);
        for (book, target) in [
            (&mut inside, breakdown.delay_folded),
            (&mut self.off.descheduled, breakdown.descheduled),
            (&mut self.off.blocked, blocked),
            (&mut self.off.asleep, breakdown.blocked - blocked),
            (&mut probes, breakdown.recording),
        ] {
            book.shrink(target);
        }
        probes.mark_as_probes();
        self.own_gaps.add_to(&mut self.book);
        self.book.add_all(inside);
        self.book.add_all(self.off.descheduled);
        self.book.add_all(self.off.blocked);
        self.book.add_all(self.off.asleep);
        self.book.add_all(probes);
        divide_preempted(&mut self.book, &self.preempted, self.dag, breakdown);
        let undisturbed = self.off.undisturbed.total(self.workers);
        let show = EvidenceSource {
            dag: self.dag,
            sizes: &self.sizes,
            loops: &self.loops,
            steal: (self.costs.steal > 0).then_some(self.costs.steal),
        };
        Causes {
            total: breakdown.total(),
            lost: breakdown.lost(),
            undisturbed,
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
            Some(OffCpuReason::Preempted) => {
                return (
                    Entry::new(Cause::Descheduled, CodeBlock::whole_site(NONE)),
                    s,
                );
            }
            Some(OffCpuReason::Blocked) => return self.waiting(s, thread, moment),
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
                self.off.blocked_on(thread, moment.begin)
            };
            let sleeps = cause == Cause::Sleep && dag.is_thread_task(self.task(s) as u32);
            let may_wait = cause.waits_for_a_thread() || sleeps;
            if !is_worker && may_wait && moment.preempted_between > 0 {
                // A worker waits for a CPU. Which thread this one waits for is not known; a thread
                // of the program that sleeps between two things it does keeps no worker from work.
                return (
                    Entry::new(Cause::Descheduled, CodeBlock::whole_site(NONE)),
                    s,
                );
            }
            return (Entry::new(cause, CodeBlock::from_strand(dag, s)), s);
        }
        // It waits for threads, and no edge shows for which. If only one strand runs, it is taken
        // to be that one's thread.
        let own = if is_worker { thread } else { 0 };
        let other = moment.only_thread ^ own;
        let strand = match others {
            1 => self.off.strand(other),
            _ => NONE,
        };
        if strand == NONE {
            return (Entry::new(Cause::None, CodeBlock::whole_site(NONE)), s);
        }
        let entry = match self.off.why(other) {
            Some(OffCpuReason::Preempted) => {
                Entry::new(Cause::Descheduled, CodeBlock::whole_site(NONE))
            }
            Some(OffCpuReason::Blocked) => {
                let cause = self.off.blocked_on(other, moment.begin);
                Entry::new(cause, CodeBlock::from_strand(dag, strand))
            }
            None => Entry::new(Cause::SerialStrand, CodeBlock::from_strand(dag, strand)),
        };
        (entry, strand)
    }

    fn task(&self, strand: StrandId) -> usize {
        self.dag.strands.task[strand as usize] as usize
    }

    /// Adds `lost` worker-ticks in which `strand` was ready and the worker that was free for it was
    /// preempted.
    fn preempted_while_ready(&mut self, lost: u128, strand: StrandId) {
        let machine = CodeBlock::whole_site(NONE);
        self.book
            .add_without_strand(Cause::Descheduled, machine, lost, strand);
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            let Entry {
                cause,
                block,
                tasks,
            } = open.entry;
            let thread = self.dag.strands.thread[open.strand as usize];
            let off = cause == Cause::Descheduled || cause.is_blocked();
            if off && self.dag.is_worker(thread) {
                return self
                    .book
                    .add_without_strand(cause, block, open.lost, open.strand);
            }
            let group = self
                .book
                .add(cause, block, open.lost, open.strand, open.ticks);
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
        self.ready.start(strand, thread);
    }

    fn end(&mut self, strand: StrandId, thread: usize, time: u64) {
        self.off.end(thread, time);
        if let Some(pools) = &mut self.pools {
            pools.end(thread);
        }
        self.ready.end(strand, thread, time);
    }

    fn off(&mut self, thread: usize, time: u64, why: Option<OffCpuReason>) {
        self.off.change(thread, time, why);
        self.ready.off(thread, time, why);
    }

    fn left(&mut self, waiting: &ReadyInterval, served: FreeWorkerTicks) {
        let mut all = served.all;
        if all == 0 {
            return;
        }
        let s = waiting.strand;
        let mut gap = 0;
        if self.path.get(self.next).is_some_and(|p| p.0 == s) {
            gap = std::mem::take(&mut self.in_gap);
        }
        if let Some(own) = (self.pools.as_ref()).and_then(|p| p.free_since(s, waiting.ready))
            && own < all
        {
            let (elsewhere, site) = (all - own, self.dag.tasks.site[self.task(s)]);
            all = own;
            let mut lost = u128::from(elsewhere);
            if own == 0 {
                lost += std::mem::take(&mut gap);
            }
            self.book.add(
                Cause::OtherPool,
                CodeBlock::whole_site(site),
                lost,
                s,
                elsewhere,
            );
            if own == 0 {
                return;
            }
        }
        let approaching = served.approaching.min(all);
        if approaching > 0
            && waiting.local
            && let Some(gaps) = self.own_gaps.before(self.dag, s)
        {
            let start = self.dag.strands.start[s as usize];
            let off = off_between(self.dag, s, waiting.approached, start).descheduled;
            let (off, own) = (off.min(approaching), approaching.saturating_sub(off));
            // The no-work time of this gap goes with the larger part.
            let mut with = |is_larger| match is_larger {
                true => std::mem::take(&mut gap),
                false => 0,
            };
            let off_lost = u128::from(off) + with(off > own && approaching * 2 >= all);
            let own_lost = u128::from(own) + with(own >= off && approaching * 2 >= all);
            gaps.lost += own_lost;
            gaps.strands += 1;
            gaps.ticks = gaps.ticks.saturating_add(own);
            if gaps.strand == NONE || own > gaps.longest {
                (gaps.longest, gaps.strand) = (own, s);
            }
            if off_lost > 0 {
                self.preempted_while_ready(off_lost, s);
            }
            all -= approaching;
            if all == 0 {
                return;
            }
        }
        let off = served.preempted.min(all);
        if off > 0 {
            let of_gap = match off * 2 >= all {
                true => std::mem::take(&mut gap),
                false => 0,
            };
            self.preempted_while_ready(u128::from(off) + of_gap, s);
            all -= off;
            if all == 0 {
                return;
            }
        }
        let Entry { cause, block, .. } =
            self.ready
                .cause(waiting, all, (&self.grain, &self.own_gaps), &self.loops);
        let lost = u128::from(all) + gap;
        if cause == Cause::Descheduled {
            self.book.add_without_strand(cause, block, lost, s);
        } else {
            self.book.add(cause, block, lost, s, all);
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
        self.off.undisturbed.moment(moment);
        if let Some(pools) = &mut self.pools {
            pools.moment(moment.begin, moment.ticks());
        }
        let free = moment.free(self.workers);
        let mut idle = free.saturating_sub(moment.ready);
        let mut lost = u128::from(idle) * u128::from(moment.ticks());
        if lost == 0 {
            return;
        }
        let Some(at) = self.next.checked_sub(1) else {
            self.book
                .group(Cause::None, CodeBlock::whole_site(NONE))
                .lost += lost;
            return;
        };
        if strands.end[self.path[at].0 as usize] <= moment.begin {
            self.in_gap += lost;
            return;
        }
        let (entry, strand) = self.cause_of(at, moment);
        if let Some(pools) = &self.pools {
            let own = pools.idle_in_other_pools(strand, idle);
            let elsewhere = u128::from(idle - own) * u128::from(moment.ticks());
            if elsewhere > 0 {
                let key = CodeBlock::whole_site(self.dag.tasks.site[self.task(strand)]);
                self.book
                    .add_without_strand(Cause::OtherPool, key, elsewhere, strand);
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
            self.open = Some(OpenStretch {
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

/// The source of the evidence that the book does not keep.
struct EvidenceSource<'a> {
    dag: &'a Dag,
    sizes: &'a [TaskSize],
    loops: &'a SpawnLoops,
    steal: Option<u64>,
}

impl EvidenceSource<'_> {
    fn evidence(&self, finding: &Finding, plain: Evidence) -> Evidence {
        let mut out = plain;
        let strand = finding.strand;
        match finding.cause {
            Cause::SpawnLoop | Cause::GrainFine => {
                let site = finding.block.site;
                let totals = match self.loops.at_site(site) {
                    Some(run) => Some((u128::from(run.tasks), run.work, 0)),
                    None => {
                        let size = self.sizes.get(site as usize);
                        size.map(|size| (size.tasks, size.work, size.error))
                    }
                };
                if let Some((tasks, work, error)) = totals {
                    let of_one = |ticks: u128| {
                        let mean = ticks.checked_div(tasks)?;
                        u64::try_from(mean).ok()
                    };
                    out.tasks = u64::try_from(tasks).ok();
                    out.task_ticks = of_one(work);
                    out.division_error = of_one(error).filter(|&error| error > 0);
                }
                out.steal_ticks = self.steal;
            }
            Cause::SlowThief | Cause::RestrainedStealing => out.steal_ticks = self.steal,
            Cause::BuriedWait | Cause::BoundedQueue => out.above = self.above(strand),
            _ => {}
        }
        out
    }

    /// The strand that the thread of `strand` ran last before it.
    fn above(&self, strand: StrandId) -> Option<StrandId> {
        let strands = &self.dag.strands;
        let thread = *strands.thread.get(strand as usize)?;
        let ran = |&s: &usize| strands.thread[s] == thread && strands.start[s] < strands.end[s];
        let last = (0..strand as usize).rev().find(ran)?;
        Some(last as StrandId)
    }
}

/// Divides the loss through preemption between other programs and the program's own threads.
fn divide_preempted(book: &mut Book, preempted: &Preemption, dag: &Dag, breakdown: &Breakdown) {
    let key = CodeBlock::whole_site(NONE);
    let all = *book.group(Cause::Descheduled, key);
    let own = preempted.own(dag, breakdown, all.lost);
    if own > 0 {
        *book.group(Cause::Oversubscribed, key) = Group { lost: own, ..all };
        book.group(Cause::Descheduled, key).lost = all.lost - own;
    }
}
