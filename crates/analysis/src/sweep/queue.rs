//! The strands that are ready while the sweep goes on, in the order in which free workers serve
//! them (MODEL.md §5).

use workspan_dag::{Dag, NONE, StrandId};

use super::{FreeWorkerTicks, Moment, ReadyStrands};
use crate::ready::ReadyInterval;

/// The ready strands, those ready for longest first, as a list linked by index into `waiting`. A
/// prefix of it is served. Strands that a worker is on its way to are not in the list.
pub(super) struct Queue<'a> {
    dag: &'a Dag,
    waiting: &'a [ReadyInterval],
    /// (ready time, task, index into `waiting`), ascending.
    order: Vec<(u64, u32, u32)>,
    next_in_order: usize,
    /// Indices into `waiting` of strands that a worker is on its way to, by the time at which it
    /// sets out.
    approaches: Vec<u32>,
    next_approach: usize,
    /// Index into `waiting`, which is in the order of starts, of the next strand to leave.
    next_to_leave: usize,
    /// Neighbours in the list: (before, after).
    links: Vec<(u32, u32)>,
    head: u32,
    tail: u32,
    /// The strands served by free workers; approached strands count in it without being in the
    /// list.
    served: QueuePrefix,
    /// The part of the list that is served by workers that can run: all but as many at its end as
    /// there are preempted workers.
    runnable: QueuePrefix,
    /// The strands that a worker is on its way to, in the order of the list; a prefix is served.
    approached: Vec<PendingStart>,
    approached_served: usize,
    ready: u64,
    ready_by_kind: [u64; 7],
    served_by_kind: [u64; 7],
    served_buried: u64,
}

/// A prefix of the list, and how long each strand was in it.
struct QueuePrefix {
    last: u32,
    count: u64,
    contains: Vec<bool>,
    /// Ticks for which each strand was in the prefix. For one that is in it, minus the time at
    /// which it entered.
    ticks: Vec<u64>,
}

impl QueuePrefix {
    fn new(nodes: usize) -> QueuePrefix {
        QueuePrefix {
            last: NONE,
            count: 0,
            contains: vec![false; nodes],
            ticks: vec![0; nodes],
        }
    }

    fn count(&mut self, node: u32, more: bool, time: u64) {
        self.contains[node as usize] = more;
        // Modulo 2^64; the sum is below that whenever it is read.
        let sum = &mut self.ticks[node as usize];
        *sum = match more {
            true => sum.wrapping_sub(time),
            false => sum.wrapping_add(time),
        };
        self.count = if more { self.count + 1 } else { self.count - 1 };
    }

    /// Removes `node`, which comes after `before`, from the list.
    fn unlink(&mut self, node: u32, before: u32, time: u64) {
        if self.contains[node as usize] {
            self.count(node, false, time);
            if self.last == node {
                self.last = before;
            }
        }
    }
}

/// A ready strand that a worker is on its way to.
struct PendingStart {
    key: (u64, u32, u32),
    /// Ticks for which it was served before.
    served_before: u64,
    /// The part of them by preempted workers.
    preempted_before: u64,
}

impl<'a> Queue<'a> {
    pub(super) fn new(dag: &'a Dag, waiting: &'a [ReadyInterval]) -> Queue<'a> {
        let numbered = waiting.iter().zip(0u32..);
        let mut order: Vec<(u64, u32, u32)> = numbered
            .clone()
            .map(|(w, i)| (w.ready, dag.strands.task[w.strand as usize], i))
            .collect();
        order.sort_unstable();
        let starts = &dag.strands.start;
        let approaches = numbered.filter(|(w, _)| w.approached < starts[w.strand as usize]);
        let mut approaches: Vec<u32> = approaches.map(|(_, i)| i).collect();
        approaches.sort_by_key(|&i| waiting[i as usize].approached);
        Queue {
            dag,
            waiting,
            order,
            next_in_order: 0,
            approaches,
            next_approach: 0,
            next_to_leave: 0,
            links: vec![(NONE, NONE); waiting.len()],
            head: NONE,
            tail: NONE,
            served: QueuePrefix::new(waiting.len()),
            runnable: QueuePrefix::new(waiting.len()),
            approached: Vec::new(),
            approached_served: 0,
            ready: 0,
            ready_by_kind: [0; 7],
            served_by_kind: [0; 7],
            served_buried: 0,
        }
    }

    fn count_served(&mut self, node: u32, more: bool, time: u64) {
        self.served.count(node, more, time);
        let waiting = &self.waiting[node as usize];
        let step = |n: &mut u64| *n = if more { *n + 1 } else { *n - 1 };
        step(&mut self.served_by_kind[waiting.kind as usize]);
        if waiting.buried {
            step(&mut self.served_buried);
        }
    }

    /// The first of the list, or the one after `node`.
    fn after(&self, node: u32) -> u32 {
        match node {
            NONE => self.head,
            last => self.links[last as usize].1,
        }
    }

    /// Ticks for which preempted workers served `node` in the list, which it has left.
    fn preempted(&self, node: usize) -> u64 {
        self.served.ticks[node] - self.runnable.ticks[node]
    }

    /// Removes a strand from the list.
    fn unlink(&mut self, node: u32, time: u64) {
        let (before, after) = self.links[node as usize];
        self.runnable.unlink(node, before, time);
        if self.served.contains[node as usize] {
            self.count_served(node, false, time);
            if self.served.last == node {
                self.served.last = before;
            }
        }
        match before {
            NONE => self.head = after,
            b => self.links[b as usize].1 = after,
        }
        match after {
            NONE => self.tail = before,
            a => self.links[a as usize].0 = before,
        }
    }

    /// Serves only the first `target` of the strands that a worker is on its way to.
    fn serve_approached(&mut self, target: usize, time: u64) {
        while self.approached_served > target {
            self.approached_served -= 1;
            let node = self.approached[self.approached_served].key.2;
            self.count_served(node, false, time);
        }
        while self.approached_served < target {
            let node = self.approached[self.approached_served].key.2;
            self.count_served(node, true, time);
            self.approached_served += 1;
        }
    }

    /// Called when a worker sets out for `node`, which is in the list.
    fn approach(&mut self, node: u32, time: u64) {
        self.unlink(node, time);
        let waiting = &self.waiting[node as usize];
        let task = self.dag.strands.task[waiting.strand as usize];
        let key = (waiting.ready, task, node);
        let at = self.approached.partition_point(|other| other.key < key);
        self.serve_approached(at.min(self.approached_served), time);
        let approached = PendingStart {
            key,
            served_before: self.served.ticks[node as usize],
            preempted_before: self.preempted(node as usize),
        };
        self.approached.insert(at, approached);
    }
}

impl<'a> ReadyStrands<'a> for Queue<'a> {
    fn next_time(&self) -> Option<u64> {
        self.order.get(self.next_in_order).map(|o| o.0)
    }

    fn append_until(&mut self, time: u64) {
        while let Some(&(ready, _, node)) = self.order.get(self.next_in_order)
            && ready <= time
        {
            self.next_in_order += 1;
            self.links[node as usize] = (self.tail, NONE);
            match self.tail {
                NONE => self.head = node,
                tail => self.links[tail as usize].1 = node,
            }
            self.tail = node;
            self.ready += 1;
            self.ready_by_kind[self.waiting[node as usize].kind as usize] += 1;
        }
        // A worker sets out when its last strand ends, or when its next strand is ready. Both are
        // events of the sweep.
        while let Some(&node) = self.approaches.get(self.next_approach)
            && self.waiting[node as usize].approached <= time
        {
            self.next_approach += 1;
            if node as usize >= self.next_to_leave {
                self.approach(node, time);
            }
        }
    }

    /// Called when strand `s` starts at `time`. If it was here, it leaves, and the time for which
    /// it was served is returned.
    fn remove(&mut self, s: StrandId, time: u64) -> Option<(&'a ReadyInterval, FreeWorkerTicks)> {
        let node = self.next_to_leave;
        let waiting = self.waiting.get(node).filter(|w| w.strand == s)?;
        self.next_to_leave += 1;
        self.ready -= 1;
        self.ready_by_kind[waiting.kind as usize] -= 1;
        let is_node = |a: &PendingStart| a.key.2 as usize == node;
        let Some(at) = self.approached.iter().position(is_node) else {
            self.unlink(node as u32, time);
            let served = FreeWorkerTicks {
                all: self.served.ticks[node],
                approaching: 0,
                preempted: self.preempted(node),
            };
            return Some((waiting, served));
        };
        let approached = self.approached.remove(at);
        if at < self.approached_served {
            self.approached_served -= 1;
            self.count_served(node as u32, false, time);
        }
        let all = self.served.ticks[node];
        let served = FreeWorkerTicks {
            all,
            approaching: all - approached.served_before,
            preempted: approached.preempted_before,
        };
        Some((waiting, served))
    }

    /// Serves as many strands as there are free workers, from `time` on.
    fn serve(&mut self, free: u64, preempted: u64, time: u64) {
        let target = free.min(self.ready);
        let approached = (target as usize).min(self.approached.len());
        self.serve_approached(approached, time);
        while self.served.count > target {
            let node = self.served.last;
            self.count_served(node, false, time);
            self.served.last = self.links[node as usize].0;
        }
        while self.served.count < target {
            let node = self.after(self.served.last);
            self.count_served(node, true, time);
            self.served.last = node;
        }
        let listed = target - approached as u64;
        let can_run = free.saturating_sub(approached as u64 + preempted);
        let target = listed.min(can_run);
        while self.runnable.count > target {
            let node = self.runnable.last;
            self.runnable.count(node, false, time);
            self.runnable.last = self.links[node as usize].0;
        }
        while self.runnable.count < target {
            let node = self.after(self.runnable.last);
            self.runnable.count(node, true, time);
            self.runnable.last = node;
        }
    }

    fn approached(&self) -> impl Iterator<Item = StrandId> {
        let strand = |a: &PendingStart| self.waiting[a.key.2 as usize].strand;
        self.approached.iter().map(strand)
    }

    fn next_to_leave(&self) -> Option<StrandId> {
        self.waiting.get(self.next_to_leave).map(|w| w.strand)
    }

    fn tell(&self, moment: &mut Moment) {
        moment.ready = self.ready;
        moment.ready_by_kind = self.ready_by_kind;
        moment.served = self.served.count;
        moment.served_by_kind = self.served_by_kind;
        moment.served_buried = self.served_buried;
    }
}
