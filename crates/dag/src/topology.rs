//! Where the run's threads ran: the CPUs, and the NUMA nodes that these belong to.

use std::collections::BTreeMap;

use workspan_trace::note_keys::NUMA_NODE_CPUS;

use crate::dag::ThreadId;

/// More CPUs than this in a range count as damage.
const MAX_CPUS: u32 = 1 << 16;

/// How long a thread ran on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeOnCpu {
    /// The thread.
    pub thread: ThreadId,
    /// The kernel's number of the CPU.
    pub cpu: u32,
    /// Nanoseconds on it.
    pub ns: u64,
}

/// The CPUs of a NUMA node: CPUs that share a memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NumaNode {
    /// The kernel's number of the node.
    pub number: u32,
    /// Its CPUs as ranges, both ends included.
    pub cpus: Vec<(u32, u32)>,
}

impl NumaNode {
    fn has(&self, cpu: u32) -> bool {
        let mut ranges = self.cpus.iter();
        ranges.any(|&(first, last)| (first..=last).contains(&cpu))
    }
}

/// The CPUs that the threads ran on, and the nodes of these CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Topology {
    /// The machine's NUMA nodes among the CPUs of the process; empty if there is one, or if they
    /// are not known.
    pub nodes: Vec<NumaNode>,
    /// By thread, then by CPU; empty if not known.
    pub on_cpus: Vec<TimeOnCpu>,
}

/// One item for each thread and CPU, in this order, with the sum of the given times.
#[must_use]
pub fn sum_by_cpu(times: impl IntoIterator<Item = TimeOnCpu>) -> Vec<TimeOnCpu> {
    let mut sums: BTreeMap<(ThreadId, u32), u64> = BTreeMap::new();
    for TimeOnCpu { thread, cpu, ns } in times {
        let sum = sums.entry((thread, cpu)).or_default();
        *sum = sum.saturating_add(ns);
    }
    let sums = sums.into_iter();
    sums.map(|((thread, cpu), ns)| TimeOnCpu { thread, cpu, ns })
        .collect()
}

/// The node on which a thread ran the longest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MainNode {
    /// The node's number.
    pub node: u32,
    /// The part of the thread's CPU time that was on the node, from 0 to 1.
    pub share: f64,
}

impl Topology {
    /// The topology of a run with these facts, without times.
    #[must_use]
    pub fn from_facts(facts: &[(String, String)]) -> Topology {
        let nodes_fact = facts.iter().find(|(key, _)| key == NUMA_NODE_CPUS);
        Topology {
            nodes: nodes_fact
                .map(|(_, value)| nodes(value))
                .unwrap_or_default(),
            on_cpus: Vec::new(),
        }
    }

    /// The times of a thread by CPU.
    #[must_use]
    pub fn cpus_of(&self, thread: ThreadId) -> &[TimeOnCpu] {
        let first = self.on_cpus.partition_point(|on| on.thread < thread);
        let own = &self.on_cpus[first..];
        &own[..own.partition_point(|on| on.thread == thread)]
    }

    /// The node on which a thread ran the longest, the first of several; `None` if the nodes or the
    /// thread's CPUs are not known.
    #[must_use]
    pub fn main_node(&self, thread: ThreadId) -> Option<MainNode> {
        let cpus = self.cpus_of(thread);
        let total: u128 = cpus.iter().map(|on| u128::from(on.ns)).sum();
        let mut longest: Option<(u32, u128)> = None;
        for node in &self.nodes {
            let own = cpus.iter().filter(|on| node.has(on.cpu));
            let ns: u128 = own.map(|on| u128::from(on.ns)).sum();
            if ns > longest.map_or(0, |(_, ns)| ns) {
                longest = Some((node.number, ns));
            }
        }
        longest.map(|(node, ns)| MainNode {
            node,
            share: ns as f64 / total as f64,
        })
    }
}

/// Parses `0: 0-3,8; 1: 4-7`. What is damaged is left out.
fn nodes(text: &str) -> Vec<NumaNode> {
    let node = |text: &str| {
        let (number, cpus) = text.split_once(':')?;
        let cpus: Vec<(u32, u32)> = cpus.split(',').filter_map(range).collect();
        let number = number.trim().parse().ok()?;
        (!cpus.is_empty()).then_some(NumaNode { number, cpus })
    };
    text.split(';').filter_map(node).collect()
}

fn range(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (first <= last && last < MAX_CPUS).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_belongs_to_the_node_on_which_it_ran_the_longest() {
        let fact = |value: &str| vec![(NUMA_NODE_CPUS.to_owned(), value.to_owned())];
        let mut topology = Topology::from_facts(&fact("0: 0-3,8; 1: 4-7; x: 9; 2: 7-4; 3"));
        assert_eq!(topology.nodes.len(), 2);
        let on = |thread, cpu, ns| TimeOnCpu { thread, cpu, ns };
        topology.on_cpus = vec![
            on(0, 3, 10),
            on(0, 4, 30),
            on(0, 5, 30),
            on(0, 8, 10),
            on(2, 1, 5),
            on(2, 6, 5),
            on(3, 99, 5),
        ];
        let main = |thread| topology.main_node(thread).map(|of| (of.node, of.share));
        assert_eq!(main(0), Some((1, 0.75)));
        assert_eq!((main(1), main(2), main(3)), (None, Some((0, 0.5)), None));
        assert_eq!(topology.cpus_of(2).len(), 2);
        let again = [on(2, 6, 5), on(0, 3, 4), on(2, 6, u64::MAX)];
        assert_eq!(sum_by_cpu(again), [on(0, 3, 4), on(2, 6, u64::MAX)]);
        topology.nodes.clear();
        assert_eq!(topology.main_node(0), None);
        assert_eq!(Topology::from_facts(&fact("0-3")), Topology::default());
    }
}
