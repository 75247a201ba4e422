//! The facts about a run of several processes as a whole.

use std::collections::{BTreeMap, BTreeSet};

use workspan_dag::meta::{Meta, UnreadPart};
use workspan_dag::processes::HostClock;
use workspan_dag::topology::{NumaNode, TimeOnCpu, Topology, sum_by_cpu};
use workspan_dag::{CpuTimes, note_keys as key};

use super::members::Member;
use super::thread_numbers::ThreadNumbers;

/// The key of the fact with the number of processes.
const PROCESSES: &str = "processes";
/// Keys of facts that describe one process and not the run.
const PROCESS_KEYS: [&str; 9] = [
    "process",
    "events",
    "size",
    "bytes a task",
    key::PARENT_PROCESS,
    key::CPU_TIME,
    key::CPU_TIME_OF_OTHERS,
    key::RANK,
    key::OUTSIDE_WATCH,
];

/// The run's facts, but for the number of its threads and their names.
pub(super) fn meta(members: &[Member], numbers: &ThreadNumbers) -> Meta {
    let longest = members.iter().max_by_key(|m| m.to.saturating_sub(m.from));
    let Some(longest) = longest else {
        return Meta::default();
    };
    let all = || members.iter().map(|member| &member.trace.raw.meta);
    // Measured costs are taken from a process with tasks, if there is one.
    let measured = all()
        .max_by_key(|meta| meta.burden)
        .unwrap_or(&longest.trace.raw.meta);
    let has_mpi = members.iter().any(|m| !m.trace.raw.rank_calls.is_empty());
    let mut facts = vec![(PROCESSES.to_owned(), members.len().to_string())];
    let own = measured.facts.iter();
    facts.extend(
        own.filter(|(key, _)| !PROCESS_KEYS.contains(&key.as_str()))
            .cloned(),
    );
    Meta {
        name: most_frequent(all().filter_map(|meta| meta.name.clone())),
        runtime: runtimes(members, has_mpi),
        cpus: all().filter_map(|meta| meta.cpus).max(),
        probe_cost: all().map(|meta| meta.probe_cost).max().unwrap_or(0),
        ticks_per_second: longest.trace.raw.meta.ticks_per_second,
        warnings: warnings(members),
        cpu: cpu(members),
        topology: topology(members, numbers),
        facts,
        read_folding: None,
        unread: unread(members),
        ..measured.clone()
    }
}

fn most_frequent(names: impl Iterator<Item = String>) -> Option<String> {
    let mut count: BTreeMap<String, u32> = BTreeMap::new();
    for name in names {
        *count.entry(name).or_default() += 1;
    }
    let most = count.into_iter().max_by_key(|(_, count)| *count)?;
    Some(most.0)
}

/// MPI, and the runtimes of all processes, without duplicates.
fn runtimes(members: &[Member], has_mpi: bool) -> Option<String> {
    let mut all: Vec<&str> = Vec::new();
    all.extend(has_mpi.then_some("MPI"));
    for member in members {
        let own = member.trace.raw.meta.runtime.as_deref().unwrap_or("");
        for runtime in own.split(" + ").filter(|runtime| !runtime.is_empty()) {
            if !all.contains(&runtime) {
                all.push(runtime);
            }
        }
    }
    (!all.is_empty()).then(|| all.join(" + "))
}

/// The warnings of all processes. A warning of several processes appears once, with their number.
fn warnings(members: &[Member]) -> Vec<String> {
    let mut told: Vec<(&str, usize)> = Vec::new();
    for warning in members.iter().flat_map(|m| &m.trace.raw.meta.warnings) {
        match told.iter_mut().find(|(text, _)| *text == warning.as_str()) {
            Some((_, count)) => *count += 1,
            None => told.push((warning, 1)),
        }
    }
    let text = |(text, count): (&str, usize)| match count {
        1 => text.to_owned(),
        count => format!("{count} processes: {text}"),
    };
    told.into_iter().map(text).collect()
}

/// A warning about a host whose clock the calls do not determine.
pub(super) fn clock_warning(clock: &HostClock) -> Option<String> {
    let host = &clock.host;
    let (count, most) = clock.contradictions;
    if clock.uncertainty_ns.is_none() {
        let how = match clock.bounds {
            0 => "no call of MPI connects",
            _ => "calls of MPI connect in one direction only",
        };
        return Some(format!(
            "The times of {host} are placed by its wall clock, because {how} it to the first host: what happened on both may be off \
            by as much as their wall clocks differ."
        ));
    }
    (count > 0).then(|| {
        format!(
            "{count} of {} bounds on the clock of {host} contradict the others, by up to {:.1} µs: its clock did not run evenly, or \
            calls were matched wrongly.",
            clock.bounds,
            most as f64 / 1e3
        )
    })
}

/// The CPU time of all processes, if that of each is known. There is no time per thread, because
/// threads of different processes may share a number.
fn cpu(members: &[Member]) -> Option<CpuTimes> {
    let mut sum = CpuTimes {
        process: Some(0),
        ..CpuTimes::default()
    };
    for member in members {
        let own = member.trace.raw.meta.cpu.as_ref()?;
        let process = sum.process.zip(own.process);
        sum.process = process.map(|(all, own)| all.saturating_add(own));
        sum.missing = sum.missing.saturating_add(own.missing);
        sum.switches = sum.switches.saturating_add(own.switches);
    }
    sum.process.is_some().then_some(sum)
}

/// The CPUs of all threads, if all processes ran on one machine.
fn topology(members: &[Member], numbers: &ThreadNumbers) -> Topology {
    let all = || members.iter().map(|member| &member.trace.raw.meta);
    let hosts: BTreeSet<_> = all().map(|meta| &meta.host).collect();
    if hosts.len() > 1 {
        return Topology::default();
    }
    let times = all().zip(&numbers.of).flat_map(|(meta, threads)| {
        let own = meta.topology.on_cpus.iter();
        own.filter_map(|&on| {
            let thread = *threads.get(on.thread as usize)?;
            Some(TimeOnCpu { thread, ..on })
        })
    });
    // Processes may be bound to nodes; each knows those it may use.
    let nodes = all().flat_map(|meta| &meta.topology.nodes);
    let nodes: BTreeMap<u32, &NumaNode> = nodes.map(|node| (node.number, node)).collect();
    Topology {
        nodes: nodes.into_values().cloned().collect(),
        on_cpus: sum_by_cpu(times),
    }
}

fn unread(members: &[Member]) -> Option<UnreadPart> {
    let parts = members.iter().filter_map(|m| m.trace.raw.meta.unread);
    parts.reduce(|all, part| UnreadPart {
        damaged: all.damaged.saturating_add(part.damaged),
        threads: all.threads.saturating_add(part.threads),
        dropped: all.dropped.saturating_add(part.dropped),
        off_cpu: all.off_cpu || part.off_cpu,
    })
}
