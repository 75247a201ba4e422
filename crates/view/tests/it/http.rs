//! The server, tested as a browser or an attacker would use it.

use std::io::Read;
use std::net::TcpStream;
use std::sync::Arc;

use serde_json::Value;
use workspan_view::Session;
use workspan_view::server::{Key, Server};
use workspan_view::session::Settings;

use crate::served::{Served, golden};

#[test]
fn the_page_and_its_answers_carry_a_policy_and_are_not_stored() {
    let served = Served::one();
    let page = served.get("");
    assert_eq!(page.state, 200);
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'nonce-"));
    assert!(policy.contains("connect-src 'self'") && policy.contains("frame-ancestors 'none'"));
    assert!(!policy.contains("script-src 'unsafe-inline'") && !policy.contains("http"));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let again = served.get("");
    let other = again.header("content-security-policy").unwrap();
    assert_ne!(policy, other, "a nonce is for one answer");
    let meta = served.get("api/v1/meta");
    assert_eq!(meta.header("content-type"), Some("application/json"));
    assert_eq!(meta.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(meta.json()["runs"][0]["id"], "a");
    assert_eq!(meta.json()["mode"], "server");
}

#[test]
fn an_answer_that_is_known_is_not_sent_again() {
    let served = Served::one();
    let first = served.get("api/v1/summary?run=a");
    let mark = first.header("etag").unwrap().to_owned();
    let ask = |mark: &str| {
        served.send(&format!(
            "GET {}api/v1/summary?run=a HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: {mark}\r\n",
            served.base
        ))
    };
    let head = ask(&mark.replace("w/", "W/"));
    assert_eq!((head.state, head.body.len()), (304, 0));
    assert_eq!(ask("W/\"0-0\"").state, 200);
}

#[test]
fn nobody_without_the_token_or_by_another_name_gets_an_answer() {
    let served = Served::one();
    let port = served.port;
    for path in [
        "/",
        "/api/v1/meta",
        "/0123456789abcdef0123456789abcdef/",
        "/0123456789abcdef0123456789abcdef/api/v1/meta",
        "//api/v1/meta",
        "/../api/v1/meta",
    ] {
        let got = served.send(&format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        ));
        assert_eq!(got.state, 404, "{path}");
        assert!(!String::from_utf8_lossy(&got.body).contains("workspan_view"));
    }
    let base = &served.base;
    for host in [
        "Host: evil.example\r\n",
        "Host: evil.example:8417\r\n",
        "Host: 127.0.0.1.evil.example\r\n",
        "Host: localhost\r\nHost: evil.example\r\n",
        "Host: \r\n",
    ] {
        let got = served.send(&format!("GET {base}api/v1/meta HTTP/1.1\r\n{host}"));
        assert!([400, 403].contains(&got.state), "{host}: {}", got.state);
    }
    let post = served.send(&format!(
        "POST {base}api/v1/meta HTTP/1.1\r\nHost: localhost\r\n"
    ));
    assert_eq!(post.state, 405);
    assert!(!served.get("").head.contains("access-control-allow-origin"));
    // The address without the last slash redirects to the one with it, so that relative addresses
    // work.
    let bare = base.trim_end_matches('/');
    let moved = served.send(&format!("GET {bare} HTTP/1.1\r\nHost: localhost\r\n"));
    assert_eq!(moved.state, 308);
    assert_eq!(moved.header("location"), Some(base.as_str()));
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    let served = Served::one();
    let huge = "9".repeat(6000);
    for (path, state) in [
        ("api/v1/nothing", 404),
        ("api/v2/meta", 404),
        ("../../../../etc/passwd", 404),
        ("%2e%2e/%2e%2e/etc/passwd", 404),
        ("api/v1/report", 400),
        ("api/v1/report?run=z", 404),
        ("api/v1/report?run=../../etc", 404),
        ("api/v1/report?run=%ff", 400),
        ("api/v1/report?run=%4", 400),
        ("api/v1/rows?run=a&level=-1&index=0", 400),
        ("api/v1/rows?run=a&level=1e9&index=0", 400),
        ("api/v1/rows?run=a&level=4294967295&index=0", 404),
        ("api/v1/rows?run=a&level=63&index=18446744073709551615", 404),
        ("api/v1/rows?run=a&level=99999999999999999999&index=0", 400),
        ("api/v1/path?run=a&kind=other&level=0&index=0", 400),
        ("api/v1/strand?run=a&id=4294967295", 404),
        ("api/v1/task?run=a&id=4294967295", 404),
        ("api/v1/ancestors?run=a&task=4294967295", 404),
        ("api/v1/source?run=a&file=%2Fetc%2Fpasswd", 404),
        ("api/v1/source?run=a&file=..%2F..%2Fetc%2Fpasswd", 404),
        ("api/v1/whatif?run=a&what=site:99999&factors=2", 404),
        ("api/v1/whatif?run=a&what=site:0&factors=0", 400),
        ("api/v1/whatif?run=a&what=site:0&factors=NaN", 400),
        ("api/v1/compare?a=a&b=q", 404),
        (&format!("api/v1/strand?run=a&id={huge}"), 400),
        (&format!("api/v1/dag?run=a&ids={}", "t0,".repeat(64)), 400),
        (&format!("api/v1/dag?run=a&ids={huge}{huge}"), 414),
    ] {
        let got = served.get(path);
        assert_eq!(
            got.state,
            state,
            "{path}: {}",
            String::from_utf8_lossy(&got.body)
        );
        assert!(got.json()["error"].is_string(), "{path}");
        assert_eq!(got.header("cache-control"), Some("no-store"), "{path}");
    }
}

#[test]
fn requests_at_the_same_time_get_the_same_answers() {
    let served = Served::one();
    let paths = [
        "api/v1/meta",
        "api/v1/report?run=a",
        "api/v1/summary?run=a",
        "api/v1/sites?run=a",
        "api/v1/rows?run=a&level=0&index=0",
        "api/v1/scalability",
    ];
    let alone: Vec<Vec<u8>> = paths.iter().map(|p| served.get(p).body).collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for (path, body) in paths.iter().zip(&alone) {
                    assert_eq!(&served.get(path).body, body, "{path}");
                }
            });
        }
    });
}

#[test]
fn compressed_answers_say_the_same() {
    let served = Served::one();
    let plain = served.get("api/v1/report?run=a");
    let packed = served.send(&format!(
        "GET {}api/v1/report?run=a HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n",
        served.base
    ));
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(packed.body.as_slice())
        .read_to_end(&mut text)
        .unwrap();
    assert_eq!(text, plain.body);
    assert!(packed.body.len() < plain.body.len());
}

/// The server binds one address of this machine. The others, including those that the network
/// reaches, stay free.
#[test]
fn no_other_address_is_bound_and_a_taken_port_is_said() {
    let served = Served::one();
    let port = served.port;
    assert!(TcpStream::connect(("127.0.0.2", port)).is_err());
    std::net::TcpListener::bind(("127.0.0.2", port)).unwrap();
    let session = Session::new(&[golden("one_task.jsonl")], Settings::default()).unwrap();
    let error = Server::bind(Arc::new(session), Some(port), Key::random().unwrap()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains(&port.to_string()) && text.contains("--port"),
        "{text}"
    );
}

#[test]
fn every_address_is_another_one() {
    let (a, b) = (Served::one(), Served::one());
    assert_ne!(a.base, b.base);
    assert!(a.base.len() >= 34, "128 bits: {}", a.base);
}

/// Loading reports its progress. If a run can't be read, the server answers with an error in words
/// and keeps running.
#[test]
fn loading_is_told_and_its_errors_are_answers() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.wspan");
    std::fs::write(&bad, b"WSPAN\0\0 and then nothing that makes sense").unwrap();
    let served = Served::of(&[golden("serial_merge.jsonl"), bad]);
    let status = served.get("api/v1/status");
    assert_eq!(status.header("content-type"), Some("text/event-stream"));
    let text = String::from_utf8(status.body).unwrap();
    let events: Vec<Value> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|json| serde_json::from_str(json).unwrap())
        .collect();
    let of = |run: &str| events.iter().rfind(|e| e["run"] == run).unwrap();
    assert_eq!(of("a")["ready"]["rest"], true);
    assert!(of("a")["error"].is_null());
    assert!(of("b")["error"].is_string());
    assert_eq!(of("b")["ready"]["timeline"], false);
    let failed = served.get("api/v1/report?run=b");
    assert_eq!(failed.state, 500);
    assert!(
        failed.json()["error"]
            .as_str()
            .unwrap()
            .contains("bad.wspan")
    );
}

/// Names in a trace are data, whatever they contain.
#[test]
fn hostile_names_stay_inside_json() {
    let served = Served::of(&[golden("hostile_names.jsonl")]);
    for path in ["api/v1/meta", "api/v1/summary?run=a", "api/v1/report?run=a"] {
        let got = served.get(path);
        assert_eq!(got.state, 200, "{path}");
        got.json();
        assert_eq!(got.header("content-type"), Some("application/json"));
    }
}
