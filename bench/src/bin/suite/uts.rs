//! `uts ROOT_CHILDREN CHILDREN MILLIONTHS SEED`: counts the nodes of an unbalanced tree. A node's
//! state is the SHA-1 of its parent's state and its number; it has CHILDREN children with a
//! probability in millionths. A task for each node.

use crate::program::{Arguments, Outcome, Program, outcome};

type State = [u32; 5];

const START: State = [
    0x6745_2301,
    0xefcd_ab89,
    0x98ba_dcfe,
    0x1032_5476,
    0xc3d2_e1f0,
];

/// SHA-1 (FIPS 180) of one short message of whole words.
fn sha1(message: &[u32]) -> State {
    let mut w = [0u32; 80];
    w[..message.len()].copy_from_slice(message);
    w[message.len()] = 0x8000_0000;
    w[15] = 32 * message.len() as u32;
    for i in 16..80 {
        w[i] = (w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = START;
    for (i, &w) in w.iter().enumerate() {
        let (f, constant) = match i {
            0..20 => ((b & c) | (!b & d), 0x5a82_7999u32),
            20..40 => (b ^ c ^ d, 0x6ed9_eba1),
            40..60 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6),
        };
        let sum = a.rotate_left(5).wrapping_add(f).wrapping_add(constant);
        let next = sum.wrapping_add(e).wrapping_add(w);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
    }
    let end = [a, b, c, d, e];
    std::array::from_fn(|i| START[i].wrapping_add(end[i]))
}

struct Tree {
    root_children: usize,
    children: usize,
    millionths: usize,
    seed: usize,
}

impl Tree {
    fn root(&self) -> State {
        sha1(&[0, 0, 0, 0, self.seed as u32])
    }

    fn child([a, b, c, d, e]: State, number: usize) -> State {
        sha1(&[a, b, c, d, e, number as u32])
    }

    fn children_of(&self, state: State) -> usize {
        let chance = f64::from(state[4] & 0x7fff_ffff) / 2_147_483_648.0;
        if chance < self.millionths as f64 / 1e6 {
            self.children
        } else {
            0
        }
    }

    fn serial(&self, state: State, children: usize) -> u64 {
        let subtree = |i| {
            let child = Self::child(state, i);
            self.serial(child, self.children_of(child))
        };
        1 + (0..children).map(subtree).sum::<u64>()
    }

    fn parallel(&self, state: State, children: usize) -> u64 {
        if children == 0 {
            return 1;
        }
        let mut nodes = vec![0; children];
        rayon::scope(|scope| {
            for (i, out) in nodes.iter_mut().enumerate() {
                let child = Self::child(state, i);
                scope.spawn(move |_| *out = self.parallel(child, self.children_of(child)));
            }
        });
        1 + nodes.iter().sum::<u64>()
    }

    /// Trees whose size others have published: T3 of the UTS benchmark, and BOTS's tiny input.
    fn known(&self) -> Option<u64> {
        match (
            self.root_children,
            self.children,
            self.millionths,
            self.seed,
        ) {
            (2000, 8, 124_875, 42) => Some(4_112_897),
            (2000, 3, 333_332, 8) => Some(30_399_116),
            _ => None,
        }
    }
}

fn run(arguments: &Arguments) -> Outcome {
    let tree = Tree {
        root_children: arguments.number(0),
        children: arguments.number(1),
        millionths: arguments.number(2),
        seed: arguments.number(3),
    };
    let nodes = arguments.timed(|| tree.parallel(tree.root(), tree.root_children));
    let mut correct = tree.known().is_none_or(|size| nodes == size);
    if arguments.check() {
        correct &= nodes == tree.serial(tree.root(), tree.root_children);
    }
    outcome(correct, format!("uts: {nodes} nodes"))
}

pub const PROGRAM: Program = Program {
    name: "uts",
    usage: "[ROOT_CHILDREN] [CHILDREN] [MILLIONTHS] [SEED]",
    test: [100, 8, 100_000, 42, 0],
    small: [2000, 8, 124_000, 42, 0],
    large: [2000, 3, 333_332, 8, 0],
    run,
};
