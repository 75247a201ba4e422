//! Gives a source file one name if the trace has two: the absolute one in debug information, and
//! one relative to the folder it was recorded in.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use workspan_dag::Dag;

use super::recorded_in;

/// Renames files inside the run's folder, or inside one of `folders`, to the relative name that the
/// trace also has for them.
pub(crate) fn unite(dag: &mut Dag, folders: &[PathBuf]) {
    let mut roots: Vec<PathBuf> = recorded_in(dag).map(Path::to_owned).into_iter().collect();
    for folder in folders {
        roots.extend(
            [folder.canonicalize().ok(), Some(folder.clone())]
                .into_iter()
                .flatten(),
        );
    }
    let of_places = dag.places.iter().filter_map(|p| p.file.as_deref());
    let of_frames = dag.samples.frames.iter().filter_map(|f| f.file.as_deref());
    let relative: BTreeSet<String> = of_places
        .chain(of_frames)
        .filter(|file| Path::new(file).is_relative())
        .map(str::to_owned)
        .collect();
    let short = |file: &str| {
        let inside = |root: &PathBuf| Path::new(file).strip_prefix(root).ok()?.to_str();
        let mut names = roots.iter().filter_map(inside);
        names
            .find(|name| relative.contains(*name))
            .map(str::to_owned)
    };
    let places = dag.places.iter_mut().map(|p| &mut p.file);
    let frames = dag.samples.frames.iter_mut().map(|f| &mut f.file);
    for file in places.chain(frames).flatten() {
        if let Some(name) = short(file) {
            *file = name;
        }
    }
}

#[cfg(test)]
mod tests {
    use workspan_dag::Place;

    use super::*;

    #[test]
    fn a_file_of_the_run_has_one_name() {
        let mut dag = Dag::default();
        dag.meta.run.source_folder = Some("/work/project".into());
        let files = [
            "bench/a.rs",
            "/work/project/bench/a.rs",
            "/work/project/bench/b.rs",
            "/other/place/bench/a.rs",
        ];
        dag.places = files
            .iter()
            .map(|&file| Place {
                file: Some(file.to_owned()),
                ..Place::default()
            })
            .collect();
        let names = |dag: &Dag| -> Vec<String> {
            dag.places.iter().filter_map(|p| p.file.clone()).collect()
        };
        let mut elsewhere = dag.clone();
        unite(&mut dag, &[]);
        // No relative name matches b.rs, and the last file is a different one.
        assert_eq!(names(&dag), [files[0], files[0], files[2], files[3]]);
        // The files match if the user says that the sources are there.
        unite(&mut elsewhere, &[PathBuf::from("/other/place")]);
        assert_eq!(names(&elsewhere), [files[0], files[0], files[2], files[0]]);
    }
}
