//! A second implementation of the measures of MODEL.md §4 (work in regions) and §5: at each tick,
//! it examines what every strand does.

use std::collections::BTreeMap;

use crate::random::run::{Event, Kind, Line};
use crate::random::slow::{Measure, Slow};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doing {
    Works,
    Descheduled,
    Blocked,
    /// Blocked outside the pool, which does not count.
    Away,
}

#[derive(Debug, Default, PartialEq)]
pub struct Times {
    pub begin: u64,
    pub end: u64,
    pub work: u128,
    pub descheduled: u128,
    pub blocked: u128,
    pub recording: u128,
    pub oversubscribed: u128,
    pub delay: u128,
    pub delay_by_edge: [u128; 7],
    pub delay_buried: u128,
    pub no_work_sched: u128,
    pub no_work_app: u128,
    pub buried: u64,
    pub buried_ticks: u128,
    pub path_work: u64,
    pub busy_delay: u64,
    pub scheduler_delay: u64,
    pub steals: u64,
    /// Number of running strands at each tick; the next field has the ready ones by kind.
    pub running: Vec<u64>,
    pub ready: Vec<[u64; 7]>,
    /// Ticks in which one strand ran alone.
    pub alone: u64,
    /// Low parallelism: (begin, end, lost, strands as (ticks, alone)).
    pub low: Vec<Low>,
}

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Low {
    pub begin: u64,
    pub end: u64,
    pub lost: u128,
    /// Ticks and ticks alone by strand.
    pub strands: BTreeMap<usize, (u64, u64)>,
}

impl Slow<'_> {
    fn doing(&self, s: usize, t: u64) -> Option<Doing> {
        let strand = &self.strands[s];
        if t < strand.start || t >= strand.end {
            return None;
        }
        let off = self
            .run
            .offs
            .iter()
            .find(|o| o.w == strand.w && o.start <= t && t < o.end);
        Some(match off {
            None => Doing::Works,
            Some(o) if !o.blocked => Doing::Descheduled,
            Some(_) if strand.w >= self.run.workers => Doing::Away,
            Some(_) => Doing::Blocked,
        })
    }

    /// When strand `s` became ready, by which kind of edge and by which strand.
    pub fn readied(&self, s: usize) -> Option<(u64, usize, usize)> {
        let (p, kind) = self.best_pred(s, |p| u128::from(self.strands[p].end))?;
        Some((self.strands[p].end, kind, p))
    }

    /// Whether `s`, which `by` made ready, was stolen.
    pub fn is_steal(&self, s: usize, by: usize) -> bool {
        let run = self.run;
        let (from, to) = (self.strands[by].w, self.strands[s].w);
        let stays = self.strands[s]
            .waited_in
            .is_some_and(|before| self.strands[before].w == to);
        let strand = &self.strands[s];
        let first = self.of_task[strand.task][0] == s;
        // Put there by the runtime: an inline task, or the instant between two phases of a region.
        let put = (first && run.tasks[strand.task].kind == Kind::Inline)
            || (strand.waited_in.is_some() && strand.start == strand.end);
        let moved = from != to && !stays && !put;
        moved && from < run.workers && to < run.workers
    }

    fn is_buried(&self, s: usize, ready: u64) -> bool {
        let strand = &self.strands[s];
        let Some(prev) = strand.waited_in else {
            return false;
        };
        let overlaps = |u: &crate::random::slow::Strand| {
            u.w == strand.w && u.start.max(ready) < u.end.min(strand.start)
        };
        self.strands[prev].w == strand.w && self.strands.iter().any(overlaps)
    }

    /// The time from which the worker of `s`, which became ready at `ready`, was on its way to it:
    /// the end of the last strand that took time there, if `s` was ready by then.
    fn on_its_way(&self, s: usize, ready: u64) -> u64 {
        let strand = &self.strands[s];
        let before = |u: &&crate::random::slow::Strand| {
            u.w == strand.w && u.start < u.end && u.start < strand.start
        };
        let ended = self.strands.iter().filter(before).map(|u| u.end).max();
        let may = strand.start < strand.end && strand.w < self.run.workers;
        match ended {
            Some(end) if may && ready <= end => end.min(strand.start),
            _ => strand.start,
        }
    }

    pub fn ready_path(&self) -> Vec<usize> {
        let key = |s: usize| u128::from(self.strands[s].end);
        let mut path = vec![self.before_sink(key)];
        while let Some((p, _)) = self.best_pred(*path.last().unwrap(), key) {
            path.push(p);
        }
        path.reverse();
        path
    }

    pub fn times(&self, m: Measure) -> Times {
        let run = self.run;
        let count = self.strands.len();
        let mut out = Times {
            begin: self.strands.iter().map(|s| s.start).min().unwrap(),
            end: self.strands.iter().map(|s| s.end).max().unwrap(),
            ..Times::default()
        };
        let mut readied = vec![None; count];
        let mut buried = vec![false; count];
        for s in 0..count {
            let Some((ready, kind, by)) = self.readied(s) else {
                continue;
            };
            out.steals += u64::from(self.is_steal(s, by));
            readied[s] = Some((ready, kind));
            if ready < self.strands[s].start && self.is_buried(s, ready) {
                buried[s] = true;
                out.buried += 1;
                out.buried_ticks += u128::from(self.strands[s].start - ready);
            }
        }
        let path = self.ready_path();
        let workers = run.workers as u64;
        for t in out.begin..out.end {
            let doing: Vec<(usize, Doing)> = (0..count)
                .filter_map(|s| Some((s, self.doing(s, t)?)))
                .filter(|d| d.1 != Doing::Away)
                .collect();
            let number = |what: Doing| doing.iter().filter(|d| d.1 == what).count() as u64;
            let mut room = workers;
            let mut take = |n: u64, room: &mut u64| {
                let taken = n.min(*room);
                *room -= taken;
                out.oversubscribed += u128::from(n - taken);
                u128::from(taken)
            };
            out.work += take(number(Doing::Works), &mut room);
            out.descheduled += take(number(Doing::Descheduled), &mut room);
            out.blocked += take(number(Doing::Blocked), &mut room);
            let mut ready: Vec<usize> = (0..count)
                .filter(|&s| readied[s].is_some_and(|(r, _)| r <= t && t < self.strands[s].start))
                .collect();
            ready.sort_by_key(|&s| {
                let on_its_way = self.on_its_way(s, readied[s].unwrap().0);
                (on_its_way > t, readied[s].unwrap().0, self.number(s))
            });
            let mut by_kind = [0; 7];
            for (i, &s) in ready.iter().enumerate() {
                let kind = readied[s].unwrap().1;
                by_kind[kind] += 1;
                if (i as u64) < room {
                    out.delay += 1;
                    out.delay_by_edge[kind] += 1;
                    out.delay_buried += u128::from(buried[s]);
                }
            }
            let no_work = u128::from(room.saturating_sub(ready.len() as u64));
            let gap = path
                .windows(2)
                .any(|p| self.strands[p[0]].end <= t && t < self.strands[p[1]].start);
            match (gap, room > 0) {
                (true, true) => {
                    out.scheduler_delay += 1;
                    out.no_work_sched += no_work;
                }
                (true, false) => out.busy_delay += 1,
                (false, _) => {
                    out.path_work += 1;
                    out.no_work_app += no_work;
                }
            }
            out.running.push(doing.len() as u64);
            out.ready.push(by_kind);
            out.alone += u64::from(doing.len() == 1);
            self.low(t, &doing, &mut out);
        }
        let recording: u64 = (0..count)
            .map(|s| {
                let (descheduled, blocked) = self.off(s);
                let strand = &self.strands[s];
                let on_cpu = strand.end - strand.start - descheduled - blocked;
                on_cpu.min(strand.probes * run.probe_cost)
            })
            .sum();
        if !m.raw {
            out.recording = u128::from(recording).min(out.work);
            out.work -= out.recording;
        }
        out
    }

    fn low(&self, t: u64, doing: &[(usize, Doing)], out: &mut Times) {
        let workers = self.run.workers as u64;
        let most = (workers / 4).max(1);
        if workers == 1 || doing.len() as u64 > most {
            return;
        }
        if out.low.last().is_none_or(|l| l.end != t) {
            out.low.push(Low {
                begin: t,
                ..Low::default()
            });
        }
        let low = out.low.last_mut().unwrap();
        low.end = t + 1;
        low.lost += u128::from(workers - doing.len() as u64);
        for s in 0..self.strands.len() {
            if self.doing(s, t).is_some() {
                low.strands.entry(s).or_default().0 += 1;
            }
        }
        if let [(only, _)] = doing {
            low.strands.entry(*only).or_default().1 += 1;
        }
    }

    /// Openings and work of every region; only right without probe cost.
    pub fn regions(&self, m: Measure) -> BTreeMap<&'static str, (u64, u128)> {
        let mut sums = BTreeMap::new();
        for (task, t) in self.run.tasks.iter().enumerate() {
            for line in &t.lines {
                if let Event::RegionBegin { name, .. } = line.event {
                    sums.entry(name).or_insert((0, 0)).0 += 1;
                }
            }
            for &s in &self.of_task[task] {
                for t in self.strands[s].start..self.strands[s].end {
                    let counts = match self.doing(s, t) {
                        Some(Doing::Works) => true,
                        Some(Doing::Blocked | Doing::Away) => m.count_blocked,
                        _ => false,
                    };
                    if let (Some(name), true) = (self.region_at(task, t), counts) {
                        sums.entry(name).or_insert((0, 0)).1 += 1;
                    }
                }
            }
        }
        sums
    }

    fn region_at(&self, task: usize, t: u64) -> Option<&'static str> {
        if let Some(name) = self.inherited(task) {
            return Some(name);
        }
        let before: Vec<&Line> = self.run.tasks[task]
            .lines
            .iter()
            .filter(|l| l.t <= t)
            .collect();
        open_after(&before).first().map(|r| r.0)
    }

    /// The tree region a task was created in.
    fn inherited(&self, task: usize) -> Option<&'static str> {
        let parent = self.run.tasks[task].parent?;
        if let Some(name) = self.inherited(parent) {
            return Some(name);
        }
        let lines = &self.run.tasks[parent].lines;
        let creates = |l: &&Line| matches!(l.event, Event::Create { child, .. } if child == task);
        let at = lines.iter().position(|l| creates(&l)).unwrap();
        let before: Vec<&Line> = lines[..at].iter().collect();
        open_after(&before).iter().find(|r| r.1).map(|r| r.0)
    }
}

/// The regions (name, tree) open after these lines, in opening order.
fn open_after(lines: &[&Line]) -> Vec<(&'static str, bool)> {
    let mut open: Vec<(&'static str, bool)> = Vec::new();
    for line in lines {
        match line.event {
            Event::RegionBegin { name, tree } => open.push((name, tree)),
            Event::RegionEnd { name } => {
                let last = open.iter().rposition(|r| r.0 == name).unwrap();
                open.remove(last);
            }
            _ => {}
        }
    }
    open
}
