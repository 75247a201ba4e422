//! A server inside this process, and a client of a few lines.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use workspan_view::Session;
use workspan_view::server::{Key, Server};
use workspan_view::session::Settings;

pub fn golden(name: &str) -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.join("../export/tests/golden").join(name)
}

/// A server that answers until it is dropped.
pub struct Served {
    pub session: Arc<Session>,
    pub port: u16,
    pub base: String,
    end: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Served {
    /// A server of these traces, once all of them are loaded.
    pub fn of(files: &[PathBuf]) -> Served {
        let session = Session::new(files, Settings::default()).unwrap();
        let served = Served::loading(session);
        // This stream ends when all runs are loaded.
        served.get("api/v1/status");
        served
    }

    /// A server of a session that starts to load.
    pub fn loading(session: Session) -> Served {
        let session = Arc::new(session);
        let server = Server::bind(session.clone(), Some(0), Key::random().unwrap()).unwrap();
        let url = server.url();
        let port = server.port();
        let base = url
            .strip_prefix(&format!("http://127.0.0.1:{port}"))
            .unwrap()
            .to_owned();
        let (end, wait) = tokio::sync::oneshot::channel();
        let thread = std::thread::spawn(move || {
            let end = async {
                let _ = wait.await;
            };
            server.run_until(end).unwrap();
        });
        Served {
            session,
            port,
            base,
            end: Some(end),
            thread: Some(thread),
        }
    }

    pub fn one() -> Served {
        Served::of(&[golden("serial_merge.jsonl")])
    }

    /// The answer to a GET request for a path below the address.
    pub fn get(&self, path: &str) -> Answer {
        self.send(&format!(
            "GET {}{path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n",
            self.base, self.port
        ))
    }

    /// The answer to a POST request without a body.
    pub fn post(&self, path: &str) -> Answer {
        self.send(&format!(
            "POST {}{path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: 0\r\n",
            self.base, self.port
        ))
    }

    pub fn send(&self, head: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let request = format!("{head}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        // If the connection is reset after the answer, the answer is complete all the same.
        let _ = stream.read_to_end(&mut bytes);
        Answer::parse(&bytes)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[derive(Debug)]
pub struct Answer {
    pub state: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Answer {
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no answer: {:?}", String::from_utf8_lossy(bytes)));
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let state = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = bytes[end + 4..].to_vec();
        let body = match head.contains("transfer-encoding: chunked") {
            true => unchunk(&body),
            false => body,
        };
        Answer { state, head, body }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|line| line.0 == name).map(|line| line.1)
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

fn unchunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(end) = bytes.windows(2).position(|w| w == b"\r\n") {
        let size = String::from_utf8_lossy(&bytes[..end]);
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        if size == 0 {
            break;
        }
        all.extend(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[end + 4 + size..];
    }
    all
}
