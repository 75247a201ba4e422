//! Split DWARF: the program has skeletons of its debug information, and the rest is in `.dwo` files
//! or one `.dwp` package.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::{LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::{Dwarf, DwarfPackage, DwoId, RunTimeEndian};

use crate::object_file::{Slice, Store};

/// Finds the rest of a module's debug information.
pub(crate) struct Split<'a> {
    store: &'a Store,
    package: Option<DwarfPackage<Slice<'a>>>,
    /// The folder of the module.
    folder: PathBuf,
    missing: RefCell<BTreeSet<PathBuf>>,
}

impl<'a> Split<'a> {
    /// Prepares for the module at `module`, whose debug information is in the file at `debug` (the
    /// same file, or a separate one). The package is `<file>.dwp` next to either.
    pub(crate) fn new(store: &'a Store, module: &Path, debug: &Path) -> Self {
        let package = [debug, module].iter().find_map(|file| {
            let mut path = file.as_os_str().to_owned();
            path.push(".dwp");
            let object = store.open(Path::new(&path)).ok()?;
            let section = |id: gimli::SectionId| {
                store
                    .section(&object, id.dwo_name())
                    .map_err(|_| gimli::Error::Io)
            };
            DwarfPackage::load(section, gimli::EndianSlice::new(&[], RunTimeEndian::Little)).ok()
        });
        Self {
            store,
            package,
            folder: module.parent().unwrap_or(Path::new("/")).to_owned(),
            missing: RefCell::default(),
        }
    }

    /// The result of a lookup, with everything that it requests loaded.
    pub(crate) fn complete<L>(&self, mut lookup: LookupResult<L>) -> L::Output
    where
        L: LookupContinuation<Buf = Slice<'a>>,
    {
        loop {
            match lookup {
                LookupResult::Output(output) => return output,
                LookupResult::Load { load, continuation } => {
                    lookup = continuation.resume(self.load(&load));
                }
            }
        }
    }

    /// Files that were searched for and do not exist (any more).
    pub(crate) fn missing(&self) -> Vec<PathBuf> {
        self.missing.borrow().iter().cloned().collect()
    }

    fn load(&self, load: &SplitDwarfLoad<Slice<'a>>) -> Option<Arc<Dwarf<Slice<'a>>>> {
        let packed = self
            .package
            .as_ref()
            .and_then(|package| package.find_cu(load.dwo_id, &load.parent).ok()?);
        if let Some(unit) = packed {
            return Some(Arc::new(unit));
        }
        let name = Path::new(OsStr::from_bytes(load.path.as_ref()?.slice()));
        let folder = load.comp_dir.as_ref().map_or(Path::new(""), |folder| {
            Path::new(OsStr::from_bytes(folder.slice()))
        });
        let named = folder.join(name);
        // First the path that the compiler wrote, then the module's current folder.
        let same_folder = self.folder.join(name.file_name()?);
        let found = [&named, &same_folder]
            .into_iter()
            .find_map(|path| self.file(path, load.dwo_id, &load.parent));
        if found.is_none() {
            self.missing.borrow_mut().insert(named);
        }
        found.map(Arc::new)
    }

    fn file(&self, path: &Path, id: DwoId, parent: &Dwarf<Slice<'a>>) -> Option<Dwarf<Slice<'a>>> {
        let object = self.store.open(path).ok()?;
        let mut dwarf =
            Dwarf::load(|section| self.store.section(&object, section.dwo_name())).ok()?;
        let mut units = dwarf.units();
        let unit = dwarf.unit(units.next().ok()??).ok()?;
        if unit.dwo_id != Some(id) {
            return None;
        }
        dwarf.make_dwo(parent);
        Some(dwarf)
    }
}
