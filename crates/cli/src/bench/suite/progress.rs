//! Progress of the suite, and an estimate of the remaining time from the turns up to now.

use std::collections::BTreeMap;

use super::turn::Cell;

/// Times of turns, by program and runtime.
#[derive(Default)]
pub struct Durations {
    /// Sum and number of turns, in ns, by program and runtime.
    known: BTreeMap<(&'static str, &'static str), (u64, u64)>,
}

impl Durations {
    /// Adds a turn that took `ns`.
    pub fn add(&mut self, cell: &Cell, ns: u64) {
        let key = (cell.program.name, cell.runtime.name());
        let (sum, turns) = self.known.entry(key).or_default();
        *sum += ns;
        *turns += 1;
    }

    /// Estimated time of these turns, in ns; `None` before the first turn.
    pub fn remaining(&self, cells: &[Cell]) -> Option<u64> {
        let mean = |pairs: &mut dyn Iterator<Item = &(u64, u64)>| {
            let (sum, turns) = pairs.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
            (turns > 0).then(|| sum / turns)
        };
        let overall = mean(&mut self.known.values())?;
        let expected = |cell: &Cell| {
            let (program, runtime) = (cell.program.name, cell.runtime.name());
            let own = self.known.get(&(program, runtime));
            let of_program = self.known.iter().filter(|(key, _)| key.0 == program);
            own.map(|(sum, turns)| sum / turns)
                .or_else(|| mean(&mut of_program.map(|(_, pair)| pair)))
                .unwrap_or(overall)
        };
        Some(cells.iter().map(expected).sum())
    }
}

/// A waiting time, rounded.
pub fn wait(ns: u64) -> String {
    match ns / 1_000_000_000 {
        0..90 => format!("{} s", ns / 1_000_000_000),
        seconds @ 90..5400 => format!("{} min", (seconds + 30) / 60),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::runtime::Runtime;
    use super::super::programs::PROGRAMS;
    use super::*;

    #[test]
    fn what_is_not_known_is_taken_from_what_is_most_like_it() {
        let cell = |program: usize, runtime| Cell {
            program: PROGRAMS[program],
            workers: 2,
            runtime,
            turn: 1,
        };
        let mut durations = Durations::default();
        let left = [
            cell(0, Runtime::Libgomp),
            cell(0, Runtime::Libomp),
            cell(5, Runtime::Libomp),
        ];
        assert_eq!(durations.remaining(&left), None);
        durations.add(&left[0], 10);
        durations.add(&left[0], 20);
        durations.add(&cell(3, Runtime::Libomp), 90);
        // The cell's own mean, its program's mean, and the mean of all.
        assert_eq!(durations.remaining(&left), Some(15 + 15 + 40));
        let times = [1, 89, 90, 5399, 5400].map(|s| wait(s * 1_000_000_000));
        assert_eq!(times, ["1 s", "89 s", "2 min", "90 min", "1.5 h"]);
    }
}
