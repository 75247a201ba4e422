//! Records that only OpenMP has: teams, dependences, and waits for locks.

use super::LiveHandle;
use super::operands::push_pairs;
use crate::abi::id;
use crate::system::KeepErrno;
use crate::wire::Kind;
use workspan_trace::entry::push_varint;

impl LiveHandle {
    /// The first task cannot begin before the second has ended.
    pub fn depend(self, task: u64, on: u64) {
        if let (Some((a, b)), Some((c, d))) = (id::split(task), id::split(on)) {
            self.event(Kind::Depend, [u64::from(a), b, u64::from(c), d]);
        }
    }

    /// The dependences of a task: pairs of a [`crate::wire::dependence`] kind and an address. Its
    /// creator calls this before the task can begin.
    pub fn depends(self, task: u64, on: &[(u64, u64)]) {
        let Some((thread, seq)) = id::split(task) else {
            return;
        };
        let _errno = KeepErrno::new();
        let mut bytes = Vec::with_capacity(64);
        push_varint(&mut bytes, u64::from(thread));
        push_varint(&mut bytes, seq);
        push_pairs(&mut bytes, on.iter().copied());
        self.long_record(Kind::Depends, &bytes);
    }

    /// The current task opens a parallel region and waits for it ([`Kind::Team`]); returns the
    /// team's number. The task goes on with [`LiveHandle::resume`].
    pub fn team(self, site: u32) -> u64 {
        self.ensure_root();
        self.event(Kind::Team, [u64::from(site)]);
        self.number_scope()
    }

    /// This thread begins the task with this index in a phase of a team ([`Kind::Member`]), at time
    /// `now`. [`LiveHandle::task_end`] ends it.
    ///
    /// `now` may be earlier than the present, but not than the thread's last record: a thread that
    /// leaves a barrier does not know yet whether its region goes on.
    pub fn member(self, team: u64, phase: u64, index: u64, now: u64) {
        let (thread, seq) = id::split(team).unwrap_or((u32::MAX, 0));
        self.deepen(1);
        self.record_at(Kind::Member, now, [u64::from(thread), seq, phase, index]);
    }

    /// The current strand waited for a lock from `since`, in ticks, until now. That time counts as
    /// blocked, not as work.
    pub fn blocked(self, since: u64) {
        let now = self.now();
        self.record_at(Kind::Off, now, [1, now.saturating_sub(since)]);
    }
}
