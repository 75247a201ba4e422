//! Reads Cilkscale's CSV: work, span and burdened span of each tag, and the times measured by its
//! benchmarking script.

use workspan_dag::Error;

use crate::csv::rows;
use crate::formats::{Format, Reading, Table};

/// The format's entry in the table of formats.
pub(crate) const FORMAT: Format = Format {
    name: "Cilkscale's CSV",
    begins,
    reading: Reading::Table(|bytes| Ok(Table::Cilkscale(read(bytes)?))),
    cannot_tell: &[
        "when and where anything ran: there is no timeline",
        "tasks, spawn sites, and the number of spawns",
    ],
};

const HEAD: &str =
    "tag,work (seconds),span (seconds),parallelism,burdened_span (seconds),burdened_parallelism";
/// The number of columns before the columns of times.
const COLUMNS: usize = 6;
/// The end of a time column's heading, after the number of cores.
const TIME_COLUMN: &str = "c time (seconds)";
/// A limit above the number of workers of any machine.
const MAX_WORKERS: u32 = 1 << 20;

/// The measurements of a tag, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Tag {
    /// The tag's name; empty for the whole program.
    pub tag: String,
    /// The work, T1.
    pub work: f64,
    /// The span, T∞.
    pub span: f64,
    /// The burdened span.
    pub burdened_span: f64,
    /// The elapsed time by number of workers, ascending.
    pub times: Vec<(u32, f64)>,
}

fn begins(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(HEAD.as_bytes())
}

/// Reads the table.
///
/// # Errors
/// [`Error::Text`] with the line of an invalid number, or of a column that Cilkscale does not
/// write.
pub fn read(bytes: &[u8]) -> Result<Vec<Tag>, Error> {
    let text = String::from_utf8_lossy(bytes);
    let rows = rows(&text)?;
    let Some((head, rows)) = rows.split_first() else {
        return Ok(Vec::new());
    };
    let mut workers = Vec::new();
    for name in head.cells.iter().skip(COLUMNS) {
        let cores = name.trim().strip_suffix(TIME_COLUMN);
        match cores.and_then(|n| n.parse::<u32>().ok()) {
            Some(n) if (1..=MAX_WORKERS).contains(&n) => workers.push(n),
            _ => return head.fail("a column that is not like `8c time (seconds)`"),
        }
    }
    let mut tags = Vec::new();
    for row in rows {
        if row.cells.len() != head.cells.len() {
            return row.fail(format!(
                "{} cells; expected {} as in the head",
                row.cells.len(),
                head.cells.len()
            ));
        }
        let mut times = Vec::new();
        for (i, &n) in workers.iter().enumerate() {
            times.push((n, row.number(COLUMNS + i, "a time")?));
        }
        times.sort_by_key(|time| time.0);
        tags.push(Tag {
            tag: row.text(0).to_owned(),
            work: row.number(1, "the work")?,
            span: row.number(2, "the span")?,
            burdened_span: row.number(4, "the burdened span")?,
            times,
        });
    }
    if tags.is_empty() {
        return head.fail("no row after the head; expected one of the whole program at least");
    }
    Ok(tags)
}
