//! Counts the ways up a stair by one or two steps.

fn alone(stairs: u32) -> u64 {
    if stairs < 2 { 1 } else { alone(stairs - 1) + alone(stairs - 2) }
}

fn ways(stairs: u32) -> u64 {
    if stairs < 18 {
        return alone(stairs);
    }
    let (one, two) = rayon::join(|| ways(stairs - 1), || ways(stairs - 2));
    one + two
}

fn main() {
    println!("{}", ways(27));
}
