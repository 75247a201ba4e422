//! Answers queries with DataFusion: tables are files, memory is bounded, and what does not fit is
//! written to temporary files.
//!
//! A table of the engine is the set of files that [`files`] found whole and of a run that is in the
//! lake. The engine lists files through [`shown`], which shows no others. With a cluster the engine
//! makes the plan, and [`cluster`] has it executed.

#[cfg(feature = "cluster")]
mod cluster;
#[cfg(not(feature = "cluster"))]
#[path = "no_cluster.rs"]
mod cluster;
mod files;
mod shown;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use datafusion::arrow::datatypes::DataType;
use datafusion::config::Dialect;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use object_store::path::Path;

use crate::layout::RunName;
use crate::root::Root;
use crate::say;
use crate::tables::{FOLDER_COLUMNS, LakeTable, named, tables};
pub use cluster::Cluster;
use shown::{Files, ShownFiles};

/// How often a cluster is asked that loses executors.
const ATTEMPTS: usize = 3;

/// A file that is left out of answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file, as people write it.
    pub file: String,
    /// What is wrong with it.
    pub why: String,
}

/// Answers queries to a lake.
pub struct Engine {
    root: Root,
    memory: usize,
    cluster: Option<Cluster>,
    /// True if the last query reads tables of the lake.
    reads_lake: bool,
    context: SessionContext,
    files: Files,
    runs: BTreeSet<RunName>,
    /// The files of each table that was asked for.
    asked: BTreeMap<String, Vec<Path>>,
    left_out: BTreeMap<Path, Damage>,
}

impl Engine {
    /// Opens the lake at `root`. Queries use about `memory` bytes beside what is read at a time.
    ///
    /// # Errors
    /// There is no lake, or it has no run.
    pub async fn open(root: Root, memory: usize) -> anyhow::Result<Engine> {
        Engine::open_with(root, memory, None).await
    }

    /// The same with a cluster that executes the plans, if one is given.
    ///
    /// # Errors
    /// There is no lake, or it has no run.
    pub async fn open_with(
        root: Root,
        memory: usize,
        cluster: Option<Cluster>,
    ) -> anyhow::Result<Engine> {
        root.must_exist()?;
        let runs = files::runs(&root).await?;
        if runs.is_empty() {
            bail!(
                "{}: no run is in that lake; `workspan lake add run.wspan --into {}` adds one",
                root.name,
                root.name
            );
        }
        let files = Files::default();
        let context = context(&root, memory, &files, cluster.is_some())?;
        Ok(Engine {
            root,
            memory,
            cluster,
            reads_lake: false,
            context,
            files,
            runs,
            asked: BTreeMap::new(),
            left_out: BTreeMap::new(),
        })
    }

    /// The number of runs in the lake.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Plans a query, which may do nothing but read the lake's tables.
    ///
    /// # Errors
    /// The query is wrong, does more than read, or asks a table that no run has.
    pub async fn query(&mut self, sql: &str) -> anyhow::Result<DataFrame> {
        let state = self.context.state();
        let statement = state.sql_to_statement(sql, &Dialect::Generic);
        let statement = statement.map_err(refused)?;
        let tables = state
            .resolve_table_references(&statement)
            .map_err(refused)?;
        self.reads_lake = false;
        for table in tables {
            if let Some(table) = named(table.table()) {
                self.reads_lake = true;
                self.register(&table).await?;
            }
        }
        let options = SQLOptions::new()
            .with_allow_ddl(false)
            .with_allow_dml(false)
            .with_allow_statements(false);
        let planned = self.context.sql_with_options(sql, options).await;
        planned.map_err(refused)
    }

    /// Executes a plan of [`Engine::query`]: here, or in the cluster. A plan that reads no table of
    /// the lake is executed here, and so is `explain`.
    ///
    /// # Errors
    /// It fails. The text says what to do about it where that is known.
    pub async fn execute(&self, planned: DataFrame) -> anyhow::Result<SendableRecordBatchStream> {
        let is_explained = matches!(planned.logical_plan(), LogicalPlan::Explain(_));
        let stream = match &self.cluster {
            Some(cluster) if self.reads_lake && !is_explained => {
                return self.execute_there(cluster, planned).await;
            }
            _ => planned.execute_stream().await,
        };
        stream.map_err(|error| self.failed(error))
    }

    /// Has the cluster execute a plan, and once more when it lost an executor meanwhile: Ballista
    /// 55.0.0 then repeats rows of those that it had finished.
    async fn execute_there(
        &self,
        cluster: &Cluster,
        planned: DataFrame,
    ) -> anyhow::Result<SendableRecordBatchStream> {
        let plan = planned.create_physical_plan().await?;
        for _ in 0..ATTEMPTS {
            let before = cluster.executors();
            let stream = cluster.execute(Arc::clone(&plan), &self.context).await;
            let stream = stream.map_err(|error| self.failed(error))?;
            if cluster.executors() >= before {
                return Ok(stream);
            }
            say!("the cluster lost an executor: the query is asked again");
        }
        bail!("the cluster lost an executor in each of {ATTEMPTS} attempts")
    }

    /// A failure of a plan with what to do about it.
    pub fn failed(&self, error: DataFusionError) -> anyhow::Error {
        if self.cluster.is_none() {
            return error.into();
        }
        // As text: a connection that closed is not stdout that closed.
        let text = error.strip_backtrace();
        match Cluster::remedy(&text, &self.root) {
            Some(remedy) => anyhow!("{text}; {remedy}"),
            None => anyhow!("{text}"),
        }
    }

    async fn register(&mut self, table: &LakeTable) -> anyhow::Result<()> {
        if self.asked.contains_key(table.name) {
            return Ok(());
        }
        let found = files::of_table(&self.root, table, &self.runs, &self.left_out).await?;
        self.left_out.extend(found.damaged);
        if found.whole.is_empty() && table.is_detail() {
            bail!(
                "no run of {} has the table `{}`: it is only of runs that `workspan lake add --detail` added",
                self.root.name,
                table.name
            );
        }
        self.files.show(&found.whole);
        let folders = FOLDER_COLUMNS.iter();
        let folders = folders.map(|(name, _)| ((*name).to_owned(), DataType::Utf8));
        let options = ListingOptions::new(Arc::new(ParquetFormat::default()))
            .with_file_extension(".parquet")
            .with_table_partition_cols(folders.collect());
        let url = ListingTableUrl::parse(self.root.table_url(table.name))?;
        let config = ListingTableConfig::new(url)
            .with_listing_options(options)
            .with_schema(table.schema());
        let provider = Arc::new(ListingTable::try_new(config)?);
        self.context.register_table(table.name, provider)?;
        self.asked.insert(table.name.to_owned(), found.whole);
        Ok(())
    }

    /// Reads all of the files that were asked for, after a query that failed, and leaves those out
    /// that cannot be read. True if there are any: the query may be asked again.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn leave_out_damaged(&mut self) -> anyhow::Result<bool> {
        let mut found = false;
        for paths in self.asked.values() {
            for (path, damage) in files::damaged(&self.root, paths).await {
                found = true;
                self.left_out.insert(path, damage);
            }
        }
        if found {
            // The engine remembers what it listed.
            self.files = Files::default();
            self.asked.clear();
            let is_cluster = self.cluster.is_some();
            self.context = context(&self.root, self.memory, &self.files, is_cluster)?;
        }
        Ok(found)
    }

    /// The files that the answers lack.
    pub fn left_out(&self) -> impl Iterator<Item = &Damage> {
        self.left_out.values()
    }
}

fn context(
    root: &Root,
    memory: usize,
    files: &Files,
    is_cluster: bool,
) -> anyhow::Result<SessionContext> {
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(memory)))
        .build_arc()
        .context("starting the query engine")?;
    let store = ShownFiles::new(Arc::clone(&root.store), files.clone());
    runtime.register_object_store(&root.top, Arc::new(store));
    let config = if is_cluster {
        Cluster::settings()
    } else {
        SessionConfig::new()
    };
    let mut config = config.with_information_schema(true);
    config.options_mut().execution.parquet.pushdown_filters = true;
    Ok(SessionContext::new_with_config_rt(config, runtime))
}

/// What the engine says of a wrong query, with where to look.
fn refused(error: DataFusionError) -> anyhow::Error {
    let text = error.strip_backtrace();
    let known: Vec<&str> = tables().iter().map(|table| table.name).collect();
    if text.contains("table '") && text.contains("not found") {
        return anyhow!("{text}; the tables are {}", known.join(", "));
    }
    if text.contains("No field named") {
        return anyhow!("{text}; `workspan lake sql --schema` lists tables and columns");
    }
    if text.contains("DDL not supported")
        || text.contains("DML not supported")
        || text.contains("Statement not supported")
    {
        return anyhow!("{text}: a query may only read");
    }
    anyhow!("{text}")
}
