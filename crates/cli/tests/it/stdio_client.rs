//! A client of servers that use JSON-RPC over standard input and output, like editors and agents.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// How messages are separated.
#[derive(Clone, Copy, PartialEq)]
pub enum Framing {
    /// A line each (Model Context Protocol).
    Lines,
    /// Behind a header with the length (Language Server Protocol).
    Headers,
}

/// A running server.
pub struct Client {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    framing: Framing,
    requests: u64,
    /// Notifications of the server, in their order.
    pub notifications: Vec<Value>,
}

impl Client {
    pub fn start(command: &mut Command, framing: Framing) -> Client {
        let mut server = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Client {
            input: server.stdin.take(),
            output: BufReader::new(server.stdout.take().unwrap()),
            server,
            framing,
            requests: 0,
            notifications: Vec::new(),
        }
    }

    /// The answer to a request: its `result`, or its `error`.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.receive();
            if message["id"] == id && message.get("method").is_none() {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
            self.notifications.push(message);
        }
    }

    /// A notification.
    pub fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// What the server tells next without being asked.
    pub fn receive(&mut self) -> Value {
        let mut line = String::new();
        if self.framing == Framing::Lines {
            self.output.read_line(&mut line).unwrap();
            return serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"));
        }
        let mut length = 0;
        loop {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "it ended");
            if let Some(number) = line.strip_prefix("Content-Length: ") {
                length = number.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let input = self.input.as_mut().unwrap();
        match self.framing {
            Framing::Lines => writeln!(input, "{text}"),
            Framing::Headers => write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()),
        }
        .unwrap();
        input.flush().unwrap();
    }

    /// Closes its input; it ends by itself, successfully.
    pub fn close(mut self) {
        self.input = None;
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert!(self.server.wait().unwrap().success(), "{rest}");
    }
}

/// A test that failed leaves no server behind.
impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
