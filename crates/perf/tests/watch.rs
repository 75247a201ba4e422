//! Watches real programs: this test binary execs itself through a small driver mode.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Runs `sh -c script` under the watch and returns its switches, or why it was refused.
fn watch(script: &str, path: &Path) -> Result<workspan_perf::Switches, String> {
    watch_with_requests(script, path, None)
}

/// The same; processes may ask to be watched through the pipe `requests`.
fn watch_with_requests(
    script: &str,
    path: &Path,
    requests: Option<&Path>,
) -> Result<workspan_perf::Switches, String> {
    // The watch must be set in a process of one thread, so a child of ours does it: this same
    // binary, told by a variable.
    let status = Command::new(std::env::current_exe().expect("own path"))
        .args(["driver", "--exact", "--nocapture", "--test-threads=1"])
        .env("WATCH_SCRIPT", script)
        .env("WATCH_FILE", path)
        .env("WATCH_REQUESTS", requests.unwrap_or(Path::new("")))
        .status()
        .expect("start");
    if !path.exists() {
        return Err(format!("refused; {status}"));
    }
    workspan_perf::read_switches(path, Duration::from_secs(5)).map_err(|e| e.to_string())
}

/// Prints around the test harness, which captures the output of passing tests.
fn skipped(test: &str, why: &str) {
    let line = format!("skipped: {test}: {why}\n");
    let written = std::io::stdout().write_all(line.as_bytes());
    written.expect("standard output");
}

#[test]
fn driver() {
    let (Ok(script), Ok(file)) = (std::env::var("WATCH_SCRIPT"), std::env::var("WATCH_FILE"))
    else {
        return;
    };
    let requests = std::env::var("WATCH_REQUESTS").unwrap_or_default();
    // A forked child of the test has one thread, as the runner has.
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &script]);
    // SAFETY: the closure only makes system calls and opens files in the forked child, which has
    // one thread.
    unsafe {
        command.pre_exec(move || {
            workspan_perf::watch_from_exec(
                Path::new(&file),
                Some(workspan_perf::Rate::from_hertz(997)),
                match requests.is_empty() {
                    true => workspan_perf::Scope::Process,
                    false => workspan_perf::Scope::Descendants,
                },
                (!requests.is_empty()).then_some(Path::new(&requests)),
            )
            .map(|_| ())
            .map_err(std::io::Error::other)
        });
    }
    let _ = command.status();
}

#[test]
fn a_sleeper_is_blocked() {
    let folder = tempfile::tempdir().expect("temporary folder");
    match watch("exec sleep 0.2", &folder.path().join("switches")) {
        Ok(switches) => {
            let off = workspan_perf::off_cpu_intervals(&switches.switches);
            let longest = off
                .iter()
                .max_by_key(|o| o.end_ns - o.begin_ns)
                .expect("an interval");
            let length = longest.end_ns - longest.begin_ns;
            assert!(!longest.preempted, "{longest:?}");
            assert!(
                (190_000_000..5_000_000_000).contains(&length),
                "{length} ns"
            );
        }
        Err(why) => skipped("a_sleeper_is_blocked", &why),
    }
}

/// `dd` copies nothing but zeros, in the kernel. Its samples are the program's addresses, and as
/// many as its time on the CPUs has.
#[test]
fn time_in_the_kernel_has_samples() {
    let test = "time_in_the_kernel_has_samples";
    if !workspan_perf::kernel_is_sampled() {
        return skipped(test, "no access to kernel events");
    }
    let folder = tempfile::tempdir().expect("temporary folder");
    let copy = "exec dd if=/dev/zero of=/dev/null bs=4M count=400 status=none";
    match watch(copy, &folder.path().join("switches")) {
        Ok(switches) => {
            let main = switches.switches[0].tid;
            let on = workspan_perf::on_cpu_times(&switches.switches, main);
            let expected = 997.0 * on.total() as f64 / 1e9;
            let samples = switches.samples.len() as f64;
            assert!(samples > 0.5 * expected, "{samples} of {expected}");
            let in_kernel = |address: &u64| *address >= 1 << 63;
            let mut addresses = switches.samples.iter().flat_map(|s| &s.addresses);
            assert!(!addresses.any(in_kernel));
        }
        Err(why) => skipped(test, &why),
    }
}

/// What `two_spinners_on_one_cpu_are_preempted` watches.
#[test]
fn spinner() {
    if std::env::var_os("WATCH_SPIN").is_none() {
        return;
    }
    let spin = || {
        let begun = std::time::Instant::now();
        while begun.elapsed() < Duration::from_millis(300) {
            std::hint::spin_loop();
        }
    };
    std::thread::scope(|s| {
        s.spawn(spin);
        s.spawn(spin);
    });
}

#[test]
fn two_spinners_on_one_cpu_are_preempted() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let own = std::env::current_exe().expect("own path");
    let script = format!(
        "WATCH_SPIN=1 exec taskset -c 0 '{}' spinner --exact --test-threads=1",
        own.display()
    );
    match watch(&script, &folder.path().join("switches")) {
        Ok(switches) => {
            let off = workspan_perf::off_cpu_intervals(&switches.switches);
            let preempted: u64 = off
                .iter()
                .filter(|o| o.preempted)
                .map(|o| o.end_ns - o.begin_ns)
                .sum();
            // Each of the two is off while the other runs: about 300 ms between them, more under
            // load.
            assert!(preempted > 150_000_000, "{preempted} ns of {off:?}");
        }
        Err(why) => skipped("two_spinners_on_one_cpu_are_preempted", &why),
    }
}

#[test]
fn a_busy_program_is_sampled_as_long_as_it_is_busy() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    match watch(script, &folder.path().join("switches")) {
        Ok(watched) if watched.hertz == 997 => {
            assert!(watched.samples.len() > 20, "{}", watched.samples.len());
            let tid = watched.samples[0].tid;
            assert!(watched.samples.iter().all(|s| s.tid == tid));
            assert!(watched.samples.iter().all(|s| !s.addresses.is_empty()));
            assert!(watched.samples.is_sorted_by_key(|s| s.ns));
        }
        Ok(_) => skipped(
            "a busy program is sampled",
            "the kernel takes no samples here",
        ),
        Err(why) => skipped("a busy program is sampled", &why),
    }
}

/// Writes its id into the pipe as a program of a daemon does, and returns whether it is watched.
fn ask(requests: &Path, pid: u32) -> bool {
    let mut pipe = std::fs::OpenOptions::new()
        .write(true)
        .open(requests)
        .expect("the pipe");
    pipe.write_all(&pid.to_ne_bytes()).expect("the request");
    let answer = |extension: &str| requests.with_file_name(format!("{pid}.{extension}"));
    loop {
        if answer(workspan_perf::WATCHED).exists() {
            return true;
        }
        if answer(workspan_perf::UNWATCHED).exists() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_process_that_asks_is_watched_too() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let [file, requests, done] =
        ["switches", "requests", "done"].map(|name| folder.path().join(name));
    let script = format!("while [ ! -e '{}' ]; do sleep 0.02; done", done.display());
    let watched = std::thread::spawn({
        let (file, requests) = (file.clone(), requests.clone());
        move || watch_with_requests(&script, &file, Some(&requests))
    });
    while !requests.exists() && !watched.is_finished() {
        std::thread::sleep(Duration::from_millis(1));
    }
    // It is a child of this test, and no relative of the watched program.
    let mut other = Command::new("/bin/sh")
        .args(["-c", "read go; exec sleep 0.2"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .expect("start");
    let is_watched = requests.exists() && ask(&requests, other.id());
    drop(other.stdin.take());
    other.wait().expect("end");
    std::fs::write(&done, "").expect("the end");
    match watched.join().expect("no panic") {
        Ok(switches) if is_watched => {
            let own = |tid: u32| switches.processes.get(&tid) == Some(&other.id());
            let off = workspan_perf::off_cpu_intervals(&switches.switches);
            let lengths = off.iter().filter(|o| own(o.tid) && !o.preempted);
            let longest = lengths.map(|o| o.end_ns - o.begin_ns).max().unwrap_or(0);
            assert!(longest >= 190_000_000, "{longest} ns of {off:?}");
        }
        Ok(_) => skipped("a process that asks is watched", "the kernel refuses it"),
        Err(why) => skipped("a process that asks is watched", &why),
    }
}

#[test]
fn a_sample_with_few_callers_has_the_stack() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    match watch(script, &folder.path().join("switches")) {
        Ok(watched) if watched.hertz == 997 && cfg!(target_arch = "x86_64") => {
            let short = watched.samples.iter().filter(|s| s.addresses.len() <= 6);
            let mut stacks = short.clone().filter_map(|s| s.stack.as_ref());
            assert!(short.count() == 0 || stacks.next().is_some());
            // The stack pointer is that of a main thread, and the words begin there.
            for stack in stacks {
                assert!(
                    stack.sp > 1 << 40 && stack.sp.is_multiple_of(8),
                    "{stack:?}"
                );
                assert!(!stack.words.is_empty() && stack.words.len() <= 64);
            }
        }
        Ok(_) => skipped("stacks of samples", "the kernel takes no samples here"),
        Err(why) => skipped("stacks of samples", &why),
    }
}
