//! Counts the ways up a stair by one or two steps.

fn ways(stairs: u32) -> u64 {
    if stairs < 2 {
        return 1;
    }
    let (one, two) = rayon::join(|| ways(stairs - 1), || ways(stairs - 2));
    one + two
}

fn main() {
    println!("{}", ways(27));
}
