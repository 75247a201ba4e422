//! The folded record (MODEL.md §7): a subtree that ran on one thread, reduced to what the measures need.

/// What a folded subtree keeps of one spawn site inside it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoldedSite {
    /// Place of the site.
    pub site: u32,
    /// Task instances created there inside the fold.
    pub count: u64,
    /// Work of the outermost instances with their descendants, in ticks.
    pub work: u64,
    /// Span of the outermost instances, summed.
    pub span: u64,
    /// Weight of the fold's own heaviest path (at burden 0) that belongs to tasks of this site.
    pub critical_work: u64,
    /// Histogram of task lengths: `lengths[i]` tasks took [2^i, 2^(i+1)) ticks; trailing zeros left off.
    pub lengths: Vec<u64>,
}

/// A folded subtree; the strand it hangs on has its start and end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Folded {
    /// Work inside, in raw ticks.
    pub work: u64,
    /// Span inside, in raw ticks: the envelope's point with most weight at burden 0.
    pub span: u64,
    /// Upper envelope of (path weight, burdened edges on it) over all paths through, at most 8 points, by falling weight.
    pub envelope: Vec<(u64, u32)>,
    /// Tasks created inside.
    pub tasks: u64,
    /// Deferred creates inside.
    pub spawns: u64,
    /// Waits inside.
    pub syncs: u64,
    /// Strands inside.
    pub strands: u64,
    /// Levels below the folded task.
    pub levels: u32,
    /// Per site, ascending by place.
    pub sites: Vec<FoldedSite>,
    /// Per block (from place, to place): work in ticks; `u32::MAX` = unknown place.
    pub blocks: Vec<(u32, u32, u64)>,
    /// Integral of the number of ready tasks over the fold's time, in task·ticks.
    pub ready_integral: u64,
}

impl Folded {
    /// Weight of the heaviest path through, when each burdened edge costs `burden`, and that burden excluded or not
    /// is the caller's business: returns (weight + burden·edges) maximised.
    pub fn path(&self, burden: u64) -> u128 {
        self.envelope
            .iter()
            .map(|&(w, edges)| u128::from(w) + u128::from(edges) * u128::from(burden))
            .max()
            .unwrap_or(u128::from(self.span))
    }
}
