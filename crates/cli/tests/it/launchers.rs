//! Launchers whose processes are not below them, and jobs that add their runs to a lake.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::native::skipped;
use crate::project::{WORKSPAN, bare, read, said};

/// Writes a program for the shell.
fn script(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Waits for the environment that the launcher asks the daemon to use.
fn environment(asked: &Path) -> Vec<(OsString, OsString)> {
    while !asked.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let all = fs::read(asked).unwrap();
    let variables = all.split(|&byte| byte == 0);
    let both = |variable: &[u8]| {
        let at = variable.iter().position(|&byte| byte == b'=')?;
        let (name, value) = (&variable[..at], &variable[at + 1..]);
        let text = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
        Some((text(name), text(value)))
    };
    variables.filter_map(both).collect()
}

/// `srun` has its programs started by a daemon. Here it writes its environment down, this test is
/// the daemon, and the launcher ends when that has nothing to do any more.
#[test]
fn processes_that_a_daemon_starts_are_watched_like_others() {
    let folder = tempfile::tempdir().unwrap();
    let in_folder = |name: &str| folder.path().join(name);
    script(
        &in_folder("srun"),
        "env -0 > asked.new; mv asked.new asked\nwhile [ ! -e done ]; do sleep 0.02; done\n",
    );
    let trace = in_folder("run.wspan");
    let mut command = bare(WORKSPAN);
    command.args(["record", "--no-report", "-o"]).arg(&trace);
    command.args(["--", "./srun"]).current_dir(folder.path());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let launcher = command.spawn().unwrap();
    let environment = environment(&in_folder("asked"));
    let spin = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exec sleep 0.2";
    let mut ranks = (0..2).map(|rank: u32| {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", spin]).current_dir(folder.path());
        command.env_clear().envs(environment.iter().cloned());
        command.env("SLURM_PROCID", rank.to_string());
        command.env("SLURM_STEP_NUM_TASKS", "2");
        command.spawn().unwrap()
    });
    let mut ranks: Vec<_> = ranks.by_ref().collect();
    for rank in &mut ranks {
        assert!(rank.wait().unwrap().success());
    }
    fs::write(in_folder("done"), "").unwrap();
    let output = launcher.wait_with_output().unwrap();
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("2 ranks are one run in it"), "{text}");
    assert!(!fs::read_dir(folder.path()).unwrap().flatten().any(|file| {
        let name = file.file_name();
        name.to_string_lossy().contains("spool")
    }));
    let dag = read(&trace);
    if dag.samples.hertz == 0 {
        let why = "the kernel takes no samples here";
        return skipped("processes_that_a_daemon_starts_are_watched", why);
    }
    let processes = &dag.meta.processes;
    for rank in 0..2 {
        let of_rank = |t, thread| {
            let process = processes.of(thread, t).map(|at| &processes.list[at]);
            process.is_some_and(|process| process.rank == Some(rank))
        };
        let times = dag.samples.t.iter().zip(&dag.samples.thread);
        let samples = times.filter(|&(&t, &thread)| of_rank(t, thread));
        assert!(samples.count() > 5, "rank {rank} was not sampled");
        // The program that the shell became slept.
        let offs = dag.offs.iter().filter(|off| of_rank(off.start, off.thread));
        let longest = offs.map(|off| off.end - off.start).max().unwrap_or(0);
        let ms = longest * 1000 / dag.meta.tick_rate();
        assert!(ms >= 190, "rank {rank} slept for {ms} ms");
    }
}

/// A job's script that says nothing of the lake. A program in place of `workspan-lake` writes down
/// how it is called.
#[test]
fn runs_of_a_slurm_array_go_into_the_lake_of_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let in_folder = |name: &str| folder.path().join(name);
    if Path::new(WORKSPAN).with_file_name("workspan-lake").exists() {
        let why = "a real workspan-lake is beside workspan";
        return skipped("runs_of_a_slurm_array_go_into_the_lake", why);
    }
    script(
        &in_folder("workspan-lake"),
        "printf '%s\\n' \"$@\" > called\n",
    );
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::split_paths(&path);
    let path = std::env::join_paths([folder.path().to_owned()].into_iter().chain(path));
    let mut command = bare(WORKSPAN);
    command.args(["record", "--no-report", "--tag", "commit=3f1c9a"]);
    command.args(["-o", "run.wspan", "--", "sleep", "0.01"]);
    command.current_dir(folder.path());
    command.env("PATH", path.unwrap());
    command.env("WORKSPAN_LAKE", "s3://perf/lake");
    command.env("SLURM_JOB_ID", "27");
    command.env("SLURM_ARRAY_JOB_ID", "26");
    command.env("SLURM_ARRAY_TASK_ID", "3");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let called = fs::read_to_string(in_folder("called")).unwrap();
    let called: Vec<&str> = called.lines().collect();
    assert_eq!(called[..3], ["add", "--into", "s3://perf/lake"]);
    for tag in [
        "commit=3f1c9a",
        "slurm-job=27",
        "slurm-array-job=26",
        "slurm-array-index=3",
    ] {
        assert!(called.contains(&tag), "{called:?}");
    }
}
