//! Loops that halve their range down to a grain, as TP_PFOR and TP_PFOR_REDUCE of tp.h do: the same
//! tasks as in C++, which Rayon's parallel iterators leave to its scheduler.

/// Calls `leaf(first, piece)` for pieces of `rows`, which have `width` elements a row: halves them
/// until `grain` rows or fewer are left, as TP_PFOR does. The left half is the side of the join
/// that another worker can take.
pub fn pfor_mut<T: Send>(
    rows: &mut [T],
    width: usize,
    first: usize,
    grain: usize,
    leaf: &(impl Fn(usize, &mut [T]) + Sync),
) {
    let count = rows.len() / width;
    if count == 0 {
        return;
    }
    if count <= grain.max(1) {
        return leaf(first, rows);
    }
    let middle = count / 2;
    let (left, right) = rows.split_at_mut(middle * width);
    rayon::join(
        || pfor_mut(right, width, first + middle, grain, leaf),
        || pfor_mut(left, width, first, grain, leaf),
    );
}

/// Like [`pfor_mut`], over several slices with the same number of rows, which are halved together.
pub fn pfor_slices<T: Send>(
    mut slices: Vec<&mut [T]>,
    width: usize,
    first: usize,
    grain: usize,
    leaf: &(impl Fn(usize, &mut [&mut [T]]) + Sync),
) {
    let count = slices.first().map_or(0, |slice| slice.len() / width);
    if count == 0 {
        return;
    }
    if count <= grain.max(1) {
        return leaf(first, &mut slices);
    }
    let middle = count / 2;
    let halves = slices.into_iter().map(|s| s.split_at_mut(middle * width));
    let (left, right): (Vec<_>, Vec<_>) = halves.unzip();
    rayon::join(
        || pfor_slices(right, width, first + middle, grain, leaf),
        || pfor_slices(left, width, first, grain, leaf),
    );
}

/// The tree of [`pfor_mut`] over `[first, last)`; the leaves' results are combined in the order of
/// the range. `None` for an empty range.
pub fn pfor_reduce<T: Send>(
    first: usize,
    last: usize,
    grain: usize,
    leaf: &(impl Fn(usize, usize) -> T + Sync),
    combine: &(impl Fn(T, T) -> T + Sync),
) -> Option<T> {
    if first >= last {
        return None;
    }
    if last - first <= grain.max(1) {
        return Some(leaf(first, last));
    }
    let middle = first + (last - first) / 2;
    let (right, left) = rayon::join(
        || pfor_reduce(middle, last, grain, leaf, combine),
        || pfor_reduce(first, middle, grain, leaf, combine),
    );
    match (left, right) {
        (Some(left), Some(right)) => Some(combine(left, right)),
        (left, right) => left.or(right),
    }
}
