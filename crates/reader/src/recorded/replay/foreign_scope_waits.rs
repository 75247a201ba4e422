//! Scopes that a task other than their opener waits for.
//!
//! In the model a scope is closed by its opener. Such a wait therefore becomes a wait for the tasks
//! that were created into the scope, which is then removed. For a tree scope it covers only those
//! tasks, not their descendants.

use std::collections::BTreeMap;

use super::Replay;
use workspan_dag::{NONE, RaggedArray};

impl Replay<'_, '_> {
    /// Fills the lists of the waits for other tasks' scopes with the tasks that were in them.
    pub(super) fn lend_scopes(&mut self) {
        let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut lists: BTreeMap<usize, u32> = BTreeMap::new();
        for (scope, list) in std::mem::take(&mut self.borrowed) {
            if self.raw.scopes[scope as usize].opener == NONE {
                self.log
                    .names_earlier("Waits for scopes that are not open, left out");
            } else {
                members.insert(scope, Vec::new());
                lists.insert(list, scope);
            }
        }
        if members.is_empty() {
            return;
        }
        for (number, task) in (0..).zip(&mut self.raw.tasks) {
            if let Some(members) = members.get_mut(&task.scope) {
                members.push(number);
                task.scope = NONE;
            }
        }
        let recorded = std::mem::take(&mut self.raw.wait_tasks);
        let mut all = RaggedArray::default();
        for i in 0..recorded.len() {
            match lists.get(&i).and_then(|scope| members.get(scope)) {
                Some(members) => all.push(members.iter().copied()),
                None => all.push(recorded.get(i).iter().copied()),
            }
        }
        self.raw.wait_tasks = all;
        for &scope in members.keys() {
            self.raw.scopes[scope as usize].opener = NONE;
        }
    }
}
