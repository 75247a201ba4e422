use proptest::prelude::*;

use super::*;

fn span(from: u64, to: u64) -> HostSpan {
    HostSpan {
        from,
        to,
        by_wall_clock: 0,
    }
}

fn order(before: (usize, u64), after: (usize, u64)) -> MomentOrder {
    MomentOrder {
        before,
        after,
        is_certain: true,
    }
}

#[test]
fn a_message_each_way_bounds_the_offset() {
    let hosts = [span(0, 1000), span(1_000_000, 1_001_000)];
    // Sent at 500 and there before 1 000 520; sent back then and there before 560.
    let orders = [
        order((0, 500), (1, 1_000_520)),
        order((1, 1_000_530), (0, 560)),
    ];
    let clocks = estimate(&hosts, &orders);
    assert_eq!(clocks[0].at_begin(), 0);
    let expected = i64::midpoint(500 - 1_000_520, 560 - 1_000_530);
    assert!((clocks[1].at_begin() - expected).abs() <= 1, "{clocks:?}");
    let uncertainty = clocks[1].uncertainty.unwrap();
    // Half of the interval of 50, and the error of a reading.
    assert!((124.0..128.0).contains(&uncertainty), "{clocks:?}");
    assert!(!clocks[1].drifts && clocks[1].contradictions.0 == 0);
}

#[test]
fn without_calls_the_wall_clock_is_taken() {
    let hosts = [
        span(0, 1000),
        HostSpan {
            by_wall_clock: -77,
            ..span(50, 90)
        },
    ];
    let clocks = estimate(&hosts, &[]);
    assert_eq!((clocks[1].at_begin(), clocks[1].uncertainty), (-77, None));
    // One side alone bounds nothing, but is respected.
    let clocks = estimate(&hosts, &[order((0, 900), (1, 80))]);
    assert_eq!(clocks[1].uncertainty, None);
    assert!(clocks[1].to_run(80) >= 900 - 100, "{clocks:?}");
}

#[test]
fn contradicting_bounds_are_told() {
    let second = 1_000_000_000;
    let hosts = [span(0, second), span(0, second)];
    // A clock that runs 50 µs away in the middle and back: no line fits.
    let bend = |at: u64| match at {
        5 => 50_000,
        _ => 0,
    };
    let mut orders = Vec::new();
    for at in [0, 5, 10] {
        let (here, there) = (at * second / 10, at * second / 10 + bend(at));
        orders.push(order((0, here), (1, there + 1000)));
        orders.push(order((1, there), (0, here + 1000)));
    }
    let clock = estimate(&hosts, &orders)[1];
    let (count, most) = clock.contradictions;
    assert!(count > 0, "{clock:?}");
    // The least violation is half of the bend.
    assert!((23_000.0..27_000.0).contains(&most), "{clock:?}");
    assert!(clock.uncertainty.unwrap() >= most, "{clock:?}");
}

#[test]
fn a_wrongly_matched_message_does_not_win_against_barriers() {
    let second = 1_000_000_000;
    let hosts = [span(0, second), span(0, second)];
    let mut orders = Vec::new();
    for at in [100, 500, 900] {
        orders.push(order((0, at), (1, at + 50)));
        orders.push(order((1, at), (0, at + 50)));
    }
    orders.push(MomentOrder {
        is_certain: false,
        ..order((0, second), (1, 0))
    });
    let clock = estimate(&hosts, &orders)[1];
    assert!(clock.at_begin().abs() < 100, "{clock:?}");
    assert_eq!(clock.contradictions.0, 1);
}

/// A host's clock: what it shows at 0, and by how much it is too fast.
#[derive(Debug, Clone, Copy)]
struct TrueClock {
    start: u64,
    drift: f64,
}

impl TrueClock {
    fn shows(self, t: u64) -> u64 {
        self.start + t + (t as f64 * self.drift).round() as u64
    }
}

/// The run: hosts, and for each call the moment at which the last rank enters, and for each host
/// how much earlier it entered and how much later it left.
type Run = (Vec<TrueClock>, Vec<(u64, Vec<(u64, u64)>)>);

fn runs() -> impl Strategy<Value = Run> {
    let clock = (0..1u64 << 50, 0.0..100e-6).prop_map(|(start, drift)| TrueClock { start, drift });
    (2usize..5).prop_flat_map(move |hosts| {
        let around = (0..2_000_000u64, 1..200_000u64);
        let call = (
            2_000_000..60_000_000_000u64,
            prop::collection::vec(around, hosts),
        );
        (
            prop::collection::vec(clock.clone(), hosts),
            prop::collection::vec(call, 1..60),
        )
    })
}

proptest! {
    #[test]
    fn the_true_offset_is_within_the_uncertainty((clocks, calls) in runs()) {
        let end = 61_000_000_000;
        let hosts: Vec<HostSpan> = clocks
            .iter()
            .map(|clock| span(clock.shows(0), clock.shows(end)))
            .collect();
        let mut orders = Vec::new();
        for (last, around) in &calls {
            // Someone is the last one.
            let latest = around.iter().map(|(early, _)| early).min().unwrap();
            for (a, (early, _)) in around.iter().enumerate() {
                for (b, (_, late)) in around.iter().enumerate().filter(|(b, _)| *b != a) {
                    let entered = clocks[a].shows(last - (early - latest));
                    orders.push(order((a, entered), (b, clocks[b].shows(last + late))));
                }
            }
        }
        let found = estimate(&hosts, &orders);
        for (clock, offset) in clocks.iter().zip(&found).skip(1) {
            prop_assert_eq!(offset.contradictions.0, 0);
            // Calls at one end alone bound little at the other one.
            let most = offset.uncertainty.expect("each call bounds each host") + 3.0;
            for t in [0, end / 3, end] {
                let (run, truth) = (offset.to_run(clock.shows(t)), clocks[0].shows(t));
                let error = (run - i128::from(truth)) as f64;
                prop_assert!(error.abs() <= most, "{} > {} at {}", error, most, t);
            }
        }
    }

    #[test]
    fn times_keep_their_order(begin in 0..1u64 << 50, at in 0..1u64 << 40, drift in -150e3..150e3f64) {
        let offset = ClockOffset {
            line: OffsetLine { begin: 3.5, end: 3.5 + drift },
            ..ClockOffset::of_first(span(begin, begin + 1_000_000_000))
        };
        let times = [0, 1, 2, 3].map(|more| offset.to_run(begin + at + more));
        prop_assert!(times.is_sorted(), "{:?}", times);
    }
}
