//! The editor's folders and open files, and the run that is shown.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use lsp_types::{InitializeParams, Uri};
use workspan_record::trace_file::newest::newest_trace;

use crate::heat::{Heat, Lines};
use crate::lines::{PlacedLine, place};
use crate::uri;

/// The editor's folders and open files, and the run that is shown.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    folders: Vec<PathBuf>,
    /// The trace that is shown instead of the newest.
    trace: Option<PathBuf>,
    /// Texts in the editor, by path.
    open: HashMap<PathBuf, String>,
    heat: Heat,
    /// The trace's names of the files that exist on this machine.
    names: BTreeMap<PathBuf, String>,
}

impl Workspace {
    pub(crate) fn new(params: &InitializeParams, trace: Option<PathBuf>) -> Workspace {
        #[allow(deprecated, reason = "older editors have nothing else")]
        let root = params.root_uri.as_ref().and_then(uri::path);
        let folders = params.workspace_folders.iter().flatten();
        let mut folders: Vec<PathBuf> = folders
            .filter_map(|folder| uri::path(&folder.uri))
            .collect();
        if folders.is_empty() {
            folders.extend(root.or_else(|| std::env::current_dir().ok()));
        }
        Workspace {
            folders,
            trace,
            ..Workspace::default()
        }
    }

    /// The trace to show.
    pub(crate) fn selected_trace(&self) -> Option<PathBuf> {
        if let Some(trace) = &self.trace {
            return Some(trace.clone());
        }
        let newest = self.folders.iter().filter_map(|f| newest_trace(f));
        newest.max_by_key(|path| {
            std::fs::metadata(path)
                .and_then(|about| about.modified())
                .ok()
        })
    }

    /// Sets the run to show.
    pub(crate) fn show(&mut self, mut heat: Heat) {
        self.names.clear();
        let names: Vec<String> = heat.files.keys().cloned().collect();
        for name in names {
            let folders = heat.source_folder.iter().chain(&self.folders);
            let paths = folders.map(|folder| folder.join(&name));
            if let Some(path) = paths.filter_map(|path| path.canonicalize().ok()).next() {
                heat.note_text(&name, &path);
                self.names.insert(path, name);
            }
        }
        self.heat = heat;
    }

    pub(crate) fn heat(&self) -> &Heat {
        &self.heat
    }

    pub(crate) fn open(&mut self, uri: &Uri, text: String) {
        if let Some(path) = real(uri) {
            self.open.insert(path, text);
        }
    }

    pub(crate) fn close(&mut self, uri: &Uri) {
        if let Some(path) = real(uri) {
            self.open.remove(&path);
        }
    }

    /// The run's lines in the file's current text, and that text; `None` if the run has no data
    /// about it.
    pub(crate) fn placed(&self, uri: &Uri) -> Option<(String, Vec<PlacedLine<'_>>)> {
        self.placed_in(&real(uri)?)
    }

    /// Like [`Workspace::placed`], by path.
    pub(crate) fn placed_in(&self, path: &Path) -> Option<(String, Vec<PlacedLine<'_>>)> {
        let lines = self.lines(path)?;
        let on_disk = std::fs::read(path).ok();
        let on_disk = on_disk.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let text = self.open.get(path).or(on_disk.as_ref())?.clone();
        let written = std::fs::metadata(path).and_then(|about| about.modified());
        let later = match (self.heat.recorded, written) {
            (Some(recorded), Ok(written)) => written > recorded,
            // For a text trace, the time of the recording is not known.
            _ => false,
        };
        let changed = later || on_disk.as_ref() != Some(&text);
        let placed = place(lines, &text, changed);
        Some((text, placed))
    }

    fn lines(&self, path: &Path) -> Option<&Lines> {
        self.heat.files.get(self.names.get(path)?)
    }

    /// Files for which the run has data.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.names.keys().map(PathBuf::as_path)
    }

    /// The path of a file of the trace.
    pub(crate) fn path_of(&self, name: &str) -> Option<&Path> {
        let found = self.names.iter().find(|(_, known)| *known == name);
        found.map(|(path, _)| path.as_path())
    }
}

/// The path of a URI's file, without links.
fn real(uri: &Uri) -> Option<PathBuf> {
    uri::path(uri)?.canonicalize().ok()
}
