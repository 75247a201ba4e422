//! The CPU time of the process and of its threads, from the trace.

use std::collections::BTreeMap;

use super::chunks_by_thread::TraceChunks;
use super::survey::slot;
use super::workers::Threads;
use workspan_dag::NONE;
use workspan_dag::cpu_time::CpuTimes;
use workspan_dag::note_keys::{CPU_TIME, CPU_TIME_OF_OTHERS, PART_OF_RUN, PROCESS_CPU_NS};
use workspan_dag::topology::{TimeOnCpu, sum_by_cpu};

/// The CPU times; `None` for a trace without any.
pub(super) fn cpu_times(chunks: &TraceChunks<'_>, threads: &Threads) -> Option<CpuTimes> {
    let note = |key: &str| chunks.notes.iter().find(|n| n.key == key);
    if note(PART_OF_RUN).is_some() {
        return None;
    }
    let mut times = CpuTimes {
        process: note(PROCESS_CPU_NS).and_then(|note| note.value.parse().ok()),
        ..CpuTimes::default()
    };
    let mut known: BTreeMap<u32, u64> = BTreeMap::new();
    let mut most = 0;
    for entry in &chunks.cpu_times {
        times.missing = times.missing.saturating_add(entry.missing);
        times.switches = times.switches.saturating_add(entry.switches);
        let number = entry.thread.and_then(|t| slot(&chunks.threads, t));
        let number = number.and_then(|slot| threads.number.get(slot).copied());
        let outside = match entry.thread {
            Some(_) => entry.outside_ns.min(entry.ns),
            None => entry.ns,
        };
        times.outside = times.outside.saturating_add(outside);
        times.outside_threads += u64::from(entry.thread.is_none() && entry.ns > 0);
        if outside > most && !entry.function.is_empty() {
            most = outside;
            times.outside_in = Some(entry.function.clone());
        }
        let inside = entry.ns - outside;
        let sum = match number.filter(|&number| number != NONE) {
            Some(number) => known.entry(number).or_default(),
            None => &mut times.idle,
        };
        *sum = sum.saturating_add(inside);
    }
    times.threads = known.into_iter().collect();
    (times.process.is_some() || !chunks.cpu_times.is_empty()).then_some(times)
}

/// How long each thread of the run ran on each CPU, by thread and CPU.
pub(super) fn on_cpus(chunks: &TraceChunks<'_>, threads: &Threads) -> Vec<TimeOnCpu> {
    let times = chunks.cpu_times.iter().flat_map(|entry| {
        let slot = entry.thread.and_then(|t| slot(&chunks.threads, t));
        let number = slot.and_then(|slot| threads.number.get(slot).copied());
        let thread = number.filter(|&number| number != NONE);
        let cpus = entry.cpus.iter();
        cpus.filter_map(move |&(cpu, ns)| {
            let thread = thread?;
            Some(TimeOnCpu { thread, cpu, ns })
        })
    });
    sum_by_cpu(times)
}

/// The CPU times as facts for the user, if all switches are known.
pub(super) fn facts(times: &CpuTimes) -> Vec<(String, String)> {
    if times.missing > 0 || (times.threads.is_empty() && times.outside == 0) {
        return Vec::new();
    }
    let seconds = |ns: u64| format!("{:.6} s", ns as f64 / 1e9);
    let mut facts = vec![(CPU_TIME.to_owned(), seconds(times.of_threads()))];
    if times.outside > 0 {
        let text = format!(
            "{}, {} threads",
            seconds(times.outside),
            times.outside_threads
        );
        facts.push((CPU_TIME_OF_OTHERS.to_owned(), text));
    }
    facts
}
