//! How much of each strand's weight belongs to a target.

use std::collections::HashSet;

use workspan_dag::{Dag, Frame, NONE, Place, StrandId};

use super::Target;
use crate::blocks::{BlockTable, CodeBlock, FoldedBlocks};
use crate::options::Options;
use crate::regions::each_part;
use crate::weight::Weights;

/// The weight inside a target, by strand.
pub(crate) struct TargetWeights {
    /// The weight inside, at most the strand's. A folded strand has all of it or nothing.
    pub inside: Vec<f64>,
    /// Folded strands that may contain a part of the target, with its maximum weight on the
    /// record's own heaviest path. Ascending.
    pub partial: Vec<(StrandId, f64)>,
    /// Weight of the target in the folded strands of [`TargetWeights::partial`], as far as it is
    /// known: for sites and blocks from the records, for lines from samples, if there are any.
    pub folded: f64,
}

impl TargetWeights {
    pub(crate) fn none(dag: &Dag) -> TargetWeights {
        TargetWeights {
            inside: vec![0.0; dag.strands.len()],
            partial: Vec::new(),
            folded: 0.0,
        }
    }

    /// The weights inside one target.
    pub(crate) fn from_target(
        dag: &Dag,
        weights: &Weights,
        options: &Options,
        target: &Target,
    ) -> TargetWeights {
        let mut cover = TargetWeights::none(dag);
        match target {
            Target::Site { places, subtree } => cover.site(dag, weights, places, *subtree),
            Target::Lines { file, from, to } => {
                cover.lines(dag, weights, &[(file.as_str(), *from, *to)]);
            }
            Target::Region(label) => cover.region(dag, weights, options, *label),
            Target::Lock(objects) => cover.lock(dag, weights, objects),
            Target::Block(_) => cover.blocks(dag, weights, &keys_of([target])),
            Target::Strands(strands) => {
                for &s in strands {
                    if (s as usize) < cover.inside.len() {
                        cover.inside[s as usize] = weights.work(s) as f64;
                    }
                }
            }
        }
        cover
    }

    /// The weights inside all targets together: code in several of them counts once. If a strand
    /// lies partly in a marked region and partly in source lines, the parts count as different
    /// ones, up to the strand's weight.
    pub(crate) fn union(
        dag: &Dag,
        weights: &Weights,
        options: &Options,
        targets: &[Target],
    ) -> TargetWeights {
        let lines: Vec<(&str, u32, u32)> = targets
            .iter()
            .filter_map(|t| match t {
                Target::Lines { file, from, to } => Some((file.as_str(), *from, *to)),
                _ => None,
            })
            .collect();
        let mut all = TargetWeights::none(dag);
        if !lines.is_empty() {
            all.lines(dag, weights, &lines);
        }
        let keys = keys_of(targets);
        if !keys.is_empty() {
            let mut blocks = TargetWeights::none(dag);
            blocks.blocks(dag, weights, &keys);
            all.add(dag, weights, blocks);
        }
        for target in targets {
            if !matches!(target, Target::Lines { .. } | Target::Block(_)) {
                all.add(
                    dag,
                    weights,
                    TargetWeights::from_target(dag, weights, options, target),
                );
            }
        }
        all
    }

    fn add(&mut self, dag: &Dag, weights: &Weights, other: TargetWeights) {
        for (s, (sum, more)) in (0u32..).zip(self.inside.iter_mut().zip(other.inside)) {
            if more > 0.0 {
                *sum = (*sum + more).min(weights.work(s) as f64);
            }
        }
        self.folded += other.folded;
        self.partial.extend(other.partial);
        self.partial.sort_unstable_by_key(|h| h.0);
        let mut merged: Vec<(StrandId, f64)> = Vec::new();
        for &(s, part) in &self.partial {
            match merged.last_mut() {
                Some(last) if last.0 == s => last.1 += part,
                _ => merged.push((s, part)),
            }
        }
        for (s, part) in &mut merged {
            *part = part.min(span_inside(dag, weights, *s));
        }
        self.partial = merged;
    }

    fn site(&mut self, dag: &Dag, weights: &Weights, places: &[u32], subtree: bool) {
        let mut is_target_site = vec![false; dag.places.len()];
        for &place in places {
            if let Some(is_target) = is_target_site.get_mut(place as usize) {
                *is_target = true;
            }
        }
        let tasks = &dag.tasks;
        let mut inside: Vec<bool> = tasks
            .site
            .iter()
            .map(|&s| is_target_site[s as usize])
            .collect();
        if subtree {
            // Strands are in topological order, so a parent's first strand comes before its
            // child's.
            for s in 0..dag.strands.len() {
                let task = dag.strands.task[s] as usize;
                let parent = tasks.parent[task];
                if parent != NONE && tasks.first[task] == s as u32 && inside[parent as usize] {
                    inside[task] = true;
                }
            }
        }
        let blocks = FoldedBlocks::new(dag);
        let mut folds = dag.folded.cursor();
        for s in 0..dag.strands.len() as u32 {
            let fold = folds.record(s);
            let own = inside[dag.strands.task[s as usize] as usize];
            let Some(fold) = fold.filter(|_| !(own && subtree)) else {
                if own {
                    self.inside[s as usize] = weights.work(s) as f64;
                }
                continue;
            };
            let of_sites = |all: bool| -> u128 {
                let sites = fold
                    .sites
                    .iter()
                    .filter(|i| all || is_target_site[i.site as usize]);
                sites.map(|i| u128::from(i.critical_work)).sum()
            };
            let (others, mut part) = (of_sites(true), of_sites(false));
            if own {
                part += u128::from(fold.span).saturating_sub(others);
            }
            let below = fold.sites.iter().any(|i| is_target_site[i.site as usize]);
            if subtree && below {
                // Descendants count as well, and the record does not show to whom they belong.
                part = u128::from(fold.span);
            }
            if own || below {
                let mut work = 0u64;
                if subtree {
                    let sites = fold
                        .sites
                        .iter()
                        .filter(|i| is_target_site[i.site as usize]);
                    work = sites.fold(0, |sum, i| sum.saturating_add(i.work));
                } else {
                    blocks.each(
                        fold,
                        &CodeBlock::from_strand(dag, s),
                        fold.work,
                        |key, part| {
                            work += if is_target_site[key.site as usize] {
                                part
                            } else {
                                0
                            };
                        },
                    );
                }
                self.add_partial(dag, weights, s, part, work);
            }
        }
    }

    /// For each strand that released one of the objects to a waiting thread, adds the part from the
    /// first wait on.
    fn lock(&mut self, dag: &Dag, weights: &Weights, objects: &[u64]) {
        for handoff in dag.handoffs.list.iter().filter(|h| h.is_order) {
            let stop = &dag.samples.stops[handoff.stop as usize];
            if !stop.wait.is_some_and(|wait| objects.contains(&wait.object)) {
                continue;
            }
            let holder = handoff.from as usize;
            let (start, end) = (dag.strands.start[holder], dag.strands.end[holder]);
            let held = end - stop.t.clamp(start, end);
            let share = held as f64 / (end - start).max(1) as f64;
            let inside = &mut self.inside[holder];
            *inside = inside.max(share * weights.work(handoff.from) as f64);
        }
    }

    fn region(&mut self, dag: &Dag, weights: &Weights, options: &Options, label: u32) {
        let inside = &mut self.inside;
        let mut partial: Vec<StrandId> = Vec::new();
        each_part(dag, weights, options, |part| {
            if part.label != label {
                return;
            }
            if !part.tree && dag.folded.has(part.strand) {
                partial.push(part.strand);
            } else {
                // Each stretch has its own probes taken out, so together they may exceed the strand
                // a little.
                let sum = &mut inside[part.strand as usize];
                *sum = (*sum + part.weight as f64).min(weights.work(part.strand) as f64);
            }
        });
        partial.sort_unstable();
        partial.dedup();
        for s in partial {
            // The region contains the task's own strands, but not those folded below it.
            if let Some(fold) = dag.fold_of(s) {
                let below: u128 = fold.sites.iter().map(|i| u128::from(i.critical_work)).sum();
                let part = u128::from(fold.span).saturating_sub(below);
                let instances = fold.sites.iter().map(|i| i.work);
                let work = instances.fold(fold.work, u64::saturating_sub);
                self.add_partial(dag, weights, s, part, work);
            }
        }
    }

    fn blocks(&mut self, dag: &Dag, weights: &Weights, keys: &HashSet<CodeBlock>) {
        let blocks = FoldedBlocks::new(dag);
        let mut folds = dag.folded.cursor();
        for s in 0..dag.strands.len() as u32 {
            let own = CodeBlock::from_strand(dag, s);
            match folds.record(s) {
                None if keys.contains(&own) => self.inside[s as usize] = weights.work(s) as f64,
                None => {}
                Some(fold) => {
                    let mut part = 0;
                    blocks.each(fold, &own, fold.work, |block, work| {
                        part += if keys.contains(&block) { work } else { 0 };
                    });
                    if part > 0 {
                        self.add_partial(dag, weights, s, u128::from(part), part);
                    }
                }
            }
        }
    }

    /// Adds that a folded strand contains a part of the target: `work` ticks of the record, at most
    /// `part` of them on its heaviest path.
    fn add_partial(&mut self, dag: &Dag, weights: &Weights, s: StrandId, part: u128, work: u64) {
        let Some(fold) = dag.fold_of(s).filter(|f| f.work > 0) else {
            return;
        };
        let scale = weights.work(s) as f64 / fold.work as f64;
        let part = (part as f64 * scale).min(span_inside(dag, weights, s));
        self.partial.push((s, part));
        self.folded += work.min(fold.work) as f64 * scale;
    }

    fn lines(&mut self, dag: &Dag, weights: &Weights, ranges: &[(&str, u32, u32)]) {
        let begins: Vec<bool> = dag
            .places
            .iter()
            .map(|place| ranges.iter().any(|&range| contains_place(place, range)))
            .collect();
        let begins_in = |place: u32| begins.get(place as usize).copied().unwrap_or(false);
        let sampled = SampledShares::new(dag, ranges);
        let blocks = FoldedBlocks::new(dag);
        let mut folds = dag.folded.cursor();
        for s in 0..dag.strands.len() as u32 {
            let share = sampled.share(dag, s);
            let from = dag.starts_at(s);
            match folds.record(s) {
                None => {
                    let share = share.unwrap_or(if begins_in(from) { 1.0 } else { 0.0 });
                    self.inside[s as usize] = weights.work(s) as f64 * share;
                }
                Some(fold) => {
                    let mut work = 0;
                    blocks.each(
                        fold,
                        &CodeBlock::from_strand(dag, s),
                        fold.work,
                        |block, part| {
                            work += if begins_in(block.from) { part } else { 0 };
                        },
                    );
                    let mut part = u128::from(work);
                    if let Some(share) = share {
                        work = (fold.work as f64 * share) as u64;
                        // Samples inside do not show what is on the record's own path.
                        if share > 0.0 {
                            part = u128::from(fold.span);
                        }
                    }
                    if part > 0 {
                        self.add_partial(dag, weights, s, part, work);
                    }
                }
            }
        }
    }
}

/// The code blocks among the targets.
fn keys_of<'a>(targets: impl IntoIterator<Item = &'a Target>) -> HashSet<CodeBlock> {
    let key = |target: &Target| match *target {
        Target::Block(block) => Some(block),
        _ => None,
    };
    targets.into_iter().filter_map(key).collect()
}

/// The heaviest path through folded strand `s`.
fn span_inside(dag: &Dag, weights: &Weights, s: StrandId) -> f64 {
    debug_assert!(dag.folded.has(s));
    weights.path_scaled(s, 0, 1.0)
}

/// Whether a position lies in lines `from` to `to` of a file, which is given by its path or the end
/// of it. A chain of calls also lies at its first line.
pub fn contains_place(place: &Place, (file, from, to): (&str, u32, u32)) -> bool {
    let in_range = |line: u32| (from..=to).contains(&line);
    let hit = place.line.is_some_and(in_range) || place.first_line().is_some_and(in_range);
    hit && place.file.as_deref().is_some_and(|f| is_same_file(f, file))
}

/// True if two paths may name the same file: one may be relative to the workspace and the other
/// not.
pub fn is_same_file(a: &str, b: &str) -> bool {
    a == b
        || a.strip_suffix(b).is_some_and(|p| p.ends_with('/'))
        || b.strip_suffix(a).is_some_and(|p| p.ends_with('/'))
}

/// Shares of strands and of code blocks that samples fell into.
struct SampledShares {
    /// (samples, samples inside) by strand; empty if there are none.
    strands: Vec<(u32, u32)>,
    /// (samples, samples inside) by number of the code block.
    blocks: Vec<(u32, u32)>,
    /// The block of each strand.
    block: Vec<u32>,
}

impl SampledShares {
    fn new(dag: &Dag, ranges: &[(&str, u32, u32)]) -> SampledShares {
        let samples = &dag.samples;
        let mut sampled = SampledShares {
            strands: Vec::new(),
            blocks: Vec::new(),
            block: Vec::new(),
        };
        if samples.is_empty() {
            return sampled;
        }
        let inside = |frame: &Frame| {
            let at = frame.file.as_deref().zip(frame.line);
            let hit = |&(file, from, to): &(&str, u32, u32)| {
                at.is_some_and(|(f, line)| (from..=to).contains(&line) && is_same_file(f, file))
            };
            ranges.iter().any(hit)
        };
        let stacks: Vec<bool> = (0..samples.stacks.len() as u32)
            .map(|stack| samples.own_frames(stack).any(inside))
            .collect();
        sampled.strands = vec![(0, 0); dag.strands.len()];
        for (&stack, &s) in samples.stack.iter().zip(&samples.strand) {
            if s != NONE {
                let (all, hits) = &mut sampled.strands[s as usize];
                *all += 1;
                *hits += u32::from(stacks[stack as usize]);
            }
        }
        let mut table: BlockTable<(u32, u32)> = BlockTable::new();
        for s in 0..dag.strands.len() as u32 {
            let number = table.number(CodeBlock::from_strand(dag, s));
            let (all, hits) = sampled.strands[s as usize];
            let block = &mut table.values[number];
            *block = (block.0 + all, block.1 + hits);
            sampled.block.push(number as u32);
        }
        sampled.blocks = table.values;
        sampled
    }

    /// The share of strand `s` that lies in the lines, as far as samples show it.
    fn share(&self, dag: &Dag, s: StrandId) -> Option<f64> {
        let hit_share =
            |(all, hits): (u32, u32)| (all > 0).then(|| f64::from(hits) / f64::from(all));
        let own = self.strands.get(s as usize).copied().and_then(hit_share);
        // The samples of a folded strand's block belong to other strands.
        let folded = dag.folded.has(s);
        own.or_else(|| {
            let block = self.block.get(s as usize).filter(|_| !folded)?;
            hit_share(self.blocks[*block as usize])
        })
    }
}
