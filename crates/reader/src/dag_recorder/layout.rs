//! The layout of the file: the header, nodes of 432 bytes, edges of 24 bytes, and the table of file
//! names.
//!
//! All numbers are little endian. The offsets are those of a C compiler for a 64-bit machine.

use workspan_dag::Error;
use workspan_dag::build::MAX_THREADS;

/// The first bytes of every version.
const FAMILY: &[u8] = b"DAG_RECORDER FORMAT VERSION";
/// The supported version.
const VERSION: &str = "1.24";
/// The largest length of the first line, in any version.
const MAX_LINE_BYTES: usize = 128;
/// The size of a node in bytes.
pub(super) const NODE_BYTES: usize = 432;
const EDGE_BYTES: usize = 24;
/// The size of the four numbers after the first line: nodes, edges, start clock, workers.
const COUNTS_BYTES: usize = 32;
/// The size of the table's head: number of names, size of the table, and two pointers of the
/// process that wrote it.
const TABLE_HEAD_BYTES: usize = 32;
/// The number of kinds of edges.
const EDGE_KINDS: i32 = 5;
/// The largest length of a file name. A node names two files, and each place keeps its name.
const MAX_NAME_BYTES: usize = 4096;

/// Whether the bytes begin like a file of any version.
pub(super) fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(FAMILY)
}

/// The kind of a node: what ended an interval, or what contains others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeKind {
    Create,
    Wait,
    Other,
    End,
    Section,
    Task,
}

/// A source position in a node: the index of a file name, and the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub file: i64,
    pub line: i64,
}

/// The fields of a node that are used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub start: u64,
    pub end: u64,
    /// Work and span of everything inside.
    pub work: u64,
    pub span: u64,
    /// The time at which it became ready.
    pub ready: u64,
    /// The sum of the ticks for which the intervals inside were ready.
    pub ready_ticks: u64,
    /// The number of intervals inside, by what ended them: create, wait, other, end.
    pub intervals: [u64; 4],
    /// The worker of everything inside; `None` if there were several.
    pub worker: Option<u32>,
    /// The worker that ran the first interval.
    pub first_worker: u32,
    pub kind: NodeKind,
    pub to: Position,
    pub from: Position,
    /// Counts of up to four events.
    pub counters: [u64; 4],
    /// The first child and one past the last, as distances in nodes. The first child of a create is
    /// its task.
    pub children: (i64, i64),
}

/// A file with all its parts.
#[derive(Debug)]
pub(super) struct File<'a> {
    nodes: &'a [u8],
    nodes_at: usize,
    pub start_clock: i64,
    pub workers: u32,
    names: Option<Names<'a>>,
}

#[derive(Debug)]
struct Names<'a> {
    offsets: &'a [u8],
    characters: &'a [u8],
}

fn fault(at: usize, what: impl Into<String>) -> Error {
    Error::Recorded {
        offset: at as u64,
        what: what.into(),
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    if let Some(found) = bytes.get(at..at + N) {
        out.copy_from_slice(found);
    }
    out
}

fn long(bytes: &[u8], at: usize) -> i64 {
    i64::from_le_bytes(array(bytes, at))
}

fn int(bytes: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(array(bytes, at))
}

impl<'a> File<'a> {
    /// Locates the parts.
    pub(super) fn open(bytes: &'a [u8], allow_truncated: bool) -> Result<File<'a>, Error> {
        let line = bytes.iter().take(MAX_LINE_BYTES).position(|&b| b == b'\n');
        let line = line.ok_or_else(|| {
            fault(
                0,
                "the first line has no end; expected DAG Recorder's version line",
            )
        })?;
        let version_text =
            String::from_utf8_lossy(&bytes[FAMILY.len().min(line)..line]).into_owned();
        let version = version_text.split_whitespace().next().unwrap_or_default();
        if version != VERSION {
            return Err(fault(
                FAMILY.len(),
                format!(
                    "version {} of DAG Recorder's format; expected {VERSION}: record the run with a DAG Recorder that writes it",
                    version.escape_default()
                ),
            ));
        }
        let counts_at = line + 1;
        let nodes_at = counts_at + COUNTS_BYTES;
        if bytes.len() < nodes_at {
            return Err(cut(bytes, "its header"));
        }
        let [nodes, edges, start_clock, workers] =
            [0, 8, 16, 24].map(|at| long(bytes, counts_at + at));
        let Some(workers) = u32::try_from(workers)
            .ok()
            .filter(|w| (1..=MAX_THREADS).contains(w))
        else {
            let what = format!("{workers} workers; expected 1 to {MAX_THREADS}");
            return Err(fault(counts_at + 24, what));
        };
        let size = |count: i64, each: usize, at: usize, what: &str| match usize::try_from(count) {
            Ok(count) => Ok(count.saturating_mul(each)),
            Err(_) => Err(fault(
                at,
                format!("{count} {what}; expected a number from 0"),
            )),
        };
        let nodes_bytes = size(nodes, NODE_BYTES, counts_at, "nodes")?;
        let edges_bytes = size(edges, EDGE_BYTES, counts_at + 8, "edges")?;
        if nodes == 0 {
            return Err(fault(
                counts_at,
                "no nodes; expected the root task at least",
            ));
        }
        let edges_at = nodes_at.saturating_add(nodes_bytes);
        let Some(node_bytes) = bytes.get(nodes_at..edges_at) else {
            return Err(cut(bytes, &format!("its {nodes} nodes")));
        };
        let table_at = edges_at.saturating_add(edges_bytes);
        let names = match bytes.get(edges_at..table_at) {
            Some(edges) => {
                check_edges(edges, edges_at, nodes)?;
                Names::open(bytes, table_at)
            }
            None => Err(cut(bytes, &format!("its {edges} edges"))),
        };
        let names = match names {
            Ok(names) => Some(names),
            Err(_) if allow_truncated => None,
            Err(error) => return Err(error),
        };
        Ok(File {
            nodes: node_bytes,
            nodes_at,
            start_clock,
            workers,
            names,
        })
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.nodes.len() / NODE_BYTES
    }

    /// Whether the names of source files are missing.
    pub(super) fn lacks_names(&self) -> bool {
        self.names.is_none()
    }

    /// An error at node `i`.
    pub(super) fn fault(&self, i: usize, what: impl AsRef<str>) -> Error {
        let at = self.nodes_at.saturating_add(i.saturating_mul(NODE_BYTES));
        fault(at, format!("node {i}: {}", what.as_ref()))
    }

    /// Node `i`, after the checks that need no other node.
    ///
    /// # Errors
    /// An impossible kind, worker or time.
    pub(super) fn node(&self, i: usize) -> Result<Node, Error> {
        let Some(bytes) = self.nodes.get(i * NODE_BYTES..(i + 1) * NODE_BYTES) else {
            return Err(self.fault(i, format!("there are only {} nodes", self.len())));
        };
        let kind = match int(bytes, 328) {
            0 => NodeKind::Create,
            1 => NodeKind::Wait,
            2 => NodeKind::Other,
            3 => NodeKind::End,
            4 => NodeKind::Section,
            5 => NodeKind::Task,
            other => return Err(self.fault(i, format!("kind {other}; expected 0 to 5"))),
        };
        let number = |at: usize, what: &str| {
            let found = long(bytes, at);
            u64::try_from(found)
                .map_err(|_| self.fault(i, format!("{what} is {found}; expected 0 or more")))
        };
        let worker_of = |at: usize| {
            let found = int(bytes, at);
            match u32::try_from(found) {
                Ok(worker) if worker < self.workers => Ok(Some(worker)),
                Err(_) if found == -1 => Ok(None),
                _ => Err(self.fault(
                    i,
                    format!("worker {found}; expected one of {} workers", self.workers),
                )),
            }
        };
        let (start, end) = (number(0, "its start")?, number(72, "its end")?);
        if end < start {
            return Err(self.fault(i, format!("ends at {end}, before its start at {start}")));
        }
        let worker = worker_of(320)?;
        let Some(first_worker) = worker_of(40)?.or(worker) else {
            return Err(self.fault(i, "no worker; expected the one of its first interval"));
        };
        let mut ready_ticks = 0u64;
        for k in 0..5 {
            // If the clocks of two CPUs disagree, the difference may be negative.
            let ready = u64::try_from(long(bytes, 184 + 8 * k)).unwrap_or(0);
            ready_ticks = ready_ticks.saturating_add(ready);
        }
        let mut intervals = [0; 4];
        for (k, count) in intervals.iter_mut().enumerate() {
            *count = number(224 + 8 * k, "a count of intervals")?;
        }
        let position = |at: usize| Position {
            file: long(bytes, at),
            line: long(bytes, at + 8),
        };
        Ok(Node {
            start,
            end,
            work: number(152, "its work")?,
            span: number(160, "its span")?,
            ready: u64::try_from(long(bytes, 168)).unwrap_or(0),
            ready_ticks,
            intervals,
            worker,
            first_worker,
            kind,
            from: position(56),
            to: position(128),
            counters: [0, 1, 2, 3].map(|c| u64::try_from(long(bytes, 336 + 8 * c)).unwrap_or(0)),
            children: (long(bytes, 416), long(bytes, 424)),
        })
    }

    /// The name of a source file; `None` if the file does not have the names.
    ///
    /// # Errors
    /// The table has no such name, or one that is not text up to a zero byte.
    pub(super) fn name(&self, i: usize, index: i64) -> Result<Option<String>, Error> {
        let Some(names) = &self.names else {
            return Ok(None);
        };
        let all = names.offsets.len() / 8;
        let Some(index) = usize::try_from(index).ok().filter(|&n| n < all) else {
            return Err(self.fault(i, format!("names file {index} of {all}")));
        };
        let from = usize::try_from(long(names.offsets, 8 * index)).ok();
        let rest = from.and_then(|from| names.characters.get(from..));
        let end = rest.and_then(|r| r.iter().take(MAX_NAME_BYTES + 1).position(|&b| b == 0));
        match (rest, end) {
            (Some(rest), Some(end)) => Ok(Some(String::from_utf8_lossy(&rest[..end]).into_owned())),
            _ => Err(self.fault(
                i,
                format!(
                    "the name of file {index} is cut off or longer than {MAX_NAME_BYTES} bytes"
                ),
            )),
        }
    }
}

fn cut(bytes: &[u8], before: &str) -> Error {
    fault(
        bytes.len(),
        format!(
            "the file ends inside {before}; expected the whole file: copy it again, or let the program end"
        ),
    )
}

impl<'a> Names<'a> {
    fn open(bytes: &'a [u8], at: usize) -> Result<Names<'a>, Error> {
        let offsets_at = at.saturating_add(TABLE_HEAD_BYTES);
        if bytes.len() < offsets_at {
            return Err(cut(bytes, "its table of file names"));
        }
        let (count, size) = (long(bytes, at), long(bytes, at + 8));
        let whole = usize::try_from(size).ok();
        let end = whole.and_then(|size| at.checked_add(size));
        let characters_at = usize::try_from(count)
            .ok()
            .and_then(|count| offsets_at.checked_add(count.checked_mul(8)?));
        match (characters_at, end) {
            (Some(from), Some(end)) if from <= end => {
                let all = bytes.get(offsets_at..from).zip(bytes.get(from..end));
                let (offsets, characters) =
                    all.ok_or_else(|| cut(bytes, "its table of file names"))?;
                Ok(Names {
                    offsets,
                    characters,
                })
            }
            _ => Err(fault(
                at,
                format!(
                    "a table of {count} file names in {size} bytes; expected one that holds them"
                ),
            )),
        }
    }
}

/// The edges are not needed, but wrong ones show damage.
fn check_edges(edges: &[u8], at: usize, nodes: i64) -> Result<(), Error> {
    for (i, edge) in edges.chunks_exact(EDGE_BYTES).enumerate() {
        let (kind, from, to) = (int(edge, 0), long(edge, 8), long(edge, 16));
        let is_node = |n: i64| (0..nodes).contains(&n);
        if !(0..EDGE_KINDS).contains(&kind) || !is_node(from) || !is_node(to) {
            let what = format!(
                "edge {i} of kind {kind} from node {from} to {to}; expected kind 0 to 4 and nodes below {nodes}"
            );
            return Err(fault(at + i * EDGE_BYTES, what));
        }
    }
    Ok(())
}
