//! The facts about a run that analyses and views use, read once from the texts that people see.

use std::path::PathBuf;

use workspan_trace::note_keys as key;

/// Particularities of the CPUs that the process could use.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MachineFacts {
    /// Number of cores, if it is smaller than the number of CPUs (hardware threads).
    pub cores: Option<u32>,
    /// Number of kinds of cores, if there are several.
    pub kinds: Option<u32>,
    /// Number of NUMA nodes, if there are several.
    pub nodes: Option<u32>,
    /// Limit of the control group in CPUs' worth of time, if it is below the number of CPUs.
    pub quota: Option<f64>,
}

/// Typed facts about a run. The reader fills them from the notes of a trace
/// ([`RunFacts::from_notes`]); nothing downstream parses the texts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunFacts {
    /// The largest grain that the recorder folded below, in microseconds; infinite if it folded
    /// without a limit, `None` if it did not fold.
    pub folded_below_us: Option<f64>,
    /// CPU time of the process while it was recorded, in ticks.
    pub cpu_time: Option<u64>,
    /// The part of it on threads while the trace has no records of them, in ticks.
    pub cpu_time_of_others: Option<u64>,
    /// Time for which threads were on a CPU by their context switches but did not run by their CPU
    /// clocks, in nanoseconds. It is included in the times off the CPU.
    pub unseen_off_ns: Option<u64>,
    /// How the cost of a steal was measured, and for which runtime.
    pub burden_source: Option<String>,
    /// The variable that sets the number of threads, with its value.
    pub threads_set_by: Option<String>,
    /// What a thread may run while a task waits on it.
    pub tasks_in_waits: StealingDuringWaits,
    /// Whether the threads of a team take tasks from one queue under one lock (libgomp).
    pub shared_queue: bool,
    /// The folder that source file names are relative to.
    pub source_folder: Option<PathBuf>,
    /// The machine's particularities among the CPUs that the process may use.
    pub machine: MachineFacts,
    /// When the recording began, in seconds since 1970.
    pub recorded_at: Option<u64>,
    /// Whether samples cover the time in the kernel (system calls, page faults).
    pub kernel_sampled: bool,
}

/// What a thread may run while a task waits on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StealingDuringWaits {
    /// Every ready task.
    #[default]
    Any,
    /// Tasks that descend from the waiting one (LLVM OpenMP, for tied tasks).
    Descendants,
    /// Children of the waiting task in the thread's own queue (simulated).
    OwnChildren,
}

impl StealingDuringWaits {
    /// The meaning of a note's value [`key::TASKS_IN_WAITS`]; unknown values restrict nothing.
    #[must_use]
    pub fn from_note(value: &str) -> StealingDuringWaits {
        match value {
            "descendants" => StealingDuringWaits::Descendants,
            "own children" => StealingDuringWaits::OwnChildren,
            _ => StealingDuringWaits::Any,
        }
    }
}

impl RunFacts {
    /// Reads the facts from the notes of a trace with that clock.
    #[must_use]
    pub fn from_notes(notes: &[(String, String)], ticks_per_second: u64) -> RunFacts {
        let value = |key: &str| notes.iter().find(|n| n.0 == key).map(|n| n.1.as_str());
        let ticks = |key: &str| {
            let (seconds, _) = value(key)?.split_once(" s")?;
            let ticks = seconds.parse::<f64>().ok()? * ticks_per_second as f64;
            (ticks.is_finite() && ticks >= 0.0).then_some(ticks as u64)
        };
        let folder = value(key::SOURCE_FOLDER).or_else(|| value(key::WORKING_FOLDER));
        let grain = value(key::FOLDED_BELOW);
        RunFacts {
            // The presence of a grain counts, even if its text is damaged.
            folded_below_us: grain.map(|text| {
                let number = text.strip_suffix(" µs").and_then(|us| us.parse().ok());
                let any = text == key::FOLDED_ANY_LENGTH;
                number.unwrap_or(if any { f64::INFINITY } else { 0.0 })
            }),
            cpu_time: ticks(key::CPU_TIME),
            cpu_time_of_others: ticks(key::CPU_TIME_OF_OTHERS),
            unseen_off_ns: value(key::UNSEEN_OFF_NS).and_then(|ns| ns.parse().ok()),
            burden_source: value(key::BURDEN_SOURCE).map(str::to_owned),
            threads_set_by: value(key::THREADS_SET_BY).map(str::to_owned),
            tasks_in_waits: value(key::TASKS_IN_WAITS)
                .map_or(StealingDuringWaits::Any, StealingDuringWaits::from_note),
            shared_queue: value(key::TASK_QUEUE) == Some("shared"),
            source_folder: folder.map(PathBuf::from),
            machine: MachineFacts {
                cores: value(key::CPU_CORES).and_then(|n| n.parse().ok()),
                kinds: value(key::CPU_KINDS).and_then(|n| n.parse().ok()),
                nodes: value(key::NUMA_NODES).and_then(|n| n.parse().ok()),
                quota: value(key::CPU_QUOTA)
                    .and_then(|n| n.parse().ok())
                    .filter(|quota: &f64| quota.is_finite()),
            },
            recorded_at: value(key::RECORDED).and_then(seconds_since_1970),
            kernel_sampled: value(key::SAMPLES_IN_KERNEL)
                .is_some_and(|value| value.starts_with("yes")),
        }
    }
}

/// Parses a moment like `2026-11-21 09:44:56 UTC`.
fn seconds_since_1970(text: &str) -> Option<u64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let leap = |y: u64| (y.is_multiple_of(4) && !y.is_multiple_of(100)) || y.is_multiple_of(400);
    let mut days: u64 = (1970..year).map(|y| 365 + u64::from(leap(y))).sum();
    let february = 28 + u64::from(leap(year));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    days += lengths[..month as usize - 1].iter().sum::<u64>() + day.saturating_sub(1);
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn facts_are_read_from_the_texts_that_people_see() {
        let notes = [
            ("folded below", "12.5 µs"),
            ("CPU time", "0.270123 s"),
            ("CPU time of other threads", "0.130000 s, 2 threads"),
            ("cwd", "/a"),
            ("source folder", "/b"),
            ("recorded", "2001-09-09 01:46:40 UTC"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()));
        let facts = RunFacts::from_notes(&notes, 1_000_000);
        assert_eq!(facts.folded_below_us, Some(12.5));
        assert_eq!(facts.cpu_time, Some(270_123));
        assert_eq!(facts.cpu_time_of_others, Some(130_000));
        assert_eq!(facts.source_folder.as_deref(), Some(Path::new("/b")));
        assert_eq!(facts.recorded_at, Some(1_000_000_000));
        let facts = RunFacts::from_notes(&notes[3..4], 1);
        assert_eq!(facts.source_folder.as_deref(), Some(Path::new("/a")));
        assert_eq!(facts.cpu_time, None);
    }
}
