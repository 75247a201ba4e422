//! Sorts numbers around a pivot.

use agent_faults::burn;

fn partition(v: &mut [u64]) -> usize {
    let last = v.len() - 1;
    v.swap(last - last / 20, last);
    let pivot = v[last];
    let mut at = 0;
    for i in 0..last {
        if v[i] < pivot {
            v.swap(i, at);
            at += 1;
        }
    }
    v.swap(at, last);
    at
}

fn sort(v: &mut [u64]) {
    if v.len() < 20_000 {
        return v.sort();
    }
    let at = partition(v);
    let (low, high) = v.split_at_mut(at);
    rayon::join(|| sort(low), || sort(&mut high[1..]));
}

fn main() {
    let mut v: Vec<u64> = (0..4_000_000).map(|i| i * 4 + burn(1, i) % 4).collect();
    sort(&mut v);
    assert!(v.is_sorted());
}
