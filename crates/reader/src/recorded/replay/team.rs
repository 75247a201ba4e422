//! Parallel regions: the task that opens one, and the implicit tasks in it (MODEL.md §1).
//!
//! The region's task creates the members of a phase and waits for them. At a barrier it goes on for
//! an instant, on the thread that left the barrier first, to create those of the next phase. So a
//! region stays series-parallel.

use super::{Replay, ReplayThread, State};
use workspan_dag::raw::{RawEnd, RawScope, RawStrand};
use workspan_dag::{NONE, ScopeKind, TaskKind};

impl<'a> Replay<'a, '_> {
    pub(super) fn team(&mut self, lane: &mut ReplayThread<'a>, number: usize, t: u64, site: u32) {
        let named = self.counts.scopes[number] + lane.scopes;
        lane.scopes += 1;
        let Some(frame) = self.current(lane, t) else {
            return;
        };
        let (parent, place) = (lane.stack[frame].task, self.places.of(site));
        // No other task waits for it.
        self.closed.insert(named);
        let counts = self.counts;
        for (k, phase) in counts.teams.phases(named).iter().enumerate() {
            let scope = if k == 0 { named } else { self.new_scope() };
            let members = counts.teams.tasks(phase);
            let opened = self.raw.strands.len() as u32;
            if k == 0 {
                for &at in members {
                    let end = RawEnd::Create(self.nth(at));
                    self.strand(lane, frame, t, end, place);
                }
                self.strand(lane, frame, t, RawEnd::WaitScope(scope), place);
            } else {
                // It cannot be earlier than the phase before, even if two threads' clocks differ.
                let now = (phase.time - self.origin).min(super::LATEST);
                let now = now.max(lane.stack[frame].start);
                lane.stack[frame].start = now;
                let created = |&at: &u32| RawEnd::Create(counts.index[at as usize]);
                let creates = members.iter().map(created);
                for end_op in creates.chain([RawEnd::WaitScope(scope)]) {
                    self.raw.strands.push(RawStrand {
                        task: parent,
                        thread: phase.thread,
                        start: now,
                        end: now,
                        end_op,
                        at: place,
                        keep: false,
                    });
                }
            }
            let raw = &mut self.raw.scopes[scope as usize];
            (raw.kind, raw.opener, raw.strand) = (ScopeKind::Team, parent, opened);
            for &at in members {
                let member = self.nth(at);
                let task = &mut self.raw.tasks[member as usize];
                (task.parent, task.kind) = (parent, TaskKind::Inline);
                (task.site, task.scope) = (place, scope);
            }
        }
        lane.stack[frame].stopped = true;
        self.states[parent as usize] = State::Stopped;
    }

    fn new_scope(&mut self) -> u32 {
        let scope = self.raw.scopes.len() as u32;
        self.raw.scopes.push(RawScope {
            number: u64::from(scope),
            kind: ScopeKind::Team,
            opener: NONE,
            strand: NONE,
        });
        scope
    }

    pub(super) fn member(&mut self, lane: &mut ReplayThread<'a>, number: usize, t: u64) {
        let at = self.counts.teams.task_at(number, lane.members);
        lane.members += 1;
        let task = at.map(|at| self.nth(at));
        self.begin(lane, task, t);
    }
}
