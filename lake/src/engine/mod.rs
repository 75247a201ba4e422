//! Answers queries with DataFusion. Tables are sets of files. Memory is bounded; data beyond the
//! bound goes to temporary files.
//!
//! A table of the engine ([`run_files`]) is the set of files that [`files`] found to be intact and
//! that belong to a run in the lake. With a cluster the engine makes the plan, and [`cluster`]
//! executes it.

#[cfg(feature = "cluster")]
mod cluster;
#[cfg(not(feature = "cluster"))]
#[path = "no_cluster.rs"]
mod cluster;
mod files;
mod run_files;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use datafusion::config::Dialect;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use object_store::path::Path;

use crate::layout::RunName;
use crate::root::Root;
use crate::say;
use crate::tables::{LakeTable, named, tables};
pub use cluster::Cluster;
use run_files::RunFiles;

/// Maximum number of attempts for a query if the cluster loses executors.
const ATTEMPTS: usize = 3;

/// A file that is left out of answers because it is damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file's path, as shown to the user.
    pub file: String,
    /// The reason why it is damaged.
    pub why: String,
}

/// The outcome of a plan that was sent to a cluster.
pub enum PlanOutcome {
    /// The answer.
    Answer(SendableRecordBatchStream),
    /// The cluster lost an executor meanwhile, so that there is no answer, or a wrong one.
    LostExecutor,
}

/// A cluster gave no answer in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoAnswer(pub(crate) String);

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoAnswer {}

/// Answers queries to a lake.
pub struct Engine {
    root: Root,
    memory: usize,
    cluster: Option<Cluster>,
    /// True if the last query reads tables of the lake.
    reads_lake: bool,
    context: SessionContext,
    runs: BTreeSet<RunName>,
    /// The tables that were used in a query.
    asked: BTreeMap<String, Arc<RunFiles>>,
    left_out: BTreeMap<Path, Damage>,
}

impl Engine {
    /// Opens the lake at `root`. Queries use about `memory` bytes in addition to the data being
    /// read.
    ///
    /// # Errors
    /// The lake does not exist, or it has no run.
    pub async fn open(root: Root, memory: usize) -> anyhow::Result<Engine> {
        Engine::open_with(root, memory, None).await
    }

    /// Opens the lake at `root`. The plans are executed by `cluster`, if one is given.
    ///
    /// # Errors
    /// The lake does not exist, or it has no run.
    pub async fn open_with(
        root: Root,
        memory: usize,
        cluster: Option<Cluster>,
    ) -> anyhow::Result<Engine> {
        root.must_exist()?;
        let runs = files::runs(&root).await?;
        if runs.is_empty() {
            bail!(
                "{}: that lake has no run; add one with `workspan lake add run.wspan --into {}`",
                root.name,
                root.name
            );
        }
        let context = context(&root, memory, cluster.is_some())?;
        Ok(Engine {
            root,
            memory,
            cluster,
            reads_lake: false,
            context,
            runs,
            asked: BTreeMap::new(),
            left_out: BTreeMap::new(),
        })
    }

    /// The number of runs in the lake.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Plans a query. The query may only read the lake's tables.
    ///
    /// # Errors
    /// The query is wrong, does more than read, or uses a table for which no run has a file.
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

    /// Executes a plan of [`Engine::query`], here or in the cluster. A plan that reads no table of
    /// the lake is executed here, and so is `explain`.
    ///
    /// # Errors
    /// The plan fails. The error's text has a remedy if one is known.
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

    /// Executes a plan in the cluster, and repeats it if the cluster lost an executor meanwhile: in
    /// that case Ballista 55.0.0 may return finished rows twice.
    async fn execute_there(
        &self,
        cluster: &Cluster,
        planned: DataFrame,
    ) -> anyhow::Result<SendableRecordBatchStream> {
        let plan = planned.create_physical_plan().await?;
        for _ in 0..ATTEMPTS {
            let outcome = cluster.execute(Arc::clone(&plan), &self.context).await;
            if let PlanOutcome::Answer(stream) = outcome.map_err(|error| self.failed(error))? {
                return Ok(stream);
            }
            say!("the cluster lost an executor: the query is asked again");
        }
        bail!("the cluster lost an executor in each of {ATTEMPTS} attempts")
    }

    /// The error of a failed plan, with a remedy.
    pub fn failed(&self, error: DataFusionError) -> anyhow::Error {
        if self.cluster.is_none() {
            return error.into();
        }
        if let DataFusionError::External(inner) = &error
            && let Some(none) = inner.downcast_ref::<NoAnswer>()
        {
            return none.clone().into();
        }
        // The error becomes text, so that a closed connection is not mistaken for closed stdout.
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
        if found.intact.is_empty() && table.is_detail() {
            bail!(
                "no run of {} has the table `{}`: it is only of runs that `workspan lake add --detail` added",
                self.root.name,
                table.name
            );
        }
        let store = ObjectStoreUrl::parse(&self.root.top)?;
        let files = Arc::new(RunFiles::new(table.schema(), store, found.intact));
        let provider = Arc::clone(&files);
        self.context.register_table(table.name, provider)?;
        self.asked.insert(table.name.to_owned(), files);
        Ok(())
    }

    /// After a failed query, reads all files that it used, and leaves out those that cannot be
    /// read. True if there are any, so that the query can be repeated.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn leave_out_damaged(&mut self) -> anyhow::Result<bool> {
        let mut found = false;
        for table in self.asked.values() {
            for (path, damage) in files::damaged(&self.root, table.paths()).await {
                found = true;
                self.left_out.insert(path, damage);
            }
        }
        if found {
            self.asked.clear();
            self.context = context(&self.root, self.memory, self.cluster.is_some())?;
        }
        Ok(found)
    }

    /// The damaged files that answers do not include.
    pub fn left_out(&self) -> impl Iterator<Item = &Damage> {
        self.left_out.values()
    }
}

fn context(root: &Root, memory: usize, is_cluster: bool) -> anyhow::Result<SessionContext> {
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(memory)))
        .build_arc()
        .context("starting the query engine")?;
    runtime.register_object_store(&root.top, Arc::clone(&root.store));
    let config = if is_cluster {
        Cluster::settings()
    } else {
        SessionConfig::new()
    };
    let mut config = config.with_information_schema(true);
    config.options_mut().execution.parquet.pushdown_filters = true;
    Ok(SessionContext::new_with_config_rt(config, runtime))
}

/// The engine's error for a wrong query, with a hint where to look.
fn refused(error: DataFusionError) -> anyhow::Error {
    if let DataFusionError::SQL(parser, _) = error.find_root() {
        return anyhow!("{parser}");
    }
    let text = error.strip_backtrace();
    // Users know the tables by their bare names.
    let text = text.replace("datafusion.public.", "");
    let text = text.trim_start_matches("Error during planning: ");
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
