//! The cost of a steal in the runtimes that a program used, measured with the library that it had
//! loaded.

use std::path::Path;

use workspan_calibrate::{Calibration, Steals};
use workspan_runtimes::Runtime;

use crate::costs::library_measurement;

/// The name under which this program measures the library in its first argument.
pub const ROLE: &str = "workspan-steals";

/// The name of the stored measurement.
const STORED_NAME: &str = "steals";

/// Measures the runtime in this file. A bare file name is looked up by the loader.
///
/// # Errors
/// The reason why nothing was measured.
pub fn measure(library: &Path) -> Result<Steals, String> {
    library_measurement::played(ROLE, library)
}

/// The burden of a trace: the cost of the most expensive steal of its runtimes, in nanoseconds, and
/// a phrase that says how it was measured. `libraries` are the files that were loaded. `None` if no
/// runtime could be measured.
pub fn burden<'a>(
    folder: &Path,
    calibration: &Calibration,
    runtimes: &[&Runtime],
    libraries: impl Iterator<Item = &'a Path> + Clone,
) -> Option<(f64, String)> {
    let mut costliest: Option<Steals> = None;
    for runtime in runtimes {
        let known = calibration
            .steals
            .iter()
            .find(|steals| steals.runtime == runtime.name);
        let steals = match known {
            Some(steals) => Some(steals.clone()),
            None => library_measurement::file(runtime, libraries.clone())
                .and_then(|file| steals_of(folder, &file).ok()),
        };
        if let Some(steals) = steals
            && costliest
                .as_ref()
                .is_none_or(|most| most.median_ns < steals.median_ns)
        {
            costliest = Some(steals);
        }
    }
    let steals = costliest?;
    let library = steals.library.as_deref().and_then(Path::file_name);
    let library = library.map_or_else(String::new, |file| format!(" ({})", file.display()));
    let source = format!(
        "{}{library}, the median of {} forced",
        steals.runtime, steals.count
    );
    Some((steals.median_ns, source))
}

/// The steals of a library: those stored in `folder`, or a new measurement.
fn steals_of(folder: &Path, library: &Path) -> Result<Steals, String> {
    match library_measurement::find(folder, STORED_NAME, library) {
        Some(steals) => Ok(steals),
        None => {
            let steals = measure(library)?;
            keep(folder, &steals);
            Ok(steals)
        }
    }
}

/// Stores the measurement for later traces. Returns whether that succeeded.
pub fn keep(folder: &Path, steals: &Steals) -> bool {
    let library = steals.library.as_deref();
    library.is_some_and(|library| {
        library_measurement::keep(folder, STORED_NAME, library, steals.clone())
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn steals(runtime: &str, library: Option<&Path>, ns: f64) -> Steals {
        Steals {
            runtime: runtime.into(),
            library: library.map(Into::into),
            median_ns: ns,
            quartiles_ns: (ns, ns),
            count: 100,
        }
    }

    #[test]
    fn the_burden_is_that_of_the_library_the_program_had_and_the_costliest() {
        let folder = tempfile::tempdir().expect("a folder");
        let library = folder.path().join("libgomp.so.1.0.0");
        fs::write(&library, "as if").expect("a file");
        assert!(keep(
            folder.path(),
            &steals("GNU OpenMP", Some(&library), 700.0)
        ));
        let calibration = Calibration {
            clock_ns: 1.0,
            records: Vec::new(),
            probe_ns: 1.0,
            join_ns: None,
            left_out_join_ns: None,
            steals: vec![steals("Rayon", None, 500.0)],
            cpus: 2,
        };
        let loaded = [Path::new("/lib/libc.so.6"), library.as_path()];
        let of = |runtimes: &[&str]| {
            let runtimes = runtimes.iter().filter_map(|&note| Runtime::from_note(note));
            let runtimes: Vec<&Runtime> = runtimes.collect();
            burden(
                folder.path(),
                &calibration,
                &runtimes,
                loaded.iter().copied(),
            )
        };
        let (ns, source) = of(&["GNU OpenMP (libgomp)"]).expect("kept");
        assert_eq!(
            (ns, source.as_str()),
            (
                700.0,
                "GNU OpenMP (libgomp.so.1.0.0), the median of 100 forced"
            )
        );
        assert_eq!(of(&["Rayon 1.13.0"]).expect("known").0, 500.0);
        assert_eq!(
            of(&["Rayon 1.13.0", "GNU OpenMP (libgomp)"])
                .expect("known")
                .0,
            700.0
        );
        assert_eq!(of(&["home-made"]), None);
    }
}
