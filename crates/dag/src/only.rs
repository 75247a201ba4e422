//! A run in which only the inside of something takes time: a region, a part, the tasks of a site.
//! The order stays: an edge from one piece inside through code outside to the next piece inside
//! remains, without time.

use crate::dag::{Dag, NONE, StrandId, TaskId, TaskKind};
use crate::handoffs::{Cut, Pieces};
use crate::task_sizes::SIZE_COUNTER;

/// A stretch of a strand: the strand, and the first and last tick.
pub type Stretch = (StrandId, u64, u64);

impl Dag {
    /// Keeps only the time of `stretches`. Other strands take no time. Tasks without a stretch in
    /// themselves or their descendants are left out if nothing depends on them. O(n log n).
    ///
    /// A strand that can't be divided, a folded one or one with counters that measure it, counts
    /// where it begins.
    pub fn keep_only(&mut self, stretches: &[Stretch]) {
        let inside = self.cut_at(stretches);
        let mut tasks = self.tasks_with(&inside);
        // A task is needed if edges lead through it besides those of its creator and of the task
        // that waits for it.
        let is_woven = !self.dependents.is_empty()
            || !self.signals.is_empty()
            || !self.handoffs.list.is_empty();
        if is_woven {
            self.spare_burden(&tasks);
            tasks.fill(true);
        }
        self.take_time(&inside);
        self.renumber(&inside, &tasks);
        // Clocks of the whole process say nothing about a part.
        self.meta.cpu = None;
    }

    /// Cuts strands where a stretch begins or ends. Returns which strands are inside.
    fn cut_at(&mut self, stretches: &[Stretch]) -> Vec<bool> {
        let mut cuts = Vec::new();
        for &(strand, from, to) in stretches {
            let i = strand as usize;
            let (start, end) = (self.strands.start[i], self.strands.end[i]);
            let within = [from, to].into_iter().filter(|&t| start < t && t < end);
            let within: Vec<u64> = within.collect();
            if !within.is_empty() && self.is_divisible(strand) {
                cuts.extend(within.into_iter().map(|t| Cut { strand, t }));
            }
        }
        cuts.sort_unstable();
        cuts.dedup();
        let pieces = Pieces::new(self, &cuts);
        pieces.renumber(self);
        self.handoffs.renumber(&pieces);
        let mut inside = vec![false; self.strands.len()];
        for &(strand, from, to) in stretches {
            for piece in pieces.of(strand) {
                let start = self.strands.start[piece as usize];
                inside[piece as usize] |= from <= start && start < to;
            }
        }
        inside
    }

    /// Which tasks have something inside, or a descendant that has.
    fn tasks_with(&self, inside: &[bool]) -> Vec<bool> {
        let mut tasks = vec![false; self.tasks.len()];
        if let Some(first) = tasks.first_mut() {
            *first = true;
        }
        for (s, &inside) in inside.iter().enumerate() {
            let mut task = self.strands.task[s];
            while inside && task != NONE && !tasks[task as usize] {
                tasks[task as usize] = true;
                task = self.tasks.parent[task as usize];
            }
        }
        tasks
    }

    /// Removes the burden of tasks that have nothing inside: no thread needs to steal them.
    fn spare_burden(&mut self, with: &[bool]) {
        for (kind, with) in self.tasks.kind.iter_mut().zip(with) {
            if *kind == TaskKind::Deferred && !with {
                *kind = TaskKind::Detached;
            }
        }
    }

    /// Makes strands outside end the moment they start. That moment is when they ended, so that
    /// what follows is ready then; for the first strand it is its start, where the run begins.
    fn take_time(&mut self, inside: &[bool]) {
        for (s, inside) in inside.iter().enumerate() {
            match inside {
                true => {}
                false if s == 0 => self.strands.end[s] = self.strands.start[s],
                false => self.strands.start[s] = self.strands.end[s],
            }
        }
    }

    /// Numbers strands by their starts again, and numbers tasks without those that are left out.
    fn renumber(&mut self, inside: &[bool], remains: &[bool]) {
        let strands = &self.strands;
        let stays = |s: &StrandId| remains[strands.task[*s as usize] as usize];
        let mut order: Vec<StrandId> = (0..strands.len() as u32).filter(stays).collect();
        order.sort_by_key(|&s| (strands.start[s as usize], s));
        let mut place = vec![NONE; strands.len()];
        for (new, &old) in (0..).zip(&order) {
            place[old as usize] = new;
        }
        let by_task: Vec<TaskId> = (0..self.tasks.len() as u32)
            .filter(|&t| remains[t as usize])
            .collect();
        let mut number = vec![NONE; self.tasks.len()];
        for (new, &old) in (0..).zip(&by_task) {
            number[old as usize] = new;
        }
        let strand = |s: StrandId| place.get(s as usize).copied().unwrap_or(NONE);
        let task = |t: TaskId| number.get(t as usize).copied().unwrap_or(NONE);
        self.renumber_scopes(&strand, &task);
        self.renumber_strands(&order, &strand, &task);
        self.renumber_tasks(&by_task, &strand, &task);
        let counted = |s: StrandId| Some(strand(s)).filter(|&n| n != NONE && inside[s as usize]);
        self.folded = std::mem::take(&mut self.folded).sorted(counted);
        let unrecorded = std::mem::take(&mut self.skipped).into_iter();
        self.skipped = unrecorded
            .filter_map(|(s, bounds)| Some((counted(s)?, bounds)))
            .collect();
        self.skipped.sort_unstable_by_key(|u| u.0);
        let kept = |s: StrandId| Some(strand(s)).filter(|&n| n != NONE);
        for counter in &mut self.counters {
            // A task has its size in every part of the run.
            let is_size = counter.name == SIZE_COUNTER;
            let number = |s| if is_size { kept(s) } else { counted(s) };
            let values = std::mem::take(&mut counter.values).into_iter();
            let values = values.filter_map(|(s, value)| Some((number(s)?, value)));
            counter.values = values.collect();
            counter.values.sort_unstable();
        }
        let samples = &mut self.samples;
        for s in &mut samples.strand {
            *s = counted(*s).unwrap_or(NONE);
        }
        // Handoffs refer to stops by number, so stops outside stay; they lose their strand.
        for stop in &mut samples.stops {
            stop.strand = strand(stop.strand);
        }
        for wait in &mut self.start_waits {
            wait.0 = task(wait.0);
        }
        self.start_waits.retain(|wait| wait.0 != NONE);
        for signal in &mut self.signals {
            signal.0 = strand(signal.0);
        }
        self.signals.retain(|signal| signal.0 != NONE);
        self.signals.sort_unstable();
        self.handoffs.place(strand);
    }

    fn renumber_strands(
        &mut self,
        order: &[StrandId],
        strand: &impl Fn(StrandId) -> StrandId,
        task: &impl Fn(TaskId) -> TaskId,
    ) {
        let strands = &mut self.strands;
        take(&mut strands.task, order);
        take(&mut strands.thread, order);
        take(&mut strands.start, order);
        take(&mut strands.end, order);
        take(&mut strands.prev, order);
        take(&mut strands.start_kind, order);
        take(&mut strands.end_kind, order);
        take(&mut strands.to, order);
        strands.task.iter_mut().for_each(|t| *t = task(*t));
        strands.prev.iter_mut().for_each(|s| *s = strand(*s));
        for region in self.regions.iter_mut().chain(&mut self.parts) {
            region.task = task(region.task);
            (region.begin.0, region.end.0) = (strand(region.begin.0), strand(region.end.0));
        }
        self.regions.retain(|region| region.task != NONE);
        self.parts.retain(|part| part.task != NONE);
        let waits = std::mem::take(&mut self.waits);
        let mut remains: Vec<(StrandId, usize)> = (0..)
            .zip(&waits.after)
            .map(|(i, &after)| (strand(after), i))
            .filter(|wait| wait.0 != NONE)
            .collect();
        remains.sort_unstable();
        for (after, i) in remains {
            self.waits.after.push(after);
            self.waits.scope.push(waits.scope[i]);
            self.waits.plain.push(waits.plain[i]);
            let tasks = waits.tasks.get(i).iter().map(|&t| task(t));
            self.waits.tasks.push(tasks.filter(|&t| t != NONE));
            let signals = waits.signals.get(i).iter().map(|&s| strand(s));
            self.waits.signals.push(signals.filter(|&s| s != NONE));
        }
    }

    fn renumber_tasks(
        &mut self,
        order: &[TaskId],
        strand: &impl Fn(StrandId) -> StrandId,
        task: &impl Fn(TaskId) -> TaskId,
    ) {
        let numbers = order.iter().map(|&t| self.tasks.number(t));
        let numbers: Vec<u64> = numbers.collect();
        let tasks = &mut self.tasks;
        tasks.numbers = numbers;
        take(&mut tasks.parent, order);
        take(&mut tasks.kind, order);
        take(&mut tasks.site, order);
        take(&mut tasks.level, order);
        take(&mut tasks.creator, order);
        take(&mut tasks.create_rank, order);
        take(&mut tasks.scope, order);
        take(&mut tasks.first, order);
        take(&mut tasks.last, order);
        tasks.parent.iter_mut().for_each(|t| *t = task(*t));
        let ends = tasks.first.iter_mut().chain(&mut tasks.last);
        ends.chain(&mut tasks.creator).for_each(|s| *s = strand(*s));
        let (dependents, depends) = (
            std::mem::take(&mut self.dependents),
            std::mem::take(&mut self.depends),
        );
        for (i, &dependent) in dependents.iter().enumerate() {
            if task(dependent) != NONE {
                self.dependents.push(task(dependent));
                let on = depends.get(i).iter().map(|&t| task(t));
                self.depends.push(on.filter(|&t| t != NONE));
            }
        }
        for steal in &mut self.steals {
            steal.task = task(steal.task);
        }
        self.steals.retain(|steal| steal.task != NONE);
    }

    /// Scopes whose opener is left out are left out too.
    fn renumber_scopes(
        &mut self,
        strand: &impl Fn(StrandId) -> StrandId,
        task: &impl Fn(TaskId) -> TaskId,
    ) {
        let mut number = vec![NONE; self.scopes.len()];
        let mut remains = 0;
        for (scope, number) in self.scopes.iter_mut().zip(&mut number) {
            scope.opener = task(scope.opener);
            scope.strand = strand(scope.strand);
            if scope.opener != NONE {
                *number = remains;
                remains += 1;
            }
        }
        self.scopes.retain(|scope| scope.opener != NONE);
        let named = self.tasks.scope.iter_mut().chain(&mut self.waits.scope);
        named.for_each(|scope| *scope = number.get(*scope as usize).copied().unwrap_or(NONE));
    }
}

/// The values at these places, in this order.
fn take<T: Copy>(column: &mut Vec<T>, order: &[u32]) {
    *column = order.iter().map(|&i| column[i as usize]).collect();
}
