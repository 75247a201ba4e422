//! Sentences about the difference between the best runtime and the worst, computed from the
//! recorded breakdowns.

use super::result::{Comparison, Group, PARTS, Parts, Row};
use super::table::time;

/// Maximum ratio at which runtimes count as equal.
const MAX_EQUAL_RATIO: f64 = 1.05;

/// The largest part of the difference of two runs.
struct Difference {
    /// Index into [`PARTS`].
    part: usize,
    /// Additional time of the worse run in this part, in worker-ns.
    more: u64,
    /// Its share of everything in which the worse run has more.
    share: f64,
}

/// The part in which the worse run has the largest additional time; `None` if it has more of
/// nothing.
fn largest(best: &Parts, worst: &Parts) -> Option<Difference> {
    let more: Vec<u64> = worst
        .list()
        .iter()
        .zip(best.list())
        .map(|(w, b)| w.saturating_sub(b))
        .collect();
    let all: u64 = more.iter().sum();
    let (part, &more) = more
        .iter()
        .enumerate()
        .rev()
        .max_by_key(|(_, more)| **more)?;
    (more > 0).then(|| Difference {
        part,
        more,
        share: more as f64 / all as f64,
    })
}

fn reason(best: &Row, worst: &Row) -> String {
    let (Ok(b), Ok(w)) = (&best.trace, &worst.trace) else {
        let unknown = if best.trace.is_err() { best } else { worst };
        return format!(
            "why is not known, as {} was not recorded",
            unknown.runtime.title()
        );
    };
    let Some(difference) = largest(&b.parts, &w.parts) else {
        return "recorded, the two did not differ so".into();
    };
    let mut text = format!(
        "recorded, the most of what it takes longer is {} ({} of worker time, {:.0} % of the surplus)",
        PARTS[difference.part].1,
        time(difference.more),
        100.0 * difference.share
    );
    if PARTS[difference.part].0 == "delay" {
        let created = w.delay_create as f64 / w.parts.delay.max(1) as f64;
        text.push_str(&format!(
            ", {:.0} % of it until created tasks began",
            100.0 * created
        ));
    }
    if PARTS[difference.part].0 == "work" {
        text.push_str(": its strands themselves took longer");
    }
    text
}

/// One sentence about a group; `None` if fewer than two runtimes ran.
pub fn sentence(group: &Group) -> Option<String> {
    let best = group.parallel().min_by_key(|r| r.elapsed())?;
    let worst = group.parallel().max_by_key(|r| r.elapsed())?;
    if best.runtime == worst.runtime {
        return None;
    }
    let ratio = worst.elapsed() as f64 / best.elapsed().max(1) as f64;
    if ratio < MAX_EQUAL_RATIO {
        return Some(format!(
            "All runtimes are within {:.0} % of each other.",
            100.0 * (ratio - 1.0).max(0.01)
        ));
    }
    let overlap = best.bare.last() >= worst.bare.first();
    let doubt = if overlap {
        " (their runs overlap: this may be noise)"
    } else {
        ""
    };
    Some(format!(
        "{} takes {ratio:.2} times as long as {}{doubt}; {}.",
        worst.runtime.title(),
        best.runtime.title(),
        reason(best, worst)
    ))
}

/// One sentence about all groups: the mean distance of each runtime from the best, and the largest
/// loss of the last one.
pub fn overall(comparison: &Comparison) -> Option<String> {
    let mut standing = Vec::new();
    for (runtime, _) in &comparison.runtimes {
        let mut logs = Vec::new();
        for group in &comparison.groups {
            let best = group.parallel().map(Row::elapsed).min();
            let own = group
                .parallel()
                .find(|r| r.runtime == *runtime)
                .map(Row::elapsed);
            if let (Some(best), Some(own)) = (best.filter(|&b| b > 0), own) {
                logs.push((own as f64 / best as f64).ln());
            }
        }
        if !logs.is_empty() && logs.len() == comparison.groups.len() {
            let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
            standing.push((*runtime, mean));
        }
    }
    if standing.len() < 2 || comparison.groups.len() < 2 {
        return None;
    }
    standing.sort_by(|a, b| a.1.total_cmp(&b.1));
    let list: Vec<String> = standing
        .iter()
        .map(|(r, mean)| format!("{} {mean:.2}", r.title()))
        .collect();
    let (best, worst) = (standing.first()?.0, standing.last()?.0);
    let (mut all_best, mut all_worst) = (Parts::default(), Parts::default());
    for group in &comparison.groups {
        let loss_of = |runtime| {
            group
                .parallel()
                .find(|r| r.runtime == runtime)?
                .trace
                .as_ref()
                .ok()
        };
        if let (Some(b), Some(w)) = (loss_of(best), loss_of(worst)) {
            add(&mut all_best, &b.parts);
            add(&mut all_worst, &w.parts);
        }
    }
    let mut text = format!(
        "Over all, in times of the fastest (geometric mean): {}.",
        list.join(", ")
    );
    if let Some(d) = largest(&all_best, &all_worst) {
        text.push_str(&format!(
            " What separates {} from {} most is {} ({:.0} % of the worker time it uses more).",
            worst.title(),
            best.title(),
            PARTS[d.part].1,
            100.0 * d.share
        ));
    }
    Some(text)
}

fn add(sum: &mut Parts, parts: &Parts) {
    sum.work += parts.work;
    sum.delay += parts.delay;
    sum.no_work_sched += parts.no_work_sched;
    sum.no_work_app += parts.no_work_app;
    sum.descheduled += parts.descheduled;
    sum.blocked += parts.blocked;
    sum.recording += parts.recording;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::kernels::KERNELS;
    use crate::bench::result::Recorded;
    use crate::bench::runtime::Runtime;

    fn row(runtime: Runtime, bare: &[u64], parts: Parts) -> Row {
        let trace = Recorded {
            parts,
            delay_create: parts.delay / 2,
            ..Recorded::default()
        };
        Row {
            runtime,
            bare: bare.to_vec(),
            recorded: bare.to_vec(),
            trace: Ok(trace),
        }
    }

    fn group(rows: Vec<Row>) -> Group {
        Group {
            kernel: KERNELS[0],
            workers: 2,
            rows,
        }
    }

    #[test]
    fn the_part_that_grew_most_is_named() {
        let fast = Parts {
            work: 200_000,
            delay: 10_000,
            ..Parts::default()
        };
        let slow = Parts {
            work: 210_000,
            delay: 100_000,
            no_work_app: 20_000,
            ..Parts::default()
        };
        let g = group(vec![
            row(Runtime::Serial, &[1], Parts::default()),
            row(Runtime::OneTbb, &[100_000, 110_000], fast),
            row(Runtime::Libgomp, &[160_000, 170_000], slow),
        ]);
        let text = sentence(&g).unwrap();
        assert!(
            text.starts_with("GNU OpenMP takes 1.60 times as long as oneTBB; "),
            "{text}"
        );
        assert!(text.contains("is delay: "), "{text}");
        assert!(
            text.contains("90.0 us of worker time, 75 % of the surplus"),
            "{text}"
        );
        assert!(
            text.contains("50 % of it until created tasks began"),
            "{text}"
        );
        assert!(!text.contains("noise"), "{text}");
    }

    #[test]
    fn what_can_not_be_told_is_not_told() {
        let one = Parts::default();
        let near = group(vec![
            row(Runtime::Rayon, &[100], one),
            row(Runtime::OneTbb, &[102], one),
        ]);
        assert_eq!(
            sentence(&near).unwrap(),
            "All runtimes are within 2 % of each other."
        );
        let alone = group(vec![
            row(Runtime::Rayon, &[100], one),
            row(Runtime::Serial, &[900], one),
        ]);
        assert_eq!(sentence(&alone), None);
        let mut overlapping = group(vec![
            row(Runtime::Rayon, &[100, 300], one),
            row(Runtime::OneTbb, &[200, 400], one),
        ]);
        assert!(sentence(&overlapping).unwrap().contains("noise"));
        overlapping.rows[1].trace = Err("nothing".into());
        assert!(
            sentence(&overlapping)
                .unwrap()
                .contains("as oneTBB was not recorded")
        );
    }

    #[test]
    fn runtimes_are_ranked_by_their_geometric_mean() {
        let work = |work| Parts {
            work,
            ..Parts::default()
        };
        let two = |a: u64, b: u64| {
            group(vec![
                row(Runtime::Rayon, &[a], work(a)),
                row(Runtime::Libomp, &[b], work(b)),
            ])
        };
        let comparison = Comparison {
            groups: vec![two(100, 400), two(100, 100)],
            runtimes: vec![
                (Runtime::Rayon, String::new()),
                (Runtime::Libomp, String::new()),
            ],
            ..Comparison::default()
        };
        let text = overall(&comparison).unwrap();
        assert!(text.contains("Rayon 1.00, LLVM OpenMP 2.00."), "{text}");
        assert!(text.contains("most is work (100 %"), "{text}");
    }
}
