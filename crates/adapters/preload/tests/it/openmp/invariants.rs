//! Checks that hold for every run of every program.

use std::collections::BTreeMap;
use std::path::Path;

use workspan_analysis::{Options, report};
use workspan_dag::Dag;
use workspan_reader::OpenOptions;
use workspan_toolchains::{Family, Language, openmp};
use workspan_trace::event::{Event, Events};
use workspan_trace::reader::Tolerance;
use workspan_trace::{ChunkKind, Trace};

/// Checks a run that ended in an orderly way; `what` names it.
pub fn hold(trace: &[u8], dag: &Dag, what: &str) {
    let warnings = unexpected_warnings(dag);
    assert!(warnings.is_empty(), "{what}: {warnings:#?}");
    once(trace, what);
    let strands = &dag.strands;
    for s in 0..strands.len() {
        assert!(strands.start[s] <= strands.end[s], "{what}: strand {s}");
        dag.for_each_predecessor(s as u32, |p, kind| {
            let (end, start) = (strands.end[p as usize], strands.start[s]);
            assert!(
                p < s as u32 && end <= start,
                "{what}: {kind:?} from {end} to {start}"
            );
        });
    }
    let breakdown = report(dag, &Options::default()).unwrap().breakdown;
    assert_eq!(
        breakdown.work + breakdown.lost(),
        u128::from(breakdown.workers) * u128::from(breakdown.elapsed()),
        "{what}: {breakdown:?}"
    );
    reads_back(dag, what);
}

/// The warnings of a run, except that of a run with loops whose runtime does not report chunks.
pub fn unexpected_warnings(dag: &Dag) -> Vec<&str> {
    let tells_chunks = openmp(Family::Llvm, Language::C).is_ok_and(|c| c.tells_loop_chunks());
    let mut primitives = dag.places.iter().map(|place| place.primitive.as_deref());
    let misses_chunks = !tells_chunks && primitives.any(|primitive| primitive == Some("loop"));
    let known = |warning: &&str| misses_chunks && warning.contains("does not report loop chunks");
    let warnings = dag.meta.warnings.iter().map(String::as_str);
    warnings.filter(|warning| !known(warning)).collect()
}

/// Checks that each created task began once and ended once.
fn once(trace: &[u8], what: &str) {
    let trace = Trace::open(trace).unwrap();
    // The number of tasks by the thread that created them.
    let mut created: BTreeMap<u32, u64> = BTreeMap::new();
    let mut begun: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    let (mut members, mut ends, mut roots) = (0u64, 0u64, 0u64);
    let mut left = 0i64;
    let chunks = trace.chunks(Tolerance::Strict).map(|chunk| chunk.unwrap());
    let mut chunks: Vec<_> = chunks.filter(|c| c.kind == ChunkKind::Events).collect();
    // A thread's chunks may be in any order in the file.
    chunks.sort_by_key(|chunk| (chunk.thread, chunk.seq));
    for chunk in chunks {
        for (_, event) in Events::new(chunk.payload, 0) {
            let of_thread = created.entry(chunk.thread).or_default();
            match event {
                Event::Create { .. } => *of_thread += 1,
                Event::Root => {
                    *begun.entry((chunk.thread, *of_thread)).or_default() += 1;
                    *of_thread += 1;
                    roots += 1;
                }
                Event::Begin(task) => *begun.entry(task).or_default() += 1,
                // A part of a skipped subtree appears with its begin.
                Event::StolenPart { .. } => {
                    *begun.entry((chunk.thread, *of_thread)).or_default() += 1;
                    *of_thread += 1;
                }
                Event::Member { .. } => members += 1,
                Event::End | Event::EndResume => ends += 1,
                Event::Leave { .. } => left += 1,
                Event::ResumeYielded { .. } => left -= 1,
                _ => {}
            }
        }
    }
    for ((thread, task), times) in &begun {
        assert_eq!(*times, 1, "{what}: task {task} of thread {thread}");
        assert!(
            *task < created[thread],
            "{what}: who created {task} of {thread}?"
        );
    }
    assert_eq!(
        begun.len() as u64,
        created.values().sum::<u64>(),
        "{what}: begins"
    );
    // A thread's root may end with the process.
    let all = begun.len() as u64 + members;
    assert!(
        (all - roots..=all).contains(&ends),
        "{what}: {ends} of {all} ends"
    );
    assert_eq!(left, 0, "{what}: tasks that left a thread go on");
}

/// Checks that the trace is the same after it was written as text and read again.
fn reads_back(dag: &Dag, what: &str) {
    let mut text = Vec::new();
    workspan_reader::text::write(dag, &mut text).unwrap();
    let again = workspan_reader::open::read(Path::new("text"), &text, &OpenOptions::default());
    let again = again.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(again.strands.start, dag.strands.start, "{what}");
    assert_eq!(again.strands.task, dag.strands.task, "{what}");
    assert_eq!(again.waits, dag.waits, "{what}");
    assert_eq!(again.depends, dag.depends, "{what}");
    assert_eq!(again.tasks.scope, dag.tasks.scope, "{what}");
}
