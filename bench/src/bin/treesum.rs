//! The tree sum of the TaskProf paper (fig. 3) on a larger tree: the tree is built serially, then
//! summed with a join at every node above the grain. `treesum [DEPTH] [GRAIN]`; subtrees of depth
//! GRAIN are summed serially.

use std::process::ExitCode;

use workspan_bench::command::{Arguments, finish, timed};
use workspan_bench::numbers::mixed;

struct Node {
    value: u64,
    children: Option<Box<(Node, Node)>>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse("treesum [DEPTH=20] [GRAIN=10]");
    let (depth, grain) = (arguments.number(0, 20).min(28), arguments.number(1, 10));
    let tree = create_tree(depth, 1);
    let found = timed(&arguments, || tree_sum(&tree, depth, grain));
    let expected = (1..1u64 << (depth + 1)).fold(0u64, |sum, i| sum.wrapping_add(mixed(i)));
    finish(
        &format!("sum of {} nodes: {found}", (1u64 << (depth + 1)) - 1),
        found == expected,
    )
}

/// Node `i` has the children 2i and 2i + 1.
fn create_tree(depth: usize, i: u64) -> Node {
    let children = (depth > 0).then(|| {
        Box::new((
            create_tree(depth - 1, 2 * i),
            create_tree(depth - 1, 2 * i + 1),
        ))
    });
    Node {
        value: mixed(i),
        children,
    }
}

fn tree_sum(node: &Node, depth: usize, grain: usize) -> u64 {
    let Some(children) = &node.children else {
        return node.value;
    };
    let (right, left) = if depth <= grain {
        (
            tree_sum(&children.1, depth - 1, grain),
            tree_sum(&children.0, depth - 1, grain),
        )
    } else {
        // The second side can be stolen: it is the task of tp.h.
        rayon::join(
            || tree_sum(&children.1, depth - 1, grain),
            || tree_sum(&children.0, depth - 1, grain),
        )
    };
    node.value.wrapping_add(left).wrapping_add(right)
}
