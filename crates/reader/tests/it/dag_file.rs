//! Builds DAG Recorder files byte by byte, from tables in the tests.

/// Kinds of nodes in the file.
pub const CREATE: i32 = 0;
pub const WAIT: i32 = 1;
pub const OTHER: i32 = 2;
pub const END: i32 = 3;
pub const SECTION: i32 = 4;
pub const TASK: i32 = 5;

/// A node. Fields with their default value are 0 in the file.
#[derive(Debug, Clone, Default)]
pub struct Node {
    pub kind: i32,
    pub time: (i64, i64),
    /// The worker of the first interval, and the worker of everything inside (-1: several).
    pub worker: (i32, i32),
    /// The lines of `a.c` at which it starts and ends.
    pub lines: (i64, i64),
    /// Distances to the first child and past the last.
    pub children: (i64, i64),
    /// Work and span, if they differ from the length.
    pub inside: Option<(i64, i64)>,
    /// The time at which it became ready, and the ticks for which intervals inside were ready.
    pub ready: (i64, i64),
    /// Intervals inside, by kind.
    pub intervals: [i64; 4],
    pub counters: [i64; 4],
}

pub fn node(kind: i32, time: (i64, i64), worker: i32, lines: (i64, i64)) -> Node {
    Node {
        kind,
        time,
        worker: (worker, worker),
        lines,
        ..Node::default()
    }
}

pub fn parent(kind: i32, time: (i64, i64), worker: i32, children: (i64, i64)) -> Node {
    Node {
        children,
        worker: (worker.max(0), worker),
        ..node(kind, time, worker, (1, 1))
    }
}

/// The file of these nodes and edges (kind, from, to).
pub fn file(workers: i64, nodes: &[Node], edges: &[(i32, i64, i64)]) -> Vec<u8> {
    let mut out = b"DAG_RECORDER FORMAT VERSION  1.24 2014/09/18\n".to_vec();
    for n in [nodes.len() as i64, edges.len() as i64, 1000, workers] {
        out.extend(n.to_le_bytes());
    }
    for node in nodes {
        let mut bytes = [0u8; 432];
        let mut long = |at: usize, n: i64| bytes[at..at + 8].copy_from_slice(&n.to_le_bytes());
        let length = node.time.1 - node.time.0;
        let (work, span) = node.inside.unwrap_or((length, length));
        long(0, node.time.0);
        long(64, node.lines.0);
        long(72, node.time.1);
        long(136, node.lines.1);
        long(152, work);
        long(160, span);
        long(168, node.ready.0);
        long(184, node.ready.1);
        for k in 0..4 {
            long(224 + 8 * k, node.intervals[k]);
            long(336 + 8 * k, node.counters[k]);
        }
        long(416, node.children.0);
        long(424, node.children.1);
        let mut int = |at: usize, n: i32| bytes[at..at + 4].copy_from_slice(&n.to_le_bytes());
        int(40, node.worker.0);
        int(320, node.worker.1);
        int(328, node.kind);
        out.extend(bytes);
    }
    for &(kind, from, to) in edges {
        out.extend(i64::from(kind).to_le_bytes());
        out.extend(from.to_le_bytes());
        out.extend(to.to_le_bytes());
    }
    // One name, at 0, and two pointers without meaning here.
    for n in [1, 32 + 8 + 4, 7, 7, 0] {
        out.extend(i64::to_le_bytes(n));
    }
    out.extend(b"a.c\0");
    out
}

/// A root on worker 0 that does something else, creates a task that worker 1 runs, waits for it,
/// and ends: one edge of each kind.
pub fn one_child() -> Vec<Node> {
    vec![
        parent(TASK, (0, 25), 0, (1, 4)),
        node(OTHER, (0, 4), 0, (10, 11)),
        parent(SECTION, (4, 20), -1, (2, 4)),
        node(END, (20, 25), 0, (14, 15)),
        Node {
            children: (2, 0),
            ..node(CREATE, (4, 10), 0, (11, 12))
        },
        node(WAIT, (10, 12), 0, (12, 14)),
        parent(TASK, (11, 20), 1, (1, 2)),
        node(END, (11, 20), 1, (30, 31)),
    ]
}

/// The edges of [`one_child`].
pub const EDGES: [(i32, i64, i64); 5] = [(4, 1, 4), (1, 4, 7), (2, 4, 5), (3, 5, 3), (0, 7, 3)];

/// [`one_child`] with the child folded: a task inside it, with 24 - 17 = 7 ticks of work on a path
/// of 5.
pub fn folded_child() -> Vec<Node> {
    let mut nodes = one_child();
    nodes.pop();
    nodes[6] = Node {
        children: (0, 0),
        inside: Some((7, 5)),
        ready: (10, 3),
        intervals: [1, 1, 0, 2],
        ..nodes[6].clone()
    };
    nodes
}
