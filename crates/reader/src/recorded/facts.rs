//! The facts about the run as a whole.

use std::collections::BTreeSet;

use workspan_trace::ClockKind;
use workspan_trace::entry::Note;
use workspan_trace::header::ExhaustedResource;

use super::chunks_by_thread::TraceChunks;
use super::places::Places;
use super::replay::ReplayLog;
use super::workers::Threads;
use super::{Extent, clock, cpu_time, probe};
use crate::utc;
use workspan_dag::meta::{Meta, ReadFolding, Steals, TimeUnit, UnreadPart};
use workspan_dag::{Processes, RunFacts, Topology, note_keys as key};

/// Keys of notes that have a field of their own in [`Meta`].
const FIELD_KEYS: [&str; 17] = [
    key::PROCESS_CPU_NS,
    super::index::KEY,
    key::SAMPLE_HZ,
    key::NAME,
    key::RUNTIME,
    key::COMMAND,
    key::HOST,
    key::CPUS,
    key::STEALS,
    key::ENDS,
    key::BURDEN,
    key::PROBE_COST,
    key::BARE_JOIN,
    key::SKIPPED_JOIN,
    key::SKIPPED_TASK,
    key::RECORDED_TASK,
    key::WARNING,
];

/// The largest number of runtimes that are listed. No program has more.
const MAX_RUNTIMES: usize = 16;

/// The facts about the run; `size` is the file's size in bytes.
pub(super) fn meta(
    chunks: &TraceChunks<'_>,
    extent: Extent,
    log: &ReplayLog,
    threads: &Threads,
    places: &Places,
    size: usize,
) -> Meta {
    let note = |key: &str| {
        chunks
            .notes
            .iter()
            .find(|n| n.key == key)
            .map(|n| n.value.clone())
    };
    let number = |key: &str| note(key).and_then(|value| value.parse::<u64>().ok());
    let rate = clock::ticks_per_second(chunks);
    let mut warnings = chunks.warnings.clone();
    // Steps that the finaliser could not complete.
    warnings.extend(
        chunks
            .notes
            .iter()
            .filter(|n| n.key == key::WARNING)
            .map(|n| n.value.clone()),
    );
    if rate.is_none() {
        warnings.push("The clock's rate is not known, because the process ended too soon; a tick is taken as 1 ns.".into());
    }
    warnings.extend(repair_warnings(chunks, extent, log, places));
    let ticks_per_second = rate.unwrap_or(1_000_000_000);
    let cpu = cpu_time::cpu_times(chunks, threads);
    let facts = facts(chunks, extent, size, cpu.as_ref().map(cpu_time::facts));
    let topology = Topology {
        on_cpus: cpu_time::on_cpus(chunks, threads),
        ..Topology::from_facts(&facts)
    };
    Meta {
        workers: threads.workers,
        threads: threads.total,
        time_unit: match chunks.header.clock {
            ClockKind::Tsc => TimeUnit::Cycles,
            ClockKind::Nanoseconds => TimeUnit::Ns,
        },
        ticks_per_second,
        thread_names: thread_names(chunks, threads),
        steals: if note(key::STEALS).as_deref() == Some("continuation") {
            Steals::Continuation
        } else {
            Steals::Child
        },
        burden: number(key::BURDEN).unwrap_or(0),
        probe_cost: probe::cost(&chunks.notes),
        join_cost: number(key::BARE_JOIN).unwrap_or(0),
        name: note(key::NAME),
        runtime: runtimes(&chunks.notes),
        command: note(key::COMMAND),
        host: note(key::HOST),
        cpus: cpus(&chunks.notes),
        run: RunFacts::from_notes(&facts, ticks_per_second),
        facts,
        warnings,
        recorded: true,
        cpu,
        topology,
        read_folding: read_folding(chunks, extent, threads),
        unread: unread(chunks, extent, places),
        section: None,
        processes: Processes::default(),
    }
}

/// The parts of the trace that could not be read, or were lost while it was recorded.
fn unread(chunks: &TraceChunks<'_>, extent: Extent, places: &Places) -> Option<UnreadPart> {
    let cut = chunks.threads.iter().filter(|t| t.cut).count() as u64;
    // Off-CPU times are written when a trace is finished, after everything else, and so are the
    // names of its sites.
    let never_finished = places.unresolved && chunks.readings.is_empty();
    let part = UnreadPart {
        damaged: chunks.damaged,
        threads: cut.max(extent.bad),
        dropped: dropped(chunks),
        off_cpu: chunks.damaged > 0 || never_finished,
    };
    let whole = part.damaged == 0 && part.threads == 0 && part.dropped == 0;
    (!whole).then_some(part)
}

/// Bytes of records that were lost while the run was recorded.
fn dropped(chunks: &TraceChunks<'_>) -> u64 {
    let finished = chunks.finished.map_or(0, |f| f.dropped);
    chunks.header.dropped.max(finished)
}

/// What was folded while the trace was read, and its position in the file.
fn read_folding(
    chunks: &TraceChunks<'_>,
    extent: Extent,
    threads: &Threads,
) -> Option<ReadFolding> {
    let numbers = chunks.threads.iter().zip(&threads.number);
    Some(ReadFolding {
        origin: extent.first,
        threads: numbers
            .map(|(thread, &number)| (thread.number, number))
            .collect(),
        ..chunks.read_folding.clone()?
    })
}

/// The value of [`workspan_dag::raw::RawTrace::late_ends`].
pub(super) fn late_ends(notes: &[Note]) -> bool {
    notes
        .iter()
        .any(|n| n.key == key::ENDS && n.value == "late")
}

/// The number of CPUs that the process could use.
pub(super) fn cpus(notes: &[Note]) -> Option<u32> {
    notes
        .iter()
        .find(|n| n.key == key::CPUS)?
        .value
        .parse()
        .ok()
}

/// The number of ticks after a wait by which a task's end may be recorded late: the cost of a
/// hundred probes.
pub(super) fn late_by(notes: &[Note]) -> u64 {
    match late_ends(notes) {
        true => probe::calibrated(notes).saturating_mul(100),
        false => 0,
    }
}

/// All recorded runtimes, in the order in which they were found.
fn runtimes(notes: &[Note]) -> Option<String> {
    let mut all: Vec<&str> = Vec::new();
    for note in notes.iter().filter(|n| n.key == key::RUNTIME) {
        if !all.contains(&note.value.as_str()) && all.len() < MAX_RUNTIMES {
            all.push(&note.value);
        }
    }
    (!all.is_empty()).then(|| all.join(" + "))
}

/// The facts for the user. `cpu` are those about its CPU time; older traces have them as notes.
fn facts(
    chunks: &TraceChunks<'_>,
    extent: Extent,
    size: usize,
    cpu: Option<Vec<(String, String)>>,
) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut fact = |key: &str, value: String| facts.push((key.to_string(), value));
    fact(key::RECORDED, date(chunks.header.realtime_ns));
    fact("process", chunks.header.pid.to_string());
    fact(
        "ended",
        if chunks.finished.is_some() {
            "in an orderly way"
        } else {
            "killed, or by _exit or exec"
        }
        .into(),
    );
    let clock = match chunks.header.clock {
        ClockKind::Tsc => "time-stamp counter",
        ClockKind::Nanoseconds => "CLOCK_MONOTONIC_RAW",
    };
    fact("clock", clock.into());
    fact("threads recorded", chunks.threads.len().to_string());
    let all = chunks.read_folding.as_ref();
    let events = all.map_or(extent.events, |all| all.events);
    let size = all.map_or(size as u64, |all| all.size);
    fact("events", events.to_string());
    let (passed, drawn) = extent.drawn;
    if passed > 0 {
        fact(
            "subtrees not recorded",
            format!("{passed}, estimated from {drawn} sampled ones"),
        );
    }
    fact("size", format!("{size} bytes"));
    if extent.tasks > 0 {
        let chunks = chunks.threads.iter().flat_map(|t| &t.chunks);
        let here = || {
            (
                chunks.map(|c| c.bytes.len() as u64).sum(),
                extent.tasks as u64,
            )
        };
        let (bytes, tasks): (u64, u64) = all.map_or_else(here, |all| (all.bytes, all.tasks));
        fact(
            "bytes a task",
            format!("{:.1}", bytes as f64 / tasks as f64),
        );
    }
    facts.extend(cpu.unwrap_or_default());
    let mut keys: BTreeSet<String> = facts.iter().map(|(key, _)| key.clone()).collect();
    for note in &chunks.notes {
        if !FIELD_KEYS.contains(&note.key.as_str()) && keys.insert(note.key.clone()) {
            facts.push((note.key.clone(), note.value.clone()));
        }
    }
    facts
}

fn repair_warnings(
    chunks: &TraceChunks<'_>,
    extent: Extent,
    log: &ReplayLog,
    places: &Places,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if chunks.finished.is_none() {
        warnings.push(format!(
            "The process was killed or ended by _exit or exec. The trace ends there, and so do the {} task(s) that were open.",
            log.open
        ));
    }
    let dropped = dropped(chunks);
    if dropped > 0 {
        warnings.push(format!(
            "At least {dropped} bytes of records were lost, because {}; the trace ends where that began.",
            match chunks.header.lack {
                ExhaustedResource::Disk => "the disk was full",
                ExhaustedResource::Memory => "memory ran out",
                ExhaustedResource::File => "the program closed the recording's file, which can't be opened again",
            }
        ));
    }
    if extent.bad > 0 {
        warnings.push(format!(
            "The records of {} thread(s) could be read only in part.",
            extent.bad
        ));
    }
    // If a part of the run was kept on purpose, this was already reported.
    let is_part = chunks.notes.iter().any(|n| n.key == key::PART_OF_RUN);
    if log.before > 0 && !is_part {
        warnings.push(format!(
            "{} task(s) had begun before their threads' records in the trace start; they appear as roots.",
            log.before
        ));
    }
    if log.never_began > 0 {
        warnings.push(format!(
            "{} task(s) were created but never began; they count as tasks of no length.",
            log.never_began
        ));
    }
    if places.unresolved {
        warnings.push(
            "Sites have no source lines: this is a spool file, or a trace that was never finished."
                .into(),
        );
    }
    let mut repairs = log.repairs.clone();
    let earlier = log.earlier.values().sum::<u64>();
    match is_part {
        false => repairs.extend(log.earlier.clone()),
        true if earlier > 0 => warnings.push(format!(
            "{earlier} record(s) name tasks, scopes, regions or estimated subtrees that began before this part of the run; \
             they are left out, or are roots here."
        )),
        true => {}
    }
    warnings.extend(repairs.iter().map(|(what, n)| format!("{what}: {n}.")));
    warnings
}

/// A time in UTC, to the second.
fn date(realtime_ns: u64) -> String {
    let [year, month, day, hour, minute, second] = utc::date(realtime_ns / 1_000_000_000);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// The largest length of a thread name. Longer ones come from damage: the kernel keeps 15 bytes.
const MAX_NAME_CHARS: usize = 32;

/// The names of the threads, by thread number in the run; empty if none is known.
fn thread_names(chunks: &TraceChunks<'_>, threads: &Threads) -> Vec<String> {
    if chunks.names.is_empty() {
        return Vec::new();
    }
    let program = chunks.threads.first();
    let program = program.and_then(|first| chunks.names.get(&first.number));
    let mut names = vec![String::new(); threads.total as usize];
    for (thread, &number) in chunks.threads.iter().zip(&threads.number) {
        let (Some(slot), Some(name)) = (
            names.get_mut(number as usize),
            chunks.names.get(&thread.number),
        ) else {
            continue;
        };
        // Threads that follow each other may share a row. A thread without a name of its own has
        // its program's, which is the least specific.
        if slot.is_empty() || Some(&*slot) == program {
            *slot = name.chars().take(MAX_NAME_CHARS).collect();
        }
    }
    names
}
