//! What a steal costs in the runtimes that a program used: measured with the very library it had loaded, in a process of its
//! own, which may do what it likes, and kept by file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use workspan_calibrate::{Calibration, Steals, steals_of};

use super::calibration;

/// The name under which this program measures the library in its first argument.
pub const ROLE: &str = "workspan-steals";

/// Measuring takes a second at most; a runtime that can't be measured may hang.
const PATIENCE: Duration = Duration::from_secs(10);

/// How the `runtime` notes of traces begin, and what the runtime's file is called.
const FILES: [(&str, &[&str]); 4] = [
    ("GNU OpenMP", &["libgomp"]),
    ("LLVM OpenMP", LLVM),
    ("Intel OpenMP", LLVM),
    ("oneTBB", &["libtbb.so", "libtbb-"]),
];
/// Packages add versions and hashes to them; `libompd` and `libomptarget` are others.
const LLVM: &[&str] = &["libomp.so", "libomp5", "libomp-", "libiomp5"];

/// Settings of the runtimes, which are not the next run's.
const SETTINGS: [&str; 6] = ["OMP_", "GOMP_", "KMP_", "LIBOMP_", "TBB_", "LD_PRELOAD"];

/// Plays the role: prints what was measured as JSON.
pub fn main(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let measured = match arguments.nth(1) {
        Some(library) => steals_of(Path::new(&library)),
        None => Err("no library named".into()),
    };
    match serde_json::to_string(&measured) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    }
}

/// Measures the runtime in this file, or, by its bare name, in the one that the loader finds.
///
/// # Errors
/// Why nothing was measured.
pub fn measure(library: &Path) -> Result<Steals, String> {
    let here = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(here);
    command.arg0(ROLE).arg(library);
    for (name, _) in std::env::vars_os() {
        let settings = name
            .to_str()
            .is_some_and(|name| SETTINGS.iter().any(|start| name.starts_with(start)));
        if settings {
            command.env_remove(name);
        }
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let begun = Instant::now();
    // What it prints fits a pipe.
    while child.try_wait().is_ok_and(|ended| ended.is_none()) {
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return Err("it took too long".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut text = String::new();
    if let Some(mut out) = child.stdout.take() {
        let _ = out.read_to_string(&mut text);
    }
    serde_json::from_str(&text).unwrap_or_else(|_| Err("the measurement failed".into()))
}

/// The burden of a trace: the costliest steal of the runtimes in it, in nanoseconds, and a sentence's part on how that is known. `runtimes`
/// are the values of its notes, `libraries` the files that were loaded. None when none of them could be measured.
pub fn burden<'a>(
    folder: &Path,
    calibration: &Calibration,
    runtimes: &[String],
    libraries: impl Iterator<Item = &'a Path> + Clone,
) -> Option<(f64, String)> {
    let mut costliest: Option<Steals> = None;
    for runtime in runtimes {
        let known = calibration
            .steals
            .iter()
            .find(|steals| runtime.starts_with(&steals.runtime));
        let steals = match known {
            Some(steals) => Some(steals.clone()),
            None => file(runtime, libraries.clone()).and_then(|file| of(folder, &file).ok()),
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

/// The file of the runtime that a note names; one that was linked statically is measured by the shared library there may be.
fn file<'a>(runtime: &str, libraries: impl Iterator<Item = &'a Path> + Clone) -> Option<PathBuf> {
    let (_, names) = FILES.iter().find(|(start, _)| runtime.starts_with(start))?;
    let is = |file: &Path, name: &str| {
        let own = file.file_name().and_then(|file| file.to_str());
        own.is_some_and(|own| own.starts_with(name))
    };
    let loaded = names
        .iter()
        .find_map(|name| libraries.clone().find(|file| is(file, name)));
    match loaded {
        Some(file) => Some(file.to_owned()),
        None => SHARED
            .iter()
            .find(|(start, _)| runtime.starts_with(start))
            .map(|(_, name)| name.into()),
    }
}

/// The shared libraries that the loader may find, by runtime.
pub const SHARED: [(&str, &str); 3] = [
    ("GNU OpenMP", "libgomp.so.1"),
    ("LLVM OpenMP", "libomp.so.5"),
    ("oneTBB", "libtbb.so.12"),
];

/// The steals of a library: those kept in `folder`, or measured now.
fn of(folder: &Path, library: &Path) -> Result<Steals, String> {
    let kept = kept(folder);
    match name(library).and_then(|name| kept.get(&name).cloned()) {
        Some(steals) => Ok(steals),
        None => {
            let steals = measure(library)?;
            keep(folder, &steals);
            Ok(steals)
        }
    }
}

type Kept = BTreeMap<String, Steals>;

fn kept(folder: &Path) -> Kept {
    fs::read(calibration::file(folder, "steals"))
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default()
}

/// Keeps what was measured for the traces to come; whether it is kept.
pub fn keep(folder: &Path, steals: &Steals) -> bool {
    let Some(name) = steals.library.as_deref().and_then(name) else {
        return false;
    };
    let mut all = kept(folder);
    all.insert(name, steals.clone());
    let text = serde_json::to_string(&all).unwrap_or_default();
    calibration::put(folder, &calibration::file(folder, "steals"), &text)
}

/// A file as it is now, by which its measurement is kept; none for one that isn't there.
fn name(library: &Path) -> Option<String> {
    let file = fs::canonicalize(library).ok()?;
    let about = fs::metadata(&file).ok()?;
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    Some(format!(
        "{} {} {}.{:09} {cpus}",
        file.display(),
        about.len(),
        about.mtime(),
        about.mtime_nsec()
    ))
}

#[cfg(test)]
mod tests {
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
            left_out_join_ns: None,
            steals: vec![steals("Rayon", None, 500.0)],
            cpus: 2,
        };
        let loaded = [Path::new("/lib/libc.so.6"), library.as_path()];
        let of = |runtimes: &[&str]| {
            let runtimes: Vec<String> = runtimes.iter().map(|&r| r.to_owned()).collect();
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
        // A library that has changed since is measured anew, and this one is none.
        fs::write(&library, "another").expect("a file");
        assert_eq!(kept(folder.path()).len(), 1);
        assert_ne!(kept(folder.path()).keys().next(), name(&library).as_ref());
    }
}
