//! Tasks in the order of their numbers.

use super::{At, Fault};
use crate::dag::{NONE, PlaceId, TaskId, TaskKind};
use crate::raw::{RawTask, RawTrace};

/// The tasks in number order, in columns.
pub(super) struct Tasks {
    /// Number shown to people, by task; empty if it is the id.
    pub numbers: Vec<u64>,
    /// Parent, an id.
    pub parent: Vec<TaskId>,
    pub kind: Vec<TaskKind>,
    pub site: Vec<PlaceId>,
    /// Raw scope.
    pub scope: Vec<u32>,
    /// Number of creates on the way from the root.
    pub level: Vec<u32>,
    /// `None` when ids are raw indices, as in recorded traces.
    ids: Option<Ids>,
}

struct Ids {
    id_of_raw: Vec<u32>,
    raw_of_id: Vec<u32>,
}

impl Tasks {
    /// Number of tasks.
    pub(super) fn len(&self) -> usize {
        self.parent.len()
    }
    /// Number of the task as shown to people.
    pub(super) fn number(&self, id: u32) -> u64 {
        let own = self.numbers.get(id as usize).copied();
        own.unwrap_or(u64::from(id))
    }
    /// Id of a raw task.
    #[inline]
    pub(super) fn id(&self, raw: u32) -> u32 {
        match &self.ids {
            None => raw,
            Some(ids) => ids.id_of_raw[raw as usize],
        }
    }
    /// Raw index of a task.
    pub(super) fn raw(&self, id: u32) -> u32 {
        match &self.ids {
            None => id,
            Some(ids) => ids.raw_of_id[id as usize],
        }
    }
}

/// Sorts tasks by number and counts levels. Takes `raw.tasks`.
pub(super) fn in_number_order(raw: &mut RawTrace) -> Result<Tasks, Fault> {
    let mut raw_tasks = std::mem::take(&mut raw.tasks);
    let n = raw_tasks.len();
    let mut ids = None;
    if !raw_tasks.is_sorted_by_key(|t| t.number) {
        let mut raw_of_id: Vec<u32> = (0..n as u32).collect();
        raw_of_id.sort_unstable_by_key(|&i| raw_tasks[i as usize].number);
        let mut id_of_raw = vec![0; n];
        for (id, &i) in raw_of_id.iter().enumerate() {
            id_of_raw[i as usize] = id as u32;
        }
        raw_tasks = raw_of_id.iter().map(|&i| raw_tasks[i as usize]).collect();
        for task in raw_tasks.iter_mut().filter(|t| t.parent != NONE) {
            task.parent = id_of_raw[task.parent as usize];
        }
        ids = Some(Ids {
            id_of_raw,
            raw_of_id,
        });
    }
    if let Some(twice) = raw_tasks.windows(2).find(|w| w[0].number == w[1].number) {
        return Err(Fault::new(
            At::Whole,
            twice[0].number,
            "appears twice; task numbers are unique",
        ));
    }
    let level = levels(&raw_tasks);
    let numbered = |(id, task): (u64, &RawTask)| task.number == id;
    let by_id = (0..).zip(&raw_tasks).all(numbered);
    let mut tasks = Tasks {
        numbers: Vec::new(),
        parent: Vec::with_capacity(n),
        kind: Vec::with_capacity(n),
        site: Vec::with_capacity(n),
        scope: Vec::with_capacity(n),
        level,
        ids,
    };
    if !by_id {
        tasks.numbers = raw_tasks.iter().map(|task| task.number).collect();
    }
    for task in &raw_tasks {
        tasks.parent.push(task.parent);
        tasks.kind.push(task.kind);
        tasks.site.push(task.site);
        tasks.scope.push(task.scope);
    }
    Ok(tasks)
}

fn levels(tasks: &[RawTask]) -> Vec<u32> {
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
