//! Who is in which scope (MODEL.md §1).
//!
//! A group scope's members are the tasks created into it; a tree scope has their descendants too, except what hangs on
//! a detached task. Nested tree scopes share members: a task that an inner scope's opener joined is left out of an
//! outer scope's list when that opener is itself in the outer list with a smaller number, since its end comes no
//! later and loses every tie (MODEL.md §3). So lists stay linear in the number of tasks in all but contrived traces.

use super::tasks::Tasks;
use super::{At, Fault, Mode, Repairs};
use crate::dag::{Lists, NONE, ScopeKind, TaskKind};
use crate::raw::{RawEnd, RawTrace};

/// The scopes that a wait closes, in number order.
pub(super) struct Scopes {
    /// Raw index by id.
    pub raw_of_id: Vec<u32>,
    /// Id by raw index; `NONE` for a scope that no wait closes.
    pub id_of_raw: Vec<u32>,
    /// Members by id, ascending tasks.
    pub members: Lists,
}

impl Scopes {
    pub(super) fn new(
        raw: &RawTrace,
        tasks: &Tasks,
        repairs: &mut Repairs,
    ) -> Result<Scopes, Fault> {
        let n = raw.scopes.len();
        let mut closed = vec![false; n];
        for s in &raw.strands {
            if let RawEnd::WaitScope(scope) = s.end_op {
                closed[scope as usize] = true;
            }
        }
        let mut raw_of_id = Vec::with_capacity(n);
        for (i, scope) in raw.scopes.iter().enumerate() {
            if closed[i] {
                raw_of_id.push(i as u32);
            } else {
                repairs.or(
                    "Scopes never waited for, their tasks joined at the end of the run",
                    || {
                        let opener = tasks.number(tasks.id_of_raw[scope.opener as usize]);
                        Fault::new(
                            At::Scope(i as u32),
                            opener,
                            format!("scope {} is still open at its task's end", scope.number),
                        )
                    },
                )?;
            }
        }
        let number = |&i: &u32| raw.scopes[i as usize].number;
        if !raw_of_id.is_sorted_by_key(number) {
            raw_of_id.sort_unstable_by_key(number);
        }
        if let Some(w) = raw_of_id
            .windows(2)
            .find(|w| number(&w[0]) == number(&w[1]))
        {
            return Err(Fault::whole(format!(
                "scope {} is opened twice; scope numbers are unique",
                number(&w[0])
            )));
        }
        let mut id_of_raw = vec![NONE; n];
        for (id, &i) in raw_of_id.iter().enumerate() {
            id_of_raw[i as usize] = id as u32;
        }
        let mut scopes = Scopes {
            raw_of_id,
            id_of_raw,
            members: Lists::default(),
        };
        scopes.members = scopes.list(raw, tasks, repairs.mode)?;
        Ok(scopes)
    }

    /// Scope (id) a task was created into.
    pub(super) fn of(&self, tasks: &Tasks, task: u32) -> u32 {
        match tasks.list[task as usize].scope {
            NONE => NONE,
            raw => self.id_of_raw[raw as usize],
        }
    }

    fn list(&self, raw: &RawTrace, tasks: &Tasks, mode: Mode) -> Result<Lists, Fault> {
        let kind = |scope: u32| raw.scopes[self.raw_of_id[scope as usize] as usize].kind;
        let mut in_trees = Vec::new();
        if (0..self.raw_of_id.len() as u32).any(|s| kind(s) == ScopeKind::Tree) {
            in_trees = self.tree_members(raw, tasks, mode)?;
        }
        let mut offsets = vec![0u32; self.raw_of_id.len() + 1];
        let own =
            |t: u32| Some(self.of(tasks, t)).filter(|&s| s != NONE && kind(s) == ScopeKind::Group);
        for t in 0..tasks.len() as u32 {
            if let Some(s) = own(t) {
                offsets[s as usize + 1] += 1;
            }
        }
        for &(_, s) in &in_trees {
            offsets[s as usize + 1] += 1;
        }
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        let mut items = vec![0u32; offsets.last().map_or(0, |&o| o as usize)];
        let mut cursor = offsets.clone();
        let mut put = |s: u32, t: u32| {
            items[cursor[s as usize] as usize] = t;
            cursor[s as usize] += 1;
        };
        for t in 0..tasks.len() as u32 {
            if let Some(s) = own(t) {
                put(s, t);
            }
        }
        for (t, s) in in_trees {
            put(s, t);
        }
        Ok(Lists { offsets, items })
    }

    /// (task, tree scope) pairs, ascending by task.
    fn tree_members(
        &self,
        raw: &RawTrace,
        tasks: &Tasks,
        mode: Mode,
    ) -> Result<Vec<(u32, u32)>, Fault> {
        let n = tasks.len();
        let opener = |scope: u32| {
            tasks.id_of_raw[raw.scopes[self.raw_of_id[scope as usize] as usize].opener as usize]
        };
        let kind = |scope: u32| raw.scopes[self.raw_of_id[scope as usize] as usize].kind;
        let mut by_level: Vec<u32> = (0..n as u32).collect();
        by_level.sort_by_key(|&t| tasks.level[t as usize]);
        // The tree scopes a task is in are a path through these nodes: (scope, next node).
        let mut nodes: Vec<(u32, u32)> = Vec::new();
        let mut node = vec![NONE; n];
        for &t in &by_level {
            let task = &tasks.list[t as usize];
            if task.kind == TaskKind::Detached || task.parent == NONE {
                continue;
            }
            let above = node[task.parent as usize];
            let scope = self.of(tasks, t);
            let tree = scope != NONE && kind(scope) == ScopeKind::Tree;
            node[t as usize] = if tree && (above == NONE || nodes[above as usize].0 != scope) {
                nodes.push((scope, above));
                nodes.len() as u32 - 1
            } else {
                above
            };
        }
        let limit = n.saturating_mul(16) + 1_000_000;
        let mut steps = 0;
        let mut pairs = Vec::new();
        for t in 0..n as u32 {
            let mut at = node[t as usize];
            let first = pairs.len();
            while at != NONE {
                let (scope, next) = nodes[at as usize];
                let joiner = opener(scope);
                pairs.push((t, scope));
                if next != NONE && next == node[joiner as usize] && joiner < t {
                    break;
                }
                at = next;
                steps += 1;
                if steps > limit {
                    let what = "tree scopes are nested too deep and too irregularly to list their members; open fewer of them at once";
                    return match mode {
                        Mode::Strict => Err(Fault::new(
                            At::Task(tasks.raw_of_id[t as usize]),
                            tasks.number(t),
                            what,
                        )),
                        Mode::Repair => Err(Fault::whole(what)),
                    };
                }
            }
            pairs[first..].sort_unstable();
        }
        pairs.dedup();
        Ok(pairs)
    }
}
