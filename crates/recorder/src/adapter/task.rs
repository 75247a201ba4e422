//! Tasks and scopes: creating, beginning and ending them.

use super::LiveHandle;
use crate::abi::id;
use crate::wire::{Kind, create};

impl LiveHandle {
    /// The current task creates a task of a [`create`] kind, into a scope unless that is 0, and
    /// goes on. Returns the task's number.
    #[inline]
    pub fn task_create(self, kind: u64, site: u32, scope: u64) -> u64 {
        self.ensure_root();
        self.task_create_at(kind, site, scope, self.now())
    }

    /// [`LiveHandle::task_create`] at time `now`, for a thread that has a current task.
    #[inline]
    pub fn task_create_at(self, kind: u64, site: u32, scope: u64, now: u64) -> u64 {
        let site = u64::from(site);
        match id::split(scope) {
            Some((thread, seq)) => {
                let operands = [kind | create::SCOPED, site, u64::from(thread), seq];
                self.record_at(Kind::Create, now, operands);
            }
            None => self.record_at(Kind::Create, now, [kind, site]),
        }
        self.number_task()
    }

    /// A task begins on top of the thread's stack. Returns the time.
    #[inline]
    pub fn task_begin(self, task: u64) -> u64 {
        let now = self.now();
        self.task_begin_at(task, now);
        now
    }

    /// [`LiveHandle::task_begin`] at time `now`.
    #[inline]
    pub fn task_begin_at(self, task: u64, now: u64) {
        let (thread, seq) = id::split(task).unwrap_or((u32::MAX, 0));
        self.deepen(1);
        self.record_at(Kind::Begin, now, [u64::from(thread), seq]);
    }

    /// The task on top of the thread's stack ends. Returns the time.
    #[inline]
    pub fn task_end(self) -> u64 {
        let now = self.now();
        self.task_end_at(now);
        now
    }

    /// [`LiveHandle::task_end`] at time `now`.
    #[inline]
    pub fn task_end_at(self, now: u64) {
        self.deepen(-1);
        self.record_at(Kind::End, now, []);
    }

    /// The task on top ends. The one below, which waited for it, goes on at the same tick.
    #[inline]
    pub fn task_end_resume(self) {
        self.deepen(-1);
        self.event(Kind::EndResume, []);
    }

    /// The current task opens a scope, a tree or a group. Returns the scope's number.
    #[inline]
    pub fn scope_open(self, tree: bool) -> u64 {
        self.ensure_root();
        self.scope_open_at(tree, self.now())
    }

    /// [`LiveHandle::scope_open`] at time `now`, for a thread that has a current task.
    #[inline]
    pub fn scope_open_at(self, tree: bool, now: u64) -> u64 {
        self.record_at(Kind::Scope, now, [u64::from(tree)]);
        self.number_scope()
    }
}
