//! The location of a lake: a folder, or a prefix in an object store.

use std::path::Path as FilePath;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, parse_url_opts};
use url::Url;

/// The first folder below a root. Another layout gets another version, so old readers never see it.
pub const VERSION: &str = "v1";

/// The location of a lake.
#[derive(Debug, Clone)]
pub struct Root {
    /// The store, from its top.
    pub store: Arc<dyn ObjectStore>,
    /// The path of the lake in the store, including [`VERSION`].
    pub prefix: Path,
    /// The address of the store's top, under which the engine knows the store.
    pub top: Url,
    /// The location as the user wrote it.
    pub name: String,
    is_folder: bool,
}

impl Root {
    /// Opens `name`: a folder, or an address such as `s3://bucket/runs`. Keys and regions of stores
    /// come from the environment, under the names that the vendors' own tools use.
    ///
    /// # Errors
    /// The address is wrong, or the store needs something that the environment does not have.
    pub fn open(name: &str) -> anyhow::Result<Root> {
        if !name.contains("://") {
            return Root::folder(name);
        }
        let url = Url::parse(name).with_context(|| format!("{name}: is not an address"))?;
        if url.scheme() == "file" {
            let path = url.to_file_path();
            let Ok(path) = path else {
                bail!("{name}: is not the address of a folder on this machine");
            };
            return Root::folder(&path.to_string_lossy());
        }
        let (store, path) = parse_url_opts(&url, std::env::vars()).with_context(|| {
            format!("{name}: expected a folder, or an address s3://, gs:// or az://")
        })?;
        let mut top = url.clone();
        top.set_path("/");
        Ok(Root {
            store: Arc::from(store),
            prefix: path.join(VERSION),
            top,
            name: name.trim_end_matches('/').to_owned(),
            is_folder: false,
        })
    }

    fn folder(name: &str) -> anyhow::Result<Root> {
        let path = std::path::absolute(FilePath::new(name)).with_context(|| name.to_owned())?;
        // Paths in a store can't contain `..`. A folder that does not exist yet has no links in its
        // path.
        let path = path.canonicalize().unwrap_or(path);
        let prefix = Path::from_absolute_path(&path)
            .with_context(|| format!("{name}: cannot be the folder of a lake"))?;
        Ok(Root {
            store: Arc::new(LocalFileSystem::new()),
            prefix: prefix.join(VERSION),
            top: Url::parse("file:///")?,
            name: name.trim_end_matches('/').to_owned(),
            is_folder: true,
        })
    }

    /// Fails if a folder does not exist: this is more often a wrong name than a lake without runs.
    ///
    /// # Errors
    /// The lake does not exist.
    pub fn must_exist(&self) -> anyhow::Result<()> {
        if self.is_folder {
            let path = format!("/{}", self.prefix);
            if !FilePath::new(&path).is_dir() {
                bail!(
                    "{}: there is no lake; create one with `workspan lake add run.wspan --into {}`",
                    self.name,
                    self.name
                );
            }
        }
        Ok(())
    }

    /// The folder of a table.
    pub fn table(&self, table: &str) -> Path {
        self.prefix.clone().join(table)
    }

    /// A path of the store as shown to the user: below the root's own name.
    pub fn shown(&self, path: &Path) -> String {
        let inside = path.prefix_match(&self.prefix).map(|parts| {
            let parts: Vec<String> = parts.map(|part| part.as_ref().to_owned()).collect();
            format!("{}/{VERSION}/{}", self.name, parts.join("/"))
        });
        inside.unwrap_or_else(|| path.to_string())
    }

    /// True if something is at `path`.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn has(&self, path: &Path) -> anyhow::Result<bool> {
        match self.store.head(path).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(self.failed(path, &error)),
        }
    }

    /// The error for a request about `path` that the store refused.
    pub fn failed(&self, path: &Path, error: &object_store::Error) -> anyhow::Error {
        anyhow!("{}: {}", self.shown(path), reason(error))
    }
}

/// Why a store refused a request. For a folder this is the system's error alone: each layer above
/// it repeats the path.
pub fn reason(error: &object_store::Error) -> String {
    let mut root: &dyn std::error::Error = error;
    while let Some(source) = root.source() {
        root = source;
    }
    if root.is::<std::io::Error>() {
        root.to_string()
    } else {
        error.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_refuses_is_named_once() {
        let file = tempfile::NamedTempFile::new().unwrap_or_else(|e| panic!("{e}"));
        let name = file.path().display().to_string();
        let root = Root::open(&name).unwrap_or_else(|e| panic!("{e}"));
        let runtime = tokio::runtime::Runtime::new().unwrap_or_else(|e| panic!("{e}"));
        let error = runtime.block_on(root.has(&root.table("runs")));
        let said = error.err().map(|e| format!("{e:#}")).unwrap_or_default();
        assert_eq!(said.matches(&name).count(), 1, "{said}");
        assert!(said.contains("Not a directory"), "{said}");
    }
}
