//! The table of all recordings, with one row per program.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::Case;
use crate::run::Outcome;

/// The recordings of one program on one number of threads.
#[derive(Default)]
struct Cell {
    right: usize,
    all: usize,
    work_off: f64,
    span_off: f64,
}

/// Cells by program and number of threads.
#[derive(Default)]
pub struct Table {
    cells: BTreeMap<String, BTreeMap<usize, Cell>>,
}

impl Table {
    /// An empty table.
    pub fn new() -> Table {
        Table::default()
    }

    /// Adds one recording.
    pub fn add(&mut self, case: &Case, outcome: &Outcome) {
        let row = self.cells.entry(case.program.name.clone()).or_default();
        let cell = row.entry(case.threads).or_default();
        cell.all += 1;
        cell.right += usize::from(outcome.wrong.is_empty());
        let further = |most: &mut f64, off: Option<f64>| {
            if let Some(off) = off.filter(|off| off.abs() > most.abs()) {
                *most = off;
            }
        };
        further(&mut cell.work_off, outcome.work_off);
        further(&mut cell.span_off, outcome.span_off);
    }

    fn sum(&self, of: impl Fn(&Cell) -> usize) -> usize {
        self.cells.values().flat_map(BTreeMap::values).map(of).sum()
    }

    /// Number of recordings in which everything was right.
    pub fn right(&self) -> usize {
        self.sum(|cell| cell.right)
    }

    /// Number of recordings.
    pub fn all(&self) -> usize {
        self.sum(|cell| cell.all)
    }

    /// Number of programs.
    pub fn programs(&self) -> usize {
        self.cells.len()
    }
}

impl fmt::Display for Table {
    /// `right/all`, and the largest errors of work and span.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let threads: BTreeSet<usize> = self
            .cells
            .values()
            .flat_map(|row| row.keys().copied())
            .collect();
        write!(f, "{:28}", "right, work, span")?;
        for number in &threads {
            write!(f, "{:>26}", format!("{number} threads"))?;
        }
        writeln!(f)?;
        for (name, row) in &self.cells {
            write!(f, "{name:28}")?;
            for number in &threads {
                let text = row.get(number).map_or(String::new(), |cell| {
                    let Cell {
                        right,
                        all,
                        work_off,
                        span_off,
                    } = cell;
                    format!(
                        "{right}/{all} {:+.1}% {:+.1}%",
                        work_off * 100.0,
                        span_off * 100.0
                    )
                });
                write!(f, "{text:>26}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
