//! The stand-in for the Ballista client in a build without it.

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{SessionConfig, SessionContext};

use super::PlanOutcome;
use crate::root::Root;

/// A cluster that cannot be opened.
#[derive(Debug, Clone)]
pub enum Cluster {}

impl Cluster {
    /// Fails with an error that says how to build with a client.
    ///
    /// # Errors
    /// Always.
    pub fn open(address: &str, _root: &Root, _timeout: Duration) -> anyhow::Result<Cluster> {
        bail!(
            "--cluster {address}: this workspan-lake is built without a client of Ballista; \
             `cargo install workspan-lake --features cluster` builds it with one (in a clone: `cargo install --path lake --features cluster`)"
        );
    }

    /// Settings for a cluster.
    pub fn settings() -> SessionConfig {
        SessionConfig::new()
    }

    /// Never called, as no value exists.
    ///
    /// # Errors
    /// Returns no error.
    pub async fn execute(
        &self,
        _plan: Arc<dyn ExecutionPlan>,
        _context: &SessionContext,
    ) -> datafusion::error::Result<PlanOutcome> {
        match *self {}
    }

    /// No failures are known.
    pub fn remedy(_text: &str, _root: &Root) -> Option<String> {
        None
    }
}
