//! Heaviest paths as lists with shared prefixes, so that a fork copies nothing.

/// The beginning of every path: no node.
pub(crate) const START: u32 = u32::MAX;

/// A piece of a path: strands of one task, one after the other.
#[derive(Debug, Clone, Copy)]
struct Node {
    before: u32,
    site: u32,
    /// The task's position on the stack.
    depth: u32,
    weight: u64,
}

/// The end of a path: a node, and the weight that the current task has run since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    pub node: u32,
    pub weight: u64,
}

/// The nodes; each section owns a tail of them.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    nodes: Vec<Node>,
    /// Scratch space, kept for its memory.
    sums: Vec<Node>,
}

impl Paths {
    /// The number of nodes.
    pub(crate) fn length(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Makes the path's end a node.
    pub(crate) fn close(&mut self, end: &mut End, site: u32, depth: u32) {
        if end.weight > 0 {
            self.nodes.push(Node {
                before: end.node,
                site,
                depth,
                weight: end.weight,
            });
            *end = End {
                node: self.nodes.len() as u32 - 1,
                weight: 0,
            };
        }
    }

    /// Sums the path from node `from` on, by site and by whether the node belongs to the task at
    /// `depth`. Replaces all nodes from there on by these sums. Calls `f(site, true for that task's
    /// own, weight)`.
    pub(crate) fn sum(
        &mut self,
        from: u32,
        end: &mut End,
        depth: u32,
        mut f: impl FnMut(u32, bool, u64),
    ) {
        let mut sums = std::mem::take(&mut self.sums);
        let mut at = end.node;
        while at != START && at >= from {
            let Some(&node) = self.nodes.get(at as usize) else {
                break;
            };
            let own = node.depth == depth;
            let known = sums
                .iter_mut()
                .find(|s| s.site == node.site && (s.depth == depth) == own);
            match known {
                Some(sum) => sum.weight = sum.weight.saturating_add(node.weight),
                None => sums.push(node),
            }
            at = node.before;
        }
        self.nodes.truncate(from as usize);
        for mut node in sums.drain(..) {
            f(node.site, node.depth == depth, node.weight);
            node.before = at;
            at = self.nodes.len() as u32;
            self.nodes.push(node);
        }
        end.node = at;
        self.sums = sums;
    }

    /// Removes all nodes.
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
    }

    /// Memory used, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.nodes.len() * size_of::<Node>()
    }
}
