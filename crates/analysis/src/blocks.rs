//! Code blocks: which stretches of a site's code the time went to.

use std::collections::HashMap;

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, EndKind, Folded, NONE, PlaceId, ROOT_PLACE, StartKind, StrandId};

use crate::weight::Weights;

/// A code block: the strands of one site that go from one position to another.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockRow {
    /// Where its strands start (`NONE` = unknown; for a first strand the spawn site).
    pub from: PlaceId,
    /// Why they start there.
    pub from_kind: StartKind,
    /// Where they end (`NONE` = unknown or the task's end).
    pub to: PlaceId,
    /// How they end.
    pub to_kind: EndKind,
    /// Number of strands.
    pub count: u64,
    /// Their weight.
    pub work: u128,
    /// Their weight on the critical path.
    pub critical_work: u128,
}

/// What makes two strands one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CodeBlock {
    /// Spawn site of the strand's task.
    pub site: PlaceId,
    /// Where it starts (`NONE` = unknown; for a first strand the spawn site).
    pub from: PlaceId,
    /// Where it ends (`NONE` = unknown or the task's end).
    pub to: PlaceId,
    /// Why it starts there.
    pub from_kind: StartKind,
    /// How it ends.
    pub to_kind: EndKind,
}

impl CodeBlock {
    /// The block of strand `s`.
    pub fn of(dag: &Dag, s: StrandId) -> CodeBlock {
        let (strands, i) = (&dag.strands, s as usize);
        CodeBlock {
            site: dag.tasks.site[strands.task[i] as usize],
            from: dag.starts_at(s),
            to: strands.to[i],
            from_kind: strands.start_kind[i],
            to_kind: strands.end_kind[i],
        }
    }

    /// An order that doesn't depend on how places were numbered, but for places of the same label.
    pub fn order<'a>(&self, dag: &'a Dag) -> impl Ord + use<'a> {
        let label = |p: PlaceId| dag.places.get(p as usize).map_or("", |p| p.label.as_str());
        let kinds = (self.from_kind as u8, self.to_kind as u8);
        let labels = (label(self.site), label(self.from), label(self.to));
        let root_first = self.site != ROOT_PLACE;
        (root_first, labels, kinds, self.from, self.to)
    }
}

/// What a block is called on a command line: `root: wait src/sort.rs:37 -> end`. Blocks that people would read as one have one name.
pub fn block_name(dag: &Dag, block: &CodeBlock) -> String {
    let label = |p: PlaceId| dag.places.get(p as usize).map_or("?", |p| p.label.as_str());
    let from = match block.from_kind {
        StartKind::Begin => "start".to_owned(),
        StartKind::AfterCreate => format!("create {}", label(block.from)),
        StartKind::AfterWait => format!("wait {}", label(block.from)),
        StartKind::AfterYield => format!("yield {}", label(block.from)),
        StartKind::AfterSignal => format!("signal {}", label(block.from)),
    };
    let to = match block.to_kind {
        EndKind::Create => format!("create {}", label(block.to)),
        EndKind::Wait => format!("wait {}", label(block.to)),
        EndKind::Yield => format!("yield {}", label(block.to)),
        EndKind::Signal => format!("signal {}", label(block.to)),
        EndKind::End => "end".to_owned(),
    };
    let site = match block.site {
        ROOT_PLACE => "root",
        site => label(site),
    };
    format!("{site}: {from} -> {to}")
}

/// The strands of the blocks of that name, ascending. O(strands).
pub fn block_strands(dag: &Dag, name: &str) -> Vec<StrandId> {
    let mut table = BlockTable::new();
    let mut named: Vec<bool> = Vec::new();
    let strands = 0..dag.strands.len() as StrandId;
    let of_name = |&s: &StrandId| {
        let key = CodeBlock::of(dag, s);
        let number = table.number(key);
        if number == named.len() {
            named.push(block_name(dag, &key) == name);
        }
        named[number]
    };
    strands.filter(of_name).collect()
}

/// Slots for recent keys: a program has few blocks, and most strands find theirs without hashing at length.
const RECENT: usize = 256;

/// Numbers blocks as they are met.
#[derive(Debug)]
pub struct BlockTable {
    /// The blocks by number.
    pub keys: Vec<CodeBlock>,
    index: HashMap<CodeBlock, u32>,
    recent: Vec<u32>,
}

impl Default for BlockTable {
    fn default() -> BlockTable {
        BlockTable::new()
    }
}

impl BlockTable {
    /// Without any.
    pub fn new() -> BlockTable {
        BlockTable {
            keys: Vec::new(),
            index: HashMap::new(),
            recent: vec![NONE; RECENT],
        }
    }

    /// The number of a block: the next one when it is new.
    pub fn number(&mut self, key: CodeBlock) -> usize {
        let mix = key
            .site
            .wrapping_mul(31)
            .wrapping_add(key.from)
            .wrapping_mul(31)
            .wrapping_add(key.to)
            .wrapping_mul(31)
            .wrapping_add(key.from_kind as u32 * 5 + key.to_kind as u32);
        let slot = mix as usize % RECENT;
        let seen = self.recent[slot];
        if self.keys.get(seen as usize) == Some(&key) {
            return seen as usize;
        }
        let next = self.keys.len() as u32;
        let number = *self.index.entry(key).or_insert(next);
        if number == next {
            self.keys.push(key);
        }
        self.recent[slot] = number;
        number as usize
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    count: u64,
    work: u128,
    critical_work: u128,
}

/// The blocks of each site (by place), most work first.
pub(crate) fn blocks(
    dag: &Dag,
    weights: &Weights,
    critical_path: &[StrandId],
) -> Vec<Vec<BlockRow>> {
    let mut table = BlockTable::new();
    let mut sums: Vec<Sum> = Vec::new();
    let mut add = |key: CodeBlock, count: u64, work: u128, critical_work: u128| {
        let number = table.number(key);
        if number == sums.len() {
            sums.push(Sum::default());
        }
        let sum = &mut sums[number];
        sum.count += count;
        sum.work += work;
        sum.critical_work += critical_work;
    };
    let inside = Inside::new(dag);
    let mut folds = dag.folded.along();
    for s in checked(0..dag.strands.len() as u32) {
        let key = CodeBlock::of(dag, s);
        let own = weights.work(s);
        match folds.of(s) {
            None => add(key, 1, u128::from(own), 0),
            Some(fold) => {
                inside.each(fold, &key, own, |key, work| {
                    add(key, 0, u128::from(work), 0)
                });
                add(key, 1, 0, 0);
            }
        }
    }
    for &s in critical_path {
        add(CodeBlock::of(dag, s), 0, 0, weights.path(s, 0));
    }
    by_site(dag, &table.keys, &sums)
}

/// Tells the blocks inside of folded strands, of which their records say where they start and end.
pub(crate) struct Inside {
    /// How strands end at each place, as far as one that is not folded does.
    ends: HashMap<PlaceId, EndKind>,
    /// Likewise how those begin that go on there and take any time.
    starts: HashMap<PlaceId, StartKind>,
}

impl Inside {
    pub(crate) fn new(dag: &Dag) -> Inside {
        let (mut ends, mut starts) = (HashMap::new(), HashMap::new());
        if !dag.folded.is_empty() {
            let strands = &dag.strands;
            for (to, kind) in strands.to.iter().zip(&strands.end_kind) {
                if *to != NONE {
                    ends.entry(*to).or_insert(*kind);
                }
            }
            for s in 0..strands.len() as u32 {
                let (i, from) = (s as usize, dag.starts_at(s));
                let kind = strands.start_kind[i];
                if kind != StartKind::Begin && strands.end[i] > strands.start[i] {
                    starts.entry(from).or_insert(kind);
                }
            }
        }
        Inside { ends, starts }
    }

    /// Calls `tell` with each block of a folded strand and its part of `whole` ticks, last with what is left for the strand's own block.
    pub(crate) fn each(
        &self,
        fold: &Folded,
        own: &CodeBlock,
        whole: u64,
        mut tell: impl FnMut(CodeBlock, u64),
    ) {
        let mut rest = whole;
        for &(from, to, work) in &fold.blocks {
            let work = work.min(rest);
            rest -= work;
            tell(self.key(fold, own, from, to), work);
        }
        tell(*own, rest);
    }

    /// One that starts at a task's site is taken for the task's first, and one that starts nowhere known for what a recursive task
    /// goes on with at its own site.
    fn key(&self, fold: &Folded, own: &CodeBlock, from: PlaceId, to: PlaceId) -> CodeBlock {
        let inside = |site: PlaceId| fold.sites.iter().any(|s| s.site == site);
        let first = from == own.site || inside(from);
        let site = if first {
            from
        } else if from == NONE && !inside(own.site) {
            // The strand's own task is not the recursive one.
            let most = fold.sites.iter().max_by_key(|s| s.work);
            most.map_or(own.site, |s| s.site)
        } else {
            own.site
        };
        let from = if from == NONE { site } else { from };
        let goes_on = self.starts.get(&from).copied();
        CodeBlock {
            site,
            from,
            to,
            from_kind: if first {
                StartKind::Begin
            } else {
                goes_on.unwrap_or(StartKind::AfterWait)
            },
            to_kind: match to {
                NONE => EndKind::End,
                to => self.ends.get(&to).copied().unwrap_or(EndKind::Create),
            },
        }
    }
}

fn by_site(dag: &Dag, keys: &[CodeBlock], sums: &[Sum]) -> Vec<Vec<BlockRow>> {
    let mut rows: Vec<(&CodeBlock, &Sum)> = keys.iter().zip(sums).collect();
    rows.sort_by(|(k, a), (l, b)| {
        let most = (b.work, b.critical_work).cmp(&(a.work, a.critical_work));
        most.then_with(|| k.order(dag).cmp(&l.order(dag)))
    });
    let mut sites = vec![Vec::new(); dag.places.len()];
    for (key, sum) in rows {
        sites[key.site as usize].push(BlockRow {
            from: key.from,
            from_kind: key.from_kind,
            to: key.to,
            to_kind: key.to_kind,
            count: sum.count,
            work: sum.work,
            critical_work: sum.critical_work,
        });
    }
    sites
}
