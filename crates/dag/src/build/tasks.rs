//! Tasks in the order of their numbers.

use super::{At, Fault};
use crate::dag::NONE;
use crate::raw::{RawTask, RawTrace};

/// The tasks in number order.
pub(super) struct Tasks {
    /// By id; `parent` is an id.
    pub list: Vec<RawTask>,
    /// Id of each raw task.
    pub id_of_raw: Vec<u32>,
    /// Raw index of each task.
    pub raw_of_id: Vec<u32>,
    /// Creates from the root.
    pub level: Vec<u32>,
}

impl Tasks {
    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.list.len()
    }
    /// Number people know the task by.
    pub fn number(&self, id: u32) -> u64 {
        self.list[id as usize].number
    }
}

/// Sorts tasks by number and counts levels. Takes `raw.tasks`.
pub(super) fn in_number_order(raw: &mut RawTrace) -> Result<Tasks, Fault> {
    let told = std::mem::take(&mut raw.tasks);
    let n = told.len();
    let mut raw_of_id: Vec<u32> = (0..n as u32).collect();
    let mut id_of_raw = raw_of_id.clone();
    let mut list = told;
    if !list.is_sorted_by_key(|t| t.number) {
        raw_of_id.sort_unstable_by_key(|&i| list[i as usize].number);
        for (id, &i) in raw_of_id.iter().enumerate() {
            id_of_raw[i as usize] = id as u32;
        }
        list = raw_of_id.iter().map(|&i| list[i as usize]).collect();
    }
    for t in &mut list {
        if t.parent != NONE {
            t.parent = id_of_raw[t.parent as usize];
        }
    }
    if let Some(twice) = list.windows(2).find(|w| w[0].number == w[1].number) {
        return Err(Fault::new(
            At::Whole,
            twice[0].number,
            "appears twice; task numbers are unique",
        ));
    }
    let level = levels(&list);
    Ok(Tasks {
        list,
        id_of_raw,
        raw_of_id,
        level,
    })
}

pub(super) fn levels(tasks: &[RawTask]) -> Vec<u32> {
    let mut level = vec![NONE; tasks.len()];
    let mut path = Vec::new();
    for t in 0..tasks.len() {
        let mut at = t as u32;
        while at != NONE && level[at as usize] == NONE {
            path.push(at);
            at = tasks[at as usize].parent;
        }
        let mut next = if at == NONE {
            0
        } else {
            level[at as usize] + 1
        };
        while let Some(p) = path.pop() {
            level[p as usize] = next;
            next += 1;
        }
    }
    level
}
