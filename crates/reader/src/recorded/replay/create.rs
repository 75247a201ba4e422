//! Creates, scopes, and waits for them.

use workspan_trace::event::{References, WaitFor};
use workspan_trace::wire::create;

use super::frame::Pending;
use super::{Replay, ReplayThread, State};
use workspan_dag::raw::{RawEnd, RawScope};
use workspan_dag::{NONE, ScopeKind, TaskKind};

/// The largest number of open tree scopes of a task that can still create into the innermost one
/// without naming it.
const MAX_OPEN_TREES: usize = 1000;

impl<'a> Replay<'a, '_> {
    pub(super) fn join(&mut self, lane: &mut ReplayThread<'a>, number: usize, t: u64, site: u32) {
        let first = lane.tasks;
        lane.tasks += 2;
        let Some(frame) = self.current(lane, t) else {
            return;
        };
        let (parent, base) = (lane.stack[frame].task, self.counts.tasks[number]);
        let (deferred, inline) = (self.nth(base + first), self.nth(base + first + 1));
        let place = self.places.of(site);
        let scope = self.raw.scopes.len() as u32;
        // Tasks are numbered by time, thread and count, so no other task is between the two.
        let strand = self.strand(lane, frame, t, RawEnd::Join(deferred), place);
        self.raw.scopes.push(RawScope {
            number: u64::from(scope),
            kind: ScopeKind::Group,
            opener: parent,
            strand,
        });
        for (task, kind) in [(deferred, TaskKind::Deferred), (inline, TaskKind::Inline)] {
            let task = &mut self.raw.tasks[task as usize];
            (task.parent, task.kind, task.site, task.scope) = (parent, kind, place, scope);
        }
        self.states[parent as usize] = State::Stopped;
        let top = &mut lane.stack[frame];
        (top.stopped, top.next) = (true, Some(deferred));
        self.begin(lane, Some(inline), t);
    }

    /// Numbers the scopes of joins in order of creation, independent of the order in which threads
    /// are replayed. If regions have opened scopes in between, the order is not changed.
    pub(super) fn sort_join_scopes(&mut self) {
        let named = self.counts.scopes.last().map_or(0, |&n| n as usize);
        if self.chunks.threads.len() < 2 || !self.counts.teams.is_empty() {
            return;
        }
        let of_joins = &self.raw.scopes[named..];
        let mut new = vec![NONE; of_joins.len()];
        let mut sorted = Vec::with_capacity(of_joins.len());
        for task in &mut self.raw.tasks {
            let Some(old) = (task.scope as usize).checked_sub(named) else {
                continue;
            };
            if let (Some(to), Some(&scope)) = (new.get_mut(old), of_joins.get(old)) {
                if *to == NONE {
                    *to = (named + sorted.len()) as u32;
                    let number = u64::from(*to);
                    sorted.push(RawScope { number, ..scope });
                }
                task.scope = *to;
            }
        }
        // Each scope has the two tasks for which it was opened.
        if sorted.len() == of_joins.len() {
            self.raw.scopes.truncate(named);
            self.raw.scopes.extend(sorted);
        }
    }

    /// The task at this index of the list by thread and count.
    pub(super) fn nth(&self, at: u32) -> u32 {
        self.counts.index[at as usize]
    }

    pub(super) fn create(
        &mut self,
        lane: &mut ReplayThread<'a>,
        number: usize,
        t: u64,
        kind: u64,
        site: u32,
        scope: Option<(u32, u64)>,
    ) {
        let task = self.nth(self.counts.tasks[number] + lane.tasks);
        lane.tasks += 1;
        let Some(frame) = self.current(lane, t) else {
            return;
        };
        let place = self.places.of(site);
        let parent = lane.stack[frame].task;
        self.strand(lane, frame, t, RawEnd::Create(task), place);
        let scope = self.scope_for(parent, scope);
        let kind = match kind {
            create::INLINE => TaskKind::Inline,
            create::DETACHED => TaskKind::Detached,
            _ => TaskKind::Deferred,
        };
        let created = &mut self.raw.tasks[task as usize];
        (created.parent, created.kind, created.site, created.scope) = (parent, kind, place, scope);
        self.note_chunk_child(task, parent);
    }

    /// The scope that a task is created into. Without a name, it is the innermost tree scope that
    /// its parent has open.
    fn scope_for(&mut self, parent: u32, name: Option<(u32, u64)>) -> u32 {
        let Some(name) = name else {
            let open = self.open_trees.get(&parent).and_then(|open| open.last());
            return open.copied().unwrap_or(NONE);
        };
        let known = self.counts.scope(&self.chunks.threads, name);
        if known.is_none() {
            self.log
                .names_earlier("Tasks created into scopes that are not in the trace");
        }
        known.unwrap_or(NONE)
    }

    pub(super) fn scope(&mut self, lane: &mut ReplayThread<'a>, number: usize, t: u64, tree: bool) {
        let scope = self.counts.scopes[number] + lane.scopes;
        lane.scopes += 1;
        let Some(frame) = self.current(lane, t) else {
            return;
        };
        let task = lane.stack[frame].task;
        let raw = &mut self.raw.scopes[scope as usize];
        raw.opener = task;
        raw.kind = if tree {
            ScopeKind::Tree
        } else {
            ScopeKind::Group
        };
        if tree {
            let open = self.open_trees.entry(task).or_default();
            if open.len() < MAX_OPEN_TREES {
                open.push(scope);
            }
        }
        self.pend(lane, frame, Pending::Scope(scope));
    }

    pub(super) fn wait(
        &mut self,
        lane: &mut ReplayThread<'a>,
        t: u64,
        site: Option<u32>,
        what: WaitFor<'a>,
    ) {
        let Some(frame) = self.current(lane, t) else {
            return;
        };
        let task = lane.stack[frame].task;
        let op = match what {
            WaitFor::Children => RawEnd::WaitChildren,
            WaitFor::Scope(thread, seq) => {
                let scope = self.counts.scope(&self.chunks.threads, (thread, seq));
                let own = scope.filter(|&s| {
                    self.raw.scopes[s as usize].opener == task && self.closed.insert(s)
                });
                match (own, scope) {
                    (Some(scope), _) => {
                        if let Some(open) = self.open_trees.get_mut(&task) {
                            open.retain(|&s| s != scope);
                        }
                        RawEnd::WaitScope(scope)
                    }
                    // Another task's scope: this wait closes it too, but its members are known only
                    // at the end.
                    (None, Some(scope))
                        if self.counts.teams.phases(scope).is_empty()
                            && self.closed.insert(scope) =>
                    {
                        let list = self.wait_tasks(None);
                        self.borrowed.push((scope, self.raw.wait_tasks.len() - 1));
                        list
                    }
                    _ => {
                        self.log
                            .names_earlier("Waits for scopes that are not open, left out");
                        self.wait_tasks(None)
                    }
                }
            }
            WaitFor::Tasks(list) => self.wait_tasks(Some(list)),
            WaitFor::Dependences(list) => {
                let before = self.siblings.get(&self.owner(task));
                let tasks = before.map_or_else(Vec::new, |s| s.before(list.iter()));
                self.raw.wait_tasks.push(tasks);
                RawEnd::WaitTasks(self.raw.wait_tasks.len() as u32 - 1)
            }
            WaitFor::Parts => self.wait_parts(lane),
            WaitFor::Signals(list) => {
                let numbers: Vec<u32> = list.iter().map(|(_, id)| self.signal_index(id)).collect();
                self.raw.wait_signals.push(numbers);
                RawEnd::WaitSignals(self.raw.wait_signals.len() as u32 - 1)
            }
        };
        let place = self.places.of_optional(site);
        self.strand(lane, frame, t, op, place);
        let top = &mut lane.stack[frame];
        (top.stopped, top.all) = (true, op == RawEnd::WaitChildren);
        self.states[task as usize] = State::Stopped;
        self.halt(lane, task, t, op);
    }

    pub(super) fn wait_tasks(&mut self, list: Option<References<'a>>) -> RawEnd {
        let mut tasks = Vec::new();
        for name in list.iter().flat_map(References::iter) {
            match self.counts.task(&self.chunks.threads, name) {
                Some(task) => tasks.push(task),
                None => self
                    .log
                    .names_earlier("Waits for tasks that are not in the trace, left out"),
            }
        }
        self.raw.wait_tasks.push(tasks);
        RawEnd::WaitTasks(self.raw.wait_tasks.len() as u32 - 1)
    }

    pub(super) fn signal_index(&mut self, id: u64) -> u32 {
        *self.signals.entry(id).or_insert_with(|| {
            self.raw.signals.push(id);
            self.raw.signals.len() as u32 - 1
        })
    }

    pub(super) fn signal(&mut self, id: u64) -> RawEnd {
        let index = self.signal_index(id);
        if self.set.insert(index) {
            RawEnd::Signal(index)
        } else {
            self.log.repair("Signals set twice; the first time counts");
            RawEnd::Yield
        }
    }
}
