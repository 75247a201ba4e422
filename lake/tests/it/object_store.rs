//! A lake in an object store: moto, from PyPI, provides S3 on this machine's loopback. `cargo xtask
//! test lake` installs it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};

use crate::traces;

const SERVER: &str = "
import threading, sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address='127.0.0.1', port=0)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
server.stop()
";

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn lake(port: u16, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workspan-lake"));
    command
        .args(arguments)
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_ENDPOINT", format!("http://127.0.0.1:{port}"));
    command.output().unwrap()
}

#[test]
#[ignore = "needs moto of PyPI: cargo xtask test lake"]
fn a_lake_in_s3_is_added_to_and_asked() {
    let folder = tempfile::tempdir().unwrap();
    let traces = traces(folder.path(), 3);
    let mut command = Command::new("python3");
    command
        .args(["-c", SERVER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut server = Server(command.spawn().unwrap());
    // The server may print lines of its own before ours.
    let lines = BufReader::new(server.0.stdout.take().unwrap()).lines();
    let port: u16 = lines
        .map_while(Result::ok)
        .find_map(|line| line.trim().parse().ok())
        .unwrap();
    // Creates the bucket.
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream
        .write_all(b"PUT /perf HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    assert!(line.contains("200"), "{line}");

    let root = "s3://perf/team/lake";
    let files: Vec<&str> = traces.iter().map(|trace| trace.to_str().unwrap()).collect();
    for told in ["added as run", "is in the lake already"] {
        let output = lake(
            port,
            &[&["add", "--into", root, "--tag", "commit=c1"], &files[..]].concat(),
        );
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert_eq!(said.matches(told).count(), 3, "{said}");
    }
    let query = "select r.\"commit\", count(distinct s.run) from sites s join runs r on r.run = s.run group by 1";
    let output = lake(port, &["sql", root, query, "--format", "csv"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("c1,3"));
    let output = lake(port, &["sql", "s3://perf/nothing", query]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("that lake has no run"), "{said}");
}
