//! Children of joins that do next to nothing, taken in as a whole.
//!
//! More than half of a recursion's tasks end with their first strand, and half of the rest only
//! join two such tasks. These need no place on the stack and no section of their own. A join's
//! child is remembered until the records after its beginning are read. If they are those of such a
//! task, it is added to the section of the joining task at once.

use crate::envelope::Envelope;
use crate::path::End;
use crate::section::{Frame, Heaviest, Section, SectionSums, SiteSum, TaskLink};
use crate::{Fold, StealKind};
use workspan_trace::event::{Event, Events};

/// A join's child that has begun, before any other record of it was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewChild {
    /// The task's create count.
    pub seq: u64,
    pub site: u32,
    pub deferred: bool,
    pub start: u64,
}

/// What such a child did from beginning to end.
struct LeafChild {
    sum: SectionSums,
    /// Work of its own strands.
    own: u64,
    span: u64,
    end: End,
    envelope: Envelope,
}

/// Times of the records of a child that joins two tasks, each of which ends with its first strand.
struct ParentOfTwoLeaves {
    site: u32,
    joins: u64,
    first_ends: u64,
    goes_on: u64,
    ends: u64,
}

impl Fold {
    /// Puts the child on the stack like any other task.
    pub(crate) fn push_fresh(&mut self, fresh: NewChild) {
        let frame = Frame {
            site: Some(fresh.site),
            from: fresh.site.saturating_add(1),
            via: TaskLink::Join {
                deferred: fresh.deferred,
            },
            ..Frame::new(fresh.seq, fresh.start)
        };
        let base = self.sections.last().map(|s| (s.through, s.end.node));
        self.push(frame, base);
    }

    /// Takes the records up to the child's end, if the child does next to nothing and nothing else
    /// happens meanwhile. Returns the time of the last record. `(at, before)` are the offset and
    /// the time of the record before; `fed` is the number of bytes fed before this piece.
    #[inline]
    pub(crate) fn small(
        &mut self,
        fresh: NewChild,
        events: &mut Events<'_>,
        (at, before): (usize, u64),
        fed: u64,
    ) -> Option<u64> {
        let mut ahead = events.clone();
        let (t, event) = ahead.next_of_join()?;
        let (t, last, twig) = match event {
            Event::Join { site } => {
                let (twig, last) = ParentOfTwoLeaves::read(site, t, &mut ahead)?;
                (twig.ends, last, Some(twig))
            }
            _ => (t, event, None),
        };
        let resumes = match last {
            Event::End => false,
            Event::EndResume => true,
            _ => return None,
        };
        if !self.nothing_happens(t) {
            return None;
        }
        let small = match twig {
            // A long one may become a record of its own.
            Some(_) if t.saturating_sub(fresh.start) >= self.options.grain / 8 => return None,
            Some(twig) if self.is_kept(self.site(twig.site)) => return None,
            Some(twig) => self.twig(&fresh, &twig)?,
            None => self.leaf(&fresh, t)?,
        };
        *events = ahead;
        self.fed = fed + events.offset() as u64;
        self.out.copy(before, t, at..events.offset());
        if self.ended(&fresh, small, t).is_none() {
            self.give_up();
        }
        if resumes {
            self.resume(t);
        }
        Some(t)
    }

    /// Whether no section reaches the grain before `t`, and no pause or cut comes before `t`.
    #[inline]
    pub(crate) fn nothing_happens(&self, t: u64) -> bool {
        let young = |oldest: &Section| oldest.length(t) < self.grain_of(oldest);
        self.pause == 0
            && t < self.cuts.next
            && t < self.off_gaps.next()
            && self.members.lingering == 0
            && self.sections.first().is_some_and(young)
    }

    /// The weight of a strand, and the probe time taken out of it.
    #[inline]
    pub(crate) fn weigh(&self, from: u64, to: u64) -> (u64, u64) {
        let length = to.saturating_sub(from);
        let probes = self.probes.min(length);
        (length - probes, probes)
    }

    /// Handles a child that only ran and ended at `t`.
    #[inline]
    fn leaf(&mut self, fresh: &NewChild, t: u64) -> Option<LeafChild> {
        let (weight, probes) = self.weigh(fresh.start, t);
        self.tally.strand(fresh.site.saturating_add(1), 0, weight);
        Some(LeafChild {
            sum: SectionSums {
                work: weight,
                probes,
                strands: 1,
                ..SectionSums::default()
            },
            own: weight,
            span: weight,
            end: End {
                node: self.sections.last()?.end.node,
                weight,
            },
            envelope: Envelope::path(weight, 0),
        })
    }

    /// Handles a child that joined two tasks that only ran.
    fn twig(&mut self, fresh: &NewChild, twig: &ParentOfTwoLeaves) -> Option<LeafChild> {
        let site = self.site(twig.site);
        let outer = self.sections.last()?;
        let (outer_sites, node) = (outer.sites as usize, outer.end.node);
        let (before, probes) = self.weigh(fresh.start, twig.joins);
        let (first, first_probes) = self.weigh(twig.joins, twig.first_ends);
        let (second, second_probes) = self.weigh(twig.first_ends, twig.goes_on);
        let (after, after_probes) = self.weigh(twig.goes_on, twig.ends);
        let children = self.options.thieves == StealKind::TakeChildren;
        let mut envelope = Envelope::path(first, u32::from(!children));
        envelope.or(&Envelope::path(second, u32::from(children)))?;
        self.tasks += 2;
        let (from, to) = (fresh.site.saturating_add(1), site.saturating_add(1));
        self.tally.strand(from, to, before);
        self.tally.strand(to, 0, first);
        self.tally.strand(to, 0, second);
        self.tally
            .strand(crate::stack::resumed_place(fresh.site, to), 0, after);
        self.tally.task(site, first);
        self.tally.task(site, second);
        let both = first.saturating_add(second);
        if site != fresh.site {
            let sum = SiteSum {
                site,
                work: both,
                span: both,
            };
            self.add_site(outer_sites..self.sites.len(), self.sites.len(), sum);
        }
        let depth = self.frames.len() as u32;
        let mut end = End {
            node,
            weight: before,
        };
        self.paths.close(&mut end, fresh.site, depth);
        let heavier = first.max(second);
        end.weight = heavier;
        self.paths.close(&mut end, site, depth + 1);
        end.weight = after;
        let own = before.saturating_add(after);
        envelope.add(own, 0);
        Some(LeafChild {
            sum: SectionSums {
                work: own.saturating_add(both),
                probes: probes + first_probes + second_probes + after_probes,
                tasks: 2,
                spawns: 1,
                syncs: 1,
                strands: 4,
                scopes: 0,
                levels: 1,
                ready: twig.first_ends.saturating_sub(twig.joins),
            },
            own,
            span: own.saturating_add(heavier),
            end,
            envelope,
        })
    }

    /// The child ended at `t` and becomes part of the section on top. Returns `None` if that is not
    /// possible.
    #[inline]
    fn ended(&mut self, fresh: &NewChild, mut small: LeafChild, t: u64) -> Option<()> {
        let &NewChild { seq, site, .. } = fresh;
        let created = self.frames.last()?.start;
        let depth = self.frames.len() as u32;
        let outer = self.sections.last_mut()?;
        let at = self.groups.end().checked_sub(1)?;
        if outer.groups as usize > at {
            return None;
        }
        let ready = fresh.start.saturating_sub(created);
        outer.sum.add_task(&small.sum, fresh.deferred, ready);
        self.tally.task(site, small.own);
        if fresh.deferred == (self.options.thieves == StealKind::TakeChildren) {
            small.envelope.add(0, 1);
        }
        let path = Heaviest {
            weight: outer.through.saturating_add(small.span),
            end: small.end,
            seq,
            site,
            depth,
        };
        let outer_sites = outer.sites as usize;
        self.groups.get_mut(at)?.ended(path, &small.envelope, t)?;
        let task = SiteSum {
            site,
            work: small.sum.work,
            span: small.span,
        };
        self.add_site(outer_sites..self.sites.len(), self.sites.len(), task);
        Some(())
    }
}

impl ParentOfTwoLeaves {
    /// Reads the rest of the child's records after its join. Returns their times and the last
    /// record.
    #[inline]
    fn read<'a>(
        site: u32,
        joins: u64,
        ahead: &mut Events<'a>,
    ) -> Option<(ParentOfTwoLeaves, Event<'a>)> {
        let (first_ends, Event::End) = ahead.next_of_join()? else {
            return None;
        };
        let (_, Event::Next) = ahead.next_of_join()? else {
            return None;
        };
        let (goes_on, Event::EndResume) = ahead.next_of_join()? else {
            return None;
        };
        let (ends, last) = ahead.next_of_join()?;
        let twig = ParentOfTwoLeaves {
            site,
            joins,
            first_ends,
            goes_on,
            ends,
        };
        Some((twig, last))
    }
}
