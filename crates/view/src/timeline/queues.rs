//! The number of tasks that wait in each thread's queue if no runtime reported it: deferred tasks
//! that were created on the thread and have not begun. This holds for runtimes whose thieves take
//! children. If they take the continuation of a create, no child waits.

use workspan_dag::{Dag, NONE, Steals, TaskKind};

use crate::run::RunModel;
use crate::run::rows::NO_ROW;

/// Maximum number of changes of depth that are stored one by one.
const MAX_EXACT_CHANGES: usize = 1 << 17;
/// Number of steps of all rows together, for runs with more changes.
const STEPS_OF_ALL_ROWS: usize = 1 << 18;

/// Whether the depths of queues can be computed from the run's tasks.
pub(super) fn follow(dag: &Dag) -> bool {
    dag.meta.steals == Steals::Child && dag.tasks.kind.contains(&TaskKind::Deferred)
}

/// For each row, the depths, each with the time from which it holds. Runs of more than 65,536 tasks
/// get steps of equal length, which take at most 4 MB.
pub(super) fn of(model: &RunModel) -> Vec<Vec<(u64, f32)>> {
    let (rows, tasks) = (model.rows.len(), model.dag.tasks.len());
    if tasks.saturating_mul(2) <= MAX_EXACT_CHANGES {
        return one_by_one(waits(model), rows);
    }
    let steps = STEPS_OF_ALL_ROWS / rows.clamp(1, STEPS_OF_ALL_ROWS);
    in_steps(waits(model), rows, (model.begin, model.end), steps)
}

/// A task that waited in a queue.
#[derive(Debug, Clone, Copy)]
struct Wait {
    row: usize,
    created: u64,
    begun: u64,
}

fn waits(model: &RunModel) -> impl Iterator<Item = Wait> {
    let dag = &*model.dag;
    let (tasks, strands) = (&dag.tasks, &dag.strands);
    (0..tasks.len()).filter_map(move |task| {
        let (creator, first) = (tasks.creator[task], tasks.first[task]);
        if tasks.kind[task] != TaskKind::Deferred || creator == NONE || first == NONE {
            return None;
        }
        let row = model.rows.of(strands.thread[creator as usize]);
        let created = strands.end[creator as usize];
        let begun = strands.start[first as usize];
        (row != NO_ROW && created < begun).then_some(Wait {
            row: usize::from(row),
            created,
            begun,
        })
    })
}

fn one_by_one(waits: impl Iterator<Item = Wait>, rows: usize) -> Vec<Vec<(u64, f32)>> {
    let mut changes: Vec<Vec<(u64, i32)>> = vec![Vec::new(); rows];
    for wait in waits {
        changes[wait.row].push((wait.created, 1));
        changes[wait.row].push((wait.begun, -1));
    }
    let depths = |mut changes: Vec<(u64, i32)>| {
        changes.sort_unstable();
        let mut depth = 0i32;
        let at_once = changes.chunk_by(|a, b| a.0 == b.0);
        let known = at_once.map(|changes| {
            depth += changes.iter().map(|change| change.1).sum::<i32>();
            (changes[0].0, depth as f32)
        });
        known.collect()
    };
    changes.into_iter().map(depths).collect()
}

/// The mean depth in each of `steps` steps between `begin` and `end`.
fn in_steps(
    waits: impl Iterator<Item = Wait>,
    rows: usize,
    (begin, end): (u64, u64),
    steps: usize,
) -> Vec<Vec<(u64, f32)>> {
    let width = (end - begin).div_ceil(steps as u64).max(1);
    // A task counts as a whole from the step in which it was created. The excess in its first and
    // last step is subtracted in `within`.
    let mut onward = vec![0i32; steps * rows];
    let mut within = vec![0.0f64; steps * rows];
    for wait in waits {
        let place = |t: u64| {
            let since = t.saturating_sub(begin);
            let step = ((since / width) as usize).min(steps - 1);
            let into = (since - step as u64 * width).min(width);
            (wait.row * steps + step, into as f64 / width as f64)
        };
        let ((from, before), (to, until)) = (place(wait.created), place(wait.begun));
        onward[from] += 1;
        within[from] -= before;
        onward[to] -= 1;
        within[to] += until;
    }
    let row = |row: usize| {
        let (mut depth, mut last) = (0i32, 0.0);
        let mut kept = Vec::new();
        for step in 0..steps {
            depth += onward[row * steps + step];
            let mean = (f64::from(depth) + within[row * steps + step]).max(0.0) as f32;
            if mean != last {
                kept.push((begin + step as u64 * width, mean));
                last = mean;
            }
        }
        kept
    };
    (0..rows).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: u64 = 100_000;

    /// Mean depth of a row in [from, to).
    fn mean(row: &[(u64, f32)], from: u64, to: u64) -> f64 {
        let ends = row.iter().skip(1).map(|e| e.0).chain([END]);
        let part = |(&(t, depth), end): (&(u64, f32), u64)| {
            let ticks = end.min(to).saturating_sub(t.max(from));
            f64::from(depth) * ticks as f64
        };
        row.iter().zip(ends).map(part).sum::<f64>() / (to - from) as f64
    }

    #[test]
    fn steps_have_the_means_of_what_they_stand_for() {
        // Long and short waits, within steps and across them.
        let waits = (0..3000u64).map(|i| {
            let created = i * 7919 % END;
            Wait {
                row: (i % 3) as usize,
                created,
                begun: (created + 1 + i * i % 900).min(END),
            }
        });
        let exact = one_by_one(waits.clone(), 3);
        let steps = in_steps(waits, 3, (0, END), 50);
        for (exact, steps) in exact.iter().zip(&steps) {
            assert!(steps.len() <= 50);
            for step in 0..50 {
                let (from, to) = (step * 2000, (step + 1) * 2000);
                let (a, b) = (mean(exact, from, to), mean(steps, from, to));
                assert!((a - b).abs() < 1e-3, "step {step}: {a} {b}");
            }
        }
    }
}
