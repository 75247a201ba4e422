//! The suite: BOTS and TP-PARSEC over Rayon, written anew from their algorithms. `suite NAME
//! [NUMBERS] [--size test|small|large]` runs a program, `suite all` every one, `suite list` names
//! them. `bench/tp/suite` has the same in C++; docs/suite.md has the arguments.

mod alignment;
mod blackscholes;
mod bodytrack;
mod canneal;
mod dedup;
mod facesim;
mod ferret;
mod fft;
mod fib;
mod floorplan;
mod fluidanimate;
mod freqmine;
mod health;
mod nqueens;
mod program;
mod raytrace;
mod sort;
mod sparselu;
mod strassen;
mod streamcluster;
mod swaptions;
mod uts;

use std::process::ExitCode;

use program::{Arguments, Program};
use workspan_bench::command;

const PROGRAMS: [&Program; 21] = [
    &alignment::PROGRAM,
    &fft::PROGRAM,
    &fib::PROGRAM,
    &floorplan::PROGRAM,
    &health::PROGRAM,
    &nqueens::PROGRAM,
    &sort::PROGRAM,
    &sparselu::PROGRAM,
    &strassen::PROGRAM,
    &uts::PROGRAM,
    &blackscholes::PROGRAM,
    &bodytrack::PROGRAM,
    &canneal::PROGRAM,
    &dedup::PROGRAM,
    &facesim::PROGRAM,
    &ferret::PROGRAM,
    &fluidanimate::PROGRAM,
    &freqmine::PROGRAM,
    &raytrace::PROGRAM,
    &streamcluster::PROGRAM,
    &swaptions::PROGRAM,
];

const USAGE: &str = "suite NAME|all|list [NUMBERS] [--size test|small|large] [--check yes|no] [--workers N] [--time yes]";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_else(|| "list".into());
    let words = command::Arguments::parse_words(words, USAGE);
    let size = words.option("size", "small").to_string();
    let (mut found, mut correct) = (name == "list", true);
    let known = ["test", "small", "large"].contains(&size.as_str());
    found &= known;
    if let Err(wrong) = pool(words.option("workers", "0")) {
        eprintln!("{wrong}");
        return ExitCode::from(2);
    }
    for program in PROGRAMS {
        if name == "list" {
            println!("{} {}", program.name, program.usage);
        } else if known && correct && (name == "all" || name == program.name) {
            found = true;
            let outcome = (program.run)(&Arguments::new(&words, program.numbers(&size)));
            println!("{}", outcome.line);
            correct = outcome.correct;
        }
    }
    if !found {
        eprintln!("no program `{name}` or no size `{size}`\nusage: {USAGE}");
        return ExitCode::from(2);
    }
    if correct {
        ExitCode::SUCCESS
    } else {
        eprintln!("the result is wrong");
        ExitCode::FAILURE
    }
}

/// Makes Rayon's pool of that many workers; 0: as Rayon chooses.
fn pool(workers: &str) -> Result<(), String> {
    let number = workers
        .parse()
        .map_err(|_| format!("`{workers}` is not a number"))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(number);
    pool.build_global().map_err(|error| error.to_string())
}
