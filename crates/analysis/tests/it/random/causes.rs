//! A second implementation of the causes: tick by tick over the strands of the DAG, answering each
//! question for all of them anew.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use workspan_analysis::Options;
use workspan_analysis::causes::{Cause, Causes};
use workspan_dag::{Dag, EdgeKind, EndKind, NONE, OffCpuReason, StartKind, Steals, TaskKind};

/// A cause with the place that distinguishes it from others of its kind: site, start, end.
type Key = (Cause, u32, (u32, u8), (u32, u8));

struct Slow<'a> {
    dag: &'a Dag,
    steal: u64,
    probe: u64,
    workers: u64,
    /// When each strand became ready, and by which kind of edge.
    ready: Vec<Option<(u64, EdgeKind)>>,
    path: Vec<usize>,
    work: Vec<u64>,
    size: Vec<u64>,
}

impl<'a> Slow<'a> {
    fn new(dag: &'a Dag, steal: u64, probe: u64) -> Slow<'a> {
        let count = dag.strands.len();
        let latest: Vec<_> = (0..count).map(|s| latest(dag, s)).collect();
        let joined = |t: usize| dag.waits.tasks.items.contains(&(t as u32));
        let mut ends: Vec<usize> = (0..dag.tasks.len()).filter(|&t| !joined(t)).collect();
        let end = |t: usize| dag.strands.end[dag.tasks.last[t] as usize];
        ends.sort_by_key(|&t| (Reverse(end(t)), dag.tasks.parent[t] != NONE, t));
        let mut path = vec![dag.tasks.last[ends[0]] as usize];
        while let Some((p, _)) = latest[path[path.len() - 1]] {
            path.push(p);
        }
        path.reverse();
        let inside = |t: usize, around: usize| {
            let mut at = t;
            while at != around && dag.tasks.parent[at] != NONE {
                at = dag.tasks.parent[at] as usize;
            }
            at == around
        };
        let tasks = 0..dag.tasks.len();
        let off = |s: usize, t: u64| {
            let of = |o: &&workspan_dag::OffCpuInterval| {
                o.thread == dag.strands.thread[s] && (o.start..o.end).contains(&t)
            };
            dag.offs.iter().find(of).map(|o| o.why)
        };
        // Time neither preempted nor in probes, which are taken out of the time on the CPU.
        let length = |s: usize| {
            let ticks = dag.strands.start[s]..dag.strands.end[s];
            let on = ticks.clone().filter(|&t| off(s, t).is_none()).count() as u64;
            let blocked = ticks.filter(|&t| off(s, t) == Some(OffCpuReason::Blocked));
            let ends = 1 + u64::from(dag.strands.start_kind[s] != StartKind::AfterSignal);
            on.saturating_sub(ends * probe) + blocked.count() as u64
        };
        let work = |t: usize| {
            let own = |s: &usize| inside(dag.strands.task[*s] as usize, t);
            (0..count).filter(own).map(length).sum()
        };
        let size = |t: usize| tasks.clone().filter(|&u| inside(u, t)).count() as u64;
        Slow {
            dag,
            steal,
            probe,
            workers: u64::from(dag.meta.workers),
            ready: latest
                .iter()
                .map(|l| l.map(|(p, kind)| (dag.strands.end[p], kind)))
                .collect(),
            path,
            work: tasks.clone().map(work).collect(),
            size: tasks.clone().map(size).collect(),
        }
    }

    fn key(&self, cause: Cause, s: usize) -> Key {
        let strands = &self.dag.strands;
        let site = self.dag.tasks.site[strands.task[s] as usize];
        let from = (self.dag.starts_at(s as u32), strands.start_kind[s] as u8);
        (
            cause,
            site,
            from,
            (strands.to[s], strands.end_kind[s] as u8),
        )
    }

    fn off(&self, s: usize, t: u64) -> Option<OffCpuReason> {
        let thread = self.dag.strands.thread[s];
        let on =
            |o: &&workspan_dag::OffCpuInterval| o.thread == thread && o.start <= t && t < o.end;
        self.dag.offs.iter().find(on).map(|o| o.why)
    }

    fn outside(&self, s: usize) -> bool {
        self.dag.strands.thread[s] >= self.dag.meta.workers
    }

    /// Whether a worker without a strand is preempted.
    fn pool_waits_for_a_cpu(&self, t: u64) -> bool {
        let strands = &self.dag.strands;
        let runs = |w: u32| {
            (0..strands.len())
                .any(|s| strands.thread[s] == w && (strands.start[s]..strands.end[s]).contains(&t))
        };
        let is_off = |w: u32| {
            let mut offs = self.dag.offs.iter().filter(|o| o.thread == w);
            let off = offs.find(|o| (o.start..o.end).contains(&t));
            off.is_some_and(|o| o.why == OffCpuReason::Preempted)
        };
        (0..self.dag.meta.workers).any(|w| is_off(w) && !runs(w))
    }

    /// The strand of a thread that started next after `s`.
    fn next_there(&self, s: usize) -> Option<usize> {
        let thread = &self.dag.strands.thread;
        (s + 1..thread.len()).find(|&n| thread[n] == thread[s])
    }

    /// The stretches of the path from create to create, and the strands in them that are turns of a
    /// loop.
    fn turn(&self, s: usize) -> Option<(u32, u64, u64)> {
        let strands = &self.dag.strands;
        let is_turn = |s: usize| {
            strands.start_kind[s] == StartKind::AfterCreate
                && strands.end_kind[s] == EndKind::Create
        };
        let at = self.path.iter().position(|&p| p == s)?;
        let goes_on = |&p: &usize| strands.start_kind[p] == StartKind::AfterCreate;
        let first = (0..=at).rev().find(|&i| !goes_on(&self.path[i]))?;
        let last = (at + 1..self.path.len())
            .find(|&i| !goes_on(&self.path[i]))
            .unwrap_or(self.path.len());
        let run = &self.path[first..last];
        let ends = |s: usize| (self.dag.starts_at(s as u32), strands.to[s]);
        let timed = |&&p: &&usize| strands.start[p] < strands.end[p];
        let turns = run.iter().filter(timed);
        let turns = turns.filter(|&&p| is_turn(p) && ends(p) == ends(s)).count();
        let created = |t: &usize| {
            let kind = self.dag.tasks.kind[*t];
            let stealable = matches!(kind, TaskKind::Deferred | TaskKind::Detached);
            stealable && run.contains(&(self.dag.tasks.creator[*t] as usize))
        };
        let tasks: Vec<usize> = (0..self.dag.tasks.len()).filter(created).collect();
        let enough = is_turn(s) && turns >= 16 && tasks.len() >= 16;
        enough.then(|| {
            let work = tasks.iter().map(|&t| self.work[t]).sum();
            (self.dag.tasks.site[tasks[0]], tasks.len() as u64, work)
        })
    }

    fn of_loop(&self, (site, tasks, work): (u32, u64, u64)) -> Key {
        let fine = u128::from(work) < 2 * u128::from(self.steal) * u128::from(tasks);
        let cause = if fine {
            Cause::GrainFine
        } else {
            Cause::SpawnLoop
        };
        whole(cause, site)
    }

    /// The cause of no work while `s`, number `at` of the path, runs.
    fn running(&self, at: usize, t: u64, running: u64) -> Key {
        let s = self.path[at];
        match self.off(s, t) {
            Some(OffCpuReason::Preempted) => return whole(Cause::Descheduled, NONE),
            Some(OffCpuReason::Blocked) => {
                let own = u64::from(!self.outside(s));
                if running == own {
                    if self.outside(s) && self.pool_waits_for_a_cpu(t) {
                        return whole(Cause::Descheduled, NONE);
                    }
                    return self.key(Cause::Blocked, s);
                }
                let strands = &self.dag.strands;
                let runs = |o: &usize| {
                    *o != s
                        && (strands.start[*o]..strands.end[*o]).contains(&t)
                        && !(self.outside(*o) && self.off(*o, t) == Some(OffCpuReason::Blocked))
                };
                return match (0..strands.len()).find(runs) {
                    Some(other) if running == own + 1 => match self.off(other, t) {
                        None => self.key(Cause::SerialStrand, other),
                        Some(OffCpuReason::Preempted) => whole(Cause::Descheduled, NONE),
                        Some(OffCpuReason::Blocked) => self.key(Cause::Blocked, other),
                    },
                    _ => whole(Cause::None, NONE),
                };
            }
            None => {}
        }
        if let Some(turn) = self.turn(s) {
            return self.of_loop(turn);
        }
        let task = self.dag.strands.task[s] as usize;
        let ends_a_phase = || {
            let mut last = at;
            while self
                .path
                .get(last + 1)
                .is_some_and(|&p| self.dag.strands.task[p] as usize == task)
            {
                last += 1;
            }
            let end = self.dag.tasks.last[task] as usize;
            if self.path[last] != end || self.dag.tasks.parent[task] == NONE {
                return false;
            }
            let phase: Vec<usize> = match self.path.get(last + 1) {
                None => {
                    let same = |t: &usize| {
                        let joined = self.dag.waits.tasks.items.contains(&(*t as u32));
                        !joined && self.dag.tasks.parent[*t] == self.dag.tasks.parent[task]
                    };
                    (0..self.dag.tasks.len()).filter(same).collect()
                }
                Some(&next) => {
                    let wait = self
                        .dag
                        .waits
                        .after
                        .iter()
                        .position(|&a| a as usize == next);
                    let list = wait.map_or(&[][..], |w| self.dag.waits.tasks.get(w));
                    list.iter().map(|&t| t as usize).collect()
                }
            };
            let start_of = |t: usize| self.dag.strands.start[self.dag.tasks.first[t] as usize];
            let other_half = match (self.path.get(last + 1), self.dag.tasks.creator[task]) {
                (Some(&next), creator)
                    if phase.len() == 1
                        && creator != NONE
                        && !self.dag.is_thread_task(task as u32) =>
                {
                    let strands = &self.dag.strands;
                    let wait = strands.prev[next] as usize;
                    let half = strands.end[wait].saturating_sub(strands.end[creator as usize]);
                    strands.task[creator as usize] == strands.task[next]
                        && 2 * half >= strands.end[end] - start_of(task)
                }
                _ => false,
            };
            let starts = |t: &usize| self.dag.strands.start[self.dag.tasks.first[*t] as usize];
            let late = phase.iter().any(|t| starts(t) >= self.dag.strands.end[end]);
            phase.contains(&task) && (phase.len() > 1 || other_half) && !late
        };
        if self.size[task] == 1 && ends_a_phase() {
            return whole(Cause::GrainCoarse, self.dag.tasks.site[task]);
        }
        self.key(Cause::SerialStrand, s)
    }

    /// The cause of the delay of `s`, for which a worker was free for `served` ticks.
    fn delayed(&self, s: usize, served: u64) -> Key {
        let strands = &self.dag.strands;
        let (ready, kind) = self.ready[s].unwrap();
        let (start, prev) = (strands.start[s], strands.prev[s] as usize);
        let task = strands.task[s] as usize;
        let site = self.dag.tasks.site[task];
        let from_here = |cause| {
            let (cause, site, from, _) = self.key(cause, s);
            (cause, site, from, (NONE, EndKind::End as u8))
        };
        let stays = prev < s && strands.thread[prev] == strands.thread[s];
        if stays && strands.start_kind[s] == StartKind::AfterWait {
            let above = |u: usize| {
                strands.thread[u] == strands.thread[s]
                    && strands.start[u].max(ready) < strands.end[u].min(start)
            };
            if (0..strands.len()).any(above) {
                return from_here(Cause::BuriedWait);
            }
        }
        // A creator that stopped with its create, or with a yield right after it.
        let creator = match strands.start_kind[s] {
            StartKind::AfterCreate => strands.prev[s],
            StartKind::AfterYield => strands.prev[prev],
            _ => NONE,
        };
        let created = creator != NONE && strands.end_kind[creator as usize] == EndKind::Create;
        if stays
            && created
            && let Some(next) = self.next_there(prev)
        {
            let child = strands.task[next] as usize;
            let is_child = self.dag.tasks.first[child] as usize == next
                && self.dag.tasks.creator[child] == creator;
            let place = |cause| whole(cause, self.dag.tasks.site[child]);
            if is_child && self.dag.tasks.kind[child] == TaskKind::Inline {
                return place(Cause::GrainCoarse);
            }
            if is_child && self.dag.meta.steals == Steals::Child {
                return place(Cause::BoundedQueue);
            }
        }
        let preempted = |t: &u64| self.off(s, *t) == Some(OffCpuReason::Preempted);
        let off = (ready..start).filter(preempted).count() as u64;
        if off * 2 >= start - ready {
            return whole(Cause::Descheduled, NONE);
        }
        let is_new = matches!(kind, EdgeKind::Create | EdgeKind::Depend);
        let (work, size) = (u128::from(self.work[task]), u128::from(self.size[task]));
        let steal = u128::from(self.steal);
        let is_put = is_new && self.dag.tasks.kind[task] == TaskKind::Inline;
        if !is_put && ((is_new && work < 2 * steal) || work * 4 < steal * size) {
            return whole(Cause::GrainFine, site);
        }
        if u128::from(served) <= 4 * steal || self.workers == 1 {
            let creator = self.dag.tasks.creator[task];
            let turn = (creator != NONE).then(|| self.turn(creator as usize));
            return match turn.flatten() {
                Some(turn) if is_new && self.workers > 1 => self.of_loop(turn),
                _ => whole(Cause::None, NONE),
            };
        }
        if is_new {
            whole(Cause::SlowThief, site)
        } else {
            from_here(Cause::SlowThief)
        }
    }

    /// The time from which the worker that starts `s` is on its way to it.
    fn approached(&self, s: usize) -> u64 {
        let strands = &self.dag.strands;
        let start = strands.start[s];
        let before = |u: &usize| {
            strands.thread[*u] == strands.thread[s]
                && strands.start[*u] < start.min(strands.end[*u])
        };
        let ended = (0..s).filter(before).map(|u| strands.end[u]).max();
        match ended {
            Some(end)
                if start < strands.end[s]
                    && self.ready[s].unwrap().0 <= end
                    && !self.outside(s) =>
            {
                end.min(start)
            }
            _ => start,
        }
    }

    /// Number of tasks of each site that tasks of site `parent` created.
    fn children(&self, parent: u32) -> BTreeMap<u32, u128> {
        let tasks = &self.dag.tasks;
        let mut sites = BTreeMap::new();
        for t in 0..tasks.len() {
            if tasks.parent[t] != NONE && tasks.site[tasks.parent[t] as usize] == parent {
                *sites.entry(tasks.site[t]).or_default() += 1;
            }
        }
        sites
    }

    /// The site of the task that created `s`, or that continues in it, if its thread made it ready
    /// and its children are too small.
    fn parent_of_small(&self, s: usize) -> Option<u32> {
        let (strands, tasks) = (&self.dag.strands, &self.dag.tasks);
        let (by, _) = latest(self.dag, s)?;
        let task = strands.task[s];
        let parent = match strands.prev[s] {
            NONE => tasks.parent[task as usize],
            _ => task,
        };
        if strands.thread[by] != strands.thread[s] || parent == NONE {
            return None;
        }
        let site = tasks.site[parent as usize];
        let (mut work, mut count) = (0, 0);
        for (site, n) in self.children(site) {
            let of_site = |t: &usize| tasks.site[*t] == site;
            let all = (0..tasks.len()).filter(of_site).count() as u128;
            let own = |s: &usize| of_site(&(strands.task[*s] as usize));
            let on_cpu = (0..strands.len()).filter(own).map(|s| {
                let ticks = strands.start[s]..strands.end[s];
                let on = ticks.filter(|&t| self.off(s, t).is_none()).count() as u64;
                let ends = 1 + u64::from(strands.start_kind[s] != StartKind::AfterSignal);
                u128::from(on.saturating_sub(ends * self.probe))
            });
            work += n * on_cpu.sum::<u128>() / all;
            count += n;
        }
        (work < 2 * u128::from(self.steal) * count).then_some(site)
    }

    /// Lost worker-ticks by cause and place; and whether more strands ever ran than there are
    /// workers.
    fn ledger(&self) -> (BTreeMap<Key, u128>, bool) {
        let strands = &self.dag.strands;
        let count = strands.len();
        let (begin, end) = (
            strands.start.iter().min().unwrap(),
            strands.end.iter().max().unwrap(),
        );
        let mut served = vec![(0, 0, 0); count];
        let mut gaps: BTreeMap<u32, u128> = BTreeMap::new();
        let mut before_start = vec![0; count];
        let mut recording = BTreeMap::new();
        let mut no_work = Vec::new();
        let mut sums: BTreeMap<Key, u128> = BTreeMap::new();
        let mut over = false;
        for t in *begin..*end {
            let runs = |s: &usize| strands.start[*s] <= t && t < strands.end[*s];
            let doing: Vec<(usize, Option<OffCpuReason>)> = (0..count)
                .filter(runs)
                .map(|s| (s, self.off(s, t)))
                .filter(|&(s, off)| !(self.outside(s) && off == Some(OffCpuReason::Blocked)))
                .collect();
            let order = [
                None,
                Some(OffCpuReason::Preempted),
                Some(OffCpuReason::Blocked),
            ];
            let mut room = self.workers as usize;
            for what in order {
                for &(s, _) in doing.iter().filter(|d| d.1 == what).take(room) {
                    match what {
                        None => {}
                        Some(OffCpuReason::Preempted) => {
                            *sums.entry(whole(Cause::Descheduled, NONE)).or_default() += 1
                        }
                        Some(OffCpuReason::Blocked) => {
                            *sums.entry(self.key(Cause::Blocked, s)).or_default() += 1
                        }
                    }
                }
                room = room.saturating_sub(doing.iter().filter(|d| d.1 == what).count());
            }
            over |= doing.len() as u64 > self.workers;
            let stands =
                |s: &usize| self.ready[*s].is_some_and(|r| r.0 <= t && t < strands.start[*s]);
            let mut ready: Vec<usize> = (0..count).filter(stands).collect();
            let approached = |s: usize| self.approached(s) <= t;
            ready.sort_by_key(|&s| (!approached(s), self.ready[s].unwrap().0, strands.task[s], s));
            // The strands served last are served by workers that are preempted between strands and
            // not on their way to one.
            let between = (0..self.dag.meta.workers).filter(|&w| {
                let on = |s: usize| strands.thread[s] == w;
                let goes = |&s: &usize| on(s) && approached(s);
                let is_off = |o: &workspan_dag::OffCpuInterval| {
                    o.thread == w
                        && o.why == OffCpuReason::Preempted
                        && (o.start..o.end).contains(&t)
                };
                !(0..count).any(|s| on(s) && runs(&s))
                    && !ready.iter().any(goes)
                    && self.dag.offs.iter().any(is_off)
            });
            let can_run = room.saturating_sub(between.count());
            for (i, &s) in ready.iter().take(room).enumerate() {
                served[s].0 += 1;
                served[s].1 += u64::from(approached(s));
                served[s].2 += u64::from(!approached(s) && i >= can_run);
            }
            let idle = room.saturating_sub(ready.len());
            if idle > 0 {
                no_work.push((t, idle as u128, doing.len() as u64));
            }
        }
        for (t, idle, running) in no_work {
            let before = self.path.iter().rposition(|&p| strands.start[p] <= t);
            let key = match before {
                None => whole(Cause::None, NONE),
                Some(at) if strands.end[self.path[at]] > t => self.running(at, t, running),
                Some(at) => {
                    before_start[self.path[at + 1]] += idle;
                    continue;
                }
            };
            *sums.entry(key).or_default() += idle;
        }
        for (s, &(mut served, approaching, preempted_between)) in served.iter().enumerate() {
            let mut gap = before_start[s];
            if served > 0 {
                if let Some(parent) = self.parent_of_small(s).filter(|_| approaching > 0) {
                    let preempted = |t: &u64| self.off(s, *t) == Some(OffCpuReason::Preempted);
                    let on_its_way = self.approached(s)..strands.start[s];
                    let off = on_its_way.filter(preempted).count() as u64;
                    let off = off.min(approaching);
                    let own = approaching - off;
                    let is_most = approaching * 2 >= served;
                    let of_gap = if is_most { std::mem::take(&mut gap) } else { 0 };
                    let (off_gap, own_gap) = if off > own { (of_gap, 0) } else { (0, of_gap) };
                    *sums.entry(whole(Cause::Descheduled, NONE)).or_default() +=
                        u128::from(off) + off_gap;
                    *gaps.entry(parent).or_default() += u128::from(own) + own_gap;
                    served -= approaching;
                }
                let off = preempted_between.min(served);
                if off > 0 {
                    let is_most = off * 2 >= served;
                    let of_gap = if is_most { std::mem::take(&mut gap) } else { 0 };
                    *sums.entry(whole(Cause::Descheduled, NONE)).or_default() +=
                        u128::from(off) + of_gap;
                    served -= off;
                }
                if served > 0 {
                    *sums.entry(self.delayed(s, served)).or_default() += u128::from(served) + gap;
                }
            } else if gap > 0 {
                panic!("nobody was free before {s}");
            }
            let on_cpu = (strands.start[s]..strands.end[s]).filter(|&t| self.off(s, t).is_none());
            let on_cpu = on_cpu.count() as u64;
            let ends = 1 + u64::from(strands.start_kind[s] != StartKind::AfterSignal);
            let site = self.dag.tasks.site[strands.task[s] as usize];
            let of_site: &mut (u128, u128) = recording.entry(site).or_default();
            of_site.0 += u128::from((ends * self.probe).min(on_cpu));
            of_site.1 += u128::from(on_cpu);
        }
        for (site, (probes, on_cpu)) in recording {
            let key = if probes * 10 > on_cpu {
                whole(Cause::GrainFine, site)
            } else {
                whole(Cause::None, NONE)
            };
            *sums.entry(key).or_default() += probes;
        }
        for (parent, lost) in gaps {
            let sites = self.children(parent);
            let all: u128 = sites.values().sum();
            let mut before = 0;
            for (site, n) in sites {
                let share = lost * (before + n) / all - lost * before / all;
                *sums.entry(whole(Cause::GrainFine, site)).or_default() += share;
                before += n;
            }
        }
        sums.retain(|_, lost| *lost > 0);
        (sums, over)
    }
}

/// The last predecessor of a strand: the one that ends latest. Ties: a continuation or create edge,
/// end, depend, signal; then the smaller task.
fn latest(dag: &Dag, s: usize) -> Option<(usize, EdgeKind)> {
    let mut all = Vec::new();
    dag.for_each_predecessor(s as u32, |p, kind| {
        let rank = match kind {
            EdgeKind::End => 1,
            EdgeKind::Depend => 2,
            EdgeKind::Signal => 3,
            _ => 0,
        };
        let end = Reverse(dag.strands.end[p as usize]);
        all.push((end, rank, dag.strands.task[p as usize], p, kind));
    });
    all.sort();
    all.first().map(|p| (p.3 as usize, p.4))
}

fn whole(cause: Cause, site: u32) -> Key {
    let (start, end) = (StartKind::Begin as u8, EndKind::End as u8);
    (cause, site, (NONE, start), (NONE, end))
}

/// Compares the causes in `fast` with the slow ones.
pub fn check(dag: &Dag, options: &Options, fast: &Causes, context: &str) {
    let steal = match options.metric {
        workspan_analysis::Metric::Time => options.burden.unwrap_or(dag.meta.burden),
        workspan_analysis::Metric::Counter(_) => dag.meta.burden,
    };
    let probe = if options.raw { 0 } else { dag.meta.probe_cost };
    assert_eq!(fast.by_cause.iter().sum::<u128>(), fast.lost, "{context}");
    let (slow, over) = Slow::new(dag, steal, probe).ledger();
    if over {
        // The loss of strands beyond the workers has no place, so only the sum can be compared.
        return;
    }
    let mut by_cause = [0; Cause::ALL.len()];
    for (key, lost) in &slow {
        by_cause[key.0 as usize] += lost;
    }
    assert_eq!(fast.by_cause, by_cause, "causes, {context}");
    let places: Vec<(Key, u128)> = fast
        .places
        .iter()
        .map(|f| {
            let (from, to) = (
                (f.block.from, f.block.from_kind),
                (f.block.to, f.block.to_kind),
            );
            let key = (
                f.cause,
                f.block.site,
                (from.0, from.1 as u8),
                (to.0, to.1 as u8),
            );
            (key, f.lost)
        })
        .collect();
    for (key, lost) in &places {
        assert_eq!(slow.get(key), Some(lost), "{key:?}, {context}");
    }
    assert!(places.is_sorted_by(|a, b| a.1 >= b.1), "{context}");
    let known = slow.keys().filter(|k| k.0 != Cause::None).count();
    assert_eq!(places.len(), known.min(20), "{context}");
}
