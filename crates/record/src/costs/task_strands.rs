//! The strands of tasks that were measured while they were recorded in full, as a reader of their trace finds them.

use std::fs;
use std::path::Path;

use workspan_calibrate::TASKS_AT_ONCE;
use workspan_dag::{Dag, NONE, OpenOptions, open};

/// A task that is created and waited for, and does the same in its turn, has three.
const OF_A_TASK: f64 = 3.0;

/// Those of tasks that were created and waited for as one.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskStrands {
    /// In nanoseconds, the longest first.
    lengths: Vec<f64>,
}

impl TaskStrands {
    /// Of the process that was recorded into that folder; of all the times it ran those tasks, the one whose strands are the shortest together.
    ///
    /// # Errors
    /// There is no trace, or none of such tasks.
    pub fn in_spool(folder: &Path) -> Result<TaskStrands, String> {
        let spool = fs::read_dir(folder)
            .and_then(|mut files| files.next().transpose())
            .map_err(|error| error.to_string())?
            .ok_or("nothing was recorded")?
            .path();
        let bytes = fs::read(&spool).map_err(|error| error.to_string())?;
        let options = OpenOptions {
            allow_truncated: true,
            ..OpenOptions::default()
        };
        let dag = open::read(&spool, &bytes, &options).map_err(|error| error.to_string())?;
        TaskStrands::of(&dag).ok_or_else(|| "its tasks were not recorded".into())
    }

    fn of(dag: &Dag) -> Option<TaskStrands> {
        let round = rounds(dag);
        let mut sums = vec![0u64; dag.tasks.len()];
        let strands = &dag.strands;
        let of_round = |s: usize| Some(round[strands.task[s] as usize]).filter(|&r| r != NONE);
        let length = |s: usize| strands.end[s] - strands.start[s];
        for s in 0..strands.len() {
            if let Some(round) = of_round(s) {
                sums[round as usize] += length(s);
            }
        }
        let least = (0..).zip(&sums).filter(|sum| *sum.1 > 0);
        let (least, _) = least.min_by_key(|sum| *sum.1)?;
        let ns = 1e9 / dag.meta.ticks_per_second.max(1) as f64;
        let own = (0..strands.len()).filter(|&s| of_round(s) == Some(least));
        let mut lengths: Vec<f64> = own.map(|s| length(s) as f64 * ns).collect();
        lengths.sort_by(|a, b| b.total_cmp(a));
        Some(TaskStrands { lengths })
    }

    /// What a task's take on average, in nanoseconds.
    pub fn a_task(&self) -> f64 {
        self.lengths.iter().sum::<f64>() / TASKS_AT_ONCE as f64
    }

    /// What is to be taken out of three of them, in nanoseconds, so that a task's add up to what one takes `bare`: the same of each, but of none more
    /// than it has. 0 where they are no longer than that.
    pub fn beyond(&self, bare: f64) -> f64 {
        let bare = bare * TASKS_AT_ONCE as f64;
        let mut sum = 0.0;
        for (at, length) in self.lengths.iter().enumerate() {
            sum += length;
            let each = (sum - bare) / (at + 1) as f64;
            let next = self.lengths.get(at + 1).copied().unwrap_or(0.0);
            if each >= next {
                return each * OF_A_TASK;
            }
        }
        0.0
    }
}

/// By task the first one of those it was run with; [`NONE`] for what ran them.
fn rounds(dag: &Dag) -> Vec<u32> {
    let parents = &dag.tasks.parent;
    // Parents come before their children.
    let mut inside = vec![1usize; parents.len()];
    for task in (0..parents.len()).rev() {
        if parents[task] != NONE {
            inside[parents[task] as usize] += inside[task];
        }
    }
    let mut rounds = vec![NONE; parents.len()];
    for task in 0..parents.len() {
        rounds[task] = match parents[task] {
            _ if inside[task] == TASKS_AT_ONCE => task as u32,
            NONE => NONE,
            parent => rounds[parent as usize],
        };
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strands(lengths: &[f64]) -> TaskStrands {
        TaskStrands {
            lengths: lengths.to_vec(),
        }
    }

    #[test]
    fn each_strand_loses_the_same_but_none_more_than_it_has() {
        let tasks = TASKS_AT_ONCE as f64;
        let found = strands(&[100.0 * tasks, 80.0 * tasks, 20.0 * tasks]);
        assert_eq!(found.a_task(), 200.0);
        // 90 + 70 + 10.
        assert_eq!(found.beyond(170.0), 30.0 * tasks);
        // 60 + 40 + 0.
        assert_eq!(found.beyond(100.0), 120.0 * tasks);
        // 10 + 0 + 0.
        assert_eq!(found.beyond(10.0), 270.0 * tasks);
        assert_eq!(found.beyond(200.0), 0.0);
        assert_eq!(found.beyond(300.0), 0.0);
        assert_eq!(strands(&[]).beyond(10.0), 0.0);
    }
}
