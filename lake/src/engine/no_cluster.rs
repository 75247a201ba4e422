//! What stands for the client of Ballista in a build without it.

use std::sync::Arc;

use anyhow::bail;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::root::Root;

/// No cluster can be asked.
#[derive(Debug, Clone)]
pub enum Cluster {}

impl Cluster {
    /// Says how to build with a client.
    ///
    /// # Errors
    /// Always.
    pub fn open(address: &str, _root: &Root) -> anyhow::Result<Cluster> {
        bail!(
            "--cluster {address}: this workspan-lake is built without a client of Ballista; \
             `cargo install workspan-lake --features cluster` builds it with one (in a clone: `cargo install --path lake --features cluster`)"
        );
    }

    /// Settings for a cluster.
    pub fn settings() -> SessionConfig {
        SessionConfig::new()
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub async fn execute(
        &self,
        _plan: Arc<dyn ExecutionPlan>,
        _context: &SessionContext,
    ) -> datafusion::error::Result<SendableRecordBatchStream> {
        match *self {}
    }

    /// Never called.
    pub fn executors(&self) -> Option<usize> {
        match *self {}
    }

    /// Nothing is known of failures.
    pub fn remedy(_text: &str, _root: &Root) -> Option<String> {
        None
    }
}
