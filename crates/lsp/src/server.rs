//! The main loop: messages of the editor, newer traces, and traces that have been read.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use crossbeam_channel::{Receiver, bounded, never, select, tick};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{
    CodeLensParams, DidChangeTextDocumentParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, HoverParams, LogMessageParams, MessageType, Uri,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use crate::diagnostics::diagnostics;
use crate::heat::Heat;
use crate::hover::hover;
use crate::lenses::lenses;
use crate::workspace::Workspace;

/// Interval between two searches for a newer trace.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// Maximum time for which an answer waits for a trace that is being read.
const WAIT_FOR_TRACE: Duration = Duration::from_secs(10);
/// Size in bytes of the stack of the thread that reads a trace.
const STACK_BYTES: usize = 8 << 20;

type LoadedHeat = anyhow::Result<Heat>;

pub(crate) struct Server<'a> {
    connection: &'a Connection,
    workspace: Workspace,
    refreshes_lenses: bool,
    /// The trace that is shown or being read: its path and modification time.
    trace: Option<(PathBuf, Option<SystemTime>)>,
    loading: Option<Receiver<LoadedHeat>>,
    /// The URIs of files that have diagnostics in the editor.
    with_diagnostics: BTreeSet<String>,
    requests: i32,
}

impl<'a> Server<'a> {
    pub(crate) fn new(connection: &'a Connection, workspace: Workspace, refreshes: bool) -> Self {
        Server {
            connection,
            workspace,
            refreshes_lenses: refreshes,
            trace: None,
            loading: None,
            with_diagnostics: BTreeSet::new(),
            requests: 0,
        }
    }

    /// Runs until the editor ends the server.
    pub(crate) fn run(&mut self) -> anyhow::Result<()> {
        let looks = tick(LOOK_EVERY);
        self.look();
        loop {
            let loading = self.loading.clone().unwrap_or_else(never);
            select! {
                recv(self.connection.receiver) -> message => {
                    let message = message.context("the editor closed the connection")?;
                    if !self.handle(message)? {
                        return Ok(());
                    }
                }
                recv(loading) -> loaded => self.loaded(loaded.map_err(anyhow::Error::from).and_then(|loaded| loaded))?,
                recv(looks) -> _ => self.look(),
            }
        }
    }

    /// Begins to read the newest trace if it is not the one that is shown.
    fn look(&mut self) {
        let Some(path) = self.workspace.selected_trace() else {
            return;
        };
        let written = std::fs::metadata(&path).and_then(|about| about.modified());
        let found = Some((path.clone(), written.ok()));
        if self.trace == found {
            return;
        }
        self.trace = found;
        let (give, take) = bounded(1);
        let read = move || {
            // The receiver is gone if a newer trace is being read.
            let _ = give.send(Heat::read(&path));
        };
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        if thread.spawn(read).is_ok() {
            self.loading = Some(take);
        }
    }

    fn loaded(&mut self, loaded: LoadedHeat) -> anyhow::Result<()> {
        self.loading = None;
        match loaded {
            Ok(heat) => self.workspace.show(heat),
            Err(why) => return self.log(MessageType::WARNING, format!("workspan: {why:#}")),
        }
        let heat = self.workspace.heat();
        let said = format!("workspan: {}: {}", heat.trace.display(), heat.verdict);
        self.log(MessageType::INFO, said)?;
        self.publish()?;
        if self.refreshes_lenses {
            self.requests += 1;
            let id = RequestId::from(self.requests);
            let refresh = Request::new(id, "workspace/codeLens/refresh".to_owned(), Json::Null);
            self.connection.sender.send(refresh.into())?;
        }
        Ok(())
    }

    /// Returns false when the editor ends the server.
    fn handle(&mut self, message: Message) -> anyhow::Result<bool> {
        match message {
            Message::Request(request) => {
                if self.connection.handle_shutdown(&request)? {
                    return Ok(false);
                }
                let response = self.answer(request)?;
                self.connection.sender.send(response.into())?;
            }
            Message::Notification(notification) => {
                if notification.method == "exit" {
                    return Ok(false);
                }
                self.note(notification)?;
            }
            // The response to a refresh.
            Message::Response(_) => {}
        }
        Ok(true)
    }

    fn answer(&mut self, request: Request) -> anyhow::Result<Response> {
        let id = request.id.clone();
        let answer = match request.method.as_str() {
            "textDocument/codeLens" => match parsed::<CodeLensParams>(request.params) {
                Ok(params) => self.lenses(&params.text_document.uri)?,
                Err(why) => return Ok(wrong(id, &why)),
            },
            "textDocument/hover" => match parsed::<HoverParams>(request.params) {
                Ok(params) => {
                    let at = params.text_document_position_params;
                    self.hover(&at.text_document.uri, at.position.line)?
                }
                Err(why) => return Ok(wrong(id, &why)),
            },
            other => {
                let why = format!("there is no request `{other}`");
                return Ok(Response::new_err(id, ErrorCode::MethodNotFound as i32, why));
            }
        };
        Ok(Response::new_ok(id, answer))
    }

    fn lenses(&mut self, uri: &Uri) -> anyhow::Result<Json> {
        self.wait()?;
        let placed = self.workspace.placed(uri);
        let all = placed.map(|(text, placed)| lenses(&text, &placed));
        Ok(serde_json::to_value(all.unwrap_or_default())?)
    }

    fn hover(&mut self, uri: &Uri, line: u32) -> anyhow::Result<Json> {
        self.wait()?;
        let placed = self.workspace.placed(uri);
        let heat = self.workspace.heat();
        let found = placed.and_then(|(text, placed)| hover(heat, &text, &placed, line + 1));
        Ok(serde_json::to_value(found)?)
    }

    /// Waits for the trace that is being read, for a limited time.
    fn wait(&mut self) -> anyhow::Result<()> {
        let Some(loading) = self.loading.clone() else {
            return Ok(());
        };
        match loading.recv_timeout(WAIT_FOR_TRACE) {
            Ok(loaded) => self.loaded(loaded),
            Err(_) => Ok(()),
        }
    }

    fn note(&mut self, notification: Notification) -> anyhow::Result<()> {
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                if let Ok(params) = parsed::<DidOpenTextDocumentParams>(notification.params) {
                    let document = params.text_document;
                    self.workspace.open(&document.uri, document.text);
                }
            }
            "textDocument/didChange" => {
                if let Ok(params) = parsed::<DidChangeTextDocumentParams>(notification.params)
                    && let Some(change) = params.content_changes.into_iter().last()
                {
                    self.workspace.open(&params.text_document.uri, change.text);
                    return self.publish();
                }
            }
            "textDocument/didClose" => {
                if let Ok(params) = parsed::<DidCloseTextDocumentParams>(notification.params) {
                    self.workspace.close(&params.text_document.uri);
                    return self.publish();
                }
            }
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => {
                self.look();
                return self.publish();
            }
            _ => {}
        }
        Ok(())
    }

    /// Publishes the diagnostics of all files, and empty ones for files that no longer have any.
    fn publish(&mut self) -> anyhow::Result<()> {
        let all = diagnostics(&self.workspace);
        let now: BTreeSet<String> = all.iter().map(|file| file.uri.to_string()).collect();
        for gone in self.with_diagnostics.difference(&now) {
            let none = json!({"uri": gone, "diagnostics": []});
            self.tell("textDocument/publishDiagnostics", &none)?;
        }
        for file in &all {
            self.tell("textDocument/publishDiagnostics", file)?;
        }
        self.with_diagnostics = now;
        Ok(())
    }

    fn log(&self, typ: MessageType, message: String) -> anyhow::Result<()> {
        self.tell("window/logMessage", &LogMessageParams { typ, message })
    }

    fn tell(&self, method: &str, params: &impl Serialize) -> anyhow::Result<()> {
        let message = Notification::new(method.to_owned(), params);
        Ok(self.connection.sender.send(message.into())?)
    }
}

fn parsed<T: DeserializeOwned>(params: Json) -> serde_json::Result<T> {
    serde_json::from_value(params)
}

fn wrong(id: RequestId, why: &serde_json::Error) -> Response {
    Response::new_err(id, ErrorCode::InvalidParams as i32, why.to_string())
}
