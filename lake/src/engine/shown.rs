//! An object store that shows only some of its files: those that a query may read.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, RwLock};

use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// The set of files that are shown.
#[derive(Debug, Clone, Default)]
pub struct Files(Arc<RwLock<HashSet<Path>>>);

impl Files {
    /// Adds files to the set.
    pub fn show(&self, paths: &[Path]) {
        if let Ok(mut shown) = self.0.write() {
            shown.extend(paths.iter().cloned());
        }
    }

    fn has(&self, path: &Path) -> bool {
        self.0.read().is_ok_and(|shown| shown.contains(path))
    }
}

/// An object store that lists only some of its files.
#[derive(Debug)]
pub struct FilteredStore {
    store: Arc<dyn ObjectStore>,
    files: Files,
}

impl FilteredStore {
    /// Shows those files of `store` that are in `files`.
    pub fn new(store: Arc<dyn ObjectStore>, files: Files) -> FilteredStore {
        FilteredStore { store, files }
    }
}

impl fmt::Display for FilteredStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.store)
    }
}

#[async_trait::async_trait]
impl ObjectStore for FilteredStore {
    async fn put_opts(&self, to: &Path, what: PutPayload, how: PutOptions) -> Result<PutResult> {
        self.store.put_opts(to, what, how).await
    }

    async fn put_multipart_opts(
        &self,
        to: &Path,
        how: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(to, how).await
    }

    async fn get_opts(&self, from: &Path, how: GetOptions) -> Result<GetResult> {
        self.store.get_opts(from, how).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.store.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let files = self.files.clone();
        let shown = move |found: &Result<ObjectMeta>| {
            let shows = found.as_ref().is_ok_and(|meta| files.has(&meta.location));
            futures::future::ready(found.is_err() || shows)
        };
        self.store.list(prefix).filter(shown).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let mut found = self.store.list_with_delimiter(prefix).await?;
        found.objects.retain(|meta| self.files.has(&meta.location));
        Ok(found)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, how: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, how).await
    }
}
