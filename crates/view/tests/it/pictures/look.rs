//! Sends requests as the page does, and reads the answers.

use std::collections::BTreeMap;

use serde_json::Value;
use workspan_dag::Dag;
use workspan_view::session::Settings;
use workspan_view::{Reply, Session, answer};

/// A decoded binary answer.
#[derive(Debug, PartialEq)]
pub struct Tile {
    pub facts: Value,
    pub planes: BTreeMap<String, Vec<f64>>,
}

impl Tile {
    pub fn plane(&self, name: &str) -> &[f64] {
        match self.planes.get(name) {
            Some(plane) => plane,
            None => panic!("no plane {name}"),
        }
    }
}

pub fn session(dag: Dag) -> Session {
    Session::of_dag("run.wspan".into(), dag, Settings::default()).unwrap()
}

pub fn top_level(session: &Session) -> u32 {
    session.runs[0].model().unwrap().top_level()
}

/// Number of tiles at a level.
pub fn tiles(session: &Session, level: u32) -> u64 {
    let elapsed = session.runs[0].model().unwrap().elapsed();
    (elapsed >> level) / 1024 + 1
}

pub fn bytes(session: &Session, url: &str) -> Vec<u8> {
    match answer(session, &format!("api/v1/{url}")) {
        Ok(Reply::Planes(bytes) | Reply::Json(bytes)) => bytes,
        Err(failure) => panic!("{url}: {failure}"),
    }
}

pub fn json(session: &Session, url: &str) -> Value {
    serde_json::from_slice(&bytes(session, url)).unwrap()
}

/// A tile, decoded as planes.ts does.
pub fn tile(session: &Session, what: &str, level: u32, index: u64) -> Tile {
    let (name, more) = what.split_once('?').unwrap_or((what, ""));
    let more = if more.is_empty() {
        String::new()
    } else {
        format!("&{more}")
    };
    let url = format!("{name}?run=a{more}&level={level}&index={index}");
    let bytes = bytes(session, &url);
    assert_eq!(&bytes[..4], b"WSPV");
    let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    let facts: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let mut at = (8 + length).next_multiple_of(8);
    let mut planes = BTreeMap::new();
    for plane in facts["planes"].as_array().unwrap() {
        let count = plane["length"].as_u64().unwrap() as usize;
        let width = match plane["type"].as_str().unwrap() {
            "u8" => 1,
            "u16" => 2,
            "u32" | "f32" => 4,
            _ => 8,
        };
        let cells = bytes[at..at + count * width].chunks_exact(width);
        let read = |c: &[u8]| match plane["type"].as_str().unwrap() {
            "u8" => f64::from(c[0]),
            "u16" => f64::from(u16::from_le_bytes(c.try_into().unwrap())),
            "u32" => f64::from(u32::from_le_bytes(c.try_into().unwrap())),
            "f32" => f64::from(f32::from_le_bytes(c.try_into().unwrap())),
            _ => f64::from_le_bytes(c.try_into().unwrap()),
        };
        planes.insert(
            plane["name"].as_str().unwrap().to_owned(),
            cells.map(read).collect(),
        );
        at = (at + count * width).next_multiple_of(8);
    }
    assert_eq!(at, bytes.len());
    Tile { facts, planes }
}
