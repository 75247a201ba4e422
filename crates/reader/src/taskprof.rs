//! Reads the profiles that TaskProf and TaskProf2 write as CSV: parallelism or tasking overhead by
//! spawn site, and regions of a what-if.

use workspan_dag::Error;

use crate::csv::{Row, rows};
use crate::formats::{Format, Reading, Table};

/// The format's entry in the table of formats.
pub(crate) const FORMAT: Format = Format {
    name: "TaskProf's CSV",
    begins,
    reading: Reading::Table(|bytes| Ok(Table::TaskProf(read(bytes)?))),
    cannot_tell: &[
        "when and where anything ran: there is no timeline",
        "work and span, of which it has the ratio",
        "whether a parallelism is that of the program, or what a what-if makes of it",
    ],
};

const SITES_HEAD: &str = "Source file,Line number,";
const PARALLELISM: &str = "Parallelism";
const OVERHEAD: &str = "Tasking Overhead Percent";
const REGIONS_HEAD: &str = "Start File,";

/// A spawn site and its measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// The file; `main` for the program.
    pub file: String,
    /// The line; 0 for the program.
    pub line: u32,
    /// Parallelism, or tasking overhead in percent.
    pub value: f64,
    /// Share of the critical path, in percent.
    pub critical_percent: Option<f64>,
}

/// A range of source lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// File and line of the region's beginning.
    pub start: (String, u32),
    /// File and line of the region's end.
    pub end: (String, u32),
}

/// A profile.
#[derive(Debug, Clone, PartialEq)]
pub enum Profile {
    /// Parallelism and critical share per site, of the program or after a what-if.
    Parallelism(Vec<Site>),
    /// Tasking overhead per site.
    Overhead(Vec<Site>),
    /// Regions worth making faster.
    Regions(Vec<Region>),
}

fn begins(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    [SITES_HEAD, REGIONS_HEAD]
        .iter()
        .any(|head| start.starts_with(head.as_bytes()))
}

/// Reads the profile.
///
/// # Errors
/// [`Error::Text`] with the line of an invalid number, or of a heading that TaskProf does not
/// write.
pub fn read(bytes: &[u8]) -> Result<Profile, Error> {
    let text = String::from_utf8_lossy(bytes);
    let rows = rows(&text)?;
    let Some((head, rows)) = rows.split_first() else {
        return Ok(Profile::Regions(Vec::new()));
    };
    match (head.text(0), head.text(2)) {
        ("Start File", _) => Ok(Profile::Regions(
            rows.iter().map(region).collect::<Result<_, _>>()?,
        )),
        (_, PARALLELISM) => Ok(Profile::Parallelism(sites(rows)?)),
        (_, OVERHEAD) => Ok(Profile::Overhead(sites(rows)?)),
        _ => head.fail(format!(
            "a third column other than `{PARALLELISM}` and `{OVERHEAD}`"
        )),
    }
}

fn line_number(row: &Row, cell: usize) -> Result<u32, Error> {
    match row.text(cell).parse() {
        Ok(line) => Ok(line),
        Err(_) => row.fail("a line number that is not a whole number"),
    }
}

fn sites(rows: &[Row]) -> Result<Vec<Site>, Error> {
    let site = |row: &Row| {
        if !(3..=4).contains(&row.cells.len()) {
            return row.fail(format!("{} cells; expected 3 or 4", row.cells.len()));
        }
        Ok(Site {
            file: row.text(0).to_owned(),
            line: line_number(row, 1)?,
            value: row.number(2, "the value")?,
            critical_percent: if row.text(3).is_empty() {
                None
            } else {
                Some(row.number(3, "the critical per cent")?)
            },
        })
    };
    rows.iter().map(site).collect()
}

fn region(row: &Row) -> Result<Region, Error> {
    if row.cells.len() != 4 {
        return row.fail(format!("{} cells; expected 4", row.cells.len()));
    }
    Ok(Region {
        start: (row.text(0).to_owned(), line_number(row, 1)?),
        end: (row.text(2).to_owned(), line_number(row, 3)?),
    })
}
