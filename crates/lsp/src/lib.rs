//! Shows the last recorded run in an editor: a server of the Language Server Protocol over standard
//! input and output.
//!
//! Findings of the report become diagnostics at their source lines; spawn sites and lines with
//! samples get code lenses and hovers. The numbers are the report's (`heat`). Only the current
//! position of a recorded line is computed here (`lines`). The server shows the newest trace of the
//! workspace, and replaces it when a newer one is recorded.

mod diagnostics;
mod heat;
mod hover;
mod lenses;
mod lines;
mod server;
mod uri;
mod workspace;

use std::path::PathBuf;

use anyhow::Context;
use lsp_server::Connection;
use lsp_types::{
    CodeLensOptions, HoverProviderCapability, InitializeParams, ServerCapabilities,
    TextDocumentSyncCapability, TextDocumentSyncKind,
};
use serde_json::json;

use server::Server;
use workspace::Workspace;

/// Serves standard input and output until the editor ends it. `trace` is shown instead of the
/// newest one of the workspace.
///
/// # Errors
/// The editor does not speak the protocol, or closed the connection without `exit`.
pub fn serve(trace: Option<PathBuf>) -> anyhow::Result<()> {
    let (connection, threads) = Connection::stdio();
    let (id, params) = connection.initialize_start()?;
    let params: InitializeParams =
        serde_json::from_value(params).context("the editor's parameters")?;
    let about = json!({
        "capabilities": capabilities(),
        "serverInfo": {"name": "workspan", "version": env!("CARGO_PKG_VERSION")},
    });
    connection.initialize_finish(id, about)?;
    let refreshes = params.capabilities.workspace.as_ref();
    let refreshes = refreshes.and_then(|w| w.code_lens.as_ref()?.refresh_support);
    let workspace = Workspace::new(&params, trace);
    Server::new(&connection, workspace, refreshes.unwrap_or_default()).run()?;
    // Its threads end when the last channel is dropped.
    drop(connection);
    threads.join().context("standard input or output")
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::FULL)),
        code_lens_provider: Some(CodeLensOptions {
            resolve_provider: Some(false),
        }),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        ..ServerCapabilities::default()
    }
}
