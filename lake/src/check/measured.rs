//! Measures the runs to be checked with the columns of `workspan sql`, as runs in the lake are.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use workspan_analysis::Options;
use workspan_reader::OpenOptions;
use workspan_reader::open::{Grain, Index};
use workspan_sql::schema::Table;
use workspan_sql::{Cell, Run};

use crate::history::Values;
use crate::history::series::Quantity;
use crate::layout::RunName;

/// The checked runs; values are means over the runs.
pub struct CheckedRuns {
    /// The names that the runs have in a lake.
    pub runs: Vec<String>,
    /// The name of the program.
    pub name: Option<String>,
    /// W: the number of workers.
    pub workers: i64,
    values: Vec<(Quantity, f64)>,
    /// The runs' spawn sites.
    pub sites: Vec<Site>,
}

/// A spawn site.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// The site's label in reports.
    pub label: String,
    /// The source file of the site.
    pub file: Option<String>,
    /// The line of the site.
    pub line: Option<i64>,
    /// Work of the strands of the site's tasks, in ns.
    pub work: f64,
    /// Critical work of the site's tasks, in ns.
    pub critical: f64,
}

impl CheckedRuns {
    /// The mean of a quantity over the runs.
    pub fn value(&self, quantity: Quantity) -> f64 {
        let mut of = self.values.iter().filter(|value| value.0 == quantity);
        of.next().map_or(0.0, |value| value.1)
    }
}

/// Measures the traces.
///
/// # Errors
/// A trace cannot be read, or the traces are of different programs.
pub fn measure(files: &[PathBuf]) -> anyhow::Result<CheckedRuns> {
    let mut measured: Option<CheckedRuns> = None;
    let mut all: Vec<Vec<(Quantity, f64)>> = Vec::new();
    for file in files {
        let one = measure_one(file).with_context(|| file.display().to_string())?;
        all.push(one.values.clone());
        let Some(before) = &mut measured else {
            measured = Some(one);
            continue;
        };
        if (&before.name, before.workers) != (&one.name, one.workers) {
            bail!(
                "{}: is of another program or number of workers than the first trace",
                file.display()
            );
        }
        before.runs.extend(one.runs);
        for site in one.sites {
            match before
                .sites
                .iter_mut()
                .find(|known| known.label == site.label)
            {
                Some(known) => {
                    known.work += site.work;
                    known.critical += site.critical;
                }
                None => before.sites.push(site),
            }
        }
    }
    let mut measured = measured.context("no trace given")?;
    let runs = all.len() as f64;
    for site in &mut measured.sites {
        site.work /= runs;
        site.critical /= runs;
    }
    for (i, value) in measured.values.iter_mut().enumerate() {
        value.1 = Values::from_runs(all.iter().map(|values| values[i].1)).mean;
    }
    Ok(measured)
}

fn measure_one(file: &Path) -> anyhow::Result<CheckedRuns> {
    let name = RunName::of_trace(file)?;
    let options = OpenOptions {
        grain: Grain::Auto,
        index: Index::None,
        ..OpenOptions::default()
    };
    let dag = workspan_reader::open(file, &options)?;
    let run = Run::new(0, file.display().to_string(), dag, &Options::default())?;
    let of_run = |column: &str| number(cell(&run, "runs", column, 0));
    let whole = of_run("workers") * of_run("elapsed");
    let values = [
        (Quantity::Elapsed, of_run("elapsed")),
        (Quantity::Work, of_run("work")),
        (Quantity::Span, of_run("span")),
        (Quantity::Parallelism, of_run("parallelism")),
        (
            Quantity::Lost,
            if whole > 0.0 {
                100.0 * of_run("lost") / whole
            } else {
                0.0
            },
        ),
    ];
    let mut sites: Vec<Site> = Vec::new();
    for row in 0..Table::named("sites").map_or(0, |sites| sites.row_count(&run)) {
        let of_site = |column: &str| cell(&run, "sites", column, row);
        if number(of_site("tasks")) == 0.0 {
            continue;
        }
        let site = Site {
            label: text(of_site("label")).unwrap_or_default(),
            file: text(of_site("file")),
            line: Some(number(of_site("line")) as i64).filter(|line| *line > 0),
            work: number(of_site("own_work")),
            critical: number(of_site("critical_work")),
        };
        match sites.iter_mut().find(|known| known.label == site.label) {
            Some(known) => {
                known.work += site.work;
                known.critical += site.critical;
            }
            None => sites.push(site),
        }
    }
    Ok(CheckedRuns {
        runs: vec![name.as_str().to_owned()],
        name: text(cell(&run, "runs", "name", 0)),
        workers: of_run("workers") as i64,
        values: values.to_vec(),
        sites,
    })
}

fn cell<'a>(run: &'a Run, table: &str, column: &str, row: usize) -> Cell<'a> {
    let column = Table::named(table)
        .and_then(|table| table.columns.iter().find(|known| known.name == column));
    column.map_or(Cell::Null, |column| column.value(run, row))
}

fn number(cell: Cell<'_>) -> f64 {
    match cell {
        Cell::Int(v) => v as f64,
        Cell::Real(v) => v,
        Cell::Null | Cell::Text(_) => 0.0,
    }
}

fn text(cell: Cell<'_>) -> Option<String> {
    match cell {
        Cell::Text(v) => Some(v.to_owned()),
        _ => None,
    }
}
