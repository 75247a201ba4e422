//! Replays a thread's records between two moments, with a separate stack.

use workspan_trace::event::{Event, WaitFor};

use super::frame::{ExpandFrame, Scope};
use super::used_tasks::tasks_of;
use super::{ExpandedFold, ExpandedStrand, ExpandedTask, Expansion, WholeExpansion};
use workspan_dag::{EndKind, NONE, PlaceId};

/// The largest number of tasks that are kept of a folded strand. A grain of a millisecond has
/// fewer.
const MAX_EXPANDED_TASKS: usize = 1 << 20;

pub(super) struct Replay<'a> {
    thread: u32,
    place_of: &'a [PlaceId],
    end: u64,
    window: (u64, u64),
    most: usize,
    stack: Vec<ExpandFrame>,
    tasks: Vec<ExpandedTask>,
    /// The name of the first task created here, which is its thread's count of creates.
    named_from: u64,
    /// Pairs of a name and the total number of tasks skipped before it.
    skipped: Vec<(u64, u64)>,
    strands: Vec<ExpandedStrand>,
    folds: Vec<ExpandedFold>,
    cut: bool,
    /// Set if links are kept. Strands of no length are then kept too.
    links: Option<Links>,
}

/// The edges between the strands of a folded subtree.
#[derive(Default)]
struct Links {
    /// For each task, the strand at whose end it was created.
    creators: Vec<u32>,
    /// Pairs of a strand and a task whose end it waited for.
    joins: Vec<(u32, u32)>,
}

impl<'a> Replay<'a> {
    pub(super) fn new(
        thread: u32,
        place_of: &'a [PlaceId],
        (start, end): (u64, u64),
        window: (u64, u64),
        most: usize,
    ) -> Replay<'a> {
        let mut replay = Replay {
            thread,
            place_of,
            end,
            window,
            most,
            stack: Vec::new(),
            tasks: Vec::new(),
            named_from: 0,
            skipped: Vec::new(),
            strands: Vec::new(),
            folds: Vec::new(),
            cut: false,
            links: None,
        };
        let own = replay.task(NONE, NONE, start);
        replay.push(own, start, NONE);
        replay
    }

    /// Keeps links between strands and tasks, for [`Replay::whole`].
    pub(super) fn keep_links(&mut self) {
        self.links = Some(Links {
            creators: vec![NONE; self.tasks.len()],
            joins: Vec::new(),
        });
    }

    /// Sets the name of the first task that is created here.
    pub(super) fn name_from(&mut self, name: u64) {
        self.named_from = name;
    }

    /// Skips tasks that were created here and folded while the program was recorded: they have
    /// names, but are not known individually.
    fn skip(&mut self, tasks: u64) {
        let (_, before) = self.skipped.last().copied().unwrap_or_default();
        let created = self.tasks.len() as u64 - 1;
        let name = self
            .named_from
            .saturating_add(created)
            .saturating_add(before);
        self.skipped.push((name, before.saturating_add(tasks)));
    }

    /// The task with this name that was created here, and its site.
    fn named(&self, (thread, name): (u32, u64)) -> Option<(u32, PlaceId)> {
        let skips = self.skipped.partition_point(|skip| skip.0 <= name);
        let skipped = skips.checked_sub(1).map_or(0, |at| self.skipped[at].1);
        // The first task here is the folded strand's own.
        let at = name
            .checked_sub(self.named_from.checked_add(skipped)?)?
            .checked_add(1)?;
        let task = self.tasks.get(usize::try_from(at).ok()?)?;
        (thread == self.thread).then_some((at as u32, task.site))
    }

    /// Whether the record begins a task that was created here, or is about no task.
    fn begins_next(&self, event: &Event<'_>) -> bool {
        match *event {
            Event::Begin(name) => {
                let task = self
                    .named(name)
                    .and_then(|at| self.tasks.get(at.0 as usize));
                task.is_some_and(|task| task.begun == u64::MAX)
            }
            Event::Readings(_) => true,
            _ => false,
        }
    }

    fn place(&self, site: u32) -> PlaceId {
        self.place_of.get(site as usize).copied().unwrap_or(NONE)
    }

    fn task(&mut self, parent: u32, site: PlaceId, t: u64) -> u32 {
        let above = self.tasks.get(parent as usize);
        let level = above.map_or(0, |above| above.level + 1);
        self.tasks.push(ExpandedTask {
            parent,
            site,
            level,
            created: t,
            begun: u64::MAX,
            ended: 0,
        });
        if let Some(links) = &mut self.links {
            links
                .creators
                .push(self.stack.last().map_or(NONE, |top| top.last));
        }
        self.tasks.len() as u32 - 1
    }

    fn push(&mut self, task: u32, t: u64, from: PlaceId) {
        if let Some(task) = self.tasks.get_mut(task as usize) {
            task.begun = task.begun.min(t);
        }
        self.stack.push(ExpandFrame::new(task, t, from));
    }

    /// Ends the open strand of the task on top.
    fn strand(&mut self, t: u64, to: PlaceId, end_kind: EndKind) {
        let Some(top) = self.stack.last_mut() else {
            return;
        };
        if let Some(task) = self.tasks.get_mut(top.task as usize) {
            task.ended = t;
        }
        let (start, from) = (top.start, std::mem::replace(&mut top.from, to));
        let (task, fold) = (top.task, top.fold.take());
        top.start = t;
        if self.links.is_some() {
            return self.linked((start, t), (from, to), end_kind, fold);
        }
        if top.stopped || t <= start || t <= self.window.0 || start >= self.window.1 {
            return;
        }
        if self.strands.len() >= self.most {
            self.cut = true;
            return;
        }
        self.strands.push(ExpandedStrand {
            task,
            start,
            end: t,
            from,
            to,
            end_kind,
            fold: fold_index(&mut self.folds, fold),
        });
    }

    /// Ends the open strand if links are kept. A strand of no length after a create is merged with
    /// the one before, as in a [`workspan_dag::Dag`].
    fn linked(
        &mut self,
        (start, t): (u64, u64),
        (from, to): (PlaceId, PlaceId),
        end_kind: EndKind,
        fold: Option<ExpandedFold>,
    ) {
        let (Some(top), Some(links)) = (self.stack.last_mut(), &mut self.links) else {
            return;
        };
        if top.stopped {
            return;
        }
        if self.strands.len() >= self.most {
            self.cut = true;
            return;
        }
        let before = self.strands.get_mut(top.last as usize);
        if let Some(before) = before.filter(|b| {
            t <= start && top.joined.is_empty() && b.end == start && b.end_kind == EndKind::Create
        }) {
            (before.to, before.end_kind) = (to, end_kind);
            return;
        }
        let number = self.strands.len() as u32;
        let joined = top.joined.drain(..);
        links.joins.extend(joined.map(|task| (number, task)));
        top.last = number;
        self.strands.push(ExpandedStrand {
            task: top.task,
            start,
            end: t,
            from,
            to,
            end_kind,
            fold: fold_index(&mut self.folds, fold),
        });
    }

    /// Handles a record. Returns false if no more records are needed.
    pub(super) fn record(&mut self, t: u64, event: &Event<'_>) -> bool {
        // If the folded strand's own task ended before the tasks that it created into its scope,
        // these begin next.
        if self.stack.is_empty() && !self.begins_next(event) {
            return false;
        }
        match *event {
            Event::Join { site } => {
                let place = self.place(site);
                self.strand(t, place, EndKind::Wait);
                let Some(top) = self.stack.last() else {
                    return false;
                };
                let parent = top.task;
                let (deferred, inline) = (self.task(parent, place, t), self.task(parent, place, t));
                self.stop(deferred);
                if let (Some(_), Some(top)) = (&self.links, self.stack.last_mut()) {
                    top.awaited = vec![deferred, inline];
                }
                self.push(inline, t, place);
            }
            Event::Next => {
                let next = self.stack.last_mut();
                let next = next.map_or(NONE, |top| std::mem::replace(&mut top.next, NONE));
                let at = self.tasks.get(next as usize).map(|task| task.site);
                match at {
                    Some(site) => self.push(next, t, site),
                    None => return false,
                }
            }
            Event::End => self.ends(t),
            Event::EndResume => {
                self.ends(t);
                self.resume(t);
            }
            Event::Create { site, scope, .. } => {
                let place = self.place(site);
                self.strand(t, place, EndKind::Create);
                let Some(top) = self.stack.last() else {
                    return false;
                };
                let parent = top.task;
                let task = self.task(parent, place, t);
                if let (Some(_), Some(top)) = (&self.links, self.stack.last_mut()) {
                    top.open.push((task, scope));
                }
            }
            Event::Wait { site, what } => {
                if matches!(what, WaitFor::Parts) {
                    return false;
                }
                let place = site.map_or(NONE, |site| self.place(site));
                self.strand(t, place, EndKind::Wait);
                self.stop(NONE);
                self.wait(&what);
            }
            Event::Begin(name) => match self.named(name) {
                Some((at, site)) => {
                    if self.stack.last().is_some_and(|top| !top.stopped) {
                        self.strand(t, NONE, EndKind::Yield);
                    }
                    self.push(at, t, site);
                }
                _ => return false,
            },
            Event::Resume => self.resume(t),
            Event::Folded(bytes) => {
                let running = self.stack.last_mut().filter(|top| !top.stopped);
                if let Some(top) = running {
                    top.fold = ExpandedFold::decode(bytes);
                }
            }
            Event::Scope { .. } | Event::Readings(_) => {}
            Event::Skip { tasks, .. } => self.skip(tasks),
            // Folded parts have no other records.
            _ => return false,
        }
        !(self.cut || self.tasks.len() >= MAX_EXPANDED_TASKS || t >= self.window.1)
    }

    fn stop(&mut self, next: u32) {
        if let Some(top) = self.stack.last_mut() {
            (top.stopped, top.next) = (true, next);
        }
    }

    /// The task on top waits for these of its open tasks.
    fn wait(&mut self, what: &WaitFor<'_>) {
        let Some(top) = self.stack.last_mut().filter(|_| self.links.is_some()) else {
            return;
        };
        let (own, tasks) = (top.task, &self.tasks);
        let is_awaited = |&(task, scope): &(u32, Option<Scope>)| match *what {
            WaitFor::Children => tasks.get(task as usize).is_some_and(|t| t.parent == own),
            WaitFor::Scope(thread, count) => scope.is_none_or(|s| s == (thread, count)),
            _ => false,
        };
        let (awaited, open) = top.open.drain(..).partition(is_awaited);
        top.open = open;
        top.awaited = awaited.into_iter().map(|(task, _)| task).collect();
    }

    fn resume(&mut self, t: u64) {
        if let Some(top) = self.stack.last_mut() {
            (top.stopped, top.start) = (false, t);
            top.joined.append(&mut top.awaited);
        }
    }

    /// The task on top ends.
    fn ends(&mut self, t: u64) {
        self.strand(t, NONE, EndKind::End);
        let ended = self.stack.pop();
        if let Some(ExpandFrame { task, open, .. }) = ended.filter(|e| !e.open.is_empty()) {
            // Tasks that it did not wait for are waited for by an outer task, through a scope.
            let mut above = self.tasks.get(task as usize).map_or(NONE, |t| t.parent);
            // Usually the next task down the stack.
            while above != NONE && !self.stack.iter().rev().any(|f| f.task == above) {
                above = self.tasks.get(above as usize).map_or(NONE, |t| t.parent);
            }
            if let Some(frame) = self.stack.iter_mut().rev().find(|f| f.task == above) {
                frame.open.extend(open);
            }
        }
        // A task that was interrupted goes on.
        if let Some(below) = self.stack.last_mut().filter(|below| !below.stopped) {
            below.start = t;
        }
    }

    /// All strands and tasks found, with their links; `None` if there are more than requested.
    pub(super) fn whole(mut self) -> Option<WholeExpansion> {
        let open = self.stack.last().is_some_and(|top| !top.stopped);
        if open {
            self.strand(self.end, NONE, EndKind::Yield);
        }
        let links = self.links?;
        // A folded strand contains tasks. Without any, these were not its records.
        let count = self.tasks.len();
        (!self.cut && count > 1 && count < MAX_EXPANDED_TASKS).then_some(WholeExpansion {
            tasks: self.tasks,
            strands: self.strands,
            folds: self.folds,
            creators: links.creators,
            joins: links.joins,
        })
    }

    /// The strands found, with the tasks that they need.
    pub(super) fn finish(mut self) -> Expansion {
        self.cut |= self.tasks.len() >= MAX_EXPANDED_TASKS;
        let end = self.end;
        let open = self.stack.last().is_some_and(|top| !top.stopped);
        if open && !self.cut {
            self.strand(end.min(self.window.1), NONE, EndKind::Yield);
        }
        let tasks = tasks_of(self.tasks, &mut self.strands);
        self.strands.sort_by_key(|s| (s.start, s.end));
        Expansion {
            tasks,
            strands: self.strands,
            folds: self.folds,
            cut: self.cut,
        }
    }
}

/// The index of `fold` in the list of all.
fn fold_index(folds: &mut Vec<ExpandedFold>, fold: Option<ExpandedFold>) -> u32 {
    fold.map_or(NONE, |fold| {
        folds.push(fold);
        folds.len() as u32 - 1
    })
}
