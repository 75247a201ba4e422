//! The parts of a trace that are skipped because of the overhead budget.

use std::collections::{BTreeMap, BTreeSet};

use workspan_dag::Dag;
use workspan_trace::event::{Event, Events, WaitFor};
use workspan_trace::{Chunk, ChunkKind, Tolerance, Trace};

/// One per cent, from the first task on.
pub const BUDGET: &str = "10000:0";

/// The skipped subtrees in a trace.
#[derive(Debug, Default)]
pub struct Seen {
    pub creates: u64,
    pub subtrees: BTreeSet<(u32, u64)>,
    pub parts: u64,
    pub sampled: u64,
    /// Tasks counted in subtrees, on the subtrees' own threads.
    pub inside: u64,
}

impl Seen {
    /// All tasks that were created, recorded or not. Fails if the graph has another number of them.
    pub fn tasks(&self, dag: &Dag, what: &str) -> u64 {
        let estimates = || dag.skipped.iter().map(|(_, bounds)| bounds.tasks);
        assert!(estimates().all(|(low, high)| low == high), "{what}");
        let inside = estimates().map(|tasks| tasks.0).sum::<u64>();
        assert_eq!(inside, self.inside, "{what}");
        self.creates + self.parts + self.inside
    }
}

/// Reads a trace. Fails if a thread's records are inconsistent, unless stacks moved between
/// threads.
pub fn seen(bytes: &[u8]) -> Seen {
    let trace = Trace::open(bytes).unwrap();
    let mut threads: BTreeMap<u32, Vec<_>> = BTreeMap::new();
    for chunk in trace.chunks(Tolerance::Strict) {
        let chunk = chunk.unwrap();
        if chunk.kind == ChunkKind::Events {
            threads.entry(chunk.thread).or_default().push(chunk);
        }
    }
    let events = |chunk: &Chunk<'_>| {
        let mut events = Events::new(chunk.payload, chunk.base_ticks);
        events.any(|(_, event)| matches!(event, Event::ResumeStopped(_)))
    };
    let moves = threads.values().flatten().any(events);
    let (mut seen, mut parts) = (Seen::default(), Vec::new());
    for (thread, mut chunks) in threads {
        chunks.sort_by_key(|chunk| chunk.seq);
        // For each task on the stack: whether it is in a skipped subtree.
        let (mut yields, mut stack) = (0, vec![false]);
        for chunk in chunks {
            for (_, event) in Events::new(chunk.payload, chunk.base_ticks) {
                let top = stack.last_mut().unwrap();
                match event {
                    Event::Create { .. } => {
                        assert!(
                            moves || !*top,
                            "thread {thread} creates where nothing is recorded"
                        );
                        seen.creates += 1;
                    }
                    Event::Begin(_) | Event::Member { .. } => stack.push(false),
                    Event::StolenPart { of, .. } => {
                        parts.push(of);
                        stack.push(false);
                    }
                    Event::End | Event::EndResume => {
                        assert!(
                            moves || !*top,
                            "thread {thread} ends a task with a subtree in it"
                        );
                        stack.pop();
                        if stack.is_empty() {
                            stack.push(false);
                        }
                    }
                    Event::Yield { .. } | Event::Leave { .. } => yields += 1,
                    Event::SkipBegin { .. } => {
                        assert!(!std::mem::replace(top, true) || moves);
                        seen.subtrees.insert((thread, yields));
                        yields += 1;
                    }
                    Event::SkipEnd => assert!(std::mem::take(top) || moves),
                    Event::Wait { what, .. } => {
                        let is_one = what == WaitFor::Parts;
                        assert!(moves || *top == is_one, "thread {thread} waits");
                    }
                    Event::SampleBegin { .. } => seen.sampled += 1,
                    Event::SkippedTasks { tasks } => {
                        assert!(
                            *top || moves,
                            "thread {thread} counts where all is recorded"
                        );
                        seen.inside += tasks;
                    }
                    _ => {}
                }
            }
        }
    }
    for part in &parts {
        assert!(seen.subtrees.contains(part), "{part:?} is no subtree");
    }
    seen.parts = parts.len() as u64;
    seen
}
