//! The folders that an agent may access. Every path of a request goes through [`Folders`].

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};
use workspan_record::trace_file::newest::newest_trace;

/// The allowed folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    roots: Vec<Root>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Root {
    /// The path as the user wrote it, made absolute.
    given: PathBuf,
    /// The path without symbolic links.
    real: PathBuf,
}

impl Folders {
    /// # Errors
    /// A path is not a folder.
    pub fn new(given: &[PathBuf]) -> anyhow::Result<Folders> {
        let root = |folder: &PathBuf| {
            let name = || format!("{}: no folder to allow", folder.display());
            let real = folder.canonicalize().with_context(name)?;
            if !real.is_dir() {
                bail!(name());
            }
            let given = std::path::absolute(folder).with_context(name)?;
            Ok(Root { given, real })
        };
        let roots = given
            .iter()
            .map(root)
            .collect::<anyhow::Result<Vec<Root>>>()?;
        if roots.is_empty() {
            bail!("no folder is allowed");
        }
        Ok(Folders { roots })
    }

    /// The first folder, in which programs run.
    pub fn first(&self) -> &Path {
        &self.roots[0].real
    }

    /// The path of an existing file, without symbolic links.
    ///
    /// # Errors
    /// The file is outside of the allowed folders, possibly through `..` or a link, or is not a
    /// regular file. The error does not say whether a file outside exists.
    pub fn file(&self, name: &str) -> anyhow::Result<PathBuf> {
        let found = self.existing(name)?;
        if !fs::metadata(&found)?.is_file() {
            bail!("{name}: no plain file");
        }
        Ok(found)
    }

    /// The path of an existing folder.
    ///
    /// # Errors
    /// See [`Folders::file`].
    pub fn folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let found = self.existing(name)?;
        if !found.is_dir() {
            bail!("{name}: no folder");
        }
        Ok(found)
    }

    /// The path of a new file in an existing folder.
    ///
    /// # Errors
    /// The file would be outside, or the name exists.
    pub fn new_file(&self, name: &str) -> anyhow::Result<PathBuf> {
        let path = Path::new(name);
        let Some(Component::Normal(file)) = path.components().next_back() else {
            bail!("{name}: no name of a file");
        };
        let parent = path.parent().map(|p| p.to_string_lossy().into_owned());
        let folder = self.folder(parent.as_deref().filter(|p| !p.is_empty()).unwrap_or("."))?;
        let new = folder.join(file);
        if fs::symlink_metadata(&new).is_ok() {
            bail!("{name}: exists; choose another name");
        }
        Ok(new)
    }

    /// The most recently recorded trace in any of the folders.
    pub fn newest_trace(&self) -> Option<PathBuf> {
        let newest = self
            .roots
            .iter()
            .filter_map(|root| newest_trace(&root.real));
        // Links are not followed there, but the folder of the runs itself may be a link.
        let inside = newest.filter_map(|path| self.inside(&path).ok());
        inside.max_by_key(|path| fs::metadata(path).and_then(|about| about.modified()).ok())
    }

    /// A path in the form that answers show: relative to the first folder if it is in it.
    pub fn shown(&self, path: &Path) -> String {
        let short = path.strip_prefix(self.first()).unwrap_or(path);
        short.display().to_string()
    }

    fn existing(&self, name: &str) -> anyhow::Result<PathBuf> {
        let mut missing = false;
        for root in &self.roots {
            let path = without_dots(&root.given.join(name));
            let known = |r: &Root| path.starts_with(&r.given) || path.starts_with(&r.real);
            if !self.roots.iter().any(known) {
                continue;
            }
            missing = true;
            if path.exists() {
                return self
                    .inside(&path)
                    .with_context(|| format!("`{name}` can't be used"));
            }
        }
        if missing {
            bail!("{name}: there is no such file in the allowed folders");
        }
        bail!("{name}: lies outside of the allowed folders (`--allow FOLDER` allows more)")
    }

    /// The path without links, if it is in one of the folders.
    fn inside(&self, path: &Path) -> anyhow::Result<PathBuf> {
        let real = path.canonicalize()?;
        if !self.roots.iter().any(|root| real.starts_with(&root.real)) {
            bail!("it is a link to a place outside of the allowed folders");
        }
        Ok(real)
    }
}

/// The path with `.` and `..` removed textually, so that nothing outside is accessed.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_outside_is_reached_by_any_way() {
        let all = tempfile::tempdir().unwrap();
        let at = |name: &str| all.path().join(name);
        for folder in ["work/sub", "work-too", "other"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in ["work/a.wspan", "work/sub/b.wspan", "work-too/c", "other/d"] {
            fs::write(at(file), "x").unwrap();
        }
        symlink(at("other/d"), at("work/link")).unwrap();
        symlink(at("other"), at("work/out")).unwrap();
        symlink(at("work/sub/b.wspan"), at("work/within")).unwrap();
        symlink(at("work"), at("alias")).unwrap();
        let folders = Folders::new(&[at("alias")]).unwrap();
        let real = at("work").canonicalize().unwrap();
        let alias = at("alias/a.wspan").display().to_string();
        let whole = real.join("a.wspan").display().to_string();
        for (name, file) in [
            ("a.wspan", "a.wspan"),
            ("./sub/../a.wspan", "a.wspan"),
            ("within", "sub/b.wspan"),
            (alias.as_str(), "a.wspan"),
            (whole.as_str(), "a.wspan"),
        ] {
            assert_eq!(folders.file(name).unwrap(), real.join(file), "{name}");
        }
        let sibling = at("work-too/c").display().to_string();
        for bad in [
            "../other/d",
            "sub/../../other/d",
            "link",
            "out/d",
            "out/../other/d",
            "/etc/passwd",
            sibling.as_str(),
            "sub",
            "",
            "nothing",
        ] {
            assert!(folders.file(bad).is_err(), "{bad}");
        }
        // Errors do not reveal whether a file outside exists.
        let why = |name: &str| folders.file(name).unwrap_err().to_string();
        assert_eq!(
            why("../other/d").replace("other/d", ""),
            why("../none").replace("none", "")
        );
        for bad in ["../new", "out/new", "a.wspan", "link", "sub/..", "/tmp/new"] {
            assert!(folders.new_file(bad).is_err(), "{bad}");
        }
        assert_eq!(folders.new_file("sub/new").unwrap(), real.join("sub/new"));
        assert_eq!(folders.newest_trace(), Some(real.join("a.wspan")));
        assert!(Folders::new(&[at("work/a.wspan")]).is_err());
        assert!(Folders::new(&[]).is_err());
    }
}
