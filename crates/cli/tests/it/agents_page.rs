//! The page for coding agents: runs its commands and makes its calls.

use std::path::Path;

use serde_json::{Value, json};

use crate::project::{CARGO_WORKSPAN, Project, WORKSPAN, said};
use crate::stdio_client::{Client, Framing};

/// The fenced blocks of a language, without their indentation.
fn blocks(language: &str) -> Vec<Vec<String>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (mut all, mut open) = (Vec::new(), None::<Vec<String>>);
    for line in page.lines().map(str::trim_start) {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(of)) if of == language => open = Some(Vec::new()),
            (None, _) => {}
            (Some(_), Some(_)) => all.extend(open.take()),
            (Some(block), None) => block.push(line.to_owned()),
        }
    }
    all
}

#[test]
fn every_command_and_call_of_the_page_works() {
    let (project, _alone) = Project::alone("faults", "faults for agents");
    for old in ["before.wspan", "after.wspan"] {
        let _ = std::fs::remove_file(project.root.join(old));
    }
    let folders = [WORKSPAN, CARGO_WORKSPAN].map(|path| Path::new(path).parent().unwrap());
    let path = std::env::var_os("PATH").unwrap();
    let path = folders
        .into_iter()
        .map(Path::to_owned)
        .chain(std::env::split_paths(&path));
    let path = std::env::join_paths(path).unwrap();
    let commands = blocks("sh").concat();
    assert!(commands.len() >= 8, "{commands:?}");
    for command in &commands {
        let output = project
            .command("sh")
            .args(["-c", command])
            .env("PATH", &path)
            .env("RAYON_NUM_THREADS", "2")
            .output()
            .unwrap();
        assert!(output.status.success(), "{command}: {}", said(&output));
    }
    let json_blocks = blocks("json");
    let config: Value = serde_json::from_str(&json_blocks[0].join("\n")).unwrap();
    let server = &config["mcpServers"]["workspan"];
    assert_eq!(server["command"], "workspan");
    let mut command = project.command(WORKSPAN);
    for word in server["args"].as_array().unwrap() {
        command.arg(word.as_str().unwrap());
    }
    let mut client = Client::start(&mut command, Framing::Lines);
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    client.ask("initialize", hello).unwrap();
    client.tell("notifications/initialized", json!({}));
    let calls = &json_blocks[1];
    assert!(calls.len() >= 5, "{calls:?}");
    for call in calls {
        let call: Value = serde_json::from_str(call).unwrap();
        let answer = client.ask("tools/call", call.clone()).unwrap();
        assert_ne!(answer["isError"], true, "{call}: {answer}");
    }
    // Every tool of the table exists.
    let page = include_str!("../../../../docs/agents.md");
    let tools = client.ask("tools/list", json!({})).unwrap();
    for tool in tools["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
    client.close();
}
