//! The processes of a run with several (MODEL.md §1).

use crate::dag::ThreadId;

/// A process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Process {
    /// The program's name.
    pub name: String,
    /// The number that the launcher gave it.
    pub rank: Option<u32>,
    /// Its process id; 0 if unknown.
    pub pid: u32,
    /// The machine, if the processes ran on several.
    pub host: Option<String>,
    /// Number of its workers: W for this process alone.
    pub workers: u32,
    /// When it began, in ticks.
    pub from: u64,
    /// When it ended, in ticks.
    pub to: u64,
    /// Ticks that its threads spent in calls of MPI, waiting or not.
    pub in_mpi: u64,
}

impl Process {
    /// The name shown to people: `rank 3`, or the program's name and number.
    pub fn title(&self) -> String {
        match self.rank {
            Some(rank) => format!("rank {rank}"),
            None if self.pid == 0 => self.name.clone(),
            None => format!("{} {}", self.name, self.pid),
        }
    }
}

/// An interval in which a thread number belonged to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThreadOfProcess {
    /// The thread.
    pub thread: ThreadId,
    /// Start of the interval, in ticks; processes that run one after the other may share thread
    /// numbers.
    pub from: u64,
    /// Index into [`Processes::list`].
    pub process: u32,
}

/// The processes of a run, and which threads belong to them; empty for a run of one process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Processes {
    /// The processes, by rank, then time.
    pub list: Vec<Process>,
    /// The threads, by thread, then time.
    pub threads: Vec<ThreadOfProcess>,
}

impl Processes {
    /// True for a run of one process.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The process that had `thread` at `time`: an index into [`Processes::list`].
    pub fn of(&self, thread: ThreadId, time: u64) -> Option<usize> {
        let after = self
            .threads
            .partition_point(|period| (period.thread, period.from) <= (thread, time));
        let period = self.threads.get(after.checked_sub(1)?)?;
        (period.thread == thread).then_some(period.process as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_number_is_that_of_the_process_that_has_it_then() {
        let of = |thread, from, process| ThreadOfProcess {
            thread,
            from,
            process,
        };
        let processes = Processes {
            list: vec![Process::default(); 3],
            threads: vec![of(0, 0, 0), of(0, 50, 2), of(2, 10, 1)],
        };
        let asked = [(0, 0), (0, 49), (0, 50), (1, 60), (2, 9), (2, 10)];
        let found = asked.map(|(thread, time)| processes.of(thread, time));
        assert_eq!(found, [Some(0), Some(0), Some(2), None, None, Some(1)]);
    }
}
