//! `blackscholes OPTIONS RUNS GRAIN`: prices of European options by Black and Scholes. RUNS times
//! one flat, even loop, halved into tasks of GRAIN options or fewer.

use std::f64::consts::PI;

use crate::program::{Arguments, Outcome, Program, outcome, pfor_mut, unit};

struct Contract {
    spot: f64,
    strike: f64,
    rate: f64,
    volatility: f64,
    years: f64,
    put: bool,
}

/// The distribution function of the normal distribution: polynomial 26.2.17 of Abramowitz and
/// Stegun.
fn normal(x: f64) -> f64 {
    const FACTORS: [f64; 5] = [
        1.330274429,
        -1.821255978,
        1.781477937,
        -0.356563782,
        0.319381530,
    ];
    let t = 1.0 / (1.0 + 0.2316419 * x.abs());
    let sum = FACTORS.iter().fold(0.0, |sum, factor| (sum + factor) * t);
    let tail = (-0.5 * x * x).exp() / (2.0 * PI).sqrt() * sum;
    if x < 0.0 { tail } else { 1.0 - tail }
}

fn price(o: &Contract) -> f64 {
    let wide = o.volatility * o.years.sqrt();
    let discounted = o.strike * (-o.rate * o.years).exp();
    let drift = (o.rate + 0.5 * o.volatility * o.volatility) * o.years;
    let d1 = ((o.spot / o.strike).ln() + drift) / wide;
    let call = o.spot * normal(d1) - discounted * normal(d1 - wide);
    if o.put {
        call - o.spot + discounted
    } else {
        call
    }
}

fn generated(i: usize) -> Contract {
    let k = 4 * i as u64;
    match i {
        // The first two are a textbook's: 4.76 and 0.81.
        0 | 1 => Contract {
            spot: 42.0,
            strike: 40.0,
            rate: 0.1,
            volatility: 0.2,
            years: 0.5,
            put: i == 1,
        },
        _ => Contract {
            spot: 50.0 + 100.0 * unit(k),
            strike: 50.0 + 100.0 * unit(k + 1),
            rate: 0.05,
            volatility: 0.1 + 0.5 * unit(k + 2),
            years: 0.1 + unit(k + 3),
            put: i % 2 == 1,
        },
    }
}

fn run(arguments: &Arguments) -> Outcome {
    let (n, grain) = (arguments.number(0).max(2), arguments.number(2));
    let options: Vec<Contract> = (0..n).map(generated).collect();
    let mut prices = vec![0.0; n];
    arguments.timed(|| {
        for _ in 0..arguments.number(1) {
            pfor_mut(&mut prices, 1, 0, grain, &|first, out| {
                for (out, option) in out.iter_mut().zip(&options[first..]) {
                    *out = price(option);
                }
            });
        }
    });
    let correct = (prices[0] - 4.7594).abs() < 1e-4 && (prices[1] - 0.8086).abs() < 1e-4;
    let mean = prices.iter().sum::<f64>() / n as f64;
    outcome(correct, format!("priced {n} options, mean {mean:.6}"))
}

pub const PROGRAM: Program = Program {
    name: "blackscholes",
    usage: "[OPTIONS] [RUNS] [GRAIN]",
    test: [4000, 4, 500, 0, 0],
    small: [200_000, 60, 10_000, 0, 0],
    large: [10_000_000, 100, 10_000, 0, 0],
    run,
};
