//! A table of the lake for the engine: the intact files of its runs, whose footers are already
//! read.
//!
//! The engine's own table of files lists the folder and reads every footer again, and keeps
//! statistics of every column of every file in each plan. A lake has tens of thousands of small
//! files, for which this takes most of the memory. Here a plan knows the number of rows and bytes
//! only, which is what the order of joins depends on.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{DFSchema, Result, ScalarValue, Statistics};
use datafusion::datasource::TableType;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::listing::helpers::{expr_applicable_for_cols, filter_partitioned_file};
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;

use object_store::path::Path;

use super::files::IntactFile;
use crate::layout::RunPlace;
use crate::tables::FOLDER_COLUMNS;

/// The files of a table, as a table of the engine.
#[derive(Debug)]
pub struct RunFiles {
    schema: TableSchema,
    store: ObjectStoreUrl,
    files: Vec<IntactFile>,
}

impl RunFiles {
    /// The table with columns `columns` and those of [`FOLDER_COLUMNS`], in `files` of the store at
    /// `store`.
    pub fn new(columns: SchemaRef, store: ObjectStoreUrl, files: Vec<IntactFile>) -> RunFiles {
        let folders = FOLDER_COLUMNS.iter();
        let folders = folders.map(|(name, _)| Arc::new(Field::new(*name, DataType::Utf8, false)));
        let folders: Vec<_> = folders.collect();
        let schema = TableSchema::builder(columns)
            .with_table_partition_cols(folders)
            .build();
        RunFiles {
            schema,
            store,
            files,
        }
    }

    /// The paths of the files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| &file.meta.location)
    }

    /// The files that `filters` may select by their folders, and their number of rows and bytes.
    fn selected(&self, filters: &[Expr]) -> Result<(Vec<PartitionedFile>, u64, u64)> {
        let folders = self.schema.table_partition_cols().iter();
        let folders = folders.map(|field| field.as_ref().clone()).collect();
        let folders = DFSchema::from_unqualified_fields(folders, Default::default())?;
        let filters: Vec<Expr> = filters
            .iter()
            .filter(|filter| is_of_folders(filter))
            .cloned()
            .collect();
        let (mut selected, mut rows, mut bytes) = (Vec::new(), 0, 0);
        for file in &self.files {
            let Some(place) = RunPlace::of_file(&file.meta.location) else {
                continue;
            };
            let values = [place.project, place.day].map(|value| ScalarValue::Utf8(Some(value)));
            let described = PartitionedFile::new_from_meta(file.meta.clone())
                .with_partition_values(values.to_vec());
            if let Some(described) = filter_partitioned_file(described, &filters, &folders)? {
                selected.push(described);
                rows += file.rows;
                bytes += file.meta.size;
            }
        }
        Ok((selected, rows, bytes))
    }
}

/// Whether a filter depends on nothing but a file's folders.
fn is_of_folders(filter: &Expr) -> bool {
    let names: Vec<&str> = FOLDER_COLUMNS.iter().map(|(name, _)| *name).collect();
    expr_applicable_for_cols(&names, filter)
}

#[async_trait]
impl TableProvider for RunFiles {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.schema.table_schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let how = |filter: &&Expr| match is_of_folders(filter) {
            true => TableProviderFilterPushDown::Exact,
            false => TableProviderFilterPushDown::Inexact,
        };
        Ok(filters.iter().map(how).collect())
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (files, rows, bytes) = self.selected(filters)?;
        let statistics = Statistics {
            num_rows: Precision::Exact(rows as usize),
            total_byte_size: Precision::Inexact(bytes as usize),
            ..Statistics::new_unknown(self.schema.table_schema())
        };
        let groups = FileGroup::new(files).split_files(session.config().target_partitions());
        let format = ParquetFormat::default();
        let source = format.file_source(self.schema.clone());
        let scan = FileScanConfigBuilder::new(self.store.clone(), source)
            .with_file_groups(groups)
            .with_statistics(statistics)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        format.create_physical_plan(session, scan).await
    }
}
