//! Waits, and the continuation of a task after one.

use super::LiveHandle;
use super::operands::{optional, push_pairs};
use crate::abi::id;
use crate::system::KeepErrno;
use crate::wire::{Kind, wait};
use workspan_trace::entry::push_varint;

/// After each wait the task goes on with [`LiveHandle::resume`].
impl LiveHandle {
    /// The current task waits for all its children.
    #[inline]
    pub fn wait_children(self, site: u32) {
        self.ensure_root();
        self.event(Kind::Wait, [optional(site), wait::CHILDREN]);
    }

    /// The current task waits for the members of a scope, which closes the scope.
    #[inline]
    pub fn wait_scope(self, site: u32, scope: u64) {
        self.ensure_root();
        self.wait_scope_at(site, scope, self.now());
    }

    /// [`LiveHandle::wait_scope`] at time `now`, for a thread that has a current task.
    #[inline]
    pub fn wait_scope_at(self, site: u32, scope: u64, now: u64) {
        let (thread, seq) = id::split(scope).unwrap_or((u32::MAX, 0));
        let operands = [optional(site), wait::SCOPE, u64::from(thread), seq];
        self.record_at(Kind::Wait, now, operands);
    }

    /// The current task waits for one task, for example an undeferred child.
    #[inline]
    pub fn wait_task(self, site: u32, task: u64) {
        self.ensure_root();
        self.wait_task_at(site, task, self.now());
    }

    /// [`LiveHandle::wait_task`] at time `now`, for a thread that has a current task.
    #[inline]
    pub fn wait_task_at(self, site: u32, task: u64, now: u64) {
        let (thread, seq) = id::split(task).unwrap_or((u32::MAX, 0));
        let operands = [optional(site), wait::TASKS, 1, u64::from(thread), seq];
        self.record_at(Kind::Wait, now, operands);
    }

    /// The current task waits for these tasks.
    pub fn wait_tasks(self, site: u32, tasks: &[u64]) {
        let named = tasks.iter().filter_map(|&task| id::split(task));
        let pairs = named.map(|(thread, seq)| (u64::from(thread), seq));
        self.ensure_root();
        self.wait_list(site, wait::TASKS, pairs);
    }

    /// The current task waits for this signal.
    #[inline]
    pub fn wait_signal(self, site: u32, signal: u64) {
        self.ensure_root();
        self.wait_signal_at(site, signal, self.now());
    }

    /// [`LiveHandle::wait_signal`] at time `now`, for a thread that has a current task.
    pub fn wait_signal_at(self, site: u32, signal: u64, now: u64) {
        let operands = [optional(site), wait::SIGNALS, 1, signal];
        self.record_at(Kind::Wait, now, operands);
    }

    /// The current task waits for those of its children that a task with these dependences would
    /// depend on: pairs of a [`crate::wire::dependence`] kind and an address.
    pub fn wait_dependences(self, site: u32, on: &[(u64, u64)]) {
        self.ensure_root();
        self.wait_list(site, wait::DEPENDENCES, on.iter().copied());
    }

    fn wait_list(self, site: u32, what: u64, pairs: impl Iterator<Item = (u64, u64)> + Clone) {
        let _errno = KeepErrno::new();
        let mut bytes = Vec::with_capacity(64);
        push_varint(&mut bytes, optional(site));
        push_varint(&mut bytes, what);
        push_pairs(&mut bytes, pairs);
        self.long_record(Kind::Wait, &bytes);
    }

    /// The task on top goes on after a wait or a yield. Returns the time.
    #[inline]
    pub fn resume(self) -> u64 {
        self.event(Kind::Resume, [])
    }

    /// [`LiveHandle::resume`] at time `now`.
    #[inline]
    pub fn resume_at(self, now: u64) {
        self.record_at(Kind::Resume, now, []);
    }

    /// The current task sets a signal (`TABLE.signal_new` gives the numbers).
    pub fn signal(self, site: u32, signal: u64) {
        self.ensure_root();
        self.event(Kind::Signal, [optional(site), signal]);
    }
}
