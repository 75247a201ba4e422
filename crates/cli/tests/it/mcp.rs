//! `workspan mcp` with a client over standard input and output, like an agent's.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::project::{Project, WORKSPAN, bare, printed, said, trace_of};
use crate::stdio_client::{Client, Framing};

fn start(flags: &[&str], folder: &Path) -> Client {
    let mut command = bare(WORKSPAN);
    command.arg("mcp").args(flags).current_dir(folder);
    let mut client = Client::start(&mut command, Framing::Lines);
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let about = client.ask("initialize", hello).unwrap();
    assert_eq!(about["serverInfo"]["name"], "workspan");
    assert!(about["instructions"].as_str().unwrap().contains("findings"));
    client.tell("notifications/initialized", json!({}));
    client
}

/// The text of a tool's answer, or of its error.
fn call(client: &mut Client, tool: &str, arguments: Value) -> Result<String, String> {
    let params = json!({"name": tool, "arguments": arguments});
    let answer = client.ask("tools/call", params).unwrap();
    let text = answer["content"][0]["text"].as_str().unwrap().to_owned();
    // Small enough for an agent's context.
    assert!(text.len() < 24_000, "{tool}: {} bytes", text.len());
    match answer["isError"].as_bool() {
        Some(true) => Err(text),
        _ => Ok(text),
    }
}

fn json_of(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let text = call(client, tool, arguments).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{tool}: {e}: {text}"))
}

fn tools(client: &mut Client) -> Vec<String> {
    let list = client.ask("tools/list", json!({})).unwrap();
    let tools = list["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| {
            let described = tool["description"].as_str().is_some_and(|d| d.len() > 50);
            assert!(
                described && tool["inputSchema"]["type"] == "object",
                "{tool}"
            );
            tool["name"].as_str().unwrap().to_owned()
        })
        .collect()
}

#[test]
fn an_agent_is_answered_with_the_reports_numbers() {
    let (project, _alone) = Project::alone("faults", "faults for agents");
    let mut command = project.cargo_workspan(&["--no-report", "run", "--release", "--", "pools"]);
    let output = command.env("RAYON_NUM_THREADS", "2").output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let trace = trace_of(&output, &project.root);
    let json = |words: &[&str]| -> Value {
        let mut command = project.command(WORKSPAN);
        let output = command.args(words).arg(&trace).output().unwrap();
        serde_json::from_str(&printed(&output)).unwrap()
    };
    let report = json(&["report", "--json"]);

    let mut client = start(&[], &project.root);
    let names = [
        "findings",
        "site",
        "source_heat",
        "what_if",
        "compare",
        "query",
    ];
    assert_eq!(tools(&mut client), names);

    // The newest trace, without its name.
    let findings = json_of(&mut client, "findings", json!({}));
    let name = findings["trace"].as_str().unwrap().to_owned();
    assert_eq!(project.root.join(&name), trace);
    assert_eq!(findings["workers"], report["workers"]);
    assert_eq!(findings["tasks"], report["tasks"]);
    let close = |a: &Value, b: &Value| (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 0.001;
    assert!(close(&findings["parallelism"], &report["parallelism"]));
    let mut said: Vec<&Value> = report["findings"].as_array().unwrap().iter().collect();
    said.sort_by_key(|finding| {
        finding["id"] == "descheduled" || finding["id"] == "oversubscription"
    });
    let answered: Vec<&Value> = findings["findings"].as_array().unwrap().iter().collect();
    assert_eq!(answered.len(), said.len());
    for (answered, said) in answered.iter().zip(&said) {
        assert_eq!(answered["cause"], said["id"]);
        assert!(close(&answered["lost_percent"], &said["lost_percent"]));
        let id = answered["id"].as_str().unwrap();
        assert!(
            id.starts_with(&format!("{}@", said["id"].as_str().unwrap())),
            "{id}"
        );
        assert_eq!(
            answered["place"]["line"], said["place"]["line"],
            "{answered}"
        );
        if let Some(link) = answered["place"]["link"].as_str() {
            let file = link
                .strip_prefix("file://")
                .unwrap()
                .split('#')
                .next()
                .unwrap();
            assert!(Path::new(&file.replace("%20", " ")).is_file(), "{link}");
        }
    }

    // The other tools accept the identifiers in an answer.
    let sites = json_of(&mut client, "site", json!({"trace": name}));
    let of_report = report["sites"].as_array().unwrap();
    assert_eq!(sites["of"], of_report.len());
    for (answered, said) in sites["sites"].as_array().unwrap().iter().zip(of_report) {
        assert_eq!(answered["tasks"], said["count"]);
        let one = json_of(&mut client, "site", json!({"site": answered["site"]}));
        assert_eq!(one["site"], answered["site"]);
        assert!(!one["blocks"].as_array().unwrap().is_empty(), "{one}");
        let faster = json!({"sites": [answered["site"]], "factors": [2]});
        let what_if = json_of(&mut client, "what_if", faster);
        assert_eq!(what_if["each"][0]["faster"][0]["factor"], 2);
        assert!(close(
            &what_if["now"]["parallelism"],
            &report["parallelism"]
        ));
    }
    for answered in &answered {
        if let Some(arguments) = answered.get("what_if") {
            json_of(&mut client, "what_if", arguments.clone());
        }
    }

    let heat = call(
        &mut client,
        "source_heat",
        json!({"file": "main.rs", "lines": 3}),
    );
    match (report.get("samples"), heat) {
        (Some(samples), Ok(text)) => {
            let heat: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(heat["samples"], samples["inside"]);
            let lines = heat["lines"].as_array().unwrap();
            assert!(!lines.is_empty() && lines.len() <= 3, "{heat}");
            assert!(lines[0]["text"].is_string(), "{heat}");
        }
        // The kernel takes no samples here; the answer says what they need.
        (_, Err(why)) => assert!(
            why.contains("samples") || why.contains("no sample"),
            "{why}"
        ),
        (None, Ok(text)) => panic!("{text}"),
    }

    let both = json!({"before": [name], "after": [name]});
    let same = json_of(&mut client, "compare", both);
    assert_eq!(same["quantities"]["work"]["change"], 0.0, "{same}");

    let sql = json!({"traces": [name], "sql": "select count(*) as n from runs"});
    let rows = call(&mut client, "query", sql).unwrap();
    assert!(rows.lines().any(|line| line.trim() == "1"), "{rows}");
    let schema = call(&mut client, "query", json!({})).unwrap();
    assert!(
        schema.contains("strands") && schema.contains("critical-sites"),
        "{schema}"
    );
    let write = json!({"sql": "attach 'x.db' as x"});
    call(&mut client, "query", write).unwrap_err();
    client.close();
}

/// Other programs used the CPUs for most of the lost time, but an agent can only change the rest.
#[test]
fn what_the_program_can_change_comes_before_the_machines_load() {
    let trace = r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child","cpus":2}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":300,"w":0,"task":0,"child":1,"site":"a.rs:3"}
{"ev":"resume","t":300,"w":0,"task":0}
{"ev":"begin","t":1300,"w":1,"task":1}
{"ev":"wait","t":310,"w":0,"task":0}
{"ev":"off","t":1400,"w":1,"why":"preempted"}
{"ev":"on","t":4400,"w":1}
{"ev":"end","t":4700,"w":1,"task":1}
{"ev":"resume","t":4700,"w":0,"task":0}
{"ev":"end","t":4800,"w":0,"task":0}
"#;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("run.jsonl"), trace).unwrap();
    let mut client = start(&[], folder.path());
    let answer = json_of(&mut client, "findings", json!({"trace": "run.jsonl"}));
    let findings = answer["findings"].as_array().unwrap();
    let percent = |index: usize| findings[index]["lost_percent"].as_f64().unwrap();
    let load = findings.iter().position(|f| f["cause"] == "descheduled");
    let load = load.unwrap_or_else(|| panic!("{answer}"));
    assert!(load > 0 && load + 1 == findings.len(), "{answer}");
    assert!(percent(load) > percent(0), "{answer}");
}

#[test]
fn nothing_outside_of_the_folders_is_told_and_nothing_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../export/tests/golden");
    let work = folder.path().join("work");
    fs::create_dir_all(work.join("inside")).unwrap();
    fs::copy(golden.join("serial_merge.jsonl"), work.join("run.jsonl")).unwrap();
    fs::copy(
        golden.join("balanced.jsonl"),
        folder.path().join("secret.jsonl"),
    )
    .unwrap();
    symlink("../secret.jsonl", work.join("link.jsonl")).unwrap();
    symlink("..", work.join("up")).unwrap();

    let mut client = start(&["--allow", "."], &work);
    let findings = json_of(&mut client, "findings", json!({"trace": "run.jsonl"}));
    assert_eq!(findings["findings"][0]["cause"], "serial-strand");
    let secret = folder.path().join("secret.jsonl").display().to_string();
    for bad in [
        "../secret.jsonl",
        "inside/../../secret.jsonl",
        "link.jsonl",
        "up/secret.jsonl",
        "/etc/passwd",
        &secret,
    ] {
        for (tool, arguments) in [
            ("findings", json!({"trace": bad})),
            ("site", json!({"trace": bad})),
            ("source_heat", json!({"trace": bad})),
            ("what_if", json!({"trace": bad, "sites": ["root"]})),
            ("compare", json!({"before": ["run.jsonl"], "after": [bad]})),
            ("query", json!({"traces": [bad], "name": "critical-sites"})),
        ] {
            let why = call(&mut client, tool, arguments).unwrap_err();
            assert!(
                why.contains("outside") || why.contains("no such file"),
                "{tool} {bad}: {why}"
            );
        }
    }
    // No tool runs programs unless the user allowed it, whatever its name.
    assert!(!tools(&mut client).contains(&"record".to_owned()));
    let run = json!({"command": ["touch", "made"]});
    let why = call(&mut client, "record", run).unwrap_err();
    assert!(why.contains("--allow-record"), "{why}");
    assert!(!work.join("made").exists());
    // Errors are reported.
    for (tool, arguments, expected) in [
        ("findings", json!({}), "no trace"),
        ("findings", json!({"file": "run.jsonl"}), "unknown field"),
        ("nothing", json!({}), "no tool"),
        (
            "site",
            json!({"trace": "run.jsonl", "site": "src/sort.rs:38"}),
            "src/sort.rs:37",
        ),
        (
            "what_if",
            json!({"trace": "run.jsonl"}),
            "what is to be faster",
        ),
        (
            "compare",
            json!({"before": [], "after": ["run.jsonl"]}),
            "between one",
        ),
    ] {
        let why = call(&mut client, tool, arguments).unwrap_err();
        assert!(why.contains(expected), "{tool}: {why}");
    }
    client.close();
}

#[test]
fn an_agent_may_record_where_it_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("loop.c");
    let program = "#include <omp.h>\nint main(void) {\n  volatile double s = 0;\n#pragma omp parallel for num_threads(2)\n  for (int i = 0; i < 1000; i++) for (int j = 0; j < 10000; j++) s = j;\n  return 3;\n}\n";
    fs::write(&source, program).unwrap();
    let built = Command::new("gcc")
        .args(["-g", "-O1", "-fopenmp", "loop.c", "-o", "loop"])
        .current_dir(folder.path())
        .status();
    assert!(
        built.is_ok_and(|status| status.success()),
        "gcc with OpenMP"
    );
    let mut client = start(&["--allow-record"], folder.path());
    assert!(tools(&mut client).contains(&"record".to_owned()));
    let answer = json_of(
        &mut client,
        "record",
        json!({"command": ["./loop"], "output": "loop.wspan"}),
    );
    assert_eq!(answer["exit_code"], 3, "{answer}");
    assert_eq!(answer["recorded"]["trace"], "loop.wspan", "{answer}");
    assert!(answer["recorded"]["tasks"].as_u64().unwrap() > 1);
    assert!(folder.path().join("loop.wspan").is_file());
    // Does not overwrite it, does not write elsewhere, and does not run forever.
    for bad in ["loop.wspan", "../other.wspan", "/tmp/other.wspan"] {
        let run = json!({"command": ["./loop"], "output": bad});
        call(&mut client, "record", run).unwrap_err();
    }
    let long = json!({"command": ["sleep", "60"], "timeout_seconds": 1});
    let answer = json_of(&mut client, "record", long);
    assert_eq!(answer["ended_after_seconds"], 1, "{answer}");
    client.close();
}
