//! `workspan view`: shows runs in a browser.

mod kept_keys;
mod key_file;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use workspan_view::Session;
use workspan_view::server::{Key, Server, open_browser};
use workspan_view::session::Settings;

use crate::output::print;
use crate::say;
use crate::trace::Reading;
use key_file::KeyFile;

/// Opens runs in a browser: timeline, DAG, spawn sites, what-if
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Opens runs in a browser: timeline, DAG, spawn sites, what-if.

A server on this machine answers the page until Ctrl-C. Its address contains a random key, without which nobody \
gets an answer. Key and port are kept for these traces, so that a copied link works again after a restart. The page \
requests nothing from other machines. docs/viewer.md describes the keys and tabs.",
    after_help = "\
Examples:
  workspan view run.wspan
  workspan view before.wspan after.wspan          # two runs, side by side in Compare
  workspan view --no-open --port 9000 run.wspan   # on a machine you are logged in to by ssh
  workspan view --key ~/.workspan-key run.wspan   # one address for all runs
  workspan view --new-key run.wspan               # links that were copied before do not work
  workspan view --source-dir ~/project run.wspan  # sources that are not where the run was recorded"
)]
pub struct ViewArgs {
    /// Traces (recorded or text); the first is shown first
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The port to listen on (default: 8417, or any free one if that is taken)
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Do not start a browser
    #[arg(long)]
    no_open: bool,
    /// Keep the key and port of the address in FILE instead of in your state folder; FILE is
    /// created if needed, readable only by you
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Use a key for this time only: links that were copied before do not work, and those copied
    /// now will not work later
    #[arg(long, conflicts_with = "key")]
    new_key: bool,
    #[command(flatten)]
    looked_at: PageOptions,
}

/// How runs are read for the page.
#[derive(Debug, Clone, clap::Args)]
pub struct PageOptions {
    /// Another folder whose source files may be shown, besides the one where the run was recorded
    /// (repeatable)
    #[arg(long, value_name = "FOLDER")]
    source_dir: Vec<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

impl PageOptions {
    /// The runs of `files`, not loaded yet; for damaged ones, the intact part.
    ///
    /// # Errors
    /// A file is not a trace, or a source folder is not a folder.
    fn to_view(&self, files: &[PathBuf]) -> anyhow::Result<Session> {
        for file in files {
            if let Some(damage) = workspan_reader::open::damage(file)? {
                let said = format!("workspan: {}: {damage}", file.display());
                say!("{}", said.replace(|c: char| c.is_control(), " "));
            }
        }
        let mut looked_at = self.clone();
        looked_at.reading.allow_truncated = true;
        looked_at.session(files)
    }

    /// The runs of `files`, not loaded yet.
    ///
    /// # Errors
    /// A path is not a file, or a source folder is not a folder.
    pub fn session(&self, files: &[PathBuf]) -> anyhow::Result<Session> {
        for folder in &self.source_dir {
            if !folder.is_dir() {
                bail!("--source-dir {}: is not a folder", folder.display());
            }
        }
        for file in files {
            let about = std::fs::metadata(file).with_context(|| file.display().to_string())?;
            if about.is_dir() {
                bail!(
                    "{}: is a directory; expected a trace file, as those in target/workspan/runs/<time>/",
                    file.display()
                );
            }
        }
        let settings = Settings {
            opening: self.reading.measured(false),
            source_dirs: self.source_dir.clone(),
            ..Settings::default()
        };
        Ok(Session::new(files, settings)?)
    }
}

/// `workspan view`.
///
/// # Errors
/// A file is not a trace, or the port is not available.
pub fn run(args: &ViewArgs) -> anyhow::Result<()> {
    let session = Arc::new(args.looked_at.to_view(&args.files)?);
    let server = bind(args, session)?;
    let url = server.url();
    // Kept until the server ends.
    let opened = (!args.no_open).then(|| open_browser(&url)).flatten();
    let mut text = format!("The run is at {url}\n");
    if opened.is_some() {
        text.push_str("A browser opens it; Ctrl-C here ends the server.\n");
    } else {
        text.push_str("Open it in a browser; Ctrl-C here ends the server.\n");
    }
    let port = server.port();
    text.push_str(&format!(
        "From another machine: ssh -L {port}:127.0.0.1:{port} {}, then open the same address there.\n",
        host()
    ));
    if !workspan_view::page::is_built() {
        let how = workspan_view::page::HOW_TO_BUILD;
        text.push_str(&format!(
            "This build of workspan has no viewer page: {how}.\n"
        ));
    }
    print(&text)?;
    server.run().context("the server failed")
}

/// A server with the key and port of the last one for these traces, where they are kept.
fn bind(args: &ViewArgs, session: Arc<Session>) -> anyhow::Result<Server> {
    if let Some(file) = &args.key {
        let key_file = KeyFile::open(file)?;
        let server = Server::bind(session, args.port.or(key_file.port), key_file.key.clone())?;
        key_file.keep_port(server.port())?;
        return Ok(server);
    }
    let key_file = (!args.new_key).then(|| kept_keys::kept_for(&args.files));
    let Some(key_file) = key_file.flatten() else {
        return Ok(Server::bind(session, args.port, Key::random()?)?);
    };
    if let Some(port) = key_file.port.filter(|_| args.port.is_none()) {
        // The port may be taken, perhaps by another server of the same traces.
        if let Ok(server) = Server::bind(session.clone(), Some(port), key_file.key.clone()) {
            return Ok(server);
        }
    }
    let server = Server::bind(session, args.port, key_file.key.clone())?;
    if args.port.is_some() || key_file.port.is_none() {
        // Without it, a link needs `--port` the next time.
        let _ = key_file.keep_port(server.port());
    }
    Ok(server)
}

/// This machine's name, for a command line that users copy.
fn host() -> String {
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if name.is_empty() || !name.chars().all(plain) {
        return "HOST".to_owned();
    }
    name
}
