//! A cluster on this machine: Ballista's scheduler and executors as processes.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Result;

/// Maximum time until the scheduler and the executors are ready.
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// Maximum size of a message, in bytes: a plan contains the names of thousands of files.
const MAX_MESSAGE_BYTES: &str = "268435456";

/// The processes of a cluster. They are killed when this value is dropped.
pub struct Cluster {
    processes: Vec<Child>,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().rev() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Cluster {
    /// Starts a scheduler and executors with one CPU and `memory` each; `None` if the folder of the
    /// programs is not given.
    pub fn start(executors: usize, memory: &str) -> Result<Option<Cluster>> {
        let Some(programs) = std::env::var_os("WORKSPAN_BALLISTA").map(PathBuf::from) else {
            return Ok(None);
        };
        let folder = tempfile::tempdir()?;
        let port = free_port()?;
        let mut scheduler = quiet(&programs, "ballista-scheduler", folder.path());
        scheduler
            .args(["--bind-host", "127.0.0.1", "--external-host", "127.0.0.1"])
            .args(["--bind-port", &port.to_string()])
            .args(["--min-ready-executors", &executors.to_string()])
            .args(["--grpc-server-max-decoding-message-size", MAX_MESSAGE_BYTES])
            .args(["--grpc-server-max-encoding-message-size", MAX_MESSAGE_BYTES])
            .args(["--grpc-client-max-message-size", MAX_MESSAGE_BYTES]);
        let mut cluster = Cluster {
            processes: vec![scheduler.spawn()?],
            port,
            _folder: folder,
        };
        cluster.wait_until(|answer| answer.starts_with("HTTP/"))?;
        for number in 0..executors {
            let work = cluster._folder.path().join(number.to_string());
            std::fs::create_dir(&work)?;
            let mut executor = quiet(&programs, "ballista-executor", &work);
            executor
                .args(["--bind-host", "127.0.0.1", "--external-host", "127.0.0.1"])
                .args(["--scheduler-host", "127.0.0.1", "--vcores", "1"])
                .args(["--scheduler-port", &port.to_string()])
                .args(["--bind-port", &free_port()?.to_string()])
                .args(["--bind-grpc-port", &free_port()?.to_string()])
                .args(["--bind-health-port", &free_port()?.to_string()])
                .args(["--grpc-server-max-decoding-message-size", MAX_MESSAGE_BYTES])
                .args(["--grpc-server-max-encoding-message-size", MAX_MESSAGE_BYTES])
                .args(["--memory-pool-size", memory, "--work-dir"])
                .arg(&work);
            cluster.processes.push(executor.spawn()?);
        }
        cluster.wait_until(|answer| answer.contains(" 200 "))?;
        Ok(Some(cluster))
    }

    fn wait_until(&self, done: impl Fn(&str) -> bool) -> Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < START_TIMEOUT {
            if self.readiness().is_ok_and(|answer| done(&answer)) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err("the cluster was not ready in time".into())
    }

    fn readiness(&self) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream
            .write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// The address of the scheduler.
    pub fn address(&self) -> String {
        format!("df://127.0.0.1:{}", self.port)
    }

    /// The ids of the executors' processes.
    pub fn executors(&self) -> Vec<u32> {
        self.processes[1..].iter().map(Child::id).collect()
    }
}

fn quiet(programs: &Path, name: &str, folder: &Path) -> Command {
    let mut command = Command::new(programs.join(name));
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// A port that is free at the moment.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
