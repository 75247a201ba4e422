//! Whether the report's own findings name a fault.

use serde_json::Value;

use super::fault::Fault;

/// Causes that limit any program on a machine that others use.
const OTHERS: [&str; 1] = ["descheduled"];

/// The verdict of a report's findings about a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// They name the fault.
    NamedFault,
    /// They only say that other programs used the CPUs, so nothing is known about the fault.
    MachineBusy,
    /// They name something else.
    Missed(String),
}

/// Looks for a fault in a report.
pub fn judge(fault: &Fault, report: &Value) -> Verdict {
    let findings = report["findings"].as_array();
    let findings = findings.map_or(&[][..], Vec::as_slice);
    let own: Vec<&Value> = findings
        .iter()
        .filter(|f| !OTHERS.iter().any(|other| f["id"] == *other))
        .collect();
    let is_cause = |f: &Value| fault.causes.iter().any(|cause| f["id"] == cause.as_str());
    let named = own.iter().any(|f| is_cause(f) && is_there(fault, f));
    // If other programs used the CPUs, the report still says what limits the program; and CPU time
    // outside of the pool has a place of its own.
    let serial = fault.causes.iter().any(|cause| cause == "serial-strand");
    let quiet = serial && report.get("quiet").is_some_and(|q| is_there(fault, q));
    let outside = report.get("outside").is_some_and(|o| is_there(fault, o));
    let outside = outside && own.iter().any(|f| is_cause(f));
    if named || quiet || outside {
        return Verdict::NamedFault;
    }
    if own.is_empty() && !findings.is_empty() {
        return Verdict::MachineBusy;
    }
    let said = findings.iter().map(|f| {
        let place = &f["place"];
        format!(
            "{} at {}:{} inside {}",
            f["id"], place["file"], place["line"], f["inside"]
        )
    });
    let said: Vec<String> = said.collect();
    Verdict::Missed(format!(
        "{}: expected {} at lines {:?} or in {:?}; the findings are {said:#?}, quiet {}",
        fault.name,
        fault.causes.join(" or "),
        fault.lines,
        fault.functions,
        report["quiet"],
    ))
}

/// Whether one of the positions of a finding is at the fault.
fn is_there(fault: &Fault, finding: &Value) -> bool {
    let positions = [
        &finding["place"],
        &finding["place"]["from"],
        &finding["place"]["to"],
        &finding["inside"],
        &finding["blocked_in"],
    ];
    positions.into_iter().any(|at| {
        let file = at["file"].as_str().unwrap_or_default();
        let line = at["line"].as_u64();
        let here = file.ends_with(&fault.file()) && line.is_some_and(|line| fault.has_line(line));
        let function = at["function"].as_str().unwrap_or_default();
        let function = function.split(['(', '<']).next().unwrap_or_default();
        let name = function.rsplit("::").next().unwrap_or_default();
        here || fault.functions.iter().any(|known| known == name)
    })
}
