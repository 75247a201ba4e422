//! The functions that fuzzers run: one for each reader of a file or of a part of a file. A function
//! panics if the reader does, or if the reader takes more memory than the size of its input
//! justifies.
//!
//! `cargo xtask test fuzz` runs each of them for a minute; `cargo fuzz run NAME` runs one.

mod craft;
#[path = "../../crates/reader/tests/heap/mod.rs"]
mod heap;

use std::path::Path;

use workspan_analysis::{Options, report as measure};
use workspan_dag::{Dag, Error};
use workspan_export::{Charset, TextOptions, report_json, report_text};
use workspan_fold::{Fold, FoldOptions, StealKind};
use workspan_reader::formats::{Format, Reading};
use workspan_reader::open::{Grain, Index, index_note, read};
use workspan_reader::recorded::expand::Expander;
use workspan_reader::recorded::preview::preview;
use workspan_reader::{OpenOptions, open};
use workspan_trace::entry::{
    ClockPair, Fields, Finished, FrameEntry, Label, Mapping, Note, OffCpu, PlaceEntry,
    SamplesEntry, Site, StackEntry, ThreadEntry, entries as bodies, push_varint,
};
use workspan_trace::event::{Event, Events, WaitFor};
use workspan_trace::folded::FoldedRecord;
use workspan_trace::sealed_copy::copy_sealed;
use workspan_trace::thread_state::ThreadState;
use workspan_trace::window::{Window, copy_window};
use workspan_trace::{Tolerance, Trace, TraceWriter};

/// Reads a file with and without damage allowed; returns the result with damage allowed.
fn both(file: &[u8]) -> Result<Dag, Error> {
    let mut last = None;
    for allow_truncated in [false, true] {
        let options = OpenOptions {
            allow_truncated,
            ..OpenOptions::default()
        };
        if let Ok(preview) = heap::within(file.len(), || preview(file, &options)) {
            assert!(preview.begin <= preview.end);
        }
        let read = heap::within(file.len(), || read(Path::new("fuzz"), file, &options));
        match &read {
            Ok(dag) => in_order(dag),
            Err(error) => {
                let said = error.to_string();
                assert!(said.len() < 1000, "an error of {} bytes", said.len());
            }
        }
        last = Some(read);
    }
    match last {
        Some(read) => read,
        None => unreachable!("both ways were tried"),
    }
}

/// Asserts the properties that all code after the reader relies on.
fn in_order(dag: &Dag) {
    let s = &dag.strands;
    for i in 0..s.len() {
        assert!(s.start[i] <= s.end[i], "strand {i} ends before it starts");
        assert!((s.task[i] as usize) < dag.tasks.len());
        dag.for_each_predecessor(i as u32, |p, kind| {
            assert!(p < i as u32, "{kind:?} {p} → {i}");
            assert!(s.end[p as usize] <= s.start[i], "{kind:?} {p} → {i}");
        });
    }
}

/// Reads a complete file of any format.
pub fn file(bytes: &[u8]) {
    drop(both(bytes));
}

/// Reads the chunks of a recorded trace with correct checksums. The first byte gives its header
/// ([`craft::file`]).
pub fn recorded(bytes: &[u8]) {
    let Some((&how, chunks)) = bytes.split_first() else {
        return;
    };
    let file = craft::file(how, chunks);
    drop(both(&file));
    // Seals the file as `record` does with what a process left behind.
    let sealed = heap::within(file.len(), || {
        let left = Trace::open(&file).ok()?;
        let out = std::io::Cursor::new(Vec::new());
        let mut writer = TraceWriter::new(out, left.header).ok()?;
        copy_sealed(&left, &[], &mut writer).ok()?;
        Some(writer.finish().ok()?.into_inner())
    });
    let part = heap::within(file.len(), || {
        let left = Trace::open(&file).ok()?;
        // Keeps the window from the first record to some time inside the trace.
        let (from, to) = (u64::from(how), u64::from(how) << 3);
        let pair = |ticks| ClockPair { ticks, ns: ticks };
        let window = Window {
            from: pair(from),
            to: pair(to),
        };
        let out = std::io::Cursor::new(Vec::new());
        let mut writer = TraceWriter::new(out, left.header).ok()?;
        copy_window(&left, &window, &[], &mut writer).ok()?;
        Some(writer.finish().ok()?.into_inner())
    });
    if let Some(part) = part {
        drop(both(&part));
    }
    if let Some(sealed) = sealed
        && let Ok(trace) = Trace::open(&sealed)
    {
        let whole = trace.chunks(Tolerance::Strict).all(|chunk| chunk.is_ok());
        assert!(whole, "a file we sealed is damaged");
    }
}

/// Reads the records of threads ([`craft::trace`]), in a trace that is otherwise valid.
pub fn events(bytes: &[u8]) {
    drop(both(&craft::trace(bytes)));
}

/// Reads a trace ([`craft::trace`]), [`craft::INDEX`], and its index: five numbers on how it was
/// folded, then records as in the trace.
///
/// # Panics
/// A reader panics (see the crate's documentation), or files can't be written.
pub fn index(bytes: &[u8]) {
    let at = bytes.windows(craft::INDEX.len());
    let Some(at) = at.clone().position(|w| w == craft::INDEX) else {
        return;
    };
    let (of, index) = (&bytes[..at], &bytes[at + craft::INDEX.len()..]);
    let mut fields = Fields::new(index);
    let folded = std::array::from_fn(|_| fields.number().unwrap_or(0));
    let records = &index[index.len() - fields.left()..];
    let folder = std::env::temp_dir().join(format!("workspan-fuzz-{}", std::process::id()));
    let path = folder.join("run.wspan");
    let _ = std::fs::create_dir(&folder);
    let written = std::fs::write(&path, craft::trace(of)).and_then(|()| {
        let note = index_note(&path, folded).map_err(std::io::Error::other)?;
        let index = craft::trace_that_says(records, Some(Note::new(note.0, note.1)));
        std::fs::write(folder.join("run.wspan.index"), index)
    });
    written.expect("files in the temporary directory");
    let options = OpenOptions {
        grain: Grain::Auto,
        index: Index::Always,
        ..OpenOptions::default()
    };
    heap::within(bytes.len() + 4096, || {
        let Ok(dag) = open(&path, &options) else {
            return;
        };
        in_order(&dag);
        // Folded strands are looked up in a trace that differs from the indexed one.
        let Ok(Some(records)) = Expander::open(&path, &dag, &options) else {
            return;
        };
        for s in (0..dag.strands.len() as u32).filter(|&s| dag.folded.has(s)) {
            let all = records.expand(&dag, s, (0, u64::MAX), 64);
            assert!(all.strands.len() <= 64);
            let parents = all.tasks.iter().skip(1).map(|task| task.parent as usize);
            assert!(parents.enumerate().all(|(i, parent)| parent <= i));
        }
        if let Ok(report) = measure(&dag, &Options::default()) {
            let sum = &report.breakdown;
            let all = u128::from(sum.workers) * u128::from(sum.elapsed());
            assert_eq!(sum.work + sum.lost() + sum.unread, all, "MODEL.md §5");
        }
    });
}

/// Reads the records of threads as `events` does, and analyses the run if it could be read.
pub fn report(bytes: &[u8]) {
    if let Ok(dag) = both(&craft::trace(bytes)) {
        tell(&dag, bytes.len());
    }
}

/// Reads a text trace. What could be read is written and read again.
pub fn text(bytes: &[u8]) {
    let mut file = bytes.to_vec();
    if !file.starts_with(b"{") {
        file.splice(..0, *b"{\"workspan_trace\":1,\"workers\":2}\n");
    }
    if let Ok(dag) = both(&file) {
        tell(&dag, file.len());
    }
}

/// Reads a file of another tool. What could be read is written as a text trace and read again.
pub fn formats(bytes: &[u8]) {
    match Format::detect(bytes).map(|format| &format.reading) {
        Some(Reading::Table(read)) => drop(heap::within(bytes.len(), || read(bytes))),
        Some(Reading::Trace(_)) => {
            if let Ok(dag) = both(bytes) {
                tell(&dag, bytes.len());
            }
        }
        None => {}
    }
}

/// Makes reports and exports of a run.
fn tell(dag: &Dag, length: usize) {
    heap::within(length, || {
        let options = Options::default();
        let Ok(report) = measure(dag, &options) else {
            return;
        };
        let looks = TextOptions {
            charset: Charset::Strict,
            ..TextOptions::default()
        };
        let text = report_text(dag, &report, &options, &looks);
        assert!(text.is_ascii());
        report_json(dag, &report, &options);
        let sum = &report.breakdown;
        assert_eq!(
            sum.work + sum.lost() + sum.unread,
            u128::from(sum.workers) * u128::from(sum.elapsed()),
            "what workers did does not add up (MODEL.md §5)"
        );
    });
    let mut text = Vec::new();
    if workspan_reader::text::write(dag, &mut text).is_ok() {
        let again = read(Path::new("fuzz"), &text, &OpenOptions::default());
        match again {
            Ok(again) => assert_eq!(again.strands.len(), dag.strands.len()),
            Err(error) => panic!("what was exported can't be read: {error}"),
        }
    }
}

/// Folds the records of a thread. The result must be complete records for any input.
fn fold(bytes: &[u8]) {
    let mut fold = Fold::new(
        0,
        (0, 0),
        FoldOptions {
            grain: 1000,
            max_tasks: u64::MAX,
            thieves: StealKind::TakeChildren,
            unfolded_sites: vec![1],
            memory: 1 << 16,
        },
    );
    let whole = {
        let mut events = Events::new(bytes, 0);
        events.by_ref().for_each(drop);
        !events.is_bad()
    };
    let (first, second) = bytes.split_at(bytes.len() / 2);
    fold.feed(bytes, 0);
    fold.finish();
    let (firm, base) = fold.firm();
    let mut events = Events::new(firm, base);
    events.by_ref().for_each(drop);
    assert!(
        !whole || !events.is_bad(),
        "folding made bytes that are no record"
    );
    // The input is cut at any place, as a damaged file is.
    fold.feed(first, 0);
    fold.feed(second, 1 << 40);
}

/// Reads records, entries and their parts, without a file around them.
pub fn entries(bytes: &[u8]) {
    heap::within(bytes.len(), || {
        let mut events = Events::new(bytes, 0);
        let mut before = 0;
        let mut open = ThreadState::default();
        for (t, event) in events.by_ref() {
            open.pass(&event);
            assert!(t >= before);
            before = t;
            let listed = match event {
                Event::Wait { what, .. } => match what {
                    WaitFor::Tasks(list) | WaitFor::Signals(list) | WaitFor::Dependences(list) => {
                        Some(list)
                    }
                    _ => None,
                },
                Event::Depends { on, .. } | Event::Readings(on) => Some(on),
                Event::Restart { stack, .. } => Some(stack),
                Event::Folded(bytes) => {
                    if let Some(folded) = FoldedRecord::decode(bytes) {
                        let mut again = Vec::new();
                        folded.encode(&mut again);
                        assert_eq!(FoldedRecord::decode(&again), Some(folded));
                    }
                    None
                }
                _ => None,
            };
            if let Some(list) = listed {
                assert_eq!(list.iter().count() as u64, list.len());
            }
        }
        assert!(events.offset() <= bytes.len());
        let mut again = Vec::new();
        open.records(&mut again);
        let whole = Events::new(&again, before).count();
        assert!(whole > 0, "what is open is written as whole records");
        fold(bytes);
        let mut fields = Fields::new(bytes);
        let mut varints = Vec::new();
        while let Some(v) = fields.number() {
            varints.clear();
            push_varint(&mut varints, v);
            assert_eq!(Fields::new(&varints).number(), Some(v));
        }
        for body in bodies(bytes).chain([bytes]) {
            let _ = (Site::decode(body), PlaceEntry::decode(body));
            let _ = (Label::decode(body), Note::decode(body));
            let _ = (Mapping::decode(body), ThreadEntry::decode(body));
            let _ = (ClockPair::decode(body), OffCpu::decode(body));
            let _ = (FrameEntry::decode(body), Finished::decode(body));
            let _ = (StackEntry::decode(body), SamplesEntry::decode(body));
            let _ = FoldedRecord::decode(body);
        }
    });
}

/// Reads what the observer of a recorded process wrote.
pub fn switches(mut bytes: &[u8]) {
    let length = bytes.len();
    heap::within(length, || {
        let all = workspan_perf::decode_switches(&mut bytes);
        assert!(all.switches.is_sorted_by_key(|s| s.ns));
        assert!(all.samples.is_sorted_by_key(|s| s.ns));
        assert!((all.switches.len() + all.samples.len()) * 16 <= length);
    });
}
