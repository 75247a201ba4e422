//! Regions and parts.

use super::frame::Pending;
use super::{Replay, ReplayThread};
use workspan_dag::NONE;
use workspan_dag::raw::RawRegion;

/// The largest number of regions and parts that a task may have open at once.
const MAX_OPEN_MARKS: usize = 1000;

impl<'a> Replay<'a, '_> {
    pub(super) fn open(
        &mut self,
        lane: &mut ReplayThread<'a>,
        t: u64,
        label: u32,
        tree: bool,
        part: bool,
    ) {
        let label = if (label as usize) < self.chunks.labels.len() {
            label
        } else {
            NONE
        };
        let Some(frame) = self.current(lane, t).filter(|_| label != NONE) else {
            return;
        };
        let task = lane.stack[frame].task;
        let depth = if part {
            &self.open_parts
        } else {
            &self.open_regions
        };
        if depth
            .get(&task)
            .is_some_and(|open| open.len() >= MAX_OPEN_MARKS)
        {
            self.log
                .repair("Regions and parts nested more than a thousand deep, left out");
            return;
        }
        let region = RawRegion {
            label,
            task,
            tree,
            begin: (NONE, t),
            end: (NONE, t),
        };
        let (list, open) = match part {
            false => (&mut self.raw.regions, &mut self.open_regions),
            true => (&mut self.raw.parts, &mut self.open_parts),
        };
        open.entry(task).or_default().push(list.len());
        let index = list.len();
        list.push(region);
        self.pend(lane, frame, Pending::Open { part, index });
    }

    pub(super) fn close_mark(
        &mut self,
        lane: &mut ReplayThread<'a>,
        t: u64,
        label: u32,
        part: bool,
    ) {
        let Some(frame) = self.current(lane, t) else {
            return;
        };
        let task = lane.stack[frame].task;
        let (list, open) = match part {
            false => (&mut self.raw.regions, &mut self.open_regions),
            true => (&mut self.raw.parts, &mut self.open_parts),
        };
        let of_task = open.get_mut(&task);
        let found = of_task.and_then(|open| {
            let at = open.iter().rposition(|&index| list[index].label == label)?;
            Some(open.remove(at))
        });
        match found {
            Some(index) => {
                list[index].end.1 = t;
                self.pend(lane, frame, Pending::Shut { part, index });
            }
            None => self
                .log
                .names_earlier("Regions and parts closed that were not open"),
        }
    }

    /// Closes the regions and parts that a task left open at its end.
    pub(super) fn shut_all(&mut self, task: u32, last: u32, t: u64) {
        for (open, list) in [
            (&mut self.open_regions, &mut self.raw.regions),
            (&mut self.open_parts, &mut self.raw.parts),
        ] {
            if !open.is_empty() {
                for index in open.remove(&task).unwrap_or_default() {
                    list[index].end = (last, t);
                }
            }
        }
    }
}
