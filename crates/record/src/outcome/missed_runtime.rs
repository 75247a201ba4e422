//! Explains why a program's runtime was not recorded.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use workspan_runtimes::{ALL, Library, Runtime};
use workspan_symbols::linked;

use crate::outcome::shown;
use crate::trace_file::finalize::FinalTrace;

/// Why the library was loaded but none of its tasks were recorded.
fn why_silent(library: &Library) -> &'static str {
    match library.silencing_setting {
        Some((variable, value, why))
            if std::env::var(variable).is_ok_and(|set| set.trim() == value) =>
        {
            why
        }
        _ => library.silence,
    }
}

/// Why no parallelism was seen in the program at `path`, given the recording of its process, and
/// what to do.
pub fn silence(path: &Path, recorded: &FinalTrace) -> Option<String> {
    let program = shown(path);
    if let [first, ..] = recorded.runtimes.as_slice() {
        return Some(format!(
            "{program} uses {first}, but created no task and no parallel region in this run, so there is nothing to report. \
             Does this input reach its parallel part?"
        ));
    }
    if let Some((file, runtime)) = recorded
        .libraries
        .iter()
        .find_map(|file| Some((file, Runtime::from_library(file)?)))
        && let Some(library) = &runtime.library
    {
        return Some(format!(
            "{program} loaded {} ({}), but nothing of it was recorded: {}",
            file.display(),
            runtime.name,
            why_silent(library)
        ));
    }
    let entry_points: Vec<&str> = libraries()
        .filter_map(|(_, library)| library.entry_point.to_str().ok())
        .collect();
    let inside = linked(path, &entry_points).defined;
    let (runtime, _) = libraries()
        .find(|(_, library)| {
            let entry_point = library.entry_point.to_str();
            inside.iter().any(|name| entry_point == Ok(name))
        })
        .or_else(|| in_text(path))?;
    Some(format!(
        "{program} has {} linked into itself, where its calls can't be seen: link it with the shared library (without \
         -static, -static-openmp or a .a file) to record it",
        runtime.name
    ))
}

/// The runtimes with a library.
fn libraries() -> impl Iterator<Item = (&'static Runtime, &'static Library)> {
    ALL.iter()
        .filter_map(|runtime| Some((runtime, runtime.library.as_ref()?)))
}

/// The runtime whose text is in the program, which may have no symbols.
fn in_text(path: &Path) -> Option<(&'static Runtime, &'static Library)> {
    const PIECE: usize = 1 << 20;
    let longest = libraries().map(|(_, library)| library.text.len()).max()?;
    let mut file = File::open(path).ok()?;
    let mut bytes = Vec::with_capacity(PIECE + longest);
    loop {
        // A text may extend over two pieces.
        bytes.drain(..bytes.len().saturating_sub(longest));
        let read = file.by_ref().take(PIECE as u64).read_to_end(&mut bytes);
        if read.ok()? == 0 {
            return None;
        }
        let found = libraries().find(|(_, library)| contains(&bytes, library.text));
        if found.is_some() {
            return found;
        }
    }
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|part| part == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_inside_of_a_program_without_symbols() {
        let folder = std::env::temp_dir().join(format!("workspan-inside-{}", std::process::id()));
        for (_, library) in libraries() {
            for before in [0, (1 << 20) - 5, (1 << 20) + 5] {
                let mut bytes = vec![b'x'; before];
                bytes.extend(library.text);
                std::fs::write(&folder, &bytes).expect("a file");
                let found = in_text(&folder).map(|(_, found)| found.text);
                assert_eq!(found, Some(library.text), "{before}");
            }
        }
        std::fs::write(&folder, vec![b'x'; 3 << 20]).expect("a file");
        assert_eq!(in_text(&folder), None);
        std::fs::remove_file(&folder).expect("the file");
    }
}
