//! Writes rows as a table, CSV or JSON.

use std::io::Write;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::{Value as Json, json};

use crate::error::Error;

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Aligned columns, for people.
    #[default]
    Table,
    /// RFC 4180, with a header line.
    Csv,
    /// An array of objects.
    Json,
}

/// The limits of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of rows of a [`Format::Table`]; other formats have no limit.
    pub rows: usize,
    /// Maximum number of characters of a cell of a [`Format::Table`].
    pub cell: usize,
    /// Maximum time of a query; a longer one ends with an error.
    pub time: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rows: 1_000,
            cell: 60,
            time: None,
        }
    }
}

pub(crate) fn print(
    connection: &Connection,
    query: &str,
    format: Format,
    limits: &Limits,
    out: &mut impl Write,
) -> Result<(), Error> {
    let mut statement = connection.prepare(query)?;
    let names: Vec<String> = statement
        .column_names()
        .into_iter()
        .map(str::to_owned)
        .collect();
    let mut rows = statement.query([])?;
    match format {
        Format::Table => {
            let mut table = Vec::new();
            let mut more = 0u64;
            while let Some(row) = rows.next()? {
                if table.len() < limits.rows {
                    let cells = (0..names.len()).map(|i| Ok(shown(row.get_ref(i)?, limits.cell)));
                    table.push(cells.collect::<rusqlite::Result<Vec<_>>>()?);
                } else {
                    more += 1;
                }
            }
            write_table(&names, &table, out)?;
            if more > 0 {
                writeln!(out, "… {more} more rows (--rows N, or --format csv)")?;
            }
        }
        Format::Csv => {
            write_csv(names.iter().cloned(), out)?;
            while let Some(row) = rows.next()? {
                let cells = (0..names.len()).map(|i| Ok(plain(row.get_ref(i)?)));
                write_csv(
                    cells.collect::<rusqlite::Result<Vec<_>>>()?.into_iter(),
                    out,
                )?;
            }
        }
        Format::Json => {
            let mut first = true;
            while let Some(row) = rows.next()? {
                out.write_all(if first { b"[\n" } else { b",\n" })?;
                first = false;
                write!(out, "  {{")?;
                for (i, name) in names.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(out, "{comma}{}: {}", json!(name), json_of(row.get_ref(i)?))?;
                }
                write!(out, "}}")?;
            }
            writeln!(out, "{}", if first { "[]" } else { "\n]" })?;
        }
    }
    out.flush()?;
    Ok(())
}

fn plain(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(v) => v.to_string(),
        ValueRef::Real(v) => v.to_string(),
        ValueRef::Text(v) => String::from_utf8_lossy(v).into_owned(),
        ValueRef::Blob(v) => format!("{} bytes", v.len()),
    }
}

fn json_of(value: ValueRef<'_>) -> Json {
    match value {
        ValueRef::Null => Json::Null,
        ValueRef::Integer(v) => json!(v),
        ValueRef::Real(v) => json!(v),
        other => json!(plain(other)),
    }
}

/// A cell's text, and whether it is a number. Characters that could control a terminal are escaped.
fn shown(value: ValueRef<'_>, most: usize) -> (String, bool) {
    match value {
        ValueRef::Real(v) if v.fract() != 0.0 && v.abs() < 1e15 => (format!("{v:.3}"), true),
        ValueRef::Integer(_) | ValueRef::Real(_) => (plain(value), true),
        other => {
            let mut text = String::new();
            for c in plain(other).chars() {
                if c.is_control()
                    || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
                {
                    text.extend(c.escape_unicode());
                } else {
                    text.push(c);
                }
            }
            if text.chars().count() > most {
                // The end of a path says more than its start.
                let skip = text.chars().count() - most.saturating_sub(3);
                text = format!("...{}", text.chars().skip(skip).collect::<String>());
            }
            (text, false)
        }
    }
}

fn write_table(
    names: &[String],
    rows: &[Vec<(String, bool)>],
    out: &mut impl Write,
) -> Result<(), Error> {
    let width = |i: usize| {
        let cells = rows.iter().map(|row| row[i].0.chars().count());
        cells.chain([names[i].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..names.len()).map(width).collect();
    let numbers: Vec<bool> = (0..names.len())
        .map(|i| {
            let known = |row: &&Vec<(String, bool)>| !row[i].0.is_empty();
            rows.iter().filter(known).all(|row| row[i].1) && !rows.is_empty()
        })
        .collect();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| -> Result<(), Error> {
        let mut text = String::new();
        for (i, cell) in cells.enumerate() {
            if i > 0 {
                text.push_str("  ");
            }
            let w = widths[i];
            text.push_str(&if numbers[i] {
                format!("{cell:>w$}")
            } else {
                format!("{cell:<w$}")
            });
        }
        Ok(writeln!(out, "{}", text.trim_end())?)
    };
    line(&mut names.iter().map(String::as_str))?;
    let rule: Vec<String> = widths.iter().map(|&w| "-".repeat(w)).collect();
    line(&mut rule.iter().map(String::as_str))?;
    for row in rows {
        line(&mut row.iter().map(|cell| cell.0.as_str()))?;
    }
    Ok(())
}

fn write_csv(cells: impl Iterator<Item = String>, out: &mut impl Write) -> Result<(), Error> {
    for (i, cell) in cells.enumerate() {
        if i > 0 {
            out.write_all(b",")?;
        }
        if cell.contains(['"', ',', '\n', '\r']) {
            write!(out, "\"{}\"", cell.replace('"', "\"\""))?;
        } else {
            out.write_all(cell.as_bytes())?;
        }
    }
    Ok(out.write_all(b"\r\n")?)
}
