//! How the numbers and times of one process become those of the run.

use workspan_dag::NONE;
use workspan_dag::raw::{RawEnd, RawRegion};

/// The offsets of a process's own numbers in the merged lists, and the numbers of its own lists.
pub(super) struct MemberOffsets<'a> {
    pub(super) shift: u64,
    pub(super) length: u64,
    pub(super) process: u64,
    pub(super) task: u32,
    pub(super) strand: u32,
    pub(super) scope: u32,
    pub(super) signal: u32,
    pub(super) task_list: u32,
    pub(super) signal_list: u32,
    pub(super) stack: u32,
    pub(super) pool: u32,
    pub(super) places: Vec<u32>,
    pub(super) labels: Vec<u32>,
    pub(super) frames: Vec<u32>,
    pub(super) threads: &'a [u32],
}

/// An index of the process as one of the run; [`NONE`] stays.
pub(super) fn shifted(index: u32, by: u32) -> u32 {
    match index {
        NONE => NONE,
        index => index.saturating_add(by),
    }
}

/// The number in the run of an item of the process's own list.
pub(super) fn mapped(list: &[u32], index: u32) -> u32 {
    list.get(index as usize).copied().unwrap_or(NONE)
}

impl MemberOffsets<'_> {
    pub(super) fn time(&self, t: u64) -> u64 {
        self.shift.saturating_add(t)
    }

    pub(super) fn thread(&self, thread: u32) -> u32 {
        mapped(self.threads, thread)
    }

    pub(super) fn end(&self, end: RawEnd) -> RawEnd {
        match end {
            RawEnd::Create(task) => RawEnd::Create(shifted(task, self.task)),
            RawEnd::Join(task) => RawEnd::Join(shifted(task, self.task)),
            RawEnd::WaitScope(scope) => RawEnd::WaitScope(shifted(scope, self.scope)),
            RawEnd::WaitTasks(list) => RawEnd::WaitTasks(shifted(list, self.task_list)),
            RawEnd::WaitSignals(list) => RawEnd::WaitSignals(shifted(list, self.signal_list)),
            RawEnd::Signal(signal) => RawEnd::Signal(shifted(signal, self.signal)),
            end @ (RawEnd::WaitChildren | RawEnd::Yield | RawEnd::End) => end,
        }
    }

    pub(super) fn region(&self, region: RawRegion) -> RawRegion {
        let at = |(strand, t)| (shifted(strand, self.strand), self.time(t));
        RawRegion {
            label: mapped(&self.labels, region.label),
            task: shifted(region.task, self.task),
            tree: region.tree,
            begin: at(region.begin),
            end: at(region.end),
        }
    }

    /// The merged number of an object, because equal numbers in two processes are different
    /// objects.
    pub(super) fn object(&self, object: u64) -> u64 {
        match object {
            0 => 0,
            object => object.rotate_left(16).wrapping_add(self.process + 1).max(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_two_processes_are_two() {
        let base = |process| MemberOffsets {
            shift: 0,
            length: 0,
            process,
            task: 0,
            strand: 0,
            scope: 0,
            signal: 0,
            task_list: 0,
            signal_list: 0,
            stack: 0,
            pool: 0,
            places: Vec::new(),
            labels: Vec::new(),
            frames: Vec::new(),
            threads: &[],
        };
        assert_eq!(base(3).object(0), 0);
        assert_ne!(base(0).object(0x7fff_1000), base(1).object(0x7fff_1000));
    }
}
