//! Random runs: properties of every trace.

use crate::random::{Dice, Queue, Run, run};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use workspan_dag::{Dag, EdgeKind, NONE};
use workspan_reader::{OpenOptions, text};

fn read(text: &str) -> Dag {
    text::read_str(text).unwrap_or_else(|e| panic!("{e}\n{}", numbered(text)))
}

fn numbered(text: &str) -> String {
    text.lines()
        .zip(1..)
        .map(|(l, i)| format!("{i}: {l}\n"))
        .collect()
}

fn export(dag: &Dag) -> String {
    let mut out = Vec::new();
    text::write(dag, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Another valid order of the lines.
fn shuffled(run: &Run, seed: u64) -> String {
    let mut queues: BTreeMap<Queue, VecDeque<&str>> = BTreeMap::new();
    for (queue, line) in &run.lines {
        queues.entry(*queue).or_default().push_back(line);
    }
    let mut created = BTreeSet::from([13]); // the root's number
    let mut dice = Dice(seed);
    let mut out = run.header.clone() + "\n";
    while !queues.is_empty() {
        let may = |queue: &Queue| match queue {
            Queue::Task(number) => created.contains(number),
            Queue::Thread(_) => true,
        };
        let ready: Vec<Queue> = queues.keys().copied().filter(may).collect();
        let queue = ready[dice.roll(ready.len() as u64) as usize];
        let lines = queues.get_mut(&queue).unwrap();
        let line = lines.pop_front().unwrap();
        if lines.is_empty() {
            queues.remove(&queue);
        }
        if let Some(at) = line.find("\"child\":") {
            created.insert(
                line[at + 8..]
                    .split([',', '}'])
                    .next()
                    .unwrap()
                    .parse()
                    .unwrap(),
            );
        }
        out += line;
        out.push('\n');
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn export_reads_back_to_the_same_dag(seed: u64, limit in 1usize..40) {
        let dag = read(&run(seed, limit).text());
        let again = export(&dag);
        prop_assert_eq!(&dag, &read(&again), "{}", again);
    }

    #[test]
    fn line_order_across_tasks_does_not_matter(seed: u64, limit in 1usize..40, order: u64) {
        let run = run(seed, limit);
        prop_assert_eq!(read(&run.text()), read(&shuffled(&run, order)));
    }

    #[test]
    fn strands_are_in_topological_and_start_order(seed: u64, limit in 1usize..40) {
        let dag = read(&run(seed, limit).text());
        for s in 0..dag.strands.len() as u32 {
            let start = dag.strands.start[s as usize];
            if s > 0 {
                prop_assert!(dag.strands.start[s as usize - 1] <= start);
            }
            dag.for_each_predecessor(s, |p, kind| {
                assert!(p < s, "{kind:?} edge from {p} to {s}");
                assert!(dag.strands.end[p as usize] <= start);
            });
        }
    }

    /// The generator computes the tasks that each wait joins in a slow way. Tree scopes may leave
    /// out tasks that are joined already by a listed task, but never lose one.
    #[test]
    fn waits_join_what_the_model_says(seed: u64, limit in 1usize..40) {
        let run = run(seed, limit);
        let dag = read(&run.text());
        let mut nth: BTreeMap<u64, usize> = BTreeMap::new();
        let mut strands: Vec<u32> = (0..dag.strands.len() as u32).collect();
        strands.sort_by_key(|&s| dag.strands.task[s as usize]);
        for s in strands {
            let Some(w) = dag.waits.index_of(s) else { continue };
            let task = dag.tasks.number(dag.strands.task[s as usize]);
            let n = nth.entry(task).or_default();
            let expected = run.joins.get(&(task, *n)).cloned().unwrap_or_default();
            *n += 1;
            let mut joined: Vec<u64> = dag.waits.tasks.get(w).iter().map(|&t| dag.tasks.number(t)).collect();
            joined.sort_unstable();
            if dag.waits.scope[w] == NONE {
                prop_assert_eq!(joined, expected);
            } else {
                prop_assert!(joined.iter().all(|j| expected.contains(j)));
                let before = everything_before(&dag, s);
                for number in expected {
                    let t = (0..dag.tasks.len() as u32).position(|t| dag.tasks.number(t) == number).unwrap();
                    prop_assert!(before.contains(&dag.tasks.last[t]), "task {} is not before strand {}", number, s);
                }
            }
        }
    }

    #[test]
    fn damage_never_panics(seed: u64, edits in proptest::collection::vec((any::<u32>(), any::<u8>(), 0u8..4), 1..6)) {
        let mut bytes = run(seed, 12).text().into_bytes();
        for (at, byte, what) in edits {
            let at = at as usize % bytes.len().max(1);
            match what {
                0 => bytes.truncate(at),
                1 if !bytes.is_empty() => { bytes.remove(at); }
                2 if !bytes.is_empty() => bytes[at] = b"0123456789\n\"{}[],:"[byte as usize % 18],
                _ => bytes.insert(at.min(bytes.len()), byte),
            }
        }
        let strict = text::read(&bytes);
        let lenient = text::read_with(&bytes, &OpenOptions { allow_truncated: true, ..OpenOptions::default() });
        if let Ok(dag) = &strict {
            prop_assert_eq!(&read(&export(dag)), dag);
            prop_assert!(lenient.is_ok());
        }
        if let Ok(dag) = lenient {
            for s in 0..dag.strands.len() as u32 {
                dag.for_each_predecessor(s, |p, kind| {
                    assert!(p < s && dag.strands.end[p as usize] <= dag.strands.start[s as usize], "{kind:?} {p} {s}");
                });
            }
        }
    }
}

fn everything_before(dag: &Dag, s: u32) -> BTreeSet<u32> {
    let (mut seen, mut stack) = (BTreeSet::new(), vec![s]);
    while let Some(s) = stack.pop() {
        dag.for_each_predecessor(s, |p, _: EdgeKind| {
            if seen.insert(p) {
                stack.push(p);
            }
        });
    }
    seen
}
