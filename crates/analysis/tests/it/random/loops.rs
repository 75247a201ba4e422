//! Random loops of creates, whose causes are checked.

use std::fmt::Write;

use workspan_analysis::causes::Causes;
use workspan_analysis::{Options, report};

use crate::random::causes::check;
use crate::random::dice::Dice;

/// A root that creates tasks in a loop, on a few workers that each take the oldest one when they
/// are free, late.
pub fn loop_of_creates(dice: &mut Dice) -> String {
    let workers = 2 + dice.below(4);
    let (count, steal) = (10 + dice.below(40), dice.below(4));
    let (turn, task) = (1 + dice.below(6), 1 + dice.below(25));
    let mut out = format!(
        "{{\"workspan_trace\":1,\"workers\":{workers},\"time_unit\":\"ns\",\"steals\":\"child\",\"burden\":{steal}}}\n"
    );
    let mut t = dice.below(30);
    let mut free = vec![0; workers];
    let mut tasks = String::new();
    let mut last = 0;
    writeln!(out, "{{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}}").unwrap();
    for child in 1..=count {
        writeln!(
            out,
            "{{\"ev\":\"create\",\"t\":{t},\"w\":0,\"task\":0,\"child\":{child},\"site\":\"loop\"}}\n\
             {{\"ev\":\"resume\",\"t\":{t},\"w\":0,\"task\":0}}"
        )
        .unwrap();
        let w = (1..workers).min_by_key(|&w| free[w]).unwrap();
        let start = free[w].max(t) + dice.below(2 * steal + 2);
        free[w] = start + task + dice.below(3);
        last = last.max(free[w]);
        writeln!(
            tasks,
            "{{\"ev\":\"begin\",\"t\":{start},\"w\":{w},\"task\":{child}}}\n\
             {{\"ev\":\"end\",\"t\":{},\"w\":{w},\"task\":{child}}}",
            free[w]
        )
        .unwrap();
        t += turn + dice.below(3);
    }
    writeln!(out, "{{\"ev\":\"wait\",\"t\":{t},\"w\":0,\"task\":0}}").unwrap();
    let end = last.max(t) + dice.below(9);
    out.push_str(&tasks);
    writeln!(
        out,
        "{{\"ev\":\"resume\",\"t\":{},\"w\":0,\"task\":0}}\n{{\"ev\":\"end\",\"t\":{end},\"w\":0,\"task\":0}}",
        last.max(t)
    )
    .unwrap();
    out
}

/// Compares the causes of a loop of creates with the slow ones; returns the fast ones.
pub fn check_loop(text: &str) -> Causes {
    let dag = workspan_reader::text::read(text.as_bytes()).unwrap();
    let options = Options::default();
    let causes = report(&dag, &options).unwrap().causes;
    check(&dag, &options, &causes, text);
    causes
}
