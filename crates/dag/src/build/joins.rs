//! Joins that a reader reports as one strand each: decides whether they may stay so, and expands
//! them if not.
//!
//! A join kept as one strand is created, merged and waited for in one go, which is right when
//! nothing else touches its two tasks and its scope. If something does, or its continuations carry
//! burdens of their own, every join becomes the three strands that it stands for, and the general
//! rules apply to those.

use crate::dag::{NONE, ScopeKind, TaskKind};
use crate::meta::Steals;
use crate::raw::{RawEnd, RawRegion, RawStrand, RawStrands, RawTrace};

/// Leaves joins as they are if all are plain, otherwise expands all. Indices must be in range.
pub(super) fn settle(raw: &mut RawTrace) {
    let is_join = |op: &RawEnd| matches!(op, RawEnd::Join(_));
    if !raw.strands.end_op.iter().any(is_join) {
        return;
    }
    if raw.meta.steals == Steals::Continuation || !all_plain(raw) {
        expand(raw);
    }
}

/// True if every join is plain: it is the first and only one to create its tasks and to close their
/// scope, and it is not the end of its own task.
fn all_plain(raw: &RawTrace) -> bool {
    let strands = &raw.strands;
    let mut last = vec![NONE; raw.tasks.len()];
    for (i, &task) in strands.task.iter().enumerate() {
        last[task as usize] = i as u32;
    }
    let mut created = vec![false; raw.tasks.len()];
    let mut closed = vec![false; raw.scopes.len()];
    let mut by_join = vec![false; raw.scopes.len()];
    let mut joins = 0;
    for (i, op) in strands.end_op.iter().enumerate() {
        match *op {
            RawEnd::Create(child) => created[child as usize] = true,
            RawEnd::WaitScope(scope) => closed[scope as usize] = true,
            RawEnd::Join(first) => {
                let (a, b) = (first as usize, first as usize + 1);
                let (task, scope) = (strands.task[i], raw.tasks[a].scope as usize);
                let own = |c: usize| {
                    let child = &raw.tasks[c];
                    child.parent == task && child.kind != TaskKind::Detached && c != task as usize
                };
                let plain = own(a)
                    && own(b)
                    && raw.tasks[b].scope as usize == scope
                    && raw.scopes[scope].opener == task
                    && raw.scopes[scope].kind == ScopeKind::Group
                    && last[task as usize] != i as u32;
                let before = std::mem::replace(&mut created[a], true)
                    | std::mem::replace(&mut created[b], true)
                    | std::mem::replace(&mut closed[scope], true);
                if !plain || before {
                    return false;
                }
                by_join[scope] = true;
                joins += 1;
            }
            _ => {}
        }
    }
    let inside = |scope: u32| by_join.get(scope as usize) == Some(&true);
    raw.tasks.iter().filter(|t| inside(t.scope)).count() == 2 * joins
}

/// Turns every join into the three strands that it stands for.
pub(super) fn expand(raw: &mut RawTrace) {
    let raw_strands = std::mem::take(&mut raw.strands);
    let mut strands = RawStrands::default();
    let mut place = Vec::with_capacity(raw_strands.len());
    for strand in raw_strands.iter() {
        place.push(strands.len() as u32);
        let RawEnd::Join(first) = strand.end_op else {
            strands.push(strand);
            continue;
        };
        let scope = raw.tasks[first as usize].scope;
        strands.push(RawStrand {
            end_op: RawEnd::Create(first),
            ..strand
        });
        let at_once = RawStrand {
            start: strand.end,
            keep: false,
            ..strand
        };
        for end_op in [RawEnd::Create(first + 1), RawEnd::WaitScope(scope)] {
            strands.push(RawStrand { end_op, ..at_once });
        }
    }
    raw.strands = strands;
    let place = |s: &mut u32| {
        if let Some(&to) = place.get(*s as usize) {
            *s = to;
        }
    };
    raw.scopes.iter_mut().for_each(|s| place(&mut s.strand));
    let both = |region: &mut RawRegion| {
        place(&mut region.begin.0);
        place(&mut region.end.0);
    };
    raw.regions.iter_mut().for_each(both);
    raw.parts.iter_mut().for_each(both);
    let values = raw.counters.iter_mut().flat_map(|c| &mut c.1);
    values.for_each(|v| place(&mut v.0));
    raw.folded.renumber(place);
    raw.skipped.iter_mut().for_each(|u| place(&mut u.0));
}
