//! `workspan lsp` with a client over standard input and output, like an editor's.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::project::{WORKSPAN, bare};
use crate::stdio_client::{Client, Framing};

/// A project with a trace of its source and samples: the merge at line 4 runs alone.
struct Sorted {
    folder: tempfile::TempDir,
}

const SOURCE: &str = "fn msort(v: &mut [u32]) {
    let (a, b) = v.split_at_mut(3);
    rayon::join(|| msort(a), || msort(b));
    merge(a, b);
}
";

const TRACE: &str = r#"{"workspan_trace":1,"workers":2,"threads":2,"time_unit":"us","steals":"child","name":"sort","sample_hz":10000,"facts":[{"key":"recorded","value":"RECORDED"},{"key":"source folder","value":"FOLDER"}],"places":[{"label":"root"},{"label":"src/sort.rs:3","file":"src/sort.rs","line":3,"function":"msort","primitive":"join","source":"rayon::join(|| msort(a), || msort(b));"}]}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"scope","task":0,"scope":1,"kind":"group"}
{"ev":"create","t":10,"w":0,"task":0,"child":1,"scope":1,"site":"src/sort.rs:3","at":"src/sort.rs:3"}
{"ev":"resume","t":10,"w":0,"task":0}
{"ev":"begin","t":20,"w":1,"task":1}
{"ev":"end","t":200,"w":1,"task":1}
{"ev":"wait","t":150,"w":0,"task":0,"scope":1,"at":"src/sort.rs:3"}
{"ev":"resume","t":210,"w":0,"task":0}
{"ev":"end","t":900,"w":0,"task":0}
{"ev":"frame","frame":0,"function":"merge","file":"src/sort.rs","line":4}
{"ev":"stack","stack":0,"frames":[0]}
{"ev":"sample","t":300,"w":0,"stack":0}
{"ev":"sample","t":400,"w":0,"stack":0}
{"ev":"sample","t":500,"w":0,"stack":0}
"#;

impl Sorted {
    /// Recorded after the source was written.
    fn new() -> Sorted {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("src/sort.rs"), SOURCE).unwrap();
        let sorted = Sorted { folder };
        sorted.record("2099-01-01 00:00:00 UTC");
        sorted
    }

    fn record(&self, time: &str) {
        let root = self.folder.path().display().to_string();
        let text = TRACE.replace("RECORDED", time).replace("FOLDER", &root);
        // A text trace is read by its content, whatever it is called.
        fs::write(self.folder.path().join("run.wspan"), text).unwrap();
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("src/sort.rs")
    }

    fn uri(&self) -> String {
        format!("file://{}", self.file().display())
    }

    fn editor(&self, flags: &[&str]) -> Client {
        let mut command = bare(WORKSPAN);
        command.arg("lsp").args(flags).current_dir("/");
        let mut client = Client::start(&mut command, Framing::Headers);
        let root = format!("file://{}", self.folder.path().display());
        let hello = json!({
            "processId": null, "rootUri": root,
            "workspaceFolders": [{"uri": root, "name": "sort"}],
            "capabilities": {"workspace": {"codeLens": {"refreshSupport": true}}},
        });
        let about = client.ask("initialize", hello).unwrap();
        assert_eq!(about["capabilities"]["hoverProvider"], true);
        client.tell("initialized", json!({}));
        client
    }

    fn open(&self, client: &mut Client, text: &str) {
        let document = json!({"uri": self.uri(), "languageId": "rust", "version": 1, "text": text});
        client.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// The titles of the lenses by line, from 1.
    fn lenses(&self, client: &mut Client) -> Vec<(u64, String)> {
        let asked = json!({"textDocument": {"uri": self.uri()}});
        let all = client.ask("textDocument/codeLens", asked).unwrap();
        let lens = |lens: &Value| {
            let line = lens["range"]["start"]["line"].as_u64().unwrap() + 1;
            (line, lens["command"]["title"].as_str().unwrap().to_owned())
        };
        all.as_array().unwrap().iter().map(lens).collect()
    }

    fn hover(&self, client: &mut Client, line: u64) -> Option<String> {
        let at = json!({"line": line - 1, "character": 6});
        let asked = json!({"textDocument": {"uri": self.uri()}, "position": at});
        let answer = client.ask("textDocument/hover", asked).unwrap();
        answer["contents"]["value"].as_str().map(str::to_owned)
    }
}

/// The last diagnostics of the file that the server sent.
fn diagnostics(client: &mut Client) -> Vec<Value> {
    let is = |m: &&Value| m["method"] == "textDocument/publishDiagnostics";
    let last = client.notifications.iter().rev().find(is);
    let all = last.map(|m| m["params"]["diagnostics"].as_array().unwrap().clone());
    all.unwrap_or_default()
}

fn end(mut client: Client) {
    client.ask("shutdown", Value::Null).unwrap();
    client.tell("exit", Value::Null);
    client.close();
}

#[test]
fn an_editor_shows_the_report_at_its_lines() {
    let sorted = Sorted::new();
    let mut client = sorted.editor(&[]);
    sorted.open(&mut client, SOURCE);
    let lenses = sorted.lenses(&mut client);
    assert_eq!(lenses.len(), 2, "{lenses:?}");
    assert!(
        lenses[0].0 == 3 && lenses[0].1.contains("of the critical path"),
        "{lenses:?}"
    );
    assert_eq!(
        lenses[1],
        (4, "critical 100.0 %, 3 samples (300\u{a0}us)".to_owned())
    );
    let found = diagnostics(&mut client);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["code"], "serial-strand");
    assert_eq!(found[0]["source"], "workspan");
    // The loss is a sentence of its own, not the end of the previous one.
    let message = found[0]["message"].as_str().unwrap();
    let (what, loss) = message.split_once(": ").expect(message);
    assert!(
        what.contains("ran alone") && loss.contains("of the lost time"),
        "{message}"
    );
    assert_eq!(
        found[0]["range"]["start"],
        json!({"line": 2, "character": 4})
    );
    assert_eq!(found[0]["severity"], 2);
    let related = &found[0]["relatedInformation"][0];
    assert_eq!(related["location"]["uri"], sorted.uri());
    assert_eq!(related["location"]["range"]["start"]["line"], 3);
    // The hover has the report's text.
    let hover = sorted.hover(&mut client, 3).unwrap();
    assert!(
        hover.contains("serial-strand") && hover.contains("Tasks created at"),
        "{hover}"
    );
    let hover = sorted.hover(&mut client, 4).unwrap();
    assert!(
        hover.contains("3 samples") && hover.contains("run.wspan"),
        "{hover}"
    );
    assert_eq!(sorted.hover(&mut client, 1), None);
    let unknown = client.ask("textDocument/definition", json!({}));
    assert_eq!(unknown.unwrap_err()["code"], -32601);
    end(client);
}

#[test]
fn lines_that_changed_since_the_recording_are_called_stale() {
    let sorted = Sorted::new();
    let mut client = sorted.editor(&[]);
    sorted.open(&mut client, SOURCE);
    sorted.lenses(&mut client);
    let change = |client: &mut Client, version: u32, text: &str| {
        client.tell(
            "textDocument/didChange",
            json!({
                "textDocument": {"uri": sorted.uri(), "version": version},
                "contentChanges": [{"text": text}],
            }),
        );
    };
    // Two lines above: everything moves, and nothing is stale.
    change(&mut client, 2, &format!("// one\n// two\n{SOURCE}"));
    let lenses = sorted.lenses(&mut client);
    assert_eq!((lenses[0].0, lenses[1].0), (5, 6), "{lenses:?}");
    assert!(
        lenses.iter().all(|lens| !lens.1.contains("stale")),
        "{lenses:?}"
    );
    let found = diagnostics(&mut client);
    assert_eq!(found[0]["range"]["start"]["line"], 4);
    let hover = sorted.hover(&mut client, 6).unwrap();
    assert!(hover.contains("Recorded as line 4"), "{hover}");
    // The merge itself changed.
    change(
        &mut client,
        3,
        &SOURCE.replace("merge(a, b)", "par_merge(a, b)"),
    );
    let lenses = sorted.lenses(&mut client);
    assert!(
        !lenses[0].1.contains("stale") && lenses[1].1.contains("stale"),
        "{lenses:?}"
    );
    assert!(sorted.hover(&mut client, 4).unwrap().contains("Stale"));
    // Written after the run, with no known text except that of the spawn site's line: lines without
    // a known text are stale.
    sorted.record("2001-01-01 00:00:00 UTC");
    client.tell("workspace/didChangeWatchedFiles", json!({"changes": []}));
    change(&mut client, 4, SOURCE);
    let lenses = sorted.lenses(&mut client);
    assert!(
        !lenses[0].1.contains("stale") && lenses[1].1.contains("stale"),
        "{lenses:?}"
    );
    end(client);
}

#[test]
fn a_newer_trace_replaces_the_one_that_is_shown() {
    let sorted = Sorted::new();
    let mut client = sorted.editor(&[]);
    sorted.open(&mut client, SOURCE);
    assert_eq!(sorted.lenses(&mut client).len(), 2);
    let runs = sorted
        .folder
        .path()
        .join("target/workspan/runs/2099-01-01T00-00-00Z");
    fs::create_dir_all(&runs).unwrap();
    let text = fs::read_to_string(sorted.folder.path().join("run.wspan")).unwrap();
    let lines = text.lines().filter(|line| !line.contains("\"sample\""));
    let newer: Vec<&str> = lines.collect();
    fs::write(runs.join("sort.wspan"), newer.join("\n")).unwrap();
    client.tell("workspace/didChangeWatchedFiles", json!({"changes": []}));
    assert_eq!(sorted.lenses(&mut client).len(), 1);
    let refreshed = client
        .notifications
        .iter()
        .filter(|m| m["method"] == "workspace/codeLens/refresh");
    assert_eq!(refreshed.count(), 2);
    end(client);
    // A trace named on the command line is the only one.
    let own = sorted.folder.path().join("run.wspan");
    let mut client = sorted.editor(&["--trace", own.to_str().unwrap()]);
    sorted.open(&mut client, SOURCE);
    assert_eq!(sorted.lenses(&mut client).len(), 2);
    end(client);
    // Without any trace there is nothing, and no error.
    let empty = tempfile::tempdir().unwrap();
    let alone = Sorted { folder: empty };
    let mut client = alone.editor(&[]);
    assert!(alone.lenses(&mut client).is_empty());
    assert!(!Path::new(&alone.file()).exists());
    end(client);
}
