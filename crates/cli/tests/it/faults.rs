//! Programs with one known fault each, recorded like a user does: the report names the fault, on
//! any machine.

use std::io::Write;

use crate::project::{Project, WORKSPAN, printed, said, trace_of};
use serde_json::Value;

fn recorded(fault: &str, variables: &[(&str, &str)]) -> Value {
    let project = Project::new("faults");
    let mut command = project.cargo_workspan(&["--no-report", "run", "--release", "--", fault]);
    let output = command
        .env("RAYON_NUM_THREADS", "2")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let trace = trace_of(&output, &project.root);
    let report = |more: &[&str]| {
        let mut command = project.command(WORKSPAN);
        printed(
            &command
                .arg("report")
                .args(more)
                .arg(&trace)
                .output()
                .unwrap(),
        )
    };
    let mut json: Value = serde_json::from_str(&report(&["--json"])).unwrap();
    json["text"] = report(&["--long", "--color", "never"]).into();
    let lost = |cause: &Value| cause["lost"].as_u64().unwrap();
    let causes = json["causes"].as_array().unwrap();
    let sum: u64 = causes.iter().map(lost).sum();
    let parts = [
        "descheduled",
        "blocked",
        "recording",
        "delay",
        "no_work_app",
        "no_work_sched",
    ];
    let breakdown: u64 = parts
        .iter()
        .filter_map(|p| json["breakdown"][p].as_u64())
        .sum();
    assert_eq!(sum, breakdown, "{json:#}");
    json
}

fn finding<'a>(json: &'a Value, id: &str) -> &'a Value {
    let findings = json["findings"].as_array().unwrap();
    let found = findings.iter().find(|f| f["id"] == id);
    found.unwrap_or_else(|| panic!("no {id}:\n{}", json["text"].as_str().unwrap()))
}

fn share(json: &Value, id: &str) -> f64 {
    let causes = json["causes"].as_array().unwrap();
    let cause = causes.iter().find(|c| c["id"] == id);
    cause.map_or(0.0, |c| c["lost_percent"].as_f64().unwrap())
}

/// Prints around the test harness, which captures the output of passing tests.
fn skipped(test: &str, why: &str) {
    let line = format!("skipped: {test}: {why}\n");
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}

/// Line of `src/main.rs` where the fixture has `what`.
fn line(what: &str) -> u64 {
    let source = include_str!("../fixtures/faults/src/main.rs");
    let line = source.lines().position(|line| line.contains(what));
    line.unwrap() as u64 + 1
}

#[test]
fn where_tasks_block_is_named_and_not_what_ran() {
    for (fault, what, cause) in [
        ("sleepy", "std::thread::sleep", "sleep"),
        ("mutex", "all.lock()", "lock"),
        ("channel", "sender.send", "channel"),
    ] {
        let json = recorded(fault, &[]);
        // On a busy machine only one task may run at a time, so that none waits for the lock.
        if fault == "mutex" && share(&json, cause) < 10.0 {
            skipped("where_tasks_block", "nobody waited for the lock");
            continue;
        }
        let found = finding(&json, cause);
        assert!(found.get("inside").is_none(), "{found:#}");
        match found.get("blocked_in") {
            Some(at) => {
                assert_eq!(at["file"], "src/main.rs", "{found:#}");
                assert_eq!(at["line"], line(what), "{found:#}");
            }
            None => skipped(
                "where_tasks_block",
                "the kernel gives no stacks of switches here",
            ),
        }
    }
}

#[test]
fn a_lock_is_told_with_where_it_is_released_and_a_channel_with_its_other_end() {
    if !cfg!(target_arch = "x86_64") {
        return skipped("a_lock_is_told", "waits are logged on x86-64 alone");
    }
    let json = recorded("mutex", &[]);
    match share(&json, "lock") < 10.0 {
        true => skipped("a_lock_is_told", "nobody waited for the lock"),
        false => {
            let holder = &finding(&json, "lock")["blocked_in"]["holder"];
            if let Some(called) = holder["ran"].get("called_at") {
                assert_eq!(
                    called["line"],
                    line("all.wrapping_add(burn(200_000"),
                    "{holder:#}"
                );
            }
            let limits = &json["limits"];
            let held = &limits["lock_held"]["ticks"];
            // The span goes from task to task in the order in which they had the lock.
            let span = limits["span_without_lock_order"].as_u64();
            let span = span.or(json["span"].as_u64());
            assert!(held.as_u64() > span, "{json:#}");
        }
    }
    let json = recorded("channel", &[]);
    let holder = &finding(&json, "channel")["blocked_in"]["holder"];
    assert_eq!(
        holder["released_at"]["line"],
        line("receiver.recv()"),
        "{holder:#}"
    );
    let json = recorded("bridge", &[]);
    if share(&json, "lock") >= 10.0 {
        let text = json["text"].as_str().unwrap();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("`par_bridge` hands out items"), "{text}");
    }
    // The variant that shares nothing.
    let json = recorded("apart", &[]);
    for cause in ["lock", "channel", "io", "sleep"] {
        let lost = json["causes"]
            .as_array()
            .unwrap()
            .iter()
            .find(|c| c["id"] == cause);
        let lost = lost.map_or(0, |c| c["lost"].as_u64().unwrap());
        let all = json["elapsed"].as_u64().unwrap() * json["workers"].as_u64().unwrap();
        assert!(lost * 20 < all, "{}", json["text"]);
    }
}

#[test]
fn threads_that_call_nothing_are_tasks_on_the_critical_path() {
    let json = recorded("threads", &[]);
    let text = json["text"].as_str().unwrap();
    let started = line("burn(120_000_000, i)");
    let sites = json["sites"].as_array().unwrap();
    let threads = sites.iter().find(|s| s["line"] == started);
    let threads = threads.unwrap_or_else(|| panic!("no task started at line {started}:\n{text}"));
    let work = |of: &Value| of["work"].as_f64().unwrap();
    assert_eq!(threads["count"], 2, "{threads:#}");
    assert!(work(threads) > 0.9 * work(&json), "{text}");
    assert!(
        threads["critical_percent"].as_f64().unwrap() > 90.0,
        "{text}"
    );
    assert_eq!(
        json["limits"]["divided_by_threads"]["line"], started,
        "{text}"
    );
    // The wait of the main thread is no loss: what it waits for runs.
    assert!(share(&json, "blocked") < 10.0, "{text}");
}

#[test]
fn a_pool_of_one_is_named_with_its_line() {
    let json = recorded("pools", &[]);
    finding(&json, "other-pool");
    assert!(share(&json, "slow-thief") < 5.0, "{}", json["text"]);
    let text = json["text"].as_str().unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let built = format!(
        "pool of 1 thread built at src/main.rs:{}",
        line("ThreadPoolBuilder::new")
    );
    assert!(text.contains(&built), "{text}");
}

#[test]
fn own_threads_beyond_the_cpus_are_no_other_programs() {
    let json = recorded("many", &[("RAYON_NUM_THREADS", "24")]);
    let cpus = std::thread::available_parallelism().unwrap().get();
    if cpus >= 12 || json.get("samples").is_none() {
        return skipped(
            "own_threads",
            "too many CPUs, or the kernel does not report context switches",
        );
    }
    finding(&json, "oversubscription");
    // Others had no more than the CPUs all the time, of 24 workers.
    let most = 100.0 * cpus as f64 / 24.0;
    assert!(
        share(&json, "descheduled") <= most + 2.0,
        "{}",
        json["text"]
    );
    assert!(
        json["text"]
            .as_str()
            .unwrap()
            .contains("RAYON_NUM_THREADS=24")
    );
    assert!(json.get("quiet").is_some());
}
