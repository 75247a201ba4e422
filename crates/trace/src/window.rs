//! Cuts a recorded run to a time window, as a trace of its own.
//!
//! Records are copied as they are. A restart record ([`crate::thread_state`]) precedes a thread's
//! first one, so that its counts and its stack are right. Tasks created before the window are not
//! in the trace, and readers turn those that had begun or begin in it into roots. Reading begins at
//! the first chunk of a thread, or at the first one after a gap if that begins with a restart.
//! Chunks that a flight recorder kept can therefore be read.

use std::collections::BTreeMap;
use std::io::{self, Seek, Write};

use crate::chunk::ChunkKind;
use crate::entry::{ClockPair, Finished, OffCpu, entries};
use crate::event::{Event, Events};
use crate::off_cpu::{clipped, is_off_cpu};
use crate::reader::{Chunk, Tolerance, Trace};
use crate::thread_state::{StackFrame, ThreadState};
use crate::writer::TraceWriter;

/// A stretch of time, both ends in ticks and in nanoseconds of `CLOCK_MONOTONIC_RAW`. Both ends are
/// included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The beginning.
    pub from: ClockPair,
    /// The end.
    pub to: ClockPair,
}

/// Statistics of a window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowStatistics {
    /// The number of tasks open on the threads' stacks when it began.
    pub open: u64,
    /// The number of threads whose records before the window no longer existed.
    pub continued: u64,
    /// The number of threads that could not be read to the end because a chunk was missing.
    pub broken: u64,
    /// The number of the next chunk, for each thread in the window.
    pub next: BTreeMap<u32, u32>,
    /// Whether anything happened after the window.
    pub over: bool,
    /// Whether nothing was recorded before the window's end, but something after it. The copy then
    /// has one strand of a root.
    pub early: bool,
    /// Whether the copy has an end record, either of the process or of the window.
    pub is_finished: bool,
}

/// Copies the part of `trace` in the window to `writer`, except chunks of the kinds in `except`.
///
/// # Errors
/// The output's write errors. Damage in `trace` is skipped.
pub fn copy_window<W: Write + Seek>(
    trace: &Trace<'_>,
    window: &Window,
    except: &[ChunkKind],
    writer: &mut TraceWriter<W>,
) -> io::Result<WindowStatistics> {
    let mut threads: BTreeMap<u32, BTreeMap<u32, Chunk<'_>>> = BTreeMap::new();
    let mut cut = WindowStatistics::default();
    let mut finished = None;
    for chunk in trace.chunks(Tolerance::Tolerant).flatten() {
        match chunk.kind {
            kind if except.contains(&kind) => {}
            ChunkKind::Events => {
                let of_thread = threads.entry(chunk.thread).or_default();
                of_thread.entry(chunk.seq).or_insert(chunk);
            }
            ChunkKind::Finished => {
                let entry = entries(chunk.payload).find_map(Finished::decode);
                finished = finished.or(entry);
            }
            ChunkKind::OffCpu => {
                let readings = entries(chunk.payload).filter_map(OffCpu::decode);
                let inside = readings.filter_map(|reading| window.part_of(reading));
                writer.all_entries(ChunkKind::OffCpu, inside, OffCpu::encode)?;
            }
            _ if chunk.payload.is_empty() => {}
            kind => writer.entries(kind, chunk.payload)?,
        }
    }
    for (thread, chunks) in threads {
        Thread::new(thread, window).copy(chunks, &mut cut, writer)?;
    }
    if cut.next.is_empty() && cut.over {
        cut.early = true;
        let mut thread = Thread::new(0, window);
        thread.open.stack.push(StackFrame::default());
        thread.begin(&mut WindowStatistics::default(), writer)?;
        cut.next.insert(thread.number, thread.seq);
    }
    // The window's end counts as an orderly end, unless the process had ended before.
    let last = match finished {
        Some(finished) if finished.ticks <= window.to.ticks => Some(finished),
        Some(finished) => Some(Finished {
            ticks: window.to.ticks,
            ns: window.to.ns,
            ..finished
        }),
        None => cut.over.then_some(Finished {
            ticks: window.to.ticks,
            ns: window.to.ns,
            dropped: trace.header.dropped,
            threads: cut.next.len() as u64,
        }),
    };
    cut.is_finished = last.is_some();
    writer.all_entries(ChunkKind::Finished, last, Finished::encode)?;
    Ok(cut)
}

impl Window {
    /// The part of a reading that lies inside the window, assuming that lost time is spread evenly.
    fn part_of(&self, reading: OffCpu) -> Option<OffCpu> {
        let from = reading.from.max(self.from.ticks);
        let to = reading.to.min(self.to.ticks);
        let whole = u128::from(reading.to.checked_sub(reading.from).filter(|&w| w > 0)?);
        let part = u128::from(to.checked_sub(from).filter(|&p| p > 0)?);
        let share = |ns: u64| (u128::from(ns) * part / whole) as u64;
        Some(OffCpu {
            from,
            to,
            preempted_ns: share(reading.preempted_ns),
            blocked_ns: share(reading.blocked_ns),
            ..reading
        })
    }
}

/// The state of a thread while its records are copied.
struct Thread<'w> {
    number: u32,
    window: &'w Window,
    open: ThreadState,
    /// The number of the next chunk that it writes.
    seq: u32,
}

impl<'w> Thread<'w> {
    fn new(number: u32, window: &'w Window) -> Self {
        Thread {
            number,
            window,
            open: ThreadState::default(),
            seq: 0,
        }
    }

    fn copy<W: Write + Seek>(
        mut self,
        chunks: BTreeMap<u32, Chunk<'_>>,
        cut: &mut WindowStatistics,
        writer: &mut TraceWriter<W>,
    ) -> io::Result<()> {
        let mut expected = 0;
        let mut begun = false;
        // Off-CPU times follow a thread's own records, and their times start again.
        let (off_cpu, own): (Vec<_>, Vec<_>) = chunks
            .into_iter()
            .partition(|(_, chunk)| is_off_cpu(chunk.payload, chunk.base_ticks));
        for (seq, chunk) in own {
            if seq != expected {
                let restarts = matches!(
                    Events::new(chunk.payload, chunk.base_ticks).next(),
                    Some((_, Event::Restart { .. }))
                );
                if chunk.base_ticks > self.window.to.ticks {
                    // The chunk was released because nothing in it was needed.
                    cut.over = true;
                    break;
                }
                if !restarts || begun {
                    cut.broken += 1;
                    break;
                }
                self.open = ThreadState::default();
                cut.continued += u64::from(expected == 0);
            }
            expected = seq.saturating_add(1);
            if !self.chunk(&chunk, &mut begun, cut, writer)? {
                break;
            }
        }
        if !begun && !self.open.stack.is_empty() {
            // It ran one strand, or waited, for the whole window.
            self.begin(cut, writer)?;
        }
        // They don't matter for a thread that did nothing in the window.
        let did = begun || self.seq > 0;
        for (_, chunk) in off_cpu.iter().filter(|_| did) {
            let (from, to) = (self.window.from.ticks, self.window.to.ticks);
            let part = clipped(chunk.payload, chunk.base_ticks, from, to);
            if !part.is_empty() {
                self.write(from, &part, writer)?;
            }
        }
        if self.seq > 0 {
            cut.next.insert(self.number, self.seq);
        }
        Ok(())
    }

    /// Copies the part of a chunk inside the window. Returns false when the window is over.
    fn chunk<W: Write + Seek>(
        &mut self,
        chunk: &Chunk<'_>,
        begun: &mut bool,
        cut: &mut WindowStatistics,
        writer: &mut TraceWriter<W>,
    ) -> io::Result<bool> {
        let mut events = Events::new(chunk.payload, chunk.base_ticks);
        let (mut start, mut base) = (0, chunk.base_ticks);
        let (mut end, mut last) = (0, chunk.base_ticks);
        let mut inside = *begun;
        let mut over = false;
        while let Some((t, event)) = events.next() {
            if t > self.window.to.ticks {
                over = true;
                cut.over = true;
                break;
            }
            if !inside && t >= self.window.from.ticks {
                (start, base) = (end, last);
                inside = true;
                *begun = true;
                self.begin(cut, writer)?;
            }
            self.open.pass(&event);
            (end, last) = (events.offset(), t);
        }
        let payload = chunk.payload.get(start..end).unwrap_or_default();
        if inside && !payload.is_empty() {
            self.write(base, payload, writer)?;
        }
        Ok(!over)
    }

    /// Writes the state that the thread has when the window begins.
    fn begin<W: Write + Seek>(
        &mut self,
        cut: &mut WindowStatistics,
        writer: &mut TraceWriter<W>,
    ) -> io::Result<()> {
        if self.open.is_nothing() {
            return Ok(());
        }
        cut.open += self.open.stack.len() as u64;
        let mut records = Vec::new();
        self.open.records(&mut records);
        self.write(self.window.from.ticks, &records, writer)
    }

    fn write<W: Write + Seek>(
        &mut self,
        base: u64,
        payload: &[u8],
        writer: &mut TraceWriter<W>,
    ) -> io::Result<()> {
        let seq = self.seq;
        self.seq = seq.saturating_add(1);
        writer.events(self.number, seq, (base, 0), payload)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod tests {
    use super::*;
    use crate::FileHeader;
    use crate::entry::push_varint;
    use crate::wire::Kind;
    use std::io::Cursor;

    /// Ticks per second, as of a time-stamp counter.
    const RATE: u64 = 3_000_000_000;

    #[test]
    #[cfg_attr(miri, ignore = "3600 chunks, without any unsafe code")]
    fn an_hour_of_ticks() {
        let mut writer = TraceWriter::new(Cursor::new(Vec::new()), FileHeader::default()).unwrap();
        // In each second a task of half a second, in a chunk of its own.
        for second in 0..3600u64 {
            let mut payload = vec![Kind::Create as u8];
            for operand in [1, 0] {
                push_varint(&mut payload, operand);
            }
            payload.push(Kind::Begin as u8);
            for operand in [0, second] {
                push_varint(&mut payload, operand);
            }
            let half = RATE / 2;
            payload.push(Kind::End as u8 | 4 << 5);
            payload.extend_from_slice(&(half as u32).to_le_bytes());
            let base = (second * RATE, second * 1_000_000_000);
            writer.events(0, second as u32, base, &payload).unwrap();
        }
        let file = writer.finish().unwrap().into_inner();
        let trace = Trace::open(&file).unwrap();
        let pair = |half_seconds: u64| ClockPair {
            ticks: half_seconds * RATE / 2,
            ns: half_seconds * 500_000_000,
        };
        let window = Window {
            from: pair(2 * 3590 + 1),
            to: pair(2 * 3599 + 1),
        };
        let mut writer = TraceWriter::new(Cursor::new(Vec::new()), trace.header).unwrap();
        let cut = copy_window(&trace, &window, &[], &mut writer).unwrap();
        assert_eq!((cut.open, cut.continued, cut.broken), (2, 0, 0));
        let part = writer.finish().unwrap().into_inner();
        let mut ends = Vec::new();
        for chunk in Trace::open(&part).unwrap().chunks(Tolerance::Strict) {
            let chunk = chunk.unwrap();
            if chunk.kind == ChunkKind::Events {
                let events = Events::new(chunk.payload, chunk.base_ticks);
                ends.extend(events.filter(|e| e.1 == Event::End).map(|(t, _)| t));
            }
        }
        let expected: Vec<u64> = (3590..3600).map(|s| s * RATE + RATE / 2).collect();
        assert_eq!(ends, expected, "beyond 32 bits of ticks many times");
        assert!(ends[0] > u64::from(u32::MAX) * 2000);
    }
}
