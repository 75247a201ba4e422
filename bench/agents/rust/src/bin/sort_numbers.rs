//! Sorts numbers by halves.

use agent_faults::burn;

fn merge(a: &[u64], b: &[u64], out: &mut [u64]) {
    let (mut i, mut j) = (0, 0);
    for slot in out {
        let left = j == b.len() || (i < a.len() && a[i] <= b[j]);
        *slot = if left { a[i] } else { b[j] };
        if left { i += 1 } else { j += 1 }
    }
}

fn sort(v: &mut [u64], spare: &mut [u64]) {
    if v.len() <= 1 << 15 {
        v.sort();
        return;
    }
    let half = v.len() / 2;
    let (a, b) = v.split_at_mut(half);
    let (spare_a, spare_b) = spare.split_at_mut(half);
    rayon::join(|| sort(a, spare_a), || sort(b, spare_b));
    merge(a, b, spare);
    v.copy_from_slice(spare);
}

fn main() {
    let mut v: Vec<u64> = (0..6_000_000).map(|i| burn(1, i)).collect();
    let mut spare = v.clone();
    sort(&mut v, &mut spare);
    assert!(v.is_sorted());
}
