//! Ranks of MPI on several hosts. The hosts are namespaces of this machine with other names,
//! process ids and monotonic clocks, which a script in place of `ssh` enters.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::mpi::{compiled, line, report};
use crate::native::skipped;

/// By how many nanoseconds the clock of `far` is ahead of that of `near`.
const AHEAD_NS: i64 = 49_000_000_000_000;

/// Stands in for `ssh`. Like it, passes no variable on.
const AGENT: &str = r#"#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
case $host in near) up=1000;; *) up=50000;; esac
exec unshare --time --monotonic $up --boottime $up --uts --mount --pid --fork sh -c "hostname $host
mount -t proc proc /proc
exec env -i PATH=$PATH HOME=$HOME OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 sh -c '$*'"
"#;

/// Whether this process may make such hosts.
fn may_make_hosts() -> bool {
    let tried = Command::new("unshare")
        .args(["--time", "--monotonic", "1000", "--boottime", "1000"])
        .args(["--uts", "--mount", "--pid", "--fork", "sh", "-c"])
        .arg("hostname near && mount -t proc proc /proc")
        .output();
    tried.is_ok_and(|output| output.status.success())
}

fn agent(folder: &Path) -> PathBuf {
    let path = folder.join("agent.sh");
    std::fs::write(&path, AGENT).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A compiler, a launcher with two hosts, and the packages that they are in.
type Library = (&'static str, Vec<String>, &'static str);

fn libraries(agent: &Path) -> [Library; 2] {
    let agent = agent.to_str().unwrap();
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    [
        (
            "mpicc.openmpi",
            words(&format!(
                "mpirun.openmpi --mca plm_rsh_agent {agent} --host near:2,far:2"
            )),
            "openmpi-bin and libopenmpi-dev",
        ),
        (
            "mpicc.mpich",
            words(&format!(
                "mpiexec.hydra -launcher ssh -launcher-exec {agent} -hosts near:2,far:2"
            )),
            "mpich and libmpich-dev",
        ),
    ]
}

#[test]
fn ranks_of_two_hosts_are_one_run_on_one_clock() {
    let name = "ranks_of_two_hosts_are_one_run_on_one_clock";
    if !may_make_hosts() {
        return skipped(name, "unshare may not make namespaces");
    }
    let folder = tempfile::tempdir().unwrap();
    for (compiler, launcher, packages) in libraries(&agent(folder.path())) {
        let Some(program) = compiled(compiler, folder.path()) else {
            skipped(name, &format!("no {compiler} ({packages})"));
            continue;
        };
        let launcher: Vec<&str> = launcher.iter().map(String::as_str).collect();
        let (report, said) = report(folder.path(), &launcher, "4", &program, "collective");
        assert!(said.contains("4 ranks are one run in it"), "{said}");
        check(&report, compiler);
    }
}

fn check(report: &Value, compiler: &str) {
    let late = &report["findings"][0];
    assert_eq!(late["id"], "late-rank", "{compiler}: {report:#}");
    let at = &late["blocked_in"];
    assert_eq!(at["late"]["rank"], 1, "{compiler}: {late:#}");
    assert_eq!(
        at["line"],
        line("// waits: collective"),
        "{compiler}: {late:#}"
    );
    let hosts: Vec<&str> = report["processes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|process| process["host"].as_str().unwrap())
        .collect();
    assert_eq!(hosts, ["near", "near", "far", "far"], "{compiler}");
    let [clock] = &report["clocks"].as_array().unwrap()[..] else {
        panic!("{compiler}: {report:#}");
    };
    assert_eq!(clock["host"], "far", "{compiler}");
    let offset = clock["offset_ns"].as_i64().unwrap();
    let uncertainty = clock["uncertainty_ns"].as_u64().unwrap();
    let error = (offset + AHEAD_NS).unsigned_abs();
    // The beginning of the far part is not that of the near one, but nothing drifts here.
    assert!(error <= uncertainty, "{compiler}: {clock:#}");
    assert_eq!(clock["contradictions"], 0, "{compiler}: {clock:#}");
    let warnings = report["warnings"].to_string();
    assert!(
        warnings.contains("the kernel watches only what runs on the host of `workspan record`"),
        "{compiler}: {warnings}"
    );
}
