//! `swaptions SWAPTIONS TRIALS GRAIN`: prices of swaptions by Monte Carlo over paths of a forward
//! curve. One loop over the swaptions. A kernel of the same structure as the original: one factor,
//! ten forward rates.

use crate::program::{Arguments, Outcome, Program, outcome, pfor_mut, unit};

const RATES: usize = 10;
/// Time between two rates, in years.
const YEARS: f64 = 0.5;

/// A number with about a normal distribution: the sum of twelve uniform ones.
fn gaussian(seed: u64) -> f64 {
    (0..12).fold(-6.0, |sum, i| sum + unit(seed * 12 + i))
}

/// The mean discounted value of the right to swap at `strike` after half of the curve's years.
fn price(number: u64, trials: usize) -> f64 {
    let strike = 0.03 + 0.04 * unit(number);
    let volatility = 0.1 + 0.2 * unit(number + 1_000_000);
    let mut sum = 0.0;
    for trial in 0..trials as u64 {
        let mut rates = [0.05; RATES];
        let mut discount = 1.0;
        for step in 0..RATES / 2 {
            let seed = (number * 1_000_003 + trial) * RATES as u64 + step as u64;
            let shock = volatility * YEARS.sqrt() * gaussian(seed);
            discount /= 1.0 + YEARS * rates[step];
            for rate in &mut rates[step + 1..] {
                *rate *= (shock - 0.5 * volatility * volatility * YEARS).exp();
            }
        }
        let (mut value, mut factor) = (0.0, 1.0);
        for rate in &rates[RATES / 2..] {
            factor /= 1.0 + YEARS * rate;
            value += YEARS * factor * (rate - strike);
        }
        sum += discount * f64::max(value, 0.0);
    }
    sum / trials.max(1) as f64
}

fn run(arguments: &Arguments) -> Outcome {
    let (n, trials) = (arguments.number(0), arguments.number(1));
    let mut prices = vec![0.0; n];
    arguments.timed(|| {
        pfor_mut(&mut prices, 1, 0, arguments.number(2), &|first, out| {
            for (i, out) in (first as u64..).zip(out) {
                *out = price(i, trials);
            }
        });
    });
    let mut correct = prices.iter().all(|price| (0.0..0.2).contains(price));
    if arguments.check() {
        let mut numbered = (0..).zip(&prices);
        correct &= numbered.all(|(i, &found)| found == price(i, trials));
    }
    let mean = prices.iter().fold(0.0, |sum, price| sum + price) / n.max(1) as f64;
    outcome(correct, format!("priced {n} swaptions, mean {mean:.6}"))
}

pub const PROGRAM: Program = Program {
    name: "swaptions",
    usage: "[SWAPTIONS] [TRIALS] [GRAIN]",
    test: [32, 20, 1, 0, 0],
    small: [128, 8000, 1, 0, 0],
    large: [128, 100_000, 1, 0, 0],
    run,
};
