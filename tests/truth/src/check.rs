//! Checks the report on a run whose truth is known.

use std::fs;

use serde_json::Value;

use crate::stated::Stated;

/// Tolerance of work, as a share of the true work.
const WORK_TOLERANCE: f64 = 0.03;
/// Tolerance of the span, as a share of the true span.
const SPAN_TOLERANCE: f64 = 0.05;
/// Time that the process and its runtime take on the main thread before and after the program's own
/// code, even if the run is not recorded; in microseconds.
const START_US: f64 = 1000.0;
/// Additional time of starting and waking a thread, on that thread and on the one that starts it,
/// in microseconds.
const THREAD_US: f64 = 40.0;

/// Maximum CPU time of the recorder's own start, which is reported as outside of tasks; in
/// microseconds.
const OUTSIDE_US: f64 = 15_000.0;

/// Parts of warnings that the recording contradicts itself. None of these programs should cause
/// one.
const CONTRADICTIONS: [&str; 9] = [
    "contradict",
    "clamped",
    "backwards",
    "had not stopped",
    "is missing",
    "are missing",
    "checksum",
    "left out",
    "not open",
];

/// The result of checking one run.
#[derive(Default)]
pub struct CheckResult {
    /// The differences between the report and the truth.
    pub wrong: Vec<String>,
    /// The error of the work, as a share of the truth.
    pub work_off: Option<f64>,
    /// The error of the span, as a share of the truth.
    pub span_off: Option<f64>,
}

/// The report, the truth, and facts about the machine.
pub struct Run<'a> {
    pub report: &'a Value,
    pub stated: &'a Stated,
    pub threads: usize,
    pub cpus: f64,
    /// CPU time of the bare run in addition to its spins, in microseconds: the program's own code
    /// and its runtime.
    pub other_us: f64,
    /// The program's source, which tells explicit tasks from those that a runtime creates for
    /// itself; `None` if all tasks are explicit.
    pub source: Option<&'a str>,
}

impl Run<'_> {
    /// A number of the report; times are in microseconds.
    fn number(&self, path: &str) -> Result<f64, String> {
        let value = self.report.pointer(path).and_then(Value::as_f64);
        value.ok_or(format!("the report has no number at {path}"))
    }

    fn us(&self, path: &str) -> Result<f64, String> {
        Ok(self.number(path)? * 1e6 / self.number("/ticks_per_second")?)
    }

    /// Compares the report with the truth.
    pub fn check(&self) -> CheckResult {
        let mut found = CheckResult::default();
        let parts = [
            Self::work,
            Self::span,
            Self::tasks,
            Self::blocked,
            Self::invariants,
            Self::warnings,
        ];
        for part in parts {
            if let Err(why) = part(self, &mut found) {
                found.wrong.push(why);
            }
        }
        found
    }

    /// The time that the host of a virtual machine took. It is not work, but it is not known
    /// exactly which strands contain it.
    fn stolen(&self) -> f64 {
        self.stated.get("stolen_us").unwrap_or(0.0)
    }

    /// The part of the main thread's CPU time that the runtime's start took, as the program
    /// measured it.
    fn start(&self) -> f64 {
        self.stated.get("start_us").unwrap_or(0.0)
    }

    fn work(&self, found: &mut CheckResult) -> Result<(), String> {
        let work = self.us("/work")?;
        let start = (THREAD_US * self.threads as f64).max(self.other_us) + self.start();
        if let Some(least) = self
            .stated
            .get("work_min_us")
            .filter(|least| work < least * (1.0 - WORK_TOLERANCE))
        {
            return Err(format!("work {work:.0} us, at least {least:.0} were done"));
        }
        let Some(truth) = self.stated.get("work_us") else {
            return Ok(());
        };
        let spun = self.stated.get("spun_us").unwrap_or(truth).max(truth);
        // Work outside of tasks may be missing if the report says so.
        let outside = self.stated.get("outside_us").unwrap_or(0.0);
        found.work_off = Some(work / truth - 1.0);
        if work > spun * (1.0 + WORK_TOLERANCE) + start {
            return Err(format!("work {work:.0} us, {truth:.0} were done"));
        }
        if work < (truth - outside) * (1.0 - WORK_TOLERANCE) {
            return Err(format!(
                "work {work:.0} us, {truth:.0} were done, {outside:.0} of it outside of tasks"
            ));
        }
        if work < truth * (1.0 - WORK_TOLERANCE) {
            // The report must mention the rest, and must not exaggerate it.
            let reported = self.us("/outside/outside_ticks").unwrap_or(0.0);
            if reported < outside * (1.0 - SPAN_TOLERANCE)
                || reported > outside * (1.0 + SPAN_TOLERANCE) + OUTSIDE_US
            {
                return Err(format!(
                    "work {work:.0} us, {truth:.0} were done, {outside:.0} of it outside of tasks; {reported:.0} are told to be outside"
                ));
            }
        }
        Ok(())
    }

    fn span(&self, found: &mut CheckResult) -> Result<(), String> {
        let ordered = self.us("/span")?;
        // The span without the order in which locks were taken, if that order makes it longer.
        let span = self
            .us("/limits/span_without_lock_order")
            .unwrap_or(ordered);
        let own = (START_US + THREAD_US * self.threads as f64).max(self.other_us);
        let start = own + self.stolen() + self.start();
        let exact = self.stated.get("span_us");
        found.span_off = exact.map(|truth| span / truth - 1.0);
        let least = exact.or(self.stated.get("span_min_us"));
        let most = exact.or(self.stated.get("span_max_us"));
        if let Some(least) = least.filter(|least| span < least * (1.0 - SPAN_TOLERANCE)) {
            return Err(format!(
                "span {span:.0} us, no less than {least:.0} is true"
            ));
        }
        if let Some(most) = most.filter(|most| span > most * (1.0 + SPAN_TOLERANCE) + start) {
            return Err(format!("span {span:.0} us, no more than {most:.0} is true"));
        }
        let most = self.stated.get("ordered_span_max_us").or(most);
        if let Some(most) = most.filter(|most| ordered > most * (1.0 + SPAN_TOLERANCE) + start) {
            return Err(format!(
                "span {ordered:.0} us in the order of locks, no more than {most:.0} is true"
            ));
        }
        Ok(())
    }

    fn tasks(&self, _: &mut CheckResult) -> Result<(), String> {
        let Some(truth) = self.stated.get("tasks") else {
            return Ok(());
        };
        let sites = self.report["sites"]
            .as_array()
            .ok_or("the report has no sites")?;
        let count = |site: &Value| site["count"].as_f64().unwrap_or(0.0);
        let tasks: f64 = match self.source {
            None => sites
                .iter()
                .filter(|site| site["site"] != "root")
                .map(count)
                .sum(),
            Some(source) => sites
                .iter()
                .filter(|site| creates_tasks(site, source))
                .map(count)
                .sum(),
        };
        if tasks != truth {
            let all = self.number("/tasks")?;
            return Err(format!(
                "{tasks} tasks at the program's lines ({all} in all), {truth} were created"
            ));
        }
        Ok(())
    }

    fn blocked(&self, _: &mut CheckResult) -> Result<(), String> {
        let blocked = self.us("/work_with_blocked")? - self.us("/work")?;
        match self.stated.get("blocked_us") {
            Some(truth) if blocked < truth * (1.0 - SPAN_TOLERANCE) => Err(format!(
                "blocked for {blocked:.0} us, {truth:.0} were slept"
            )),
            _ => Ok(()),
        }
    }

    /// Checks what is true of every run, whatever the program.
    fn invariants(&self, found: &mut CheckResult) -> Result<(), String> {
        let (work, span, elapsed) = (self.us("/work")?, self.us("/span")?, self.us("/elapsed")?);
        let mut holds = |so: bool, what: String| {
            if !so {
                found.wrong.push(what);
            }
        };
        let most = elapsed * self.cpus;
        holds(
            work <= most * (1.0 + WORK_TOLERANCE),
            format!("work {work:.0} us on {} CPUs in {elapsed:.0} us", self.cpus),
        );
        if let Some(used) = self.stated.get("cpu_us") {
            // The CPU time of the process until its last line; threads end after it.
            let most = used * (1.0 + WORK_TOLERANCE) + START_US;
            let known = self.stated.get("work_min_us").is_none();
            holds(
                !known || work <= most,
                format!("work {work:.0} us, the process used {used:.0} us of CPU time"),
            );
        }
        holds(
            span <= work * 1.000_001,
            format!("span {span:.0} us, work {work:.0} us"),
        );
        let busy = self.number("/mean_busy")?;
        holds(
            busy <= self.cpus * (1.0 + WORK_TOLERANCE),
            format!("{busy:.2} workers busy on {} CPUs", self.cpus),
        );
        // Includes the report's own checks, except those of samples, which are too few in runs this
        // short.
        let checks = self.report["checks"].as_array().into_iter().flatten();
        for check in checks.filter(|check| check["check"] != "samples_make_work") {
            holds(
                check["holds"] != false,
                format!("a check of the report fails: {check}"),
            );
        }
        let parts = [
            "work",
            "descheduled",
            "blocked",
            "recording",
            "delay",
            "no_work_sched",
            "no_work_app",
        ];
        let sum = parts
            .iter()
            .map(|part| self.number(&format!("/breakdown/{part}")));
        let sum: f64 = sum.collect::<Result<Vec<f64>, String>>()?.iter().sum();
        let whole = self.number("/workers")? * self.number("/elapsed")?;
        holds(
            sum == whole,
            format!("the parts of the time are {sum} ticks, workers times elapsed {whole}"),
        );
        let sites = self.report["sites"]
            .as_array()
            .ok_or("the report has no sites")?;
        let critical: f64 = sites
            .iter()
            .filter_map(|site| site["critical_work"].as_f64())
            .sum();
        let span = self.number("/span")?;
        holds(
            (critical - span).abs() <= 1.0,
            format!("the sites' critical work is {critical} ticks, the span {span}"),
        );
        Ok(())
    }

    fn warnings(&self, found: &mut CheckResult) -> Result<(), String> {
        let warnings = self.report["warnings"].as_array().into_iter().flatten();
        for warning in warnings.filter_map(Value::as_str) {
            if CONTRADICTIONS.iter().any(|word| warning.contains(word)) {
                found.wrong.push(format!("the report warns: {warning}"));
            }
        }
        Ok(())
    }
}

/// Whether a site is a directive in this source that creates explicit tasks: `task` or `taskloop`,
/// not `taskwait`.
fn creates_tasks(site: &Value, source: &str) -> bool {
    let (Some(file), Some(line)) = (site["file"].as_str(), site["line"].as_u64()) else {
        return false;
    };
    let name = source.rsplit('/').next().unwrap_or(source);
    if !file.ends_with(name) {
        return false;
    }
    let text = fs::read_to_string(source).unwrap_or_default();
    let text = text
        .lines()
        .nth(line.saturating_sub(1) as usize)
        .unwrap_or_default();
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    words.contains(&"task") || words.contains(&"taskloop")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(work: u64, span: u64) -> Value {
        json!({"ticks_per_second": 1_000_000, "work": work, "work_with_blocked": work, "span": span,
            "elapsed": 100_000, "workers": 2, "mean_busy": 1.0, "tasks": 3,
            "breakdown": {"work": work, "descheduled": 0, "blocked": 0, "recording": 0, "delay": 0,
                "no_work_sched": 0, "no_work_app": 200_000_u64.saturating_sub(work)},
            "sites": [{"site": "root", "count": 1, "critical_work": span}, {"site": "a", "count": 2, "critical_work": 0}],
            "warnings": []})
    }

    fn wrong(report: &Value, truth: &str) -> Vec<String> {
        let stated = Stated::read(truth).unwrap_or_default();
        let run = Run {
            report,
            stated: &stated,
            threads: 2,
            cpus: 2.0,
            other_us: 0.0,
            source: None,
        };
        run.check().wrong
    }

    const TRUTH: &str =
        "truth work_us=90000 span_us=30000 tasks=2\nused cpu_us=99000 spun_us=90001";

    #[test]
    fn what_is_true_passes() {
        assert_eq!(wrong(&report(91_000, 31_000), TRUTH), [""; 0]);
    }

    #[test]
    fn each_wrong_number_is_found() {
        for (work, span) in [
            (95_000, 30_000),
            (85_000, 30_000),
            (90_000, 34_000),
            (90_000, 27_000),
        ] {
            assert_eq!(wrong(&report(work, span), TRUTH).len(), 1, "{work} {span}");
        }
        // With the order of locks the span may be longer if the program says so.
        let mut in_order = report(90_000, 60_000);
        in_order["limits"] = json!({"span_without_lock_order": 30_000});
        assert_eq!(wrong(&in_order, TRUTH).len(), 1);
        let truth = TRUTH.replace("tasks", "ordered_span_max_us=60000 tasks");
        assert_eq!(wrong(&in_order, &truth), [""; 0]);
        let fewer = TRUTH.replace("tasks=2", "tasks=3");
        assert_eq!(wrong(&report(90_000, 30_000), &fewer).len(), 1);
        let slept = TRUTH.replace("tasks=2", "blocked_us=5000");
        assert_eq!(wrong(&report(90_000, 30_000), &slept).len(), 1);
    }

    #[test]
    fn broken_invariants_are_found() {
        let truth = "truth work_min_us=1";
        assert!(!wrong(&report(210_000, 30_000), truth).is_empty());
        assert_eq!(wrong(&report(20_000, 30_000), truth).len(), 1);
        let mut other = report(90_000, 30_000);
        other["breakdown"]["delay"] = 1.into();
        assert_eq!(wrong(&other, truth).len(), 1);
        let mut other = report(90_000, 30_000);
        other["warnings"] = json!(["Strands contradict each other: 2"]);
        assert_eq!(wrong(&other, truth).len(), 1);
    }

    #[test]
    fn work_outside_of_tasks_may_be_left_out_where_that_is_said() {
        let truth = "truth work_us=90000 outside_us=40000";
        let mut report = report(50_000, 10_000);
        assert_eq!(wrong(&report, truth).len(), 1);
        report["outside"] = json!({"outside_ticks": 45_000});
        assert_eq!(wrong(&report, truth), [""; 0]);
        report["outside"] = json!({"outside_ticks": 120_000});
        assert_eq!(wrong(&report, truth).len(), 1);
    }
}
