//! Makes a section one folded record.

use crate::Fold;
use crate::output::{Mark, extended_head, head};
use crate::section::Child;
use workspan_trace::entry::push_varint;
use workspan_trace::folded::FoldedSite;
use workspan_trace::wire::Kind;

/// While the task below may still be folded itself, its inside is only where that saves so many bytes: most such records
/// would be written for nothing.
const WORTHWHILE: u64 = 384;
/// Where tasks are to be saved ([`Fold::save_tasks`]), each one counts as so many bytes beside its records.
const TASK: u64 = 32;

impl Fold {
    /// The open strand of the task on top has just ended at `t`, and the record that says so was not yet put out: folds the section
    /// where that can be and saves room. `ends`: with the task.
    #[inline]
    pub(crate) fn shut(&mut self, t: u64, ends: bool) {
        if self.sections.last().is_some_and(|s| s.sum.tasks > 0) {
            self.shut_some(t, ends);
        }
        self.opened_no_more();
    }

    /// The same of a section with tasks in it.
    fn shut_some(&mut self, t: u64, ends: bool) {
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
        // The longer it is, the less likely there is time left for what is around it.
        let last = if ends {
            lives == 1 || length >= grain / 4
        } else {
            lives == 1 && length >= grain / 2
        };
        let worthwhile = bytes >= retry && (last || self.saves_enough(bytes, ends));
        if (worthwhile || last) && (self.all_joined() || self.all_joined_before()) {
            if worthwhile {
                self.write(from, to, length, opened.map_or(0, |o| o.1), false);
            }
            if last && !ends {
                self.give_up();
            }
        }
    }

    /// The task on top lingered, and all that it created into its scope has ended: as [`Fold::shut`], for a task whose end was put out.
    pub(crate) fn shut_ended(&mut self, t: u64) {
        let lives = self.sections.len();
        let Some(section) = self.sections.last() else {
            return;
        };
        let length = section.length(t);
        let (from, to) = (section.mark, self.out.mark());
        let bytes = to.at - from.at;
        let last = lives == 1 || length >= self.grain_of(section) / 4;
        if bytes >= section.retry && (last || self.saves_enough(bytes, true)) {
            self.write(from, to, length, 0, true);
        }
    }

    /// Folding so many bytes of the section on top is worth it though the task below may still be folded itself: not where that is likely.
    fn saves_enough(&self, bytes: u64, ends: bool) -> bool {
        bytes >= WORTHWHILE || self.saves_tasks && ends && self.others_wait()
    }

    /// The task below has created others that have not begun. A thread runs them last one first, or first one first.
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
    fn opened_no_more(&mut self) {
        if let Some(section) = self.sections.last_mut() {
            section.opened = None;
        }
    }

    /// The section took `length` ticks. `ended`: among the records is the one of the task's end, which comes after the folded one then.
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
        record.source = self.says_sources.then_some(section.source);
        record.envelope.clear();
        record
            .envelope
            .extend_from_slice(section.envelope.corners());
        let sums = self.sites.get(section.sites as usize..).unwrap_or(&[]);
        // Their lists are used again.
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
        // In order they take fewer bytes.
        record.sites.sort_unstable_by_key(|site| site.site);
        record.blocks.sort_unstable();
        let scopes = section.sum.scopes - opened;
        let bytes = to.at - from.at;
        self.encoded.clear();
        record.encode(&mut self.encoded);
        let all = &mut self.instead;
        all.clear();
        head(all, Kind::Folded as u8, to.last - from.last);
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
        if all.len() as u64 >= bytes.saturating_add(tasks.saturating_mul(TASK)) {
            section.retry = bytes + all.len() as u64;
            return;
        }
        self.out.replace(from, to, all);
        self.folded += 1;
    }
}
