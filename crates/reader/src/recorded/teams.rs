//! Parallel regions: the members of each phase of each team.
//!
//! Only the threads that run a region's implicit tasks record them, so they are collected in the
//! first pass. At the team's record, the second pass then knows all tasks that the region's task
//! creates, phase by phase (MODEL.md §1, barrier).

use std::ops::Range;

use super::chunks_by_thread::Thread;
use super::survey::Survey;
use workspan_dag::NONE;

/// A phase of a region: the tasks that run between two barriers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phase {
    /// The time at which the region's task creates the members, in the file's ticks: for phase 0
    /// that of the team's record, for others the time when the first thread has left the barrier.
    pub time: u64,
    /// The index of the thread on which it does that.
    pub thread: u32,
    /// Its members, in the order of their index, as positions in [`Teams::task_of`].
    pub members: Range<usize>,
}

/// A [`workspan_trace::wire::Kind::Member`] record as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    team: u32,
    phase: u64,
    index: u64,
    time: u64,
    /// The index of its thread, and its ordinal among the thread's records of this kind.
    thread: u32,
    nth: u32,
}

/// All regions of a trace.
#[derive(Debug, Default)]
pub(super) struct Teams {
    /// (index in the list of all scopes, thread, time) of each region, ascending.
    opened: Vec<(u32, u32, u64)>,
    /// The members as read; the team is named by (thread, scope count).
    members_read: Vec<((u32, u64), Member)>,
    /// For each region in `opened`, its phases in `phases`.
    phases_of: Vec<Range<usize>>,
    phases: Vec<Phase>,
    /// The index of each member in the list of all tasks.
    task_of: Vec<u32>,
    /// The member of each record, by thread; `NONE` for a duplicate of another record, and for
    /// unknown teams.
    by_record: Vec<Vec<u32>>,
}

impl Teams {
    /// A region is opened. `scope` is its index in the list of all scopes, which only increases.
    pub(super) fn open(&mut self, scope: u32, thread: usize, time: u64) {
        self.opened.push((scope, thread as u32, time));
    }

    /// Whether the trace has no region.
    pub(super) fn is_empty(&self) -> bool {
        self.opened.is_empty()
    }

    /// A member begins.
    pub(super) fn member(
        &mut self,
        team: (u32, u64),
        phase: u64,
        index: u64,
        thread: usize,
        time: u64,
    ) {
        if self.by_record.len() <= thread {
            self.by_record.resize_with(thread + 1, Vec::new);
        }
        let records = &mut self.by_record[thread];
        let member = Member {
            team: NONE,
            phase,
            index,
            time,
            thread: thread as u32,
            nth: records.len() as u32,
        };
        records.push(NONE);
        self.members_read.push((team, member));
    }

    /// The number of member records.
    pub(super) fn member_count(&self) -> usize {
        self.members_read.len()
    }

    /// Sorts members into their phases and assigns tasks to them, from index `first` of the list of
    /// all on. Returns the creation times in the order of those indices.
    pub(super) fn settle(
        &mut self,
        counts: &Survey,
        threads: &[Thread<'_>],
        first: u32,
    ) -> Vec<u64> {
        let mut members: Vec<Member> = Vec::with_capacity(self.members_read.len());
        for (team, member) in std::mem::take(&mut self.members_read) {
            if let Some(scope) = counts.scope(threads, team)
                && self.region(scope).is_some()
            {
                members.push(Member {
                    team: scope,
                    ..member
                });
            }
        }
        members.sort_unstable();
        // The earliest of several equal members counts.
        members.dedup_by_key(|m| (m.team, m.phase, m.index));
        let mut created: Vec<(u64, u32)> = Vec::with_capacity(members.len());
        let mut at = 0;
        for &(scope, thread, opened) in &self.opened {
            let from = self.phases.len();
            let mut time = opened;
            self.phases.push(Phase {
                time,
                thread,
                members: at..at,
            });
            while members.get(at).is_some_and(|m| m.team == scope) {
                let phase = members[at].phase;
                let length = members[at..]
                    .iter()
                    .take_while(|m| (m.team, m.phase) == (scope, phase))
                    .count();
                let of_phase = at..at + length;
                let earliest = members[of_phase.clone()]
                    .iter()
                    .map(|m| (m.time, m.thread))
                    .min()
                    .filter(|_| phase > 0);
                if let Some((begun, on)) = earliest {
                    time = time.max(begun);
                    self.phases.push(Phase {
                        time,
                        thread: on,
                        members: of_phase.clone(),
                    });
                } else {
                    self.phases[from].members = of_phase.clone();
                }
                created.extend(of_phase.map(|i| (time, i as u32)));
                at += length;
            }
            self.phases_of.push(from..self.phases.len());
        }
        // The members of one region are already in the order of its phases, and stay so.
        created.sort_unstable();
        self.task_of = vec![NONE; members.len()];
        for (place, &(_, member)) in (first..).zip(&created) {
            self.task_of[member as usize] = place;
        }
        for (i, member) in members.iter().enumerate() {
            self.by_record[member.thread as usize][member.nth as usize] = i as u32;
        }
        created.into_iter().map(|(time, _)| time).collect()
    }

    fn region(&self, scope: u32) -> Option<usize> {
        self.opened
            .binary_search_by_key(&scope, |&(scope, ..)| scope)
            .ok()
    }

    /// The phases of the region that opened this scope. The first one is phase 0, and may have no
    /// members.
    pub(super) fn phases(&self, scope: u32) -> &[Phase] {
        let phases = self.region(scope).and_then(|r| self.phases_of.get(r));
        phases.map_or(&[], |phases| &self.phases[phases.clone()])
    }

    /// The indices of a phase's members in the list of all tasks, by member index.
    pub(super) fn tasks(&self, phase: &Phase) -> &[u32] {
        &self.task_of[phase.members.clone()]
    }

    /// The index in the list of all tasks of the task of a thread's nth member record.
    pub(super) fn task_at(&self, thread: usize, nth: u32) -> Option<u32> {
        let member = *self.by_record.get(thread)?.get(nth as usize)?;
        self.task_of.get(member as usize).copied()
    }
}
