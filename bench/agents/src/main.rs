//! The benchmark for coding agents: lists and records its programs, and judges answers and changed
//! programs (`bench/agents`).

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use workspan_agents::fault::Fault;
use workspan_agents::findings::Verdict;
use workspan_agents::program::WorkFolder;
use workspan_agents::{answer, findings, measure};

const USAGE: &str = "usage: agents list
       agents record FAULT -o TRACE
       agents judge FAULT --answer FILE | --program FILE
       agents check [FAULT ...]";

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(3),
        Err(why) => {
            eprintln!("agents: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Returns false if something was judged to be wrong.
fn run(words: &[&str]) -> Result<bool, String> {
    match words {
        ["list"] => {
            for fault in Fault::all()? {
                println!("{:20} {}", fault.name, fault.causes.join(" or "));
            }
            Ok(true)
        }
        ["record", name, "-o", trace] => {
            let fault = Fault::named(name)?;
            workshop()?.record_into(&fault, &fault.source(), &absolute(trace)?)?;
            Ok(true)
        }
        ["judge", name, "--answer", file] => {
            let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
            let named = answer::judge(&Fault::named(name)?, &text);
            let said = |is: bool| if is { "named" } else { "not named" };
            println!("place {}, cause {}", said(named.place), said(named.cause));
            Ok(named.is_right())
        }
        ["judge", name, "--program", file] => program(&Fault::named(name)?, Path::new(file)),
        ["check", names @ ..] => check(names),
        _ => Err(USAGE.to_owned()),
    }
}

fn program(fault: &Fault, file: &Path) -> Result<bool, String> {
    let times = measure::judge(&workshop()?, fault, file)?;
    println!(
        "{}: {:.1} ms before, {:.1} ms after: {}",
        fault.name,
        times.before * 1e3,
        times.after * 1e3,
        if times.is_faster() {
            "faster"
        } else {
            "not faster"
        }
    );
    Ok(times.is_faster())
}

/// Checks our own fixes, and what the tool finds by itself.
fn check(names: &[&str]) -> Result<bool, String> {
    let mut good = true;
    for fault in Fault::all()? {
        if !names.is_empty() && !names.contains(&fault.name.as_str()) {
            continue;
        }
        let recorded = workshop()?.record(&fault, &fault.source())?;
        match findings::judge(&fault, &recorded.report) {
            Verdict::NamedFault => println!("{}: the findings name the fault", fault.name),
            Verdict::MachineBusy => println!(
                "{}: other programs had the CPUs; check it again on a quiet machine",
                fault.name
            ),
            Verdict::Missed(why) => {
                println!("{why}");
                good = false;
            }
        }
        good &= program(&fault, &fault.fix())?;
    }
    Ok(good)
}

fn absolute(path: &str) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|e| format!("{path}: {e}"))
}

/// A workshop that keeps its builds in the target folder.
fn workshop() -> Result<WorkFolder, String> {
    let target = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target =
        target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"));
    let workspan = env::var_os("WORKSPAN").unwrap_or_else(|| OsString::from("workspan"));
    WorkFolder::new(&target.join("agents"), workspan)
}
