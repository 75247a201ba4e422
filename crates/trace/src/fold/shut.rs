//! Makes a section one folded record.

use super::Fold;
use super::output::{Mark, extended_head, head};
use crate::entry::push_varint;
use crate::folded::FoldedSite;
use crate::wire::Kind;

/// While the task below may still be folded itself, its inside is only where that saves so many bytes: most such records
/// would be written for nothing.
const WORTHWHILE: u64 = 384;

impl Fold {
    /// The open strand of the task on top has just ended at `t`, and the record that says so was not yet put out: folds the section
    /// where that can be and saves room. `ends`: with the task.
    pub(super) fn shut(&mut self, t: u64, ends: bool) {
        let lives = self.sections.len();
        let Some(section) = self.sections.last().filter(|s| s.tasks > 0) else {
            return self.opened_no_more();
        };
        let (opened, grain) = (section.opened, self.options.grain);
        let retry = section.retry;
        let length = section.length(t);
        let ran = section.work.saturating_add(section.probes);
        let gaps = length.saturating_sub(ran).saturating_mul(self.gaps);
        let from = section.mark;
        let to = opened.map_or(self.out.mark(), |o| o.0);
        let bytes = to.at - from.at;
        // The longer it is, the less likely there is time left for what is around it.
        let last = if ends {
            lives == 1 || length >= grain / 8
        } else {
            lives == 1 && length >= grain / 2
        };
        let worthwhile = bytes >= retry && (last || bytes >= WORTHWHILE) && gaps <= length;
        if (worthwhile || last) && (self.all_joined() || self.all_joined_before()) {
            if worthwhile {
                self.write(from, to, opened.map_or(0, |o| o.1), false);
            }
            if last && !ends {
                self.give_up();
            }
        }
        self.opened_no_more();
    }

    /// The task on top lingered, and all that it created into its scope has ended: as [`Fold::shut`], for a task whose end was put out.
    pub(super) fn shut_ended(&mut self, t: u64) {
        let lives = self.sections.len();
        let Some(section) = self.sections.last() else {
            return;
        };
        let length = section.length(t);
        let ran = section.work.saturating_add(section.probes);
        let gaps = length.saturating_sub(ran).saturating_mul(self.gaps);
        let (from, to) = (section.mark, self.out.mark());
        let bytes = to.at - from.at;
        let last = lives == 1 || length >= self.options.grain / 8;
        if bytes >= section.retry && (last || bytes >= WORTHWHILE) && gaps <= length {
            self.write(from, to, 0, true);
        }
    }

    fn opened_no_more(&mut self) {
        if let Some(section) = self.sections.last_mut() {
            section.opened = None;
        }
    }

    /// `ended`: among the records is the one of the task's end, which comes after the folded one then.
    fn write(&mut self, from: Mark, to: Mark, opened: u64, ended: bool) {
        let depth = self.frames.len().saturating_sub(1) as u32;
        let Some(section) = self.sections.last_mut() else {
            return;
        };
        let record = &mut self.record;
        (record.work, record.span) = (section.work, section.through - section.entry);
        (record.tasks, record.spawns) = (section.tasks, section.spawns);
        (record.syncs, record.strands) = (section.syncs, section.strands);
        (record.levels, record.ready_integral) = (section.levels, section.ready);
        record.probes = section.probes;
        record.source = self.says_sources.then_some(section.source);
        record.envelope.clear();
        record
            .envelope
            .extend_from_slice(section.envelope.corners());
        record.sites.clear();
        for sum in self.sites.get(section.sites as usize..).unwrap_or(&[]) {
            record.sites.push(FoldedSite {
                site: sum.site,
                work: sum.work,
                span: sum.span,
                ..FoldedSite::default()
            });
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
        let scopes = section.scopes - opened;
        let bytes = to.at - from.at;
        self.encoded.clear();
        record.encode(&mut self.encoded);
        let mut all = Vec::with_capacity(self.encoded.len() + 32);
        head(&mut all, Kind::Folded as u8, to.last - from.last);
        push_varint(&mut all, self.encoded.len() as u64);
        all.extend_from_slice(&self.encoded);
        extended_head(&mut all, Kind::Skip, 0);
        push_varint(&mut all, section.tasks);
        push_varint(&mut all, scopes);
        if ended {
            head(&mut all, Kind::End as u8, 0);
        }
        if all.len() as u64 >= bytes {
            section.retry = bytes + all.len() as u64;
            return;
        }
        self.out.replace(from, to, &all);
        self.folded += 1;
    }
}
