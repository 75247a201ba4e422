//! Samples of the program's code, from the file.

use std::collections::BTreeMap;

use workspan_trace::entry::{OTHER_THREADS, RankCall};

use super::Extent;
use super::chunks_by_thread::TraceChunks;
use super::survey::{LATEST, slot};
use workspan_dag::NONE;
use workspan_dag::raw::RawTrace;
use workspan_dag::samples::{Frame, RawSample, RawStop, WaitCause};

/// Puts samples, stacks and frames into `raw`. A frame or stack that is missing in the file becomes
/// "?". Stacks keep the order of their numbers.
pub(super) fn samples(chunks: &TraceChunks<'_>, extent: Extent, raw: &mut RawTrace) {
    let mut frames: BTreeMap<u32, u32> = BTreeMap::new();
    for (&id, entry) in &chunks.frames {
        frames.insert(id, raw.samples.frames.len() as u32);
        raw.samples.frames.push(Frame {
            function: entry.function.clone(),
            file: entry.file.clone(),
            line: entry.line,
            runtime: entry.runtime,
        });
    }
    let mut unknown = None;
    let mut stacks: BTreeMap<u32, u32> = BTreeMap::new();
    for (&id, entry) in &chunks.stacks {
        stacks.insert(id, raw.samples.stacks.len() as u32);
        let frames: Vec<u32> = entry
            .frames
            .iter()
            .map(|id| match frames.get(id) {
                Some(&frame) => frame,
                None => *unknown.get_or_insert_with(|| {
                    raw.samples.frames.push(Frame::unknown());
                    raw.samples.frames.len() as u32 - 1
                }),
            })
            .collect();
        raw.samples.stacks.push(frames);
    }
    let note = chunks
        .notes
        .iter()
        .find(|n| n.key == workspan_dag::note_keys::SAMPLE_HZ);
    raw.samples.hertz = note.and_then(|n| n.value.parse().ok()).unwrap_or(0);
    let inside = |ticks: u64| (extent.first..=extent.last).contains(&ticks);
    for entry in &chunks.stops {
        let Some(thread) = slot(&chunks.threads, entry.thread) else {
            continue;
        };
        for &(begin, stack, ticks) in &entry.stops {
            if let Some(&stack) = stacks.get(&stack)
                && inside(begin)
            {
                raw.samples.stops.push(RawStop {
                    t: (begin - extent.first).min(LATEST),
                    thread: thread as u32,
                    stack,
                    ticks,
                    wait: None,
                });
            }
        }
    }
    for entry in &chunks.waits {
        let Some(thread) = slot(&chunks.threads, entry.thread) else {
            continue;
        };
        for wait in entry.waits.iter().filter(|wait| inside(wait.begin)) {
            let Some(&stack) = stacks.get(&wait.stack) else {
                continue;
            };
            let by = wait.by.and_then(|by| slot(&chunks.threads, by));
            let released_at = wait.released_at.and_then(|stack| stacks.get(&stack));
            raw.samples.stops.push(RawStop {
                t: (wait.begin - extent.first).min(LATEST),
                thread: thread as u32,
                stack,
                ticks: wait.ticks,
                wait: Some(WaitCause {
                    kind: wait.kind,
                    object: wait.object,
                    by: by.map_or(NONE, |by| by as u32),
                    released_at: released_at.copied().unwrap_or(NONE),
                    held: wait.held,
                }),
            });
        }
    }
    for entry in &chunks.rank_calls {
        let Some(thread) = slot(&chunks.threads, entry.thread) else {
            continue;
        };
        for call in entry.calls.iter().filter(|call| inside(call.begin)) {
            let call = RankCall {
                begin: (call.begin - extent.first).min(LATEST),
                stack: call.stack.and_then(|stack| stacks.get(&stack)).copied(),
                ..*call
            };
            raw.rank_calls.push((thread as u32, call));
        }
    }
    for entry in &chunks.samples {
        if entry.thread == OTHER_THREADS {
            let in_window = entry.samples.iter().filter(|(ticks, _)| inside(*ticks));
            let others = in_window.filter_map(|(ticks, stack)| {
                Some(((ticks - extent.first).min(LATEST), *stacks.get(stack)?))
            });
            raw.samples.others.extend(others);
            continue;
        }
        let Some(thread) = slot(&chunks.threads, entry.thread) else {
            continue;
        };
        for (ticks, stack) in &entry.samples {
            if let Some(&stack) = stacks.get(stack)
                && inside(*ticks)
            {
                raw.samples.list.push(RawSample {
                    t: (ticks - extent.first).min(LATEST),
                    thread: thread as u32,
                    stack,
                });
            }
        }
    }
}
