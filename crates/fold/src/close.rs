//! Closes a section of a task: replaces its records by one folded record, where that saves room.

use crate::Fold;
use crate::output::{Mark, extended_head, head};
use crate::section::Child;
use workspan_trace::entry::push_varint;
use workspan_trace::folded::FoldedSite;
use workspan_trace::wire::Kind;

/// A section must save this many bytes to be folded while the task below it may still fold as a
/// whole. Most smaller records would be replaced again by the record of the task below.
const MIN_SAVED_BYTES: u64 = 384;
/// The same threshold where the task below has created other tasks that have not begun. Such a task
/// may well become longer than the grain, and then its children are left as they are.
const MIN_SAVED_BYTES_AMONG_OTHERS: u64 = 128;
/// Bytes that each task counts for, in addition to its records, where the number of tasks matters
/// ([`Fold::save_tasks`]).
const BYTES_PER_SAVED_TASK: u64 = 32;

impl Fold {
    /// Closes the section of the task on top, whose open strand has just ended at `t`. The record
    /// of that end has not been written yet. The section is folded if it may be and if that saves
    /// room. `ends` is true if the task ends with the strand.
    #[inline]
    pub(crate) fn close_section(&mut self, t: u64, ends: bool) {
        if self.sections.last().is_some_and(|s| s.sum.tasks > 0) {
            self.try_fold_section(t, ends);
        }
        self.strand_closed();
    }

    /// Folds a section that has tasks in it, if that saves room.
    fn try_fold_section(&mut self, t: u64, ends: bool) {
        let lives = self.sections.len();
        let Some(section) = self.sections.last() else {
            return;
        };
        let (opened, grain) = (section.opened, self.grain_of(section));
        let retry = section.retry;
        let length = section.length(t);
        let from = section.mark;
        let to = opened.map_or(self.out.mark(), |o| o.0);
        let bytes = to.at - from.at;
        // The longer the section, the less likely it is that the section around it stays below the
        // grain.
        let (tasks, most) = (section.sum.tasks, self.options.max_tasks);
        let last = if ends {
            lives == 1 || length >= grain / 4 || tasks >= most / 4
        } else {
            lives == 1 && (length >= grain / 2 || tasks >= most / 2)
        };
        let fits = tasks <= most;
        let worthwhile = fits && bytes >= retry && (last || self.saves_enough(bytes, ends));
        if (worthwhile || last) && (self.all_joined() || self.all_joined_before()) {
            if worthwhile {
                self.write(from, to, length, opened.map_or(0, |o| o.1), false);
            }
            if last && !ends {
                self.give_up();
            }
        }
    }

    /// Closes the section of a task that ended before the tasks it had spawned into its scope. They
    /// have all ended now, and the record of the task's own end has been written.
    pub(crate) fn close_after_task_end(&mut self, t: u64) {
        let lives = self.sections.len();
        let Some(section) = self.sections.last() else {
            return;
        };
        let length = section.length(t);
        let (from, to) = (section.mark, self.out.mark());
        let bytes = to.at - from.at;
        let (tasks, most) = (section.sum.tasks, self.options.max_tasks);
        let last = lives == 1 || length >= self.grain_of(section) / 4 || tasks >= most / 4;
        if tasks <= most && bytes >= section.retry && (last || self.saves_enough(bytes, true)) {
            self.write(from, to, length, 0, true);
        }
    }

    /// Whether to fold a section of `bytes` although the task below may still fold as a whole.
    fn saves_enough(&self, bytes: u64, ends: bool) -> bool {
        bytes >= MIN_SAVED_BYTES
            || (self.saves_tasks || bytes >= MIN_SAVED_BYTES_AMONG_OTHERS)
                && ends
                && self.others_wait()
    }

    /// Whether the task below has created other tasks that have not begun. A thread runs its tasks
    /// in order of creation or in the reverse order, so it is enough to look at the two ends of the
    /// list.
    fn others_wait(&self) -> bool {
        let (Some(below), Some(top)) = (self.sections.below(), self.sections.last()) else {
            return false;
        };
        let children = self.children.since(below.children as usize);
        let own = top.children.saturating_sub(below.children) as usize;
        let children = children.get(..own).unwrap_or(&[]);
        let waits = |child: Option<&Child>| child.is_some_and(|child| !child.begun);
        waits(children.first()) || waits(children.last())
    }

    #[inline]
    fn strand_closed(&mut self) {
        if let Some(section) = self.sections.last_mut() {
            section.opened = None;
        }
    }

    /// Writes the folded record of a section that took `length` ticks. If `ended`, the section's
    /// records include the one of the task's end, which then follows the folded record.
    fn write(&mut self, from: Mark, to: Mark, length: u64, opened: u64, ended: bool) {
        let depth = self.frames.len().saturating_sub(1) as u32;
        let Some(section) = self.sections.last_mut() else {
            return;
        };
        let record = &mut self.record;
        (record.work, record.span) = (section.sum.work, section.through - section.entry);
        (record.tasks, record.spawns) = (section.sum.tasks, section.sum.spawns);
        (record.syncs, record.strands) = (section.sum.syncs, section.sum.strands);
        (record.levels, record.ready_integral) = (section.sum.levels, section.sum.ready);
        record.probes = section.sum.probes;
        let ran = section.sum.work.saturating_add(section.sum.probes);
        record.between = length.saturating_sub(ran);
        (record.off_cpu, record.folding_off_cpu) = (section.off, section.pause_off);
        record.source = self.says_sources.then_some(section.source);
        record.envelope.clear();
        record
            .envelope
            .extend_from_slice(section.envelope.corners());
        let sums = self.sites.get(section.sites as usize..).unwrap_or(&[]);
        // Reuse their lists.
        record.sites.resize_with(sums.len(), FoldedSite::default);
        for (row, sum) in record.sites.iter_mut().zip(sums) {
            (row.site, row.work, row.span) = (sum.site, sum.work, sum.span);
            (row.count, row.critical_work) = (0, 0);
            row.lengths.clear();
        }
        let sites = &mut record.sites;
        self.paths.sum(
            section.nodes,
            &mut section.end,
            depth,
            |site, own, weight| {
                let row = sites.iter_mut().find(|s| s.site == site);
                if let Some(row) = row.filter(|_| !own) {
                    row.critical_work += weight;
                }
            },
        );
        self.tally.sum(section.tally);
        self.tally
            .tell(section.tally, &mut record.sites, &mut record.blocks);
        // Sorted sites take fewer bytes.
        record.sites.sort_unstable_by_key(|site| site.site);
        record.blocks.sort_unstable();
        let scopes = section.sum.scopes.saturating_sub(opened);
        let bytes = to.at - from.at;
        self.encoded.clear();
        record.encode(&mut self.encoded);
        let all = &mut self.instead;
        all.clear();
        head(all, Kind::Folded as u8, to.last.saturating_sub(from.last));
        push_varint(all, self.encoded.len() as u64);
        all.extend_from_slice(&self.encoded);
        extended_head(all, Kind::Skip, 0);
        push_varint(all, section.sum.tasks);
        push_varint(all, scopes);
        if ended {
            head(all, Kind::End as u8, 0);
        }
        let tasks = if self.saves_tasks {
            section.sum.tasks
        } else {
            0
        };
        if all.len() as u64 >= bytes.saturating_add(tasks.saturating_mul(BYTES_PER_SAVED_TASK)) {
            section.retry = bytes + all.len() as u64;
            return;
        }
        self.out.replace(from, to, all);
        self.folded += 1;
    }
}
