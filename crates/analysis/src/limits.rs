//! What a bound of the speedup says nothing about (MODEL.md §2): how far shares of a parallel
//! region can be divided, and blocked time.
//!
//! A bound is a fact about the recorded DAG. Two things make it none about the program. A parallel
//! region has one task a thread, and where these are shares of a loop, how many there are was
//! chosen for this run; so was the number of threads that a program starts by itself to share its
//! work. And a program that waits for locks or for I/O waits on edges that the DAG
//! has not.

use std::collections::BTreeMap;

use workspan_dag::{Dag, NONE, PlaceId, ScopeKind, StrandId, TaskId, TaskKind};

use crate::contended_lock::{ContendedLock, most_contended};
use crate::heaviest::{Burden, Heaviest};
use crate::options::{Error, Metric, Options};
use crate::weight::Weights;
use crate::what_if::{FasterPaths, TargetWeights};
use crate::work_span::OtherSpans;

/// Blocked time below this part of work and blocked time, that makes the span longer by less than
/// this part of it, does not change what a bound is worth.
const NOTABLE_BLOCKED: f64 = 0.1;
/// Shares that make up less than this part of the critical path limit nothing.
const NOTABLE_SHARES: f64 = 0.1;
/// The second longest task of a phase takes at least this part of the longest where the work was
/// shared out; where one thread did it (`single`, `master`), the others have next to nothing.
const SHARED_OUT: f64 = 0.1;

/// What a bound of the speedup says nothing about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Work was divided by the number of threads.
    pub shares: Option<ThreadShares>,
    /// The program blocked for a tenth or more of its time, or of what its critical path takes, in
    /// waits that the bounds do not know.
    pub blocked: Option<Blocked>,
    /// The lock that was held for longest while others waited for it, where that is longer than the
    /// span.
    pub lock: Option<ContendedLock>,
    /// The span without the order in which threads took locks, where that is shorter: another run
    /// may take them in another order.
    pub span_without_lock_order: Option<u128>,
}

/// The spans of a run that its limits are measured from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spans {
    pub span: u128,
    /// With blocked time counted.
    pub with_blocked: u128,
    /// Without the order in which threads took locks, where there is one.
    pub without_lock_order: Option<u128>,
}

/// Work on the critical path that was divided by the number of threads: parallel regions, or threads
/// that the program started at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadShares {
    /// The place of the tasks, or threads, that have most of it.
    pub region: PlaceId,
    /// The program started the threads there itself: it is no parallel region.
    pub are_started: bool,
    /// Number of threads it was divided among, and so of shares.
    pub threads: u32,
    /// Ticks of the critical path that lie in shares, of this region and of others.
    pub critical: u128,
    /// Work of all shares, in ticks.
    pub work: u128,
    /// The span if shares could be divided at will. The speedup is at most work over this on more
    /// threads.
    pub divided_span: u128,
}

/// Time in which strands had given up the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocked {
    /// Of all strands, in ticks.
    pub ticks: u128,
    /// Of them those in waits that another thread ended by a signal: their ends are edges that the
    /// bounds go along. Those for locks are edges too, but in an order that bounds nothing.
    pub connected: u128,
    /// `ticks` and the work.
    pub of: u128,
    /// What strands waited for is known, of some at least.
    pub is_explained: bool,
}

/// What the bounds of `dag`, measured with `options`, say nothing about. O(n).
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

/// Shares are even where together they have this part of their number times what the critical path
/// has of them, or more.
const EVEN_SHARES: f64 = 0.75;

impl ThreadShares {
    /// Whether no share is much longer than the others.
    pub(crate) fn are_even(&self) -> bool {
        self.work as f64 >= EVEN_SHARES * f64::from(self.threads) * self.critical as f64
    }
}

impl Blocked {
    /// In percent of work and blocked time.
    pub fn percent(&self) -> f64 {
        crate::warnings::percent(self.ticks, self.of)
    }
}

impl Limits {
    /// Measures them. `path` is the critical path of `weights`; these and `spans` are those of
    /// `options`. O(n) where there are regions.
    pub(crate) fn new(
        dag: &Dag,
        weights: &Weights,
        options: &Options,
        path: &[StrandId],
        spans: Spans,
    ) -> Limits {
        let span = spans.span;
        let blocked = Blocked {
            ticks: weights.blocked,
            connected: connected(dag).min(weights.blocked),
            of: weights.blocked + weights.total(),
            is_explained: dag.samples.stops.iter().any(|stop| stop.wait.is_some()),
        };
        let counts = options.metric == Metric::Time && !options.count_blocked;
        let part = |of: u128| NOTABLE_BLOCKED * of as f64;
        let longer = spans.with_blocked.saturating_sub(span) as f64;
        let notable = blocked.ticks as f64 >= part(blocked.of) || longer >= part(span);
        let unknown = (blocked.ticks - blocked.connected) as f64;
        let matters =
            unknown >= part(blocked.of) || (longer >= part(span) && unknown >= part(blocked.ticks));
        Limits {
            shares: shares(dag, weights, path, span),
            blocked: (counts && blocked.ticks > 0 && matters).then_some(blocked),
            lock: (counts && notable)
                .then(|| most_contended(dag))
                .flatten()
                .filter(|lock| lock.held > spans.without_lock_order.unwrap_or(span)),
            span_without_lock_order: spans.without_lock_order.filter(|&without| without < span),
        }
    }

    /// The span that bounds a speedup on `workers` from above, of a run with this span: where there
    /// are more than there are shares, nothing is known of how the program would be divided, so
    /// only what is in no share bounds it.
    pub(crate) fn bounding_span(&self, span: u128, workers: u32) -> u128 {
        let span = self.without_lock_order(span);
        let divided = self.shares.filter(|s| workers > s.threads);
        let divided = divided.map_or(span, |s| s.divided_span.min(span));
        // Whoever held the lock did so after one another.
        self.lock.map_or(divided, |lock| lock.held.max(divided))
    }

    /// The span that bounds a speedup however many workers there are.
    pub fn bounding_span_of(&self, span: u128) -> u128 {
        let span = self.without_lock_order(span);
        self.lock.map_or(span, |lock| lock.held.max(span))
    }

    fn without_lock_order(&self, span: u128) -> u128 {
        self.span_without_lock_order
            .map_or(span, |shorter| shorter.min(span))
    }
}

/// Ticks in waits that are handoffs, and not an order of locks.
fn connected(dag: &Dag) -> u128 {
    let handoffs = dag.handoffs.list.iter().filter(|h| !h.is_order);
    let ticks = handoffs.map(|handoff| dag.samples.stops[handoff.stop as usize].ticks);
    ticks.map(u128::from).sum()
}

/// Which tasks are shares, and of what.
pub(crate) struct ShareTable {
    /// What a task is a share of: the scope of a region's phase, or for a started thread the number
    /// of scopes plus that of its group. `NONE` for other tasks. Empty where there is no share.
    whole: Vec<u32>,
    /// Number of shares of each whole.
    count: Vec<u32>,
    /// Number of scopes.
    scopes: u32,
}

impl ShareTable {
    /// Implicit tasks of regions whose work was shared out, and threads that one task started at one
    /// place; what a thread was told of a loop as one chunk belongs to it.
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
        // The two longest of each.
        let mut longest = vec![(0u64, 0u64); count.len()];
        for task in (0..tasks.len()).filter(|&t| of_member[t] == t as TaskId) {
            let (first, second) = &mut longest[whole[task] as usize];
            if work[task] > *first {
                (*first, *second) = (work[task], *first);
            } else {
                *second = (*second).max(work[task]);
            }
        }
        let is_inner = dag.meta.section.is_some() && dag.meta.workers > 1;
        let shared_out = |whole: u32| {
            let (first, second) = longest[whole as usize];
            // Of a section's region the other members may be outside.
            let is_alone = count[whole as usize] == 1 && !is_inner && whole < scopes;
            is_alone || second as f64 >= SHARED_OUT * first as f64 && (second > 0 || !is_inner)
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

    /// What strand `s` is in a share of.
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
    // A parent has a smaller level, not always a smaller number: members first, then their chunks.
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
    let mut groups: BTreeMap<(TaskId, PlaceId), u32> = BTreeMap::new();
    for task in threads() {
        *groups.entry(group(task)).or_default() += 1;
    }
    groups.retain(|_, threads| *threads > 1);
    let first = count.len() as u32;
    count.extend(groups.values());
    for (number, threads) in (first..).zip(groups.values_mut()) {
        *threads = number;
    }
    for task in threads() {
        if let Some(&number) = groups.get(&group(task)) {
            (whole[task as usize], of_member[task as usize]) = (number, task);
        }
    }
}

fn shares(dag: &Dag, weights: &Weights, path: &[StrandId], span: u128) -> Option<ThreadShares> {
    let of = ShareTable::new(dag, weights);
    if of.whole.is_empty() {
        return None;
    }
    let mut critical = 0;
    // By place and number of threads: a program has few.
    let mut regions: Vec<((PlaceId, bool, u32), u128)> = Vec::new();
    for &s in path {
        let Some(whole) = of.whole_of(dag, s) else {
            continue;
        };
        let weight = weights.path(s, 0);
        critical += weight;
        let are_started = whole >= of.scopes;
        let place = match are_started {
            true => dag.tasks.site[dag.strands.task[s as usize] as usize],
            false => place_of_region(dag, s, whole),
        };
        let key = (place, are_started, of.threads(whole));
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
        if of.whole_of(dag, s).is_some() {
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

/// Where the region of strand `s` is: where its implicit tasks were created.
fn place_of_region(dag: &Dag, s: StrandId, phase: u32) -> PlaceId {
    let task = dag.strands.task[s as usize] as usize;
    let member = match dag.tasks.scope[task] == phase {
        true => task,
        false => dag.tasks.parent[task] as usize,
    };
    dag.tasks.site[member]
}
