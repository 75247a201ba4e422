//! What recording and stealing cost in a run, as notes of its trace: measured where the trace has what they are taken out of.

pub mod calibration;
pub mod library_measurement;
pub mod steals;
pub mod task_cost;
mod task_strands;

use std::path::Path;

use workspan_dag::{BURDEN_SOURCE, LEFT_OUT_JOIN, LEFT_OUT_TASK, RECORDED_TASK};
use workspan_trace::Trace;
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::Note;
use workspan_trace::event::{Event, Events};
use workspan_trace::folded::FoldedRecord;
use workspan_trace::reader::{Chunk, Tolerance};

use crate::kernel::clock::Clock;
use crate::trace_file::process_facts::Told;

/// So many chunks of a trace are looked at, spread evenly: decoding all of a large one takes as long as all else.
const LOOKED_AT: usize = 64;
/// Probes in a chunk, of fewer of which nothing is said.
const ENOUGH: u64 = 1024;
/// Calibrated probes that take this part of a chunk's time matter.
const MATTERS: f64 = 0.02;

/// What probes, joins and tasks left out, tasks recorded in full, and steals cost, in ticks, as the reader of the trace takes them, and how the latter is
/// known. `tool` is the folder where this machine's costs are kept.
pub(crate) fn costs(trace: &Trace<'_>, told: &Told, clock: &Clock, tool: &Path) -> Vec<Note> {
    if told.tasks == 0 {
        return Vec::new();
    }
    let calibration = calibration::of_this_machine(tool);
    let runtimes = told.all("runtime");
    let libraries = told.mappings.iter().map(|mapping| mapping.path.as_path());
    let burden = steals::burden(tool, &calibration, &runtimes, libraries.clone());
    let ticks = |ns: f64| {
        let known = ns.is_finite() && ns > 0.0;
        let ticks = clock.length((ns * 1000.0).round() as u64) / 1000;
        (known && ticks > 0).then(|| ticks.to_string())
    };
    let mut notes = Vec::new();
    if let Some(probe) = ticks(calibration.probe_ns) {
        notes.push(Note::new("probe_cost_ticks", probe));
    }
    let is_rayon = |runtime: &String| runtime.starts_with("Rayon");
    let join = calibration.left_out_join_ns;
    let join = join.filter(|_| runtimes.iter().any(is_rayon));
    let chunks = trace.chunks(Tolerance::Tolerant).flatten();
    let chunks: Vec<_> = chunks.filter(|c| c.kind == ChunkKind::Events).collect();
    let needed = Needed::of(
        &chunks,
        clock.length(1_000_000) as f64 / 1e6 * calibration.probe_ns,
    );
    let of_tasks = needed.left_out || needed.recorded;
    let task = of_tasks.then(|| task_cost::of_trace(tool, &runtimes, libraries));
    let task = task.flatten();
    let left_out = task
        .filter(|_| needed.left_out)
        .map(|cost| cost.left_out_ns);
    let recorded = task.filter(|_| needed.recorded);
    let recorded = recorded.and_then(|cost| cost.recorded_ns);
    let all = [
        (LEFT_OUT_JOIN, join),
        (LEFT_OUT_TASK, left_out),
        (RECORDED_TASK, recorded),
    ];
    notes.extend(all.into_iter().filter_map(|(key, ns)| {
        let millionths = clock.length((ns? * 1e6) as u64);
        Some(Note::new(key, format!("{:.2}", millionths as f64 / 1e6)))
    }));
    if let Some((ns, source)) = burden
        && let Some(burden) = ticks(ns)
    {
        notes.push(Note::new("burden_ticks", burden));
        notes.push(Note::new(BURDEN_SOURCE, source));
    }
    notes
}

/// Which costs of tasks a trace has something to take out for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Needed {
    /// Something was left out, or not all was looked at.
    left_out: bool,
    /// Somewhere strands are so short that probes matter.
    recorded: bool,
}

impl Needed {
    /// By the trace's records, where a probe takes so many ticks.
    fn of(chunks: &[Chunk<'_>], probe: f64) -> Needed {
        let step = chunks.len().div_ceil(LOOKED_AT).max(1);
        let mut needed = Needed {
            left_out: step > 1,
            recorded: false,
        };
        // What a budget leaves out comes late.
        for chunk in chunks.iter().rev().step_by(step) {
            let mut probes = 0u64;
            let (mut first, mut last) = (u64::MAX, 0);
            for (t, event) in Events::new(chunk.payload, chunk.base_ticks) {
                (first, last) = (first.min(t), last.max(t));
                probes = probes.saturating_add(match event {
                    Event::Folded(bytes) => probes_in(bytes),
                    // Most end a strand or begin one; a create does both.
                    _ => 1,
                });
                needed.left_out |= matches!(event, Event::Unrecorded { .. });
            }
            let length = last.saturating_sub(first) as f64;
            needed.recorded |= probes >= ENOUGH && probes as f64 * probe > MATTERS * length;
        }
        needed
    }
}

/// Probes in what a folded record stands for.
fn probes_in(record: &[u8]) -> u64 {
    let folded = FoldedRecord::decode(record);
    folded.map_or(0, |folded| folded.strands.saturating_mul(2))
}

#[cfg(test)]
mod tests {
    use workspan_trace::wire::{Kind, put_head};

    use super::*;

    /// A chunk's records, of no operands, every so many ticks.
    fn records(kinds: impl Iterator<Item = Kind>, apart: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        for kind in kinds {
            let mut room = [0u8; 16];
            // SAFETY: a head takes 8 bytes at most.
            let end = unsafe { put_head(room.as_mut_ptr(), kind, apart) };
            bytes.extend_from_slice(&room[..end as usize - room.as_ptr() as usize]);
        }
        bytes
    }

    fn needed(payloads: &[Vec<u8>]) -> (bool, bool) {
        let chunk = |payload| Chunk {
            offset: 0,
            kind: ChunkKind::Events,
            thread: 0,
            seq: 0,
            sealed: true,
            base_ticks: 1000,
            base_ns: 0,
            payload,
        };
        let chunks: Vec<Chunk<'_>> = payloads.iter().map(|p| chunk(p.as_slice())).collect();
        let needed = Needed::of(&chunks, 10.0);
        (needed.left_out, needed.recorded)
    }

    #[test]
    fn nothing_is_measured_for_what_is_long_few_or_recorded() {
        let many = |apart| records((0..2000).map(|_| Kind::End), apart);
        assert_eq!(needed(&[]), (false, false));
        assert_eq!(needed(&[many(501)]), (false, false));
        assert_eq!(needed(&[many(499)]), (false, true));
        assert_eq!(needed(&[many(501), many(10), many(501)]), (false, true));
        let few = records((0..1000).map(|_| Kind::End), 10);
        assert_eq!(needed(&[few]), (false, false));
        let mut left_out = many(10);
        left_out.extend(records([Kind::Unrecorded].into_iter(), 10));
        left_out.extend([1, 1]);
        assert_eq!(needed(&[left_out]), (true, true));
        // Of so many only some are looked at.
        assert_eq!(needed(&vec![many(501); 65]), (true, false));
    }
}
