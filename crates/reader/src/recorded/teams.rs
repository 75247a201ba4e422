//! Parallel regions: who was in which phase of which team.
//!
//! Only the threads that run a region's implicit tasks tell of them, so they are chunks in the
//! first walk; the second then knows at the record of the team all tasks that the region's task
//! creates, phase by phase (MODEL.md §1, barrier).

use std::ops::Range;

use super::chunks_by_thread::Thread;
use super::survey::Survey;
use workspan_dag::NONE;

/// A phase of a region: what runs between two barriers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phase {
    /// When the region's task creates its members, in the file's ticks: phase 0 at the record of
    /// the team, the others when the first thread has left the barrier.
    pub time: u64,
    /// Place of the thread where that is.
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
    /// Place of its thread, and which of the thread's records of this kind it is.
    thread: u32,
    nth: u32,
}

/// All regions of a trace.
#[derive(Debug, Default)]
pub(super) struct Teams {
    /// (place in the list of all scopes, thread, time) of each region, ascending.
    opened: Vec<(u32, u32, u64)>,
    /// As read: team named by (thread, scope count).
    told: Vec<((u32, u64), Member)>,
    /// Each region's phases in `phases`, beside `opened`.
    phases_of: Vec<Range<usize>>,
    phases: Vec<Phase>,
    /// Place of each member in the list of all tasks.
    task_of: Vec<u32>,
    /// Member of each record, by thread; `NONE` for one that another record is for already, and for
    /// unknown teams.
    by_record: Vec<Vec<u32>>,
}

impl Teams {
    /// A region is opened; `scope` is its place in the list of all scopes, which only grows.
    pub(super) fn open(&mut self, scope: u32, thread: usize, time: u64) {
        self.opened.push((scope, thread as u32, time));
    }

    /// True when the trace has no region.
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
        self.told.push((team, member));
    }

    /// Number of records of members.
    pub(super) fn told(&self) -> usize {
        self.told.len()
    }

    /// Sorts members into their phases and gives them tasks from place `first` of the list of all
    /// on. Returns when each was created, in the order of those places.
    pub(super) fn settle(
        &mut self,
        counts: &Survey,
        threads: &[Thread<'_>],
        first: u32,
    ) -> Vec<u64> {
        let mut members: Vec<Member> = Vec::with_capacity(self.told.len());
        for (team, member) in std::mem::take(&mut self.told) {
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
        // The earliest of those that say to be the same one is it.
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
        // One region's members are in the order of its phases already, and stay so.
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

    /// The phases of the region opened as this scope; the first is phase 0, and may be without
    /// members.
    pub(super) fn phases(&self, scope: u32) -> &[Phase] {
        let phases = self.region(scope).and_then(|r| self.phases_of.get(r));
        phases.map_or(&[], |phases| &self.phases[phases.clone()])
    }

    /// Place in the list of all tasks of a phase's members, by index.
    pub(super) fn tasks(&self, phase: &Phase) -> &[u32] {
        &self.task_of[phase.members.clone()]
    }

    /// The place in the list of all tasks of the one that a thread's nth record of a member is of.
    pub(super) fn task_at(&self, thread: usize, nth: u32) -> Option<u32> {
        let member = *self.by_record.get(thread)?.get(nth as usize)?;
        self.task_of.get(member as usize).copied()
    }
}
