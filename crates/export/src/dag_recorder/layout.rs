//! The bytes of the file: nodes of 432 bytes, edges of 24, and the table of file names.

use std::collections::BTreeMap;
use std::io::{self, Write};

use workspan_dag::{Dag, NONE, PlaceId};

use super::tree::{CREATE_EDGE, END_EDGE, Kind, Node, WAIT_CONTINUATION_EDGE};

const FIRST_LINE: &[u8] = b"DAG_RECORDER FORMAT VERSION  1.24 2014/09/18\n";
const NODE_BYTES: usize = 432;
const TABLE_HEAD_BYTES: usize = 32;

/// An edge: its kind, and the positions of both nodes in the file.
type Edge = (i32, usize, usize);

pub(super) fn write(dag: &Dag, nodes: &[Node], out: &mut impl Write) -> io::Result<()> {
    let (order, place) = order(nodes);
    let mut edges = edges(nodes, &place);
    edges.sort_by_key(|&(_, from, to)| (from, to));
    let begin = nodes.first().map_or(0, |root| root.start);
    let threads = nodes.iter().map(|node| node.first_worker + 1).max();
    let workers = threads.unwrap_or(1).max(dag.meta.workers);
    let mut names = Names::default();
    out.write_all(FIRST_LINE)?;
    for n in [nodes.len(), edges.len(), 0, workers as usize] {
        out.write_all(&(n as u64).to_le_bytes())?;
    }
    let earliest = earliest(nodes);
    let present = present(nodes);
    let mut next_edge = 0;
    for (at, &i) in order.iter().enumerate() {
        let from = next_edge;
        while edges.get(next_edge).is_some_and(|edge| edge.1 == at) {
            next_edge += 1;
        }
        let mut bytes = Bytes([0; NODE_BYTES]);
        let node = &nodes[i];
        bytes.long(144, earliest[i]);
        bytes.long(296, present[i]);
        bytes.long(304, if node.worker.is_some() { 1 } else { present[i] });
        bytes.node(dag, node, begin, &mut names);
        bytes.long(400, from as u64);
        bytes.long(408, next_edge as u64);
        if let Some(task) = node.task {
            bytes.long(416, (place[task] - at) as u64);
        } else if let (Some(&first), Some(&last)) = (node.children.first(), node.children.last()) {
            bytes.long(416, (place[first] - at) as u64);
            bytes.long(424, (place[last] - at + 1) as u64);
        }
        out.write_all(&bytes.0)?;
    }
    for (kind, from, to) in edges {
        for n in [u64::from(kind as u32), from as u64, to as u64] {
            out.write_all(&n.to_le_bytes())?;
        }
    }
    names.write(out)
}

/// The position of each node: the children of a node are adjacent and come after it.
fn order(nodes: &[Node]) -> (Vec<usize>, Vec<usize>) {
    let mut order = Vec::with_capacity(nodes.len());
    let mut place = vec![0; nodes.len()];
    order.push(0);
    let mut stack = vec![0];
    while let Some(i) = stack.pop() {
        let children = nodes[i].children.iter().copied().chain(nodes[i].task);
        for child in children.clone() {
            place[child] = order.len();
            order.push(child);
        }
        let first = stack.len();
        stack.extend(children);
        stack[first..].reverse();
    }
    (order, place)
}

/// The first interval, or folded node, inside of a node.
fn first(nodes: &[Node], mut i: usize) -> usize {
    while let Some(&child) = nodes[i].children.first() {
        i = child;
    }
    i
}

fn last(nodes: &[Node], mut i: usize) -> usize {
    while let Some(&child) = nodes[i].children.last() {
        i = child;
    }
    i
}

/// The edges between the nodes that the file has individually.
fn edges(nodes: &[Node], place: &[usize]) -> Vec<Edge> {
    let mut edges = Vec::new();
    for node in nodes {
        for pair in node.children.windows(2) {
            let (before, next) = (&nodes[pair[0]], first(nodes, pair[1]));
            // If tasks were waited for, two edges lead here: the edge from the tasks determines
            // when it was ready.
            let kind = match nodes[next].in_edge {
                END_EDGE | CREATE_EDGE => WAIT_CONTINUATION_EDGE,
                kind => kind,
            };
            edges.push((kind, place[last(nodes, pair[0])], place[next]));
            if before.kind != Kind::Section {
                continue;
            }
            for &child in &before.children {
                if let Some(task) = nodes[child].task {
                    edges.push((CREATE_EDGE, place[child], place[first(nodes, task)]));
                    edges.push((END_EDGE, place[last(nodes, task)], place[next]));
                }
            }
        }
    }
    edges
}

/// The earliest start of each node on any number of workers.
fn earliest(nodes: &[Node]) -> Vec<u64> {
    let mut earliest = vec![0; nodes.len()];
    for (i, node) in nodes.iter().enumerate() {
        let mut at: u64 = earliest[i];
        if let Some(task) = node.task {
            earliest[task] = at.saturating_add(node.span);
        }
        for &child in &node.children {
            earliest[child] = at;
            at = at.saturating_add(nodes[child].span);
        }
    }
    earliest
}

/// Number of nodes in the file for each node and its content; a create's task counts for the
/// section around it.
fn present(nodes: &[Node]) -> Vec<u64> {
    let mut present = vec![1; nodes.len()];
    for (i, node) in nodes.iter().enumerate().rev() {
        for &child in &node.children {
            present[i] += present[child] + nodes[child].task.map_or(0, |task| present[task]);
        }
    }
    present
}

/// The bytes of a node.
struct Bytes([u8; NODE_BYTES]);

impl Bytes {
    fn long(&mut self, at: usize, n: u64) {
        self.0[at..at + 8].copy_from_slice(&n.to_le_bytes());
    }

    fn int(&mut self, at: usize, n: i32) {
        self.0[at..at + 4].copy_from_slice(&n.to_le_bytes());
    }

    fn node(&mut self, dag: &Dag, node: &Node, begin: u64, names: &mut Names) {
        for (at, t, place) in [(0, node.start, node.from), (72, node.end, node.to)] {
            self.long(at, t - begin);
            self.int(at + 40, node.first_worker as i32);
            let (file, line) = names.position(dag, place);
            self.long(at + 56, file);
            self.long(at + 64, line);
        }
        self.long(152, node.work);
        self.long(160, node.span);
        self.long(168, node.ready.saturating_sub(begin));
        self.long(176, node.start - begin);
        for (k, &ticks) in node.ready_ticks.iter().enumerate() {
            self.long(184 + 8 * k, ticks);
        }
        for (k, &count) in node.intervals.iter().enumerate() {
            self.long(224 + 8 * k, count);
        }
        self.int(320, node.worker.map_or(-1, |worker| worker as i32));
        self.int(328, node.kind as i32);
        self.int(332, node.in_edge);
    }
}

/// The table of file names.
#[derive(Default)]
struct Names {
    index: BTreeMap<String, u64>,
    list: Vec<String>,
}

impl Names {
    /// File and line of a place. A place without them has its label as the file, and line 0.
    fn position(&mut self, dag: &Dag, place: PlaceId) -> (u64, u64) {
        let place = (place != NONE).then(|| &dag.places[place as usize]);
        let file = place.map_or("?", |p| p.file.as_deref().unwrap_or(&p.label));
        // A name ends at a zero byte, and must not be empty.
        let file = match file.split('\0').next() {
            Some(name) if !name.is_empty() => name,
            _ => "?",
        };
        let line = place.and_then(|p| p.line.filter(|_| p.file.is_some()));
        let next = self.list.len() as u64;
        let file = *self
            .index
            .entry(file.to_owned())
            .or_insert_with_key(|name| {
                self.list.push(name.clone());
                next
            });
        (file, u64::from(line.unwrap_or(0)))
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let characters: usize = self.list.iter().map(|name| name.len() + 1).sum();
        let size = TABLE_HEAD_BYTES + 8 * self.list.len() + characters;
        for n in [self.list.len(), size, 0, 0] {
            out.write_all(&(n as u64).to_le_bytes())?;
        }
        let mut at = 0u64;
        for name in &self.list {
            out.write_all(&at.to_le_bytes())?;
            at += name.len() as u64 + 1;
        }
        for name in &self.list {
            out.write_all(name.as_bytes())?;
            out.write_all(&[0])?;
        }
        Ok(())
    }
}
