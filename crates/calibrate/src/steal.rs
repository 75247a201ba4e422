//! The cost of a steal: the burden.

mod openmp;
mod round;
mod tbb;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use workspan_runtimes::{Id, Interface};

use self::round::{Costs, MIN_ROUNDS, Round};
use crate::library::Library;

/// The cost of a steal in a runtime: the time from the creation of a task to its start on another
/// worker that looks for work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Steals {
    /// Its name (`workspan_runtimes::Runtime::name`).
    pub runtime: String,
    /// The runtime's file; `None` for Rayon, which is compiled into programs.
    pub library: Option<PathBuf>,
    /// Median in nanoseconds.
    pub median_ns: f64,
    /// Lower and upper quartile, in nanoseconds.
    pub quartiles_ns: (f64, f64),
    /// Number of steals measured.
    pub count: u32,
}

/// Measures the runtime in this file; for a bare name (`libgomp.so.1`), in the file that the loader
/// finds. The library is loaded into the calling process and starts its threads there, so use a
/// separate process.
///
/// # Errors
/// The library can't be loaded or is not a known runtime, or there were too few steals.
pub fn steals_of(library: &Path) -> Result<Steals, String> {
    let file = library.file_name().unwrap_or_default().to_string_lossy();
    let library = Library::open(library)?;
    let found = workspan_runtimes::ALL.iter().find_map(|runtime| {
        let kind = runtime.library.as_ref()?;
        let function = library.has(kind.entry_point)?;
        Some((runtime.name, kind.interface, Library::file_of(function)))
    });
    let Some((name, interface, file)) = found else {
        return Err(format!(
            "{file} is not a runtime that can be measured; give the library of OpenMP or oneTBB"
        ));
    };
    let costs = match interface {
        Interface::Gomp => openmp::measure(&library)?,
        Interface::OneTbb => tbb::measure(&library)?,
    };
    Steals::from_costs(name, file, costs).ok_or_else(|| "hardly any steal came about".into())
}

/// Measures the linked version of Rayon. The first half of a join waits until the second has begun,
/// which only the other worker can do. That worker has just finished such a half, so it is looking
/// for work, not asleep. `None` if there were too few steals.
pub(crate) fn of_rayon() -> Option<Steals> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .ok()?;
    Steals::from_costs(Id::Rayon.runtime().name, None, pool.install(forced_steals))
}

fn forced_steals() -> Costs {
    let mut costs = Costs::default();
    while costs.go_on() {
        let round = Round::new();
        // If b was not taken in time, it runs here and does not count as a steal.
        let (stolen, ()) = rayon::join(|| round.stolen(), || round.begins());
        costs.add(stolen);
    }
    costs
}

impl Steals {
    fn from_costs(runtime: &str, library: Option<PathBuf>, costs: Costs) -> Option<Steals> {
        let mut ns = costs.ns;
        if ns.len() < MIN_ROUNDS {
            return None;
        }
        ns.sort_unstable();
        let at = |part: usize| ns[ns.len() * part / 4] as f64;
        Some(Steals {
            runtime: runtime.into(),
            library,
            median_ns: at(2),
            quartiles_ns: (at(1), at(3)),
            count: ns.len() as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_calibration_is_of_plausible_size() {
        let c = crate::calibrate();
        assert!(c.clock_ns > 0.1 && c.clock_ns < 1e5, "{c:?}");
        assert!(
            c.records.iter().all(|r| r.ns.is_finite() && r.ns > 0.0),
            "{c:?}"
        );
        assert!(c.probe_ns > 0.0 && c.probe_ns < 1e5, "{c:?}");
        for steal in &c.steals {
            assert!(steal.median_ns > 1.0 && steal.median_ns < 1e9, "{c:?}");
        }
    }
}
