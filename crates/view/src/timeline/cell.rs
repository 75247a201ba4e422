//! The activity of a row in a bin.

use workspan_dag::{Dag, NONE, StrandId};

use crate::run::rows::NO_ROW;
use crate::run::sites::NO_SITE;

/// Stands for no code.
const NO_CODE: u16 = NO_ROW;

/// The activity of a row in a bin, in ticks. The values are exact: two adjacent bins add up to the
/// bin that covers both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    /// Time inside strands, on or off the CPU.
    pub inside: u64,
    pub descheduled: u64,
    pub blocked: u64,
    /// Time inside strands of the critical path, and of the ready path.
    pub critical: u64,
    pub ready_path: u64,
    /// Time in which the row's worker was free: delay, no-work of the scheduler, no-work of the
    /// program, and time of unknown kind, as records are missing.
    pub free: [u64; 4],
    /// Number of strands that touch the bin, including those without length.
    pub strands: u32,
    /// Number of tasks created in the bin.
    pub creates: u32,
    /// The ticks of the strand that runs longest in the bin (the earlier one of a tie), and the
    /// strand.
    pub longest: (u64, StrandId),
    /// First and last strand that takes time in the bin.
    pub first: StrandId,
    pub last: StrandId,
    /// Ticks of each [`kind`] of strand.
    pub kinds: Vec<(u32, u64)>,
}

impl Default for Cell {
    fn default() -> Cell {
        Cell {
            inside: 0,
            descheduled: 0,
            blocked: 0,
            critical: 0,
            ready_path: 0,
            free: [0; 4],
            strands: 0,
            creates: 0,
            longest: (0, NONE),
            first: NONE,
            last: NONE,
            kinds: Vec::new(),
        }
    }
}

/// The kind of a strand. Strands of the same code in tasks of the same site have the same kind and
/// are drawn alike.
pub(super) fn kind(code: u16, site: u16) -> u32 {
    u32::from(code) << 16 | u32::from(site)
}

impl Cell {
    /// Adds `ticks` of strand `s` to the bin.
    pub(super) fn meet(&mut self, s: StrandId, ticks: u64) {
        let (most, longest) = self.longest;
        if longest == NONE || (ticks, longest) > (most, s) {
            self.longest = (ticks, s);
        }
    }

    /// Adds `ticks` of a kind.
    pub(super) fn add_kind(&mut self, kind: u32, ticks: u64) {
        match self.kinds.iter_mut().find(|k| k.0 == kind) {
            Some(known) => known.1 += ticks,
            None => self.kinds.push((kind, ticks)),
        }
    }

    /// Joins this bin and the next one to one bin, which covers [`begin`, `end`).
    pub(super) fn join(mut self, next: Cell, dag: &Dag, (begin, end): (u64, u64)) -> Cell {
        let over = self.last != NONE && self.last == next.first;
        let inside = |s: StrandId| {
            let (from, to) = (dag.strands.start[s as usize], dag.strands.end[s as usize]);
            to.min(end).saturating_sub(from.max(begin))
        };
        let crossing = if over { self.last } else { NONE };
        let candidates = [self.longest.1, next.longest.1, crossing];
        self.longest = (0, NONE);
        for s in candidates {
            if s != NONE && s != self.longest.1 {
                self.meet(s, inside(s));
            }
        }
        self.inside += next.inside;
        self.descheduled += next.descheduled;
        self.blocked += next.blocked;
        self.critical += next.critical;
        self.ready_path += next.ready_path;
        for (sum, ticks) in self.free.iter_mut().zip(next.free) {
            *sum += ticks;
        }
        self.strands = self
            .strands
            .saturating_add(next.strands)
            .saturating_sub(u32::from(over));
        self.creates = self.creates.saturating_add(next.creates);
        if self.first == NONE {
            self.first = next.first;
        }
        if next.last != NONE {
            self.last = next.last;
        }
        if self.kinds.is_empty() {
            self.kinds = next.kinds;
        } else {
            for (kind, ticks) in next.kinds {
                self.add_kind(kind, ticks);
            }
        }
        self
    }

    /// The cell as it is drawn, for a bin of `width` ticks.
    pub(super) fn seen(&self, dag: &Dag, width: u64) -> CellBytes {
        let most = self
            .kinds
            .iter()
            .max_by_key(|k| (k.1, std::cmp::Reverse(k.0)));
        let (code, site) = most.map_or((NO_CODE, NO_SITE), |k| ((k.0 >> 16) as u16, k.0 as u16));
        let strand = self.longest.1;
        let level = match dag.strands.task.get(strand as usize) {
            Some(&task) => dag.tasks.level[task as usize],
            None => 0,
        };
        let working = self
            .inside
            .saturating_sub(self.descheduled)
            .saturating_sub(self.blocked);
        CellBytes {
            shares: [
                working,
                self.descheduled,
                self.blocked,
                self.critical,
                self.ready_path,
                self.free[0],
                self.free[1],
                self.free[2],
                self.free[3],
            ]
            .map(|ticks| share(ticks, width)),
            strands: narrow(self.strands),
            creates: narrow(self.creates),
            code,
            site,
            level: narrow(level),
            strand,
        }
    }
}

/// A cell in 24 bytes, in the form of the planes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CellBytes {
    /// Shares of work, descheduled, blocked, critical path, ready path, delay, no-work of the
    /// scheduler, no-work of the program, and not read; 255 is the whole bin.
    pub shares: [u8; 9],
    pub strands: u16,
    pub creates: u16,
    pub code: u16,
    pub site: u16,
    pub level: u16,
    pub strand: StrandId,
}

/// A share of a bin in 255ths: 0 only for no ticks at all, 255 only for the whole bin.
pub(crate) fn share(ticks: u64, width: u64) -> u8 {
    if ticks == 0 {
        return 0;
    }
    if ticks >= width {
        return 255;
    }
    let part = (u128::from(ticks) * 255 + u128::from(width) / 2) / u128::from(width);
    part.clamp(1, 254) as u8
}

pub(crate) fn narrow(n: u32) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}
