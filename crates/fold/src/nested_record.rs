//! A folded strand inside a section, for example one folded while the program was recorded. It goes
//! into its section with everything that its record says. A reader can thus go on folding where a
//! recorder had to stop because of its smaller grain.

use crate::Fold;
use crate::envelope::Envelope;
use crate::section::SiteSum;
use workspan_trace::folded::FoldedRecord;

/// Larger counts and levels are damage. Sums of smaller ones do not overflow.
const MAX_COUNT: u64 = 1 << 32;
const MAX_LEVELS: u32 = 1 << 24;

/// What the open strand of the task on top stands for.
#[derive(Debug, Default)]
pub(crate) enum NestedRecord {
    /// Only itself.
    #[default]
    Nothing,
    /// This folded record. The record that gives its number of tasks and scopes, which the numbers
    /// of later ones need, has not come yet.
    Unnumbered(Box<FoldedRecord>),
    /// This folded record, with its number of tasks and scopes known.
    Whole(Box<FoldedRecord>),
}

impl Fold {
    /// Handles [`workspan_trace::wire::Kind::Folded`]. Nothing is folded around a record that
    /// contradicts itself or whose weights were corrected already.
    pub(crate) fn set_nested_record(&mut self, bytes: &[u8]) {
        if self.sections.is_empty() {
            return;
        }
        match FoldedRecord::decode(bytes).filter(is_sound) {
            Some(record) => self.inner = NestedRecord::Unnumbered(Box::new(record)),
            None => self.give_up(),
        }
    }

    /// Handles [`workspan_trace::wire::Kind::Skip`], which gives the number of tasks and scopes of
    /// the folded record before it.
    pub(crate) fn skip(&mut self, tasks: u64, scopes: u64) {
        match std::mem::take(&mut self.inner) {
            NestedRecord::Unnumbered(record) if record.tasks == tasks && scopes <= MAX_COUNT => {
                if let Some(section) = self.sections.last_mut() {
                    section.sum.scopes += scopes;
                    self.inner = NestedRecord::Whole(record);
                }
            }
            _ => self.give_up(),
        }
    }

    /// Adds the open strand, which has just ended after `length` ticks, to its section as the
    /// record it stands for. Returns `None` if that is not possible.
    pub(crate) fn continue_folded(&mut self, inner: NestedRecord, length: u64) -> Option<()> {
        let top = self.frames.last()?;
        let depth = self.frames.len() as u32 - 1;
        let own_site = top.site.unwrap_or(u32::MAX);
        let NestedRecord::Whole(mut record) = inner else {
            return None;
        };
        // The remaining time is the time in which the thread folded.
        let folding = length
            .checked_sub(record.work)?
            .checked_sub(record.between)?
            .checked_sub(record.off_cpu)?;
        let taken_out = self.leave_out_probes(&mut record);
        for site in &mut record.sites {
            site.site = self.site(site.site);
        }
        if self.probes == 0 {
            let paused = folding.saturating_add(record.off_cpu);
            for section in self.sections.since_mut(0) {
                section.paused = section.paused.saturating_add(paused);
                section.off = section.off.saturating_add(record.off_cpu);
                section.pause_off = section.pause_off.saturating_add(record.folding_off_cpu);
            }
        }
        let section = self.sections.last_mut()?;
        let sum = &mut section.sum;
        sum.work = sum.work.saturating_add(record.work);
        if self.probes > 0 {
            // Off-CPU time, too, belongs neither to its tasks nor to the runtime between them.
            let recording = taken_out.saturating_add(folding);
            let recording = recording.saturating_add(record.off_cpu);
            sum.probes = sum.probes.saturating_add(recording);
        }
        sum.tasks += record.tasks;
        sum.spawns += record.spawns;
        sum.syncs += record.syncs;
        sum.strands += record.strands;
        sum.levels = sum.levels.max(record.levels);
        sum.ready = sum.ready.saturating_add(record.ready_integral);
        // Nested sites are counted in the outermost work of both, so the difference is a lower
        // bound of the task's own work.
        let others = record.sites.iter().map(|site| site.work);
        let others = others.fold(0, u64::saturating_add);
        section.own = section
            .own
            .saturating_add(record.work.saturating_sub(others));
        section.through = section.through.saturating_add(record.span);
        section
            .envelope
            .then(&Envelope::from_paths(&record.envelope)?)?;
        let critical = record.sites.iter().map(|site| site.critical_work);
        let critical = critical.fold(0, u64::saturating_add);
        let own = record.span.saturating_sub(critical);
        section.end.weight = section.end.weight.saturating_add(own);
        self.paths.close(&mut section.end, own_site, depth);
        for site in &record.sites {
            section.end.weight = site.critical_work;
            self.paths.close(&mut section.end, site.site, depth + 1);
        }
        section.end.weight = 0;
        let known = section.sites as usize;
        for site in &record.sites {
            let sum = SiteSum {
                site: site.site,
                work: site.work,
                span: site.span,
            };
            let end = self.sites.len();
            self.add_site(known..end, end, sum);
            self.tally.tasks(site.site, &site.lengths);
        }
        for &(from, to, work) in &record.blocks {
            let [from, to] = [from, to].map(|place| match place.checked_sub(1) {
                Some(site) => self.site(site).saturating_add(1),
                None => 0,
            });
            self.tally.block(from, to, work);
        }
        Some(())
    }

    /// Takes the probes' time out of a record's weights, in proportion (MODEL.md §7). Returns the
    /// time taken out.
    fn leave_out_probes(&self, record: &mut FoldedRecord) -> u64 {
        let work = record.work;
        let probes = self.probes.saturating_mul(record.strands.max(1)).min(work);
        if probes == 0 {
            return 0;
        }
        let left = |weight: &mut u64| {
            let scaled = u128::from(*weight) * u128::from(work - probes);
            *weight = scaled.checked_div(u128::from(work)).unwrap_or(0) as u64;
        };
        left(&mut record.work);
        left(&mut record.span);
        for (weight, _) in &mut record.envelope {
            left(weight);
        }
        for site in &mut record.sites {
            left(&mut site.work);
            left(&mut site.span);
            left(&mut site.critical_work);
        }
        for (_, _, ticks) in &mut record.blocks {
            left(ticks);
        }
        work - record.work
    }
}

/// Whether a recorder may have written this record, so that sums of such records do not overflow.
fn is_sound(record: &FoldedRecord) -> bool {
    let counts = [record.tasks, record.spawns, record.syncs, record.strands];
    let site = |site: &workspan_trace::folded::FoldedSite| {
        let lengths = site
            .lengths
            .iter()
            .fold(0, |sum: u64, &n| sum.saturating_add(n));
        lengths == site.count
            && site.count <= record.tasks
            && site.site < u32::MAX - 1
            && site.lengths.len() <= 64
            && site.work <= record.work
            && site.critical_work <= record.span
    };
    (1..=MAX_COUNT).contains(&record.tasks)
        && counts.iter().all(|&count| count <= MAX_COUNT)
        && record.levels <= MAX_LEVELS
        && record.probes == 0
        && record.source.is_none()
        && record.span <= record.work
        && record.envelope.first().is_some_and(|p| p.0 == record.span)
        && record.sites.iter().all(site)
}
