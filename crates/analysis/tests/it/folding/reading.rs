//! Traces read through the fold: no measure of MODEL.md §2 and §3 changes, with probes taken out
//! and with threads off the CPU.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

use workspan_analysis::{Breakdown, Options, report};
use workspan_dag::Dag;
use workspan_reader::OpenOptions;
use workspan_reader::open::{Grain, Index, read};
use workspan_reader::recorded::expand::{ExpandedStrand, Expander};
use workspan_test_kit::put_record;
use workspan_trace::wire::Kind;

use crate::folding::program::Lane;
use crate::folding::{file, habits, measures, program};
use crate::random::dice::Dice;

/// The lane with times off the CPU after some of its records, each within the time since the
/// previous record.
fn with_offs(lane: &Lane, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut walk = workspan_trace::event::Events::new(&lane.bytes, 0);
    let (mut at, mut before) = (0, 0);
    while let Some((t, event)) = walk.next() {
        let end = walk.offset();
        bytes.extend_from_slice(&lane.bytes[at..end]);
        // A record that takes its time from the previous one has none of its own.
        let next_has_time = lane.bytes.get(end).is_none_or(|&b| b != Kind::Next as u8);
        let timeless = matches!(event, workspan_trace::event::Event::Folded(_));
        if t > before + 1 && next_has_time && !timeless && dice.percent(2) {
            let blocked = u64::from(dice.percent(50));
            let ticks = 1 + dice.below((t - before) as usize) as u64;
            put_record(&mut bytes, Kind::Off, 0, &[blocked, ticks]);
        }
        (at, before) = (end, t);
    }
    bytes
}

/// Times off the CPU that come after all other records of the trace, like those of the kernel's
/// context switches.
fn late_offs(lane: &Lane, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut at, mut last) = (0, 0);
    while dice.percent(70) && lane.now > at + 20 {
        at += 10 + dice.below((lane.now - at - 10) as usize) as u64;
        let ticks = 1 + dice.below(9) as u64;
        put_record(&mut bytes, Kind::Off, at - last, &[0, ticks]);
        last = at;
    }
    bytes
}

pub fn through(bytes: &[u8], grain: Grain, raw: bool) -> Dag {
    let options = OpenOptions {
        grain,
        raw,
        ..OpenOptions::default()
    };
    read(Path::new("t"), bytes, &options).unwrap()
}

/// Expands each folded strand: the strands inside must be strands of the run read task by task.
/// Returns their number.
fn look_into(bytes: &[u8], plain: &Dag, short: &Dag) -> usize {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let records = Expander::open(file.path(), short, &OpenOptions::default());
    let records = records.unwrap().unwrap();
    let strands = &plain.strands;
    let known: BTreeSet<(u32, u64, u64)> = (0..strands.len())
        .map(|s| (strands.thread[s], strands.start[s], strands.end[s]))
        .collect();
    let site_at: BTreeMap<(u32, u64, u64), u32> = (0..strands.len())
        .map(|s| {
            let site = plain.tasks.site[strands.task[s] as usize];
            ((strands.thread[s], strands.start[s], strands.end[s]), site)
        })
        .collect();
    let mut found = 0;
    for (s, fold) in short.folded.iter() {
        let thread = short.strands.thread[s as usize];
        let all = records.expand(short, s, (0, u64::MAX), usize::MAX);
        assert!(!all.cut);
        let mut work = 0;
        for strand in &all.strands {
            let key = (thread, strand.start, strand.end);
            assert!(known.contains(&key), "{strand:?}");
            let task = all.tasks[strand.task as usize];
            if task.parent != workspan_dag::NONE {
                assert_eq!(
                    plain.places[site_at[&key] as usize],
                    short.places[task.site as usize]
                );
                assert!(task.parent < strand.task && task.created <= strand.start);
            }
            work += strand.end - strand.start;
        }
        assert_eq!(work, fold.work + fold.probes, "{fold:?}");
        found += all.strands.len();
        // The parts are the strands that overlap.
        let middle = (short.strands.start[s as usize] + short.strands.end[s as usize]) / 2;
        let part = records.expand(short, s, (middle, middle + 10), usize::MAX);
        let overlap = |s: &&ExpandedStrand| s.end > middle && s.start < middle + 10;
        let times = |all: &mut dyn Iterator<Item = &ExpandedStrand>| -> Vec<(u64, u64)> {
            all.map(|s| (s.start, s.end.min(middle + 10))).collect()
        };
        assert_eq!(
            times(&mut part.strands.iter()),
            times(&mut all.strands.iter().filter(overlap))
        );
        let few = records.expand(short, s, (0, u64::MAX), 1);
        assert!(few.strands.len() <= 1 && (few.cut || all.strands.len() <= 1));
    }
    found
}

#[test]
fn reading_through_the_fold_changes_no_measure() {
    let (mut folded, mut unfolded, mut offs, mut looked_into) = (0, 0, 0, 0);
    for case in 0..150 {
        let mut dice = Dice::new(1000 + case);
        let mut habits = habits(&mut dice);
        if dice.percent(60) {
            (habits.detached, habits.marks, habits.yields) = (0, 0, 0);
            (habits.signals, habits.depends, habits.escapes) = (0, 0, 0);
        }
        if habits.threads == 1 {
            habits.steals = 100;
        }
        let (lanes, end) = program::run(&mut dice, habits);
        let with_offs = |lane: &Lane| {
            let late = late_offs(lane, &mut dice);
            vec![(0, with_offs(lane, &mut dice)), (0, late)]
        };
        let chunks: Vec<file::Chunks> = lanes.iter().map(with_offs).collect();
        let steals = dice.pick(&["child", "continuation"]);
        let probe = dice.pick(&[0, 1, 4]);
        let task = dice.pick(&[0, 20, 1000]);
        let bytes = file::measured_bytes(&chunks, end, steals, (probe, task));
        // A tick is half a nanosecond.
        let grain = dice.pick(&[20, 100, 1000, 100_000]);
        let plain = through(&bytes, Grain::None, false);
        let short = through(&bytes, Grain::Nanoseconds(grain), false);
        assert_eq!(plain.meta.warnings, short.meta.warnings, "case {case}");
        assert_eq!(plain.meta.workers, short.meta.workers, "case {case}");
        offs += plain.offs.len();
        unfolded += plain.tasks.len();
        folded += short.folded.len();
        for burden in [0, 7, 1000] {
            assert_eq!(
                measures(&plain, burden),
                measures(&short, burden),
                "case {case}, burden {burden}, {habits:?}, grain {grain}, probe {probe}"
            );
        }
        let of = |dag: &Dag| report(dag, &Options::default()).unwrap().breakdown;
        let (a, b) = (of(&plain), of(&short));
        // At most the work of workers: threads beyond them may not all count.
        if a.work > 0 && a.oversubscribed == 0 && b.oversubscribed == 0 {
            let parts = |b: &Breakdown| (b.recording, b.descheduled, b.blocked);
            assert_eq!(parts(&a), parts(&b), "case {case}");
        }
        assert_eq!(a.total(), b.total(), "case {case}");
        let raw = Options {
            raw: true,
            ..Options::default()
        };
        let raw_work = |dag: &Dag| {
            let ws = report(dag, &raw).unwrap().work_span;
            (ws.work, ws.span, ws.burdened_span, ws.span_with_blocked)
        };
        let kept = through(&bytes, Grain::Nanoseconds(grain), true);
        assert_eq!(raw_work(&plain), raw_work(&kept), "case {case}");
        if let Some(about) = &short.meta.read_folding {
            assert_eq!(about.tasks, plain.tasks.len() as u64, "case {case}");
            looked_into += look_into(&bytes, &plain, &short);
        }
    }
    assert!(folded > 100 && offs > 100, "{folded} {offs} {unfolded}");
    assert!(looked_into > 1000, "{looked_into}");
}

/// A run whose trace is large enough to be folded by default, with an index.
#[test]
fn an_index_gives_the_same_run_until_the_trace_changes() {
    let mut lane = Lane::default();
    lane.put(0, Kind::Root, &[]);
    while lane.bytes.len() < 9 << 20 {
        let t = lane.now;
        lane.put(t + 30, Kind::Join, &[2 + t % 3]);
        lane.put(t + 100 + t % 7, Kind::End, &[]);
        let ended = lane.now;
        lane.put(ended, Kind::Next, &[]);
        lane.put(ended + 50, Kind::EndResume, &[]);
    }
    let end = lane.now + 100;
    lane.put(end, Kind::End, &[]);
    let lanes = [lane];
    let bytes = file::bytes(&file::plain(&lanes), end, "child", 1);
    let folder = tempfile::tempdir().unwrap();
    let (trace, index) = (
        folder.path().join("t.wspan"),
        folder.path().join("t.wspan.index"),
    );
    std::fs::write(&trace, &bytes).unwrap();
    let options = OpenOptions {
        grain: Grain::Auto,
        index: Index::Always,
        ..OpenOptions::default()
    };
    let read = || workspan_reader::open(&trace, &options).unwrap();
    let first = read();
    assert!(first.meta.read_folding.is_some(), "{} bytes", bytes.len());
    let written = std::fs::read(&index).unwrap();
    assert!(written.len() < bytes.len());
    let again = read();
    assert_eq!(first, again);
    // The index was read, and not made again.
    std::fs::write(&index, &written[..written.len() - 1]).unwrap();
    assert_eq!(first, read());
    assert_eq!(std::fs::read(&index).unwrap(), written);
    for at in (0..written.len()).step_by(written.len() / 3) {
        let mut damaged = written.clone();
        damaged[at] ^= 0x55;
        std::fs::write(&index, &damaged).unwrap();
        let run = read();
        assert_eq!(
            (run.tasks.len(), &run.folded),
            (first.tasks.len(), &first.folded)
        );
    }
    // Another trace at the same place.
    let shorter = file::bytes(&file::plain(&lanes), end, "child", 0);
    std::fs::write(&trace, &shorter).unwrap();
    assert_eq!(read().meta.probe_cost, 0);
    // If no index can be written, the run is the same.
    std::fs::remove_file(&index).unwrap();
    std::fs::create_dir(&index).unwrap();
    assert_eq!(read().meta.probe_cost, 0);
}
