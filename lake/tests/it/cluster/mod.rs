//! A Ballista cluster gives the same answers as this process. Scheduler and executors are
//! Ballista's own programs on loopback, which `cargo xtask test lake` installs.

mod started;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::{add, files, lake, traces};

/// The environment variable with the folder of Ballista's programs.
const PROGRAMS: &str = "WORKSPAN_BALLISTA";
/// Maximum time until a cluster is ready.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// A scheduler and its executors. They are killed when this value is dropped.
pub struct Cluster {
    scheduler: Child,
    executors: Vec<Child>,
    port: u16,
    folder: TempDir,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in self.executors.iter_mut().chain([&mut self.scheduler]) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A port that is free at the moment.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

fn program(name: &str) -> Command {
    let folder = std::env::var_os(PROGRAMS)
        .expect("the folder of Ballista's programs: cargo xtask test lake");
    let mut command = Command::new(PathBuf::from(folder).join(name));
    command.stdin(Stdio::null());
    command
}

impl Cluster {
    /// Starts a scheduler and `executors` executors with these environment variables, and waits
    /// until all are ready.
    pub fn start(executors: usize, variables: &[(&str, &str)]) -> Cluster {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let log = |name: &str| std::fs::File::create(folder.path().join(name)).unwrap();
        let mut scheduler = program("ballista-scheduler");
        scheduler
            .args(["--bind-host", "127.0.0.1", "--external-host", "127.0.0.1"])
            .args(["--bind-port", &port.to_string()])
            .args(["--min-ready-executors", &executors.to_string()])
            // The scheduler notices a killed executor after seconds instead of minutes.
            .args(["--scheduler-policy", "pull-staged"])
            .args(["--executor-timeout-seconds", "6"])
            .args(["--expire-dead-executor-interval-seconds", "1"])
            .stdout(log("scheduler.log"))
            .stderr(log("scheduler.err"));
        let mut cluster = Cluster {
            scheduler: scheduler.spawn().unwrap(),
            executors: Vec::new(),
            port,
            folder,
        };
        cluster.wait_until("answers", |answer| answer.starts_with("HTTP/"));
        for number in 0..executors {
            cluster.add_executor(number, variables);
        }
        cluster.wait_until("has its executors", |answer| answer.contains(" 200 "));
        cluster
    }

    fn add_executor(&mut self, number: usize, variables: &[(&str, &str)]) {
        let folder = self.folder.path().join(format!("executor-{number}"));
        std::fs::create_dir(&folder).unwrap();
        let log = |name: &str| std::fs::File::create(folder.join(name)).unwrap();
        let (flight, grpc, health) = (free_port(), free_port(), free_port());
        let mut executor = program("ballista-executor");
        executor
            .args(["--bind-host", "127.0.0.1", "--external-host", "127.0.0.1"])
            .args(["--scheduler-host", "127.0.0.1"])
            .args(["--scheduler-port", &self.port.to_string()])
            .args(["--bind-port", &flight.to_string()])
            .args(["--bind-grpc-port", &grpc.to_string()])
            .args(["--bind-health-port", &health.to_string()])
            .args(["--scheduler-connect-timeout-seconds", "60", "--vcores", "2"])
            .args(["--executor-heartbeat-interval-seconds", "1"])
            .args(["--task-scheduling-policy", "pull-staged"])
            .args(["--memory-pool-size", "1GB"])
            .arg("--work-dir")
            .arg(&folder)
            .envs(variables.iter().copied())
            .stdout(log("executor.log"))
            .stderr(log("executor.err"));
        self.executors.push(executor.spawn().unwrap());
    }

    fn wait_until(&self, what: &str, done: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        while begun.elapsed() < START_TIMEOUT {
            if self.readiness().is_ok_and(|answer| done(&answer)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let logs: Vec<String> = files(self.folder.path())
            .iter()
            .filter_map(|path| std::fs::read_to_string(path).ok())
            .collect();
        panic!("no cluster that {what}: {}", logs.join("\n"));
    }

    fn readiness(&self) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream
            .write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// The scheduler's address.
    pub fn address(&self) -> String {
        format!("df://127.0.0.1:{}", self.port)
    }
}

fn asked(root: &Path, query: &str, cluster: Option<&str>) -> Output {
    let mut arguments = vec!["sql", root.to_str().unwrap(), query, "--format", "csv"];
    if let Some(address) = cluster {
        arguments.extend(["--cluster", address]);
    }
    lake(&arguments)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn what_a_cluster_needs_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("lake");
    add(&root, &traces(folder.path(), 1), &[]);
    let said = |address: &str| {
        let output = asked(&root, "select 1 from runs", Some(address));
        assert_eq!(output.status.code(), Some(1), "{address}");
        text(&output.stderr)
    };
    if !cfg!(feature = "cluster") {
        let said = said("df://localhost");
        assert!(said.contains("--features cluster"), "{said}");
        return;
    }
    for wrong in ["localhost:50050", "http://localhost:50050", "df://"] {
        let said = said(wrong);
        assert!(said.contains("as df://localhost:50050"), "{wrong}: {said}");
    }
    let port = free_port();
    let nobody = said(&format!("df://127.0.0.1:{port}"));
    assert!(nobody.contains("no scheduler answers there"), "{nobody}");
    assert!(
        nobody.contains(&format!("ballista-scheduler --bind-port {port}")),
        "{nobody}"
    );
    // Another program listens on this port.
    let other = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("df://{}", other.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = other.accept().unwrap();
        stream.write_all(b"220 mail.example.invalid\r\n").unwrap();
    });
    let foreign = said(&address);
    assert!(foreign.contains("is not a scheduler"), "{foreign}");
    thread.join().unwrap();
    let both = lake(&["sql", "x", "q", "--cluster", "df://h", "--memory", "1GB"]);
    assert_eq!(both.status.code(), Some(2));
}
