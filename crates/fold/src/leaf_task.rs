//! Tasks that end with their first strand, as half of a recursion's tasks do. They need no place on
//! the stack and no section of their own: if the end is the next record, such a task is added to
//! the section of the task below at once.

use crate::Fold;
use crate::nested_record::NestedRecord;
use crate::path::End;
use crate::section::{Heaviest, SectionSums, SiteSum, Waits};
use workspan_trace::event::{Event, Events};
use workspan_trace::wire::TaskRef;

impl Fold {
    /// The named task begins with a record at offset `at` that has not been written yet. Takes that
    /// record and the task's end, if the end is the next record and nothing happens in between, and
    /// returns the time of the end. Otherwise changes nothing.
    #[inline]
    pub(crate) fn whole_leaf(
        &mut self,
        (thread, seq): TaskRef,
        (before, began): (u64, u64),
        events: &mut Events<'_>,
        at: usize,
    ) -> Option<u64> {
        let mut ahead = events.clone();
        let Some((t, Event::End)) = ahead.next_of_join() else {
            return None;
        };
        let waits = self.frames.last()?.waits;
        let follows = matches!(waits, Waits::Children | Waits::Group(_));
        let sections =
            !self.over && self.cuts.off == 0 && matches!(self.inner, NestedRecord::Nothing);
        if thread != self.thread || !follows || !sections || !self.nothing_happens(t) {
            return None;
        }
        let child = self.find_child(seq)?;
        self.waits_no_more();
        self.members.begin_member(seq);
        let (begins, ends) = (at..events.offset(), events.offset()..ahead.offset());
        self.out.copy(before, began, begins);
        self.out.copy(began, t, ends);
        *events = ahead;
        if self.leaf_ended(child, began, t).is_none() {
            self.give_up();
        }
        Some(t)
    }

    /// Adds this child of the section on top, which only ran, to the section. Returns `None` if
    /// that is not possible.
    #[inline]
    fn leaf_ended(&mut self, child: u32, began: u64, t: u64) -> Option<()> {
        let (weight, probes) = self.weigh(began, t);
        let depth = self.frames.len() as u32;
        let child = self.children.get_mut(child as usize)?;
        (child.begun, child.ended) = (true, true);
        child.envelope.add(weight, 0);
        let site = child.site;
        self.tally.strand(site.saturating_add(1), 0, weight);
        let outer = self.sections.last_mut()?;
        if outer.groups > child.group {
            return None;
        }
        let sum = SectionSums {
            work: weight,
            probes,
            strands: 1,
            ..SectionSums::default()
        };
        let ready = began.saturating_sub(child.created);
        outer.sum.add_task(&sum, child.deferred, ready);
        self.tally.task(site, weight);
        let through = child.through.saturating_add(weight);
        let path = Heaviest {
            weight: through,
            end: End {
                node: child.end.node,
                weight,
            },
            seq: child.seq,
            site,
            depth,
        };
        let group = self.groups.get_mut(child.group as usize)?;
        group.ended(path, &child.envelope, t)?;
        let task = SiteSum {
            site,
            work: weight,
            span: through.saturating_sub(child.through),
        };
        let (sites, own) = (outer.sites as usize, outer.children as usize);
        self.add_site(sites..self.sites.len(), self.sites.len(), task);
        self.forget_ended(own);
        Some(())
    }
}
