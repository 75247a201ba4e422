//! The strands that are ready while the sweep goes on, in the order in which free workers serve
//! them (MODEL.md §5).

use workspan_dag::{Dag, NONE, StrandId};

use super::{Moment, ReadyStrands, Served};
use crate::ready::ReadyInterval;

/// The ready strands, longest ready first, as a list linked by index into `waiting`; a prefix of it
/// is served. Those that a worker is on its way to stand beside it.
pub(super) struct Queue<'a> {
    dag: &'a Dag,
    waiting: &'a [ReadyInterval],
    /// (ready time, task, index into `waiting`), ascending.
    order: Vec<(u64, u32, u32)>,
    next_in_order: usize,
    /// Indices into `waiting` of those that a worker is on its way to, by the time it sets out.
    approaches: Vec<u32>,
    next_approach: usize,
    /// Next of `waiting` (which is in start order) to leave.
    next_to_leave: usize,
    /// Neighbours in the list: (before, after).
    links: Vec<(u32, u32)>,
    is_served: Vec<bool>,
    /// Ticks each was served, less the time it has been served since when it is.
    served_for: Vec<u64>,
    head: u32,
    tail: u32,
    last_served: u32,
    /// Those that a worker is on its way to, in the order of the list; a prefix is served.
    approached: Vec<Approached>,
    approached_served: usize,
    ready: u64,
    ready_by_kind: [u64; 7],
    served: u64,
    served_by_kind: [u64; 7],
    served_buried: u64,
}

/// A ready strand that a worker is on its way to.
struct Approached {
    key: (u64, u32, u32),
    /// Ticks it was served before.
    served_before: u64,
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
            is_served: vec![false; waiting.len()],
            served_for: vec![0; waiting.len()],
            head: NONE,
            tail: NONE,
            last_served: NONE,
            approached: Vec::new(),
            approached_served: 0,
            ready: 0,
            ready_by_kind: [0; 7],
            served: 0,
            served_by_kind: [0; 7],
            served_buried: 0,
        }
    }

    fn count_served(&mut self, node: u32, more: bool, time: u64) {
        self.is_served[node as usize] = more;
        // Modulo 2^64, as the sum is below that whenever it is looked at.
        let sum = &mut self.served_for[node as usize];
        *sum = if more {
            sum.wrapping_sub(time)
        } else {
            sum.wrapping_add(time)
        };
        let waiting = &self.waiting[node as usize];
        let step = |n: &mut u64| *n = if more { *n + 1 } else { *n - 1 };
        step(&mut self.served);
        step(&mut self.served_by_kind[waiting.kind as usize]);
        if waiting.buried {
            step(&mut self.served_buried);
        }
    }

    /// Takes a strand out of the list.
    fn unlink(&mut self, node: u32, time: u64) {
        let (before, after) = self.links[node as usize];
        if self.is_served[node as usize] {
            self.count_served(node, false, time);
            if self.last_served == node {
                self.last_served = before;
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

    /// Of those that a worker is on its way to, only the first `target` are served.
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

    /// A worker sets out for `node`, which is in the list.
    fn approach(&mut self, node: u32, time: u64) {
        self.unlink(node, time);
        let waiting = &self.waiting[node as usize];
        let task = self.dag.strands.task[waiting.strand as usize];
        let key = (waiting.ready, task, node);
        let at = self.approached.partition_point(|other| other.key < key);
        self.serve_approached(at.min(self.approached_served), time);
        let served_before = self.served_for[node as usize];
        self.approached
            .insert(at, Approached { key, served_before });
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
        // A worker sets out when its last strand ends, or its next is ready: at events of the
        // sweep.
        while let Some(&node) = self.approaches.get(self.next_approach)
            && self.waiting[node as usize].approached <= time
        {
            self.next_approach += 1;
            if node as usize >= self.next_to_leave {
                self.approach(node, time);
            }
        }
    }

    /// Strand `s` starts at `time`; it leaves if it was here, and how long it was served is
    /// returned.
    fn remove(&mut self, s: StrandId, time: u64) -> Option<(&'a ReadyInterval, Served)> {
        let node = self.next_to_leave;
        let waiting = self.waiting.get(node).filter(|w| w.strand == s)?;
        self.next_to_leave += 1;
        self.ready -= 1;
        self.ready_by_kind[waiting.kind as usize] -= 1;
        let is_node = |a: &Approached| a.key.2 as usize == node;
        let Some(at) = self.approached.iter().position(is_node) else {
            self.unlink(node as u32, time);
            let all = self.served_for[node];
            let served = Served {
                all,
                approaching: 0,
            };
            return Some((waiting, served));
        };
        let approached = self.approached.remove(at);
        if at < self.approached_served {
            self.approached_served -= 1;
            self.count_served(node as u32, false, time);
        }
        let all = self.served_for[node];
        let approaching = all - approached.served_before;
        Some((waiting, Served { all, approaching }))
    }

    /// Serves as many as there are free workers, from `time` on.
    fn serve(&mut self, free: u64, time: u64) {
        let target = free.min(self.ready);
        let approached = (target as usize).min(self.approached.len());
        self.serve_approached(approached, time);
        while self.served > target {
            let node = self.last_served;
            self.count_served(node, false, time);
            self.last_served = self.links[node as usize].0;
        }
        while self.served < target {
            let node = match self.last_served {
                NONE => self.head,
                last => self.links[last as usize].1,
            };
            self.count_served(node, true, time);
            self.last_served = node;
        }
    }

    fn next_to_leave(&self) -> Option<StrandId> {
        self.waiting.get(self.next_to_leave).map(|w| w.strand)
    }

    fn tell(&self, moment: &mut Moment) {
        moment.ready = self.ready;
        moment.ready_by_kind = self.ready_by_kind;
        moment.served = self.served;
        moment.served_by_kind = self.served_by_kind;
        moment.served_buried = self.served_buried;
    }
}
