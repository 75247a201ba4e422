//! Answers coding agents: a server of the Model Context Protocol over standard input and output.
//!
//! There are few tools ([`tools`]), each for one question with a small answer. They compute no
//! measures: an answer selects values from the report, the what-if profile, the comparison and SQL.
//! Rows carry identifiers that other tools accept (labels of sites, names of code blocks), and
//! links to the source lines. Files outside of the allowed folders are neither read nor written
//! ([`folders`]), and programs are run only when the user allowed it.

mod answers;
pub mod folders;
mod runs;
mod server;
pub mod tools;

use std::path::PathBuf;

use anyhow::Context;
use rmcp::ServiceExt;

use folders::Folders;
use runs::Runs;

/// The permissions of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The folders whose files may be read; names are relative to the first.
    pub allow: Vec<PathBuf>,
    /// The `workspan` executable that records programs, if that is allowed.
    pub recorder: Option<PathBuf>,
}

/// The state that all answers share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) folders: Folders,
    pub(crate) recorder: Option<PathBuf>,
    pub(crate) runs: Runs,
}

/// Size in bytes of the stack of threads that answer: large reports need more than the default.
const STACK_BYTES: usize = 8 << 20;
/// Maximum number of requests that are answered at the same time.
const MAX_ANSWERING: usize = 4;

/// Serves standard input and output until the client closes them.
///
/// # Errors
/// An allowed folder does not exist, or the client does not speak the protocol.
pub fn serve(settings: &Settings) -> anyhow::Result<()> {
    let shared = Shared {
        folders: Folders::new(&settings.allow)?,
        recorder: settings.recorder.clone(),
        runs: Runs::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .thread_stack_size(STACK_BYTES)
        .max_blocking_threads(MAX_ANSWERING + 2)
        .build()?;
    let served = runtime.block_on(async {
        let server = server::Server::new(shared);
        let running = server.serve(rmcp::transport::stdio_pipes()).await;
        let running = running.context("the client did not begin as the protocol says")?;
        running.waiting().await.context("the server failed")?;
        anyhow::Ok(())
    });
    // Does not wait for a request that is still being answered.
    runtime.shutdown_background();
    served
}
