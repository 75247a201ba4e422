//! What is known of every strand, in little memory: most strands are short and were never off the CPU.

use workspan_analysis::StrandFacts;
use workspan_dag::{EdgeKind, StrandId};

/// Columns over the strands of a run, in ticks.
#[derive(Debug)]
pub struct Facts {
    weight: Column,
    descheduled: Column,
    blocked: Column,
    recording: Column,
    critical: Vec<u64>,
    ready: Vec<(StrandId, u64, EdgeKind)>,
}

impl Facts {
    /// Takes them over.
    pub fn new(all: StrandFacts) -> Facts {
        let mut critical = vec![0u64; all.critical.len().div_ceil(64)];
        for (s, _) in all.critical.iter().enumerate().filter(|c| *c.1) {
            critical[s / 64] |= 1 << (s % 64);
        }
        Facts {
            weight: Column::new(all.weight),
            descheduled: Column::new(all.descheduled),
            blocked: Column::new(all.blocked),
            recording: Column::new(all.recording),
            critical,
            ready: all.ready,
        }
    }

    /// Weight (MODEL.md §2) of strand `s`.
    pub fn weight(&self, s: StrandId) -> u64 {
        self.weight.get(s)
    }

    /// Ticks preempted inside strand `s`.
    pub fn descheduled(&self, s: StrandId) -> u64 {
        self.descheduled.get(s)
    }

    /// Ticks blocked inside strand `s`.
    pub fn blocked(&self, s: StrandId) -> u64 {
        self.blocked.get(s)
    }

    /// What the weight of strand `s` leaves out for probes.
    pub fn recording(&self, s: StrandId) -> u64 {
        self.recording.get(s)
    }

    /// Strand `s` lies on the critical path (MODEL.md §3).
    pub fn critical(&self, s: StrandId) -> bool {
        let word = self.critical.get(s as usize / 64);
        word.is_some_and(|word| word >> (s % 64) & 1 == 1)
    }

    /// When strand `s` was ready (absolute) and by which edge; `None` when it started the moment it was.
    pub fn ready(&self, s: StrandId) -> Option<(u64, EdgeKind)> {
        let i = self.ready.binary_search_by_key(&s, |r| r.0).ok()?;
        Some((self.ready[i].1, self.ready[i].2))
    }

    /// All strands that stood ready for some time, ascending: (strand, when ready, by which edge).
    pub fn all_ready(&self) -> &[(StrandId, u64, EdgeKind)] {
        &self.ready
    }
}

/// A number a strand.
#[derive(Debug)]
enum Column {
    /// Those that are not 0, ascending by strand.
    Few(Vec<(StrandId, u64)>),
    /// All of them; where 32 bits do not hold one, `u32::MAX` stands for it, and it is among the large ones.
    All {
        small: Vec<u32>,
        large: Vec<(StrandId, u64)>,
    },
}

/// A sparse column is the smaller one when at most one in so many has a value.
const SPARSE: usize = 4;

impl Column {
    fn new(values: Vec<u64>) -> Column {
        let some = values.iter().filter(|v| **v > 0).count();
        let wanted = |least: u64| {
            let all = (0..).zip(values.iter().copied());
            all.filter(move |v| v.1 >= least).collect()
        };
        if some <= values.len() / SPARSE {
            return Column::Few(wanted(1));
        }
        let small = |v: &u64| u32::try_from(*v).unwrap_or(u32::MAX);
        Column::All {
            large: wanted(u64::from(u32::MAX)),
            small: values.iter().map(small).collect(),
        }
    }

    fn get(&self, s: StrandId) -> u64 {
        let find = |list: &[(StrandId, u64)]| {
            let found = list.binary_search_by_key(&s, |v| v.0);
            found.map_or(0, |i| list[i].1)
        };
        match self {
            Column::Few(few) => find(few),
            Column::All { small, large } => match small[s as usize] {
                u32::MAX => find(large),
                value => value.into(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_hold_what_they_were_given() {
        let big = u64::from(u32::MAX);
        for values in [
            vec![1, 2, big - 1, big, big + 1, u64::MAX, 0, 3],
            vec![0, 0, 0, 0, 0, 0, u64::MAX, 0],
            vec![0; 5],
            vec![],
        ] {
            let column = Column::new(values.clone());
            let got: Vec<u64> = (0..values.len() as u32).map(|s| column.get(s)).collect();
            assert_eq!(got, values);
        }
    }
}
