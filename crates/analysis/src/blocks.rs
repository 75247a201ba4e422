//! Code blocks: the stretches of a site's code in which the time was spent.

use std::collections::HashMap;

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, EndKind, Folded, NONE, PlaceId, ROOT_PLACE, StartKind, StrandId};

use crate::weight::Weights;

/// A code block: the strands of one site that start at one position, end at another, and start and
/// end in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodeBlock {
    /// Spawn site of the strands' tasks.
    pub site: PlaceId,
    /// Where its strands start (`NONE` = unknown; the spawn site for a task's first strand).
    pub from: PlaceId,
    /// Why they start there.
    pub from_kind: StartKind,
    /// Where they end (`NONE` = unknown or the task's end).
    pub to: PlaceId,
    /// How they end.
    pub to_kind: EndKind,
}

impl CodeBlock {
    /// The block of strand `s`. All pieces of a strand that handoffs cut are in one block.
    pub fn from_strand(dag: &Dag, s: StrandId) -> CodeBlock {
        let strands = &dag.strands;
        let (first, last) = match dag.handoffs.is_empty() {
            true => (s, s),
            false => dag.handoffs.whole(s),
        };
        CodeBlock {
            site: dag.tasks.site[strands.task[s as usize] as usize],
            from: dag.starts_at(first),
            from_kind: strands.start_kind[first as usize],
            to: strands.to[last as usize],
            to_kind: strands.end_kind[last as usize],
        }
    }

    /// All strands of the tasks of `site`; `NONE` stands for no site.
    pub fn whole_site(site: PlaceId) -> CodeBlock {
        CodeBlock {
            site,
            from: NONE,
            from_kind: StartKind::Begin,
            to: NONE,
            to_kind: EndKind::End,
        }
    }

    /// True if its strands run from the start of their task to the task's end.
    pub fn is_whole_task(&self) -> bool {
        (self.from_kind, self.to_kind) == (StartKind::Begin, EndKind::End)
    }

    /// The block with its places numbered anew; `None` if `number` does not know one of them.
    pub fn renumbered(&self, number: impl Fn(PlaceId) -> Option<PlaceId>) -> Option<CodeBlock> {
        Some(CodeBlock {
            site: number(self.site)?,
            from: number(self.from)?,
            to: number(self.to)?,
            ..*self
        })
    }

    /// The position to look at first: where the strands start, or where their tasks are created, or
    /// where they end.
    pub fn telling_place(&self) -> PlaceId {
        if self.from_kind != StartKind::Begin && self.from != NONE {
            self.from
        } else if self.site != ROOT_PLACE && self.site != NONE {
            self.site
        } else {
            self.to
        }
    }

    /// A sort key. It depends on the numbering of places only if their labels are equal.
    pub fn order<'a>(&self, dag: &'a Dag) -> impl Ord + use<'a> {
        let label = |p: PlaceId| dag.places.get(p as usize).map_or("", |p| p.label.as_str());
        let kinds = (self.from_kind as u8, self.to_kind as u8);
        let labels = (label(self.site), label(self.from), label(self.to));
        let root_first = self.site != ROOT_PLACE;
        (root_first, labels, kinds, self.from, self.to)
    }
}

/// A code block in the report.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockRow {
    /// The block.
    pub block: CodeBlock,
    /// Number of strands.
    pub count: u64,
    /// Their weight.
    pub work: u128,
    /// Their weight on the critical path.
    pub critical_work: u128,
}

/// The name of a block on a command line: `root: wait src/sort.rs:37 -> end`. Blocks that look the
/// same to people have the same name.
pub fn block_name(dag: &Dag, block: &CodeBlock) -> String {
    let label = |p: PlaceId| dag.places.get(p as usize).map_or("?", |p| p.label.as_str());
    let from = match block.from_kind {
        StartKind::Begin => "start".to_owned(),
        StartKind::AfterCreate => format!("create {}", label(block.from)),
        StartKind::AfterWait => format!("wait {}", label(block.from)),
        StartKind::AfterYield => format!("yield {}", label(block.from)),
        StartKind::AfterSignal => format!("signal {}", label(block.from)),
        StartKind::AfterHandoff => format!("handoff {}", label(block.from)),
    };
    let to = match block.to_kind {
        EndKind::Create => format!("create {}", label(block.to)),
        EndKind::Wait => format!("wait {}", label(block.to)),
        EndKind::Yield => format!("yield {}", label(block.to)),
        EndKind::Signal => format!("signal {}", label(block.to)),
        EndKind::Handoff => format!("handoff {}", label(block.to)),
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
    let mut is_named: BlockTable<Option<bool>> = BlockTable::new();
    let strands = 0..dag.strands.len() as StrandId;
    let of_name = |&s: &StrandId| {
        let block = CodeBlock::from_strand(dag, s);
        let known = is_named.entry(block);
        *known.get_or_insert_with(|| block_name(dag, &block) == name)
    };
    strands.filter(of_name).collect()
}

/// Number of slots for recent blocks. A program has few blocks, and most strands find theirs
/// without hashing.
const RECENT_SLOTS: usize = 256;

/// A value for each code block. Blocks are numbered in the order of their first use.
#[derive(Debug)]
pub struct BlockTable<V> {
    /// The blocks by number.
    pub keys: Vec<CodeBlock>,
    /// Their values by number.
    pub values: Vec<V>,
    index: HashMap<CodeBlock, u32>,
    recent: Vec<u32>,
}

impl<V: Default> Default for BlockTable<V> {
    fn default() -> BlockTable<V> {
        BlockTable::new()
    }
}

impl<V: Default> BlockTable<V> {
    /// An empty table.
    pub fn new() -> BlockTable<V> {
        BlockTable {
            keys: Vec::new(),
            values: Vec::new(),
            index: HashMap::new(),
            recent: vec![NONE; RECENT_SLOTS],
        }
    }

    /// The number of a block. A new block gets the next number and the default value.
    pub fn number(&mut self, key: CodeBlock) -> usize {
        let mix = key
            .site
            .wrapping_mul(31)
            .wrapping_add(key.from)
            .wrapping_mul(31)
            .wrapping_add(key.to)
            .wrapping_mul(31)
            .wrapping_add(key.from_kind as u32 * 5 + key.to_kind as u32);
        let slot = mix as usize % RECENT_SLOTS;
        let seen = self.recent[slot];
        if self.keys.get(seen as usize) == Some(&key) {
            return seen as usize;
        }
        let next = self.keys.len() as u32;
        let number = *self.index.entry(key).or_insert(next);
        if number == next {
            self.keys.push(key);
            self.values.push(V::default());
        }
        self.recent[slot] = number;
        number as usize
    }

    /// The value of a block.
    pub fn entry(&mut self, key: CodeBlock) -> &mut V {
        let number = self.number(key);
        &mut self.values[number]
    }

    /// All blocks with their values, by number.
    pub fn iter(&self) -> impl Iterator<Item = (&CodeBlock, &V)> {
        self.keys.iter().zip(&self.values)
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct BlockSum {
    count: u64,
    work: u128,
    critical_work: u128,
}

/// The blocks of each site (by place), in descending order of work.
pub(crate) fn blocks(
    dag: &Dag,
    weights: &Weights,
    critical_path: &[StrandId],
) -> Vec<Vec<BlockRow>> {
    let mut table: BlockTable<BlockSum> = BlockTable::new();
    let mut add = |key: CodeBlock, count: u64, work: u128, critical_work: u128| {
        let sum = table.entry(key);
        sum.count += count;
        sum.work += work;
        sum.critical_work += critical_work;
    };
    let inside = FoldedBlocks::new(dag);
    let mut folds = dag.folded.cursor();
    for s in checked(0..dag.strands.len() as u32) {
        let key = CodeBlock::from_strand(dag, s);
        let own = weights.work(s);
        let count = u64::from(dag.strands.start_kind[s as usize] != StartKind::AfterHandoff);
        match folds.record(s) {
            None => add(key, count, u128::from(own), 0),
            Some(fold) => {
                inside.each(fold, &key, own, |key, work| {
                    add(key, 0, u128::from(work), 0)
                });
                add(key, 1, 0, 0);
            }
        }
    }
    for &s in critical_path {
        let (key, path) = (CodeBlock::from_strand(dag, s), weights.path(s, 0));
        match dag.fold_of(s) {
            None => add(key, 0, 0, path),
            Some(fold) => {
                let of_sites = fold.sites.iter();
                let of_sites =
                    of_sites.map(|of| (of.site, weights.inside(s, &fold, of.critical_work)));
                inside.each_critical(&fold, &key, path, of_sites, |key, critical| {
                    add(key, 0, 0, critical)
                });
            }
        }
    }
    let mut rows = by_site(dag, &table);
    if !dag.folded.is_empty() {
        rows.iter_mut().for_each(|rows| keep_within_work(rows));
    }
    rows
}

/// Corrects the estimates that folded strands give for a site's blocks: no block has more work on
/// the critical path than work. The excess goes to the other blocks of the site.
fn keep_within_work(rows: &mut [BlockRow]) {
    let mut excess = 0;
    for row in rows.iter_mut() {
        let within_work = row.critical_work.min(row.work);
        excess += row.critical_work - within_work;
        row.critical_work = within_work;
    }
    for row in rows.iter_mut() {
        let more = excess.min(row.work - row.critical_work);
        row.critical_work += more;
        excess -= more;
    }
    if let Some(most) = rows.first_mut() {
        most.critical_work += excess;
    }
}

/// Divides the work of folded strands among the code blocks inside. A record has only the start and
/// end of each block.
pub(crate) struct FoldedBlocks {
    /// How strands end at each place, if a strand outside folded records ends there.
    ends: HashMap<PlaceId, EndKind>,
    /// How strands start at each place, if a strand outside folded records starts there and takes
    /// time.
    starts: HashMap<PlaceId, StartKind>,
}

impl FoldedBlocks {
    pub(crate) fn new(dag: &Dag) -> FoldedBlocks {
        let (mut ends, mut starts) = (HashMap::new(), HashMap::new());
        if !dag.folded.is_empty() {
            let strands = &dag.strands;
            for (to, kind) in strands.to.iter().zip(&strands.end_kind) {
                if *to != NONE && *kind != EndKind::Handoff {
                    ends.entry(*to).or_insert(*kind);
                }
            }
            for s in 0..strands.len() as u32 {
                let (i, from) = (s as usize, dag.starts_at(s));
                let kind = strands.start_kind[i];
                let starts_there = !matches!(kind, StartKind::Begin | StartKind::AfterHandoff);
                if starts_there && strands.end[i] > strands.start[i] {
                    starts.entry(from).or_insert(kind);
                }
            }
        }
        FoldedBlocks { ends, starts }
    }

    /// Calls `tell` with each block of a folded strand and its part of `whole` ticks. The last call
    /// is for the strand's own block, with the remaining ticks.
    pub(crate) fn each(
        &self,
        fold: &Folded,
        own: &CodeBlock,
        whole: u64,
        mut tell: impl FnMut(CodeBlock, u64),
    ) {
        let mut rest = whole;
        for &(from, to, work) in &fold.blocks {
            // If weight was taken out of the strand, it was taken out of all blocks inside in
            // proportion.
            let part = match fold.work {
                all if all == whole => u128::from(work),
                all => mul_div(whole.into(), work.into(), all.into()),
            };
            let part = part.min(rest.into()) as u64;
            rest -= part;
            tell(self.key(fold, own, from, to), part);
        }
        tell(*own, rest);
    }

    /// Divides the `path` ticks of a folded strand on the critical path in the same way. Each site
    /// gets its value in `of_sites`, which is divided among the site's blocks in proportion to
    /// their work.
    fn each_critical(
        &self,
        fold: &Folded,
        own: &CodeBlock,
        path: u128,
        of_sites: impl Iterator<Item = (PlaceId, u128)>,
        mut tell: impl FnMut(CodeBlock, u128),
    ) {
        let mut work: Vec<(CodeBlock, u128)> = Vec::new();
        self.each(fold, own, fold.work, |key, part| {
            work.push((key, u128::from(part)));
        });
        let mut divide = |site: PlaceId, ticks: u128| {
            let of_site = |row: &&(CodeBlock, u128)| row.0.site == site && row.1 > 0;
            let mut weight: u128 = work.iter().filter(of_site).map(|row| row.1).sum();
            if weight == 0 && ticks > 0 {
                let whole = match own.site == site {
                    true => *own,
                    false => CodeBlock::whole_site(site),
                };
                return tell(whole, ticks);
            }
            let mut left = ticks;
            for (key, part) in work.iter().filter(of_site) {
                let share = mul_div(left, *part, weight);
                (left, weight) = (left - share, weight - part);
                tell(*key, share);
            }
        };
        let mut left = path;
        for (site, critical) in of_sites {
            let part = critical.min(left);
            left -= part;
            divide(site, part);
        }
        divide(own.site, left);
    }

    /// The code block of a place pair in a record. A block that starts at a spawn site counts as
    /// the first one of a task created there. A block with an unknown start counts as the code of a
    /// recursive task after the wait at its own site.
    fn key(&self, fold: &Folded, own: &CodeBlock, from: PlaceId, to: PlaceId) -> CodeBlock {
        let inside = |site: PlaceId| fold.sites.iter().any(|s| s.site == site);
        let first = from == own.site || inside(from);
        let site = if first {
            from
        } else if from == NONE && !inside(own.site) {
            // The strand's own task is not the recursive one here.
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

/// a · b / c for b ≤ c, and exactly `a` if b = c. The result is rounded if the product exceeds 128
/// bits.
fn mul_div(a: u128, b: u128, c: u128) -> u128 {
    match a.checked_mul(b) {
        _ if b >= c => a,
        Some(product) => product / c,
        None => ((a as f64 * (b as f64 / c as f64)) as u128).min(a),
    }
}

fn by_site(dag: &Dag, table: &BlockTable<BlockSum>) -> Vec<Vec<BlockRow>> {
    let mut rows: Vec<(&CodeBlock, &BlockSum)> = table.iter().collect();
    rows.sort_by(|(k, a), (l, b)| {
        let most = (b.work, b.critical_work).cmp(&(a.work, a.critical_work));
        most.then_with(|| k.order(dag).cmp(&l.order(dag)))
    });
    let mut sites = vec![Vec::new(); dag.places.len()];
    for (key, sum) in rows {
        sites[key.site as usize].push(BlockRow {
            block: *key,
            count: sum.count,
            work: sum.work,
            critical_work: sum.critical_work,
        });
    }
    sites
}
