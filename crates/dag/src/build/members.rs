//! The members of each scope (MODEL.md §1).
//!
//! A group scope's members are the tasks created into it; a tree scope has their descendants too,
//! except what hangs on a detached task. Nested tree scopes share members: a task that an inner
//! scope's opener joined is left out of an outer scope's list when that opener is itself in the
//! outer list with a smaller number, since its end comes no later and loses every tie (MODEL.md
//! §3). So lists stay linear in the number of tasks in all but contrived traces.

use super::tasks::Tasks;
use super::{At, Fault, Mode, Repairs};
use crate::dag::{NONE, RaggedArray, ScopeKind, TaskKind};
use crate::raw::{RawEnd, RawTrace};

/// The scopes that a wait closes, in number order.
pub(super) struct Scopes {
    /// Number of scopes that a wait closes.
    count: usize,
    /// `None` if ids are raw indices: all scopes are closed, and in number order.
    ids: Option<Ids>,
    /// Members by id, ascending tasks. A scope that a join closes has no list, since its members
    /// are the join's own two tasks.
    pub members: RaggedArray,
}

struct Ids {
    raw_of_id: Vec<u32>,
    /// Id by raw index; `NONE` for a scope that no wait closes.
    id_of_raw: Vec<u32>,
}

/// What closes a scope.
#[derive(Clone, Copy, PartialEq)]
enum ScopeClose {
    No,
    ByWait,
    ByJoin,
}

impl Scopes {
    pub(super) fn new(
        raw: &RawTrace,
        tasks: &Tasks,
        repairs: &mut Repairs,
    ) -> Result<Scopes, Fault> {
        let n = raw.scopes.len();
        let mut closed = vec![ScopeClose::No; n];
        for op in &raw.strands.end_op {
            match *op {
                RawEnd::WaitScope(scope) => closed[scope as usize] = ScopeClose::ByWait,
                RawEnd::Join(first) => {
                    let scope = tasks.scope[tasks.id(first) as usize];
                    closed[scope as usize] = ScopeClose::ByJoin;
                }
                _ => {}
            }
        }
        let in_order = raw.scopes.is_sorted_by(|a, b| a.number < b.number);
        if in_order && !closed.contains(&ScopeClose::No) {
            let mut scopes = Scopes {
                count: n,
                ids: None,
                members: RaggedArray::default(),
            };
            scopes.members = scopes.list(raw, tasks, &closed, repairs.mode)?;
            return Ok(scopes);
        }
        let mut raw_of_id = Vec::with_capacity(n);
        for (i, scope) in raw.scopes.iter().enumerate() {
            if closed[i] != ScopeClose::No {
                raw_of_id.push(i as u32);
            } else {
                repairs.or(
                    "Scopes never waited for, their tasks joined at the end of the run",
                    || {
                        let opener = tasks.number(tasks.id(scope.opener));
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
            count: raw_of_id.len(),
            ids: Some(Ids {
                raw_of_id,
                id_of_raw,
            }),
            members: RaggedArray::default(),
        };
        scopes.members = scopes.list(raw, tasks, &closed, repairs.mode)?;
        Ok(scopes)
    }

    /// Number of scopes.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Id of a raw scope; `NONE` for one that no wait closes.
    pub(super) fn id(&self, raw: u32) -> u32 {
        match &self.ids {
            None => raw,
            Some(ids) => ids.id_of_raw[raw as usize],
        }
    }

    /// Raw indices by id; `None` if ids are raw indices.
    pub(super) fn order(&self) -> Option<&[u32]> {
        self.ids.as_ref().map(|ids| ids.raw_of_id.as_slice())
    }

    /// Raw index of a scope.
    pub(super) fn raw(&self, id: u32) -> u32 {
        match &self.ids {
            None => id,
            Some(ids) => ids.raw_of_id[id as usize],
        }
    }

    /// Scope (id) a task was created into.
    pub(super) fn of(&self, tasks: &Tasks, task: u32) -> u32 {
        match tasks.scope[task as usize] {
            NONE => NONE,
            raw => self.id(raw),
        }
    }

    fn list(
        &self,
        raw: &RawTrace,
        tasks: &Tasks,
        closed: &[ScopeClose],
        mode: Mode,
    ) -> Result<RaggedArray, Fault> {
        if !closed.contains(&ScopeClose::ByWait) {
            return Ok(RaggedArray::default());
        }
        let kind = |scope: u32| raw.scopes[self.raw(scope) as usize].kind;
        let mut in_trees = Vec::new();
        if (0..self.len() as u32).any(|s| kind(s).is_tree()) {
            in_trees = self.tree_members(raw, tasks, mode)?;
        }
        let mut offsets = vec![0u32; self.len() + 1];
        let own = |t: u32| {
            let scope = tasks.scope[t as usize];
            if scope == NONE || closed[scope as usize] != ScopeClose::ByWait {
                return None;
            }
            Some(self.id(scope)).filter(|&s| kind(s) == ScopeKind::Group)
        };
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
        Ok(RaggedArray { offsets, items })
    }

    /// The (task, tree scope) pairs, ascending by task.
    fn tree_members(
        &self,
        raw: &RawTrace,
        tasks: &Tasks,
        mode: Mode,
    ) -> Result<Vec<(u32, u32)>, Fault> {
        let n = tasks.len();
        let opener = |scope: u32| tasks.id(raw.scopes[self.raw(scope) as usize].opener);
        let kind = |scope: u32| raw.scopes[self.raw(scope) as usize].kind;
        let mut by_level: Vec<u32> = (0..n as u32).collect();
        by_level.sort_by_key(|&t| tasks.level[t as usize]);
        // The tree scopes a task is in are a path through these nodes: (scope, next node).
        let mut nodes: Vec<(u32, u32)> = Vec::new();
        let mut node = vec![NONE; n];
        for &t in &by_level {
            let parent = tasks.parent[t as usize];
            if tasks.kind[t as usize] == TaskKind::Detached || parent == NONE {
                continue;
            }
            let above = node[parent as usize];
            let scope = self.of(tasks, t);
            let tree = scope != NONE && kind(scope).is_tree();
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
                        Mode::Strict => {
                            Err(Fault::new(At::Task(tasks.raw(t)), tasks.number(t), what))
                        }
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
