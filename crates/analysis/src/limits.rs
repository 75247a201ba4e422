//! The limits of what a bound of the speedup says (MODEL.md §2): how far shares of a parallel
//! region can be divided, and blocked time.
//!
//! A bound is a fact about the recorded DAG. It is not a fact about the program in two cases. A
//! parallel region has one task per thread; if these are shares of a loop, their number was chosen
//! for this run. So was the number of threads that a program starts to share its work. And a
//! program that waits for locks or for I/O waits on edges that the DAG does not have.

use std::collections::BTreeMap;

use workspan_dag::{Dag, NONE, PlaceId, ScopeKind, StrandId, TaskId, TaskKind};

use crate::contended_lock::{ContendedLock, most_contended};
use crate::heaviest_paths::{Burden, Heaviest};
use crate::options::{Error, Metric, Options};
use crate::weight::Weights;
use crate::what_if::{FasterPaths, TargetWeights};
use crate::work_span::OtherSpans;

/// Minimum share at which blocked time changes the meaning of a bound: its share of work plus
/// blocked time, or the share by which it makes the span longer.
const NOTABLE_BLOCKED: f64 = 0.1;
/// Minimum share of the critical path at which shares of regions are a limit.
const NOTABLE_SHARES: f64 = 0.1;
/// Minimum work of a share, as a part of the longest share's: of the second longest one for the
/// work of a phase to count as divided (if one thread did the work, as in `single`, the others have
/// next to nothing), and of a started thread to be a share at all.
const MIN_SHARE_OF_LONGEST: f64 = 0.1;

/// Limits of the run that a bound of the speedup does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Set if work was divided by the number of threads.
    pub shares: Option<ThreadShares>,
    /// Set if the program blocked for a tenth or more of its time, or of its critical path's time,
    /// or of the time in which no worker waited for a CPU, in waits that the bounds do not include.
    pub blocked: Option<Blocked>,
    /// The lock that was held for longest while others waited for it, if that is longer than the
    /// span.
    pub lock: Option<ContendedLock>,
    /// The span without the order in which threads took locks, if that is shorter: another run may
    /// take them in another order.
    pub span_without_lock_order: Option<u128>,
}

/// The spans of a run from which its limits are computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spans {
    pub span: u128,
    /// The span with blocked time included.
    pub with_blocked: u128,
    /// The span without the order in which threads took locks, if there is such an order.
    pub without_lock_order: Option<u128>,
}

/// Work on the critical path that was divided by the number of threads: parallel regions, or
/// threads that the program started at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadShares {
    /// The region, or the start of threads, with the largest part, as the place of its tasks.
    pub region: PlaceId,
    /// Set if the program started the threads at `region` itself; otherwise it is a parallel
    /// region.
    pub are_started: bool,
    /// Number of threads that the work was divided among, which is the number of shares.
    pub threads: u32,
    /// Ticks of the critical path in shares of this region and of others.
    pub critical: u128,
    /// Work of all shares, in ticks.
    pub work: u128,
    /// The span if shares could be divided at will. On more threads the speedup is at most the work
    /// divided by this.
    pub divided_span: u128,
}

/// Time in which strands had given up the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocked {
    /// Blocked time of all strands, in ticks.
    pub ticks: u128,
    /// The part of it in waits that another thread ended by a signal: their ends are edges that the
    /// bounds include. The ends of waits for locks are edges too, but their order bounds nothing.
    pub connected: u128,
    /// The sum of `ticks` and the work.
    pub of: u128,
    /// Whether it is known for some of it what the strands waited for.
    pub is_explained: bool,
}

/// The limits of `dag` that its bounds, measured with `options`, do not show. O(n).
///
/// # Errors
/// See [`Error`].
pub fn limits(dag: &Dag, options: &Options) -> Result<Limits, Error> {
    let weights = Weights::new(dag, options)?;
    let heaviest = Heaviest::unburdened(dag, &weights);
    let (path, span) = (heaviest.critical_path(dag), heaviest.span(dag));
    drop(heaviest);
    let others = OtherSpans::new(dag, &weights, options)?;
    let spans = others.spans(span);
    Ok(Limits::new(dag, &weights, options, &path, spans))
}

/// Minimum work in shares for them to count as even, as a part of their number times the ticks of
/// the critical path in them.
const MIN_EVEN_WORK: f64 = 0.75;

impl ThreadShares {
    /// Whether no share is much longer than the others.
    pub(crate) fn are_even(&self) -> bool {
        self.work as f64 >= MIN_EVEN_WORK * f64::from(self.threads) * self.critical as f64
    }
}

/// Whether bounds leave blocked time out.
fn counts_blocked(options: &Options) -> bool {
    options.metric == Metric::Time && !options.count_blocked
}

/// The most contended lock, if it was held for longer than `span` while others waited.
fn lock_above(dag: &Dag, span: u128) -> Option<ContendedLock> {
    most_contended(dag).filter(|lock| lock.held > span)
}

impl Blocked {
    fn new(dag: &Dag, weights: &Weights) -> Blocked {
        Blocked {
            ticks: weights.blocked,
            connected: connected(dag).min(weights.blocked),
            of: weights.blocked + weights.total(),
            is_explained: dag.samples.stops.iter().any(|stop| stop.wait.is_some()),
        }
    }

    /// Blocked time in percent of work plus blocked time.
    pub fn percent(&self) -> f64 {
        crate::warnings::percent(self.ticks, self.of)
    }
}

impl Limits {
    /// Measures the limits. `path` is the critical path of `weights`; both and `spans` belong to
    /// `options`. O(n) if there are regions.
    pub(crate) fn new(
        dag: &Dag,
        weights: &Weights,
        options: &Options,
        path: &[StrandId],
        spans: Spans,
    ) -> Limits {
        let span = spans.span;
        let blocked = Blocked::new(dag, weights);
        let counts = counts_blocked(options);
        let part = |total: u128| NOTABLE_BLOCKED * total as f64;
        let longer = spans.with_blocked.saturating_sub(span) as f64;
        let notable = blocked.ticks as f64 >= part(blocked.of) || longer >= part(span);
        let unknown = (blocked.ticks - blocked.connected) as f64;
        let matters =
            unknown >= part(blocked.of) || (longer >= part(span) && unknown >= part(blocked.ticks));
        Limits {
            shares: shares(dag, weights, path, span),
            blocked: (counts && blocked.ticks > 0 && matters).then_some(blocked),
            lock: (counts && notable)
                .then(|| lock_above(dag, spans.without_lock_order.unwrap_or(span)))
                .flatten(),
            span_without_lock_order: spans.without_lock_order.filter(|&without| without < span),
        }
    }

    /// The threads wait for each other whenever they have a CPU, so blocked time is a limit even if
    /// there was little of it because other programs had the CPUs.
    pub(crate) fn add_blocked(
        &mut self,
        dag: &Dag,
        weights: &Weights,
        options: &Options,
        span: u128,
    ) {
        if self.blocked.is_none() && counts_blocked(options) && weights.blocked > 0 {
            self.blocked = Some(Blocked::new(dag, weights));
            self.lock = lock_above(dag, self.without_lock_order(span));
        }
    }

    /// The span that bounds the speedup on `workers` from above, for a run with this span. With
    /// more workers than shares it is not known how the program would be divided, so only the part
    /// outside of shares bounds the speedup.
    pub(crate) fn bounding_span(&self, span: u128, workers: u32) -> u128 {
        let span = self.without_lock_order(span);
        let divided = self.shares.filter(|s| workers > s.threads);
        let divided = divided.map_or(span, |s| s.divided_span.min(span));
        // The holders of the lock ran one after another.
        self.lock.map_or(divided, |lock| lock.held.max(divided))
    }

    /// The span that bounds the speedup for any number of workers.
    pub fn bounding_span_of(&self, span: u128) -> u128 {
        let span = self.without_lock_order(span);
        self.lock.map_or(span, |lock| lock.held.max(span))
    }

    fn without_lock_order(&self, span: u128) -> u128 {
        self.span_without_lock_order
            .map_or(span, |shorter| shorter.min(span))
    }
}

/// Ticks in waits that are handoffs, except those that only order the holders of locks.
fn connected(dag: &Dag) -> u128 {
    let handoffs = dag.handoffs.list.iter().filter(|h| !h.is_order);
    let ticks = handoffs.map(|handoff| dag.samples.stops[handoff.stop as usize].ticks);
    ticks.map(u128::from).sum()
}

/// Which tasks are shares, and of which whole: a phase of a region, or a group of started threads.
pub(crate) struct ShareTable {
    /// By task: the whole that it is a share of; `NONE` if the task is not a share. A phase of a
    /// region has the number of its scope; groups of threads are numbered after all scopes. Empty
    /// if there is no share.
    whole: Vec<u32>,
    /// Number of shares of each whole.
    count: Vec<u32>,
    /// Number of scopes.
    scopes: u32,
}

impl ShareTable {
    /// The implicit tasks of regions whose work was divided, and the threads that one task started
    /// at one place. A chunk of a loop that a thread runs belongs to its implicit task.
    pub(crate) fn new(dag: &Dag, weights: &Weights) -> ShareTable {
        let tasks = &dag.tasks;
        let scopes = dag.scopes.len() as u32;
        let mut whole = vec![NONE; tasks.len()];
        let mut of_member = vec![NONE; tasks.len()];
        let mut count = vec![0u32; dag.scopes.len()];
        members(dag, &mut whole, &mut of_member, &mut count);
        started_threads(dag, &mut whole, &mut of_member, &mut count);
        if of_member.iter().all(|&member| member == NONE) {
            return ShareTable {
                whole: Vec::new(),
                count: Vec::new(),
                scopes,
            };
        }
        let mut work = vec![0u64; tasks.len()];
        for s in 0..dag.strands.len() as StrandId {
            let member = of_member[dag.strands.task[s as usize] as usize];
            if member != NONE && !dag.folded.has(s) {
                let sum = &mut work[member as usize];
                *sum = sum.saturating_add(weights.work(s));
            }
        }
        // The two longest shares of each whole.
        let mut longest = vec![(0u64, 0u64); count.len()];
        for task in (0..tasks.len()).filter(|&t| of_member[t] == t as TaskId) {
            let (first, second) = &mut longest[whole[task] as usize];
            if work[task] > *first {
                (*first, *second) = (work[task], *first);
            } else {
                *second = (*second).max(work[task]);
            }
        }
        // A started thread that does next to nothing, for example one that waits for work, is not a
        // share.
        for task in 0..tasks.len() {
            let group = whole[task];
            if group != NONE && group >= scopes {
                let (first, _) = longest[group as usize];
                if (work[task] as f64) < MIN_SHARE_OF_LONGEST * first as f64 {
                    whole[task] = NONE;
                    count[group as usize] -= 1;
                }
            }
        }
        let is_inner = dag.meta.section.is_some() && dag.meta.workers > 1;
        let shared_out = |whole: u32| {
            let (first, second) = longest[whole as usize];
            // In a section, the other members of the region may be outside.
            let is_alone = count[whole as usize] == 1 && !is_inner && whole < scopes;
            is_alone
                || second as f64 >= MIN_SHARE_OF_LONGEST * first as f64 && (second > 0 || !is_inner)
        };
        for whole in whole.iter_mut().filter(|whole| **whole != NONE) {
            if !shared_out(*whole) {
                *whole = NONE;
            }
        }
        ShareTable {
            whole,
            count,
            scopes,
        }
    }

    /// Number of shares of a whole.
    pub(crate) fn threads(&self, whole: u32) -> u32 {
        self.count.get(whole as usize).copied().unwrap_or(0)
    }

    /// The whole that strand `s` is in a share of; `None` if it is not in a share.
    pub(crate) fn whole_of(&self, dag: &Dag, s: StrandId) -> Option<u32> {
        let task = dag.strands.task[s as usize];
        let whole = self.whole.get(task as usize).copied();
        whole.filter(|&w| w != NONE && !dag.folded.has(s))
    }
}

/// Marks the implicit tasks of regions, with the scope of their phase, and counts the tasks of each
/// scope.
fn members(dag: &Dag, whole: &mut [u32], of_member: &mut [TaskId], in_scope: &mut [u32]) {
    let is_team = |scope: u32| {
        let scope = dag.scopes.get(scope as usize);
        scope.is_some_and(|s| s.kind == ScopeKind::Team)
    };
    if !dag.scopes.iter().any(|s| s.kind == ScopeKind::Team) {
        return;
    }
    let tasks = &dag.tasks;
    for &scope in tasks.scope.iter().filter(|&&s| s != NONE) {
        in_scope[scope as usize] += 1;
    }
    // A parent has a smaller level, but not always a smaller number: members come first, then their
    // chunks.
    for task in 0..tasks.len() {
        let scope = tasks.scope[task];
        if tasks.kind[task] == TaskKind::Inline && is_team(scope) {
            (whole[task], of_member[task]) = (scope, task as TaskId);
        }
    }
    for task in 0..tasks.len() {
        let (scope, parent) = (tasks.scope[task], tasks.parent[task]);
        let only = scope != NONE && !is_team(scope) && in_scope[scope as usize] == 1;
        if tasks.kind[task] == TaskKind::Inline
            && only
            && parent != NONE
            && of_member[parent as usize] == parent
        {
            (whole[task], of_member[task]) = (whole[parent as usize], parent);
        }
    }
}

/// Marks the threads that one task started at one place, where there are several.
fn started_threads(dag: &Dag, whole: &mut [u32], of_member: &mut [TaskId], count: &mut Vec<u32>) {
    let tasks = &dag.tasks;
    let threads = || (0..tasks.len() as TaskId).filter(|&task| dag.is_thread_task(task));
    let group = |task: TaskId| (tasks.parent[task as usize], tasks.site[task as usize]);
    let mut groups: BTreeMap<(TaskId, PlaceId), Vec<TaskId>> = BTreeMap::new();
    for task in threads() {
        groups.entry(group(task)).or_default().push(task);
    }
    for members in groups.values().filter(|members| members.len() > 1) {
        for &task in members {
            (whole[task as usize], of_member[task as usize]) = (count.len() as u32, task);
        }
        count.push(members.len() as u32);
    }
}

fn shares(dag: &Dag, weights: &Weights, path: &[StrandId], span: u128) -> Option<ThreadShares> {
    let table = ShareTable::new(dag, weights);
    if table.whole.is_empty() {
        return None;
    }
    let mut critical = 0;
    // A list by place and number of threads is enough, because a program has few.
    let mut regions: Vec<((PlaceId, bool, u32), u128)> = Vec::new();
    for &s in path {
        let Some(whole) = table.whole_of(dag, s) else {
            continue;
        };
        let weight = weights.path(s, 0);
        critical += weight;
        let are_started = whole >= table.scopes;
        let place = match are_started {
            true => dag.tasks.site[dag.strands.task[s as usize] as usize],
            false => place_of_region(dag, s, whole),
        };
        let key = (place, are_started, table.threads(whole));
        match regions.iter_mut().find(|r| r.0 == key) {
            Some(region) => region.1 += weight,
            None => regions.push((key, weight)),
        }
    }
    if (critical as f64) < NOTABLE_SHARES * span as f64 || critical == 0 {
        return None;
    }
    let most = regions
        .into_iter()
        .max_by_key(|r| (r.1, std::cmp::Reverse(r.0)));
    let ((region, are_started, threads), _) = most?;
    let mut cover = TargetWeights::none(dag);
    let mut work = 0;
    for s in 0..dag.strands.len() as StrandId {
        if table.whole_of(dag, s).is_some() {
            cover.inside[s as usize] = weights.work(s) as f64;
            work += u128::from(weights.work(s));
        }
    }
    let divided = FasterPaths::new(dag, weights, &cover, f64::INFINITY, &Burden::none()).span(dag);
    Some(ThreadShares {
        region,
        are_started,
        threads,
        critical,
        work,
        divided_span: divided.max(0.0) as u128,
    })
}

/// The place of the region of strand `s`: where its implicit tasks were created.
fn place_of_region(dag: &Dag, s: StrandId, phase: u32) -> PlaceId {
    let task = dag.strands.task[s as usize] as usize;
    let member = match dag.tasks.scope[task] == phase {
        true => task,
        false => dag.tasks.parent[task] as usize,
    };
    dag.tasks.site[member]
}
