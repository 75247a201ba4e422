//! Writes rows as a table, CSV or JSON, as `workspan sql` does.

use std::io::Write;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::array_value_to_string;
use serde_json::{Value as Json, json};

/// The formats of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// Aligned columns
    #[default]
    Table,
    /// Comma-separated values with a heading
    Csv,
    /// A list of objects
    Json,
}

/// Maximum number of characters in a cell of a table.
const CELL_CHARACTERS: usize = 60;
/// Maximum number of bytes of an answer that are buffered. A query that fails before can be
/// repeated.
const KEPT_BYTES: usize = 1 << 20;

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An unknown value.
    Null,
    /// A whole number.
    Int(i64),
    /// A floating-point number.
    Real(f64),
    /// A text, or a value of another type as text.
    Text(String),
}

impl Value {
    /// The value of a column in one row.
    pub fn at(column: &ArrayRef, row: usize) -> Value {
        if column.is_null(row) {
            return Value::Null;
        }
        let text = || array_value_to_string(column, row).unwrap_or_default();
        match column.data_type() {
            DataType::Int64 => Value::Int(column.as_primitive::<Int64Type>().value(row)),
            DataType::Float64 => Value::Real(column.as_primitive::<Float64Type>().value(row)),
            DataType::Boolean => Value::Int(column.as_boolean().value(row).into()),
            kind if kind.is_integer() => {
                let text = text();
                text.parse().map_or(Value::Text(text), Value::Int)
            }
            DataType::Float32 | DataType::Decimal128(..) | DataType::Decimal256(..) => {
                let text = text();
                text.parse().map_or(Value::Text(text), Value::Real)
            }
            _ => Value::Text(text()),
        }
    }

    /// The value as text for programs.
    pub fn plain(&self) -> String {
        match self {
            Value::Null => String::new(),
            Value::Int(v) => v.to_string(),
            Value::Real(v) => v.to_string(),
            Value::Text(v) => v.clone(),
        }
    }

    /// The value as JSON.
    pub fn json(&self) -> Json {
        match self {
            Value::Null => Json::Null,
            Value::Int(v) => json!(v),
            Value::Real(v) => json!(v),
            Value::Text(v) => json!(v),
        }
    }

    /// The value as a number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Int(v) => Some(*v as f64),
            Value::Real(v) => Some(*v),
            Value::Null | Value::Text(_) => None,
        }
    }

    /// The value as text for people, and whether it is a number. Characters that could control a
    /// terminal are escaped.
    fn shown(&self) -> (String, bool) {
        match self {
            Value::Real(v) if v.fract() != 0.0 && v.abs() < 1e15 => (format!("{v:.3}"), true),
            Value::Int(_) | Value::Real(_) => (self.plain(), true),
            Value::Null | Value::Text(_) => {
                let mut text = String::new();
                for c in self.plain().chars() {
                    let steers = c.is_control()
                        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
                    if steers {
                        text.extend(c.escape_unicode());
                    } else {
                        text.push(c);
                    }
                }
                let characters = text.chars().count();
                if characters > CELL_CHARACTERS {
                    // The end of a path says more than its start.
                    let skip = characters - (CELL_CHARACTERS - 3);
                    text = format!("...{}", text.chars().skip(skip).collect::<String>());
                }
                (text, false)
            }
        }
    }
}

/// Writes an answer, one batch at a time.
pub struct Printer<'a, W: Write> {
    format: Format,
    most_rows: usize,
    names: Vec<String>,
    table: Vec<Vec<(String, bool)>>,
    rows: u64,
    kept: Vec<u8>,
    has_written: bool,
    out: &'a mut W,
}

impl<'a, W: Write> Printer<'a, W> {
    /// Prepares an answer with these columns. A table for people has at most `most_rows` rows.
    pub fn new(format: Format, most_rows: usize, columns: &SchemaRef, out: &'a mut W) -> Self {
        let names = columns.fields().iter().map(|field| field.name().clone());
        let mut printer = Printer {
            format,
            most_rows,
            names: names.collect(),
            table: Vec::new(),
            rows: 0,
            kept: Vec::new(),
            has_written: false,
            out,
        };
        if format == Format::Csv {
            let names = printer.names.clone();
            csv_line(names.into_iter(), &mut printer.kept);
        }
        printer
    }

    /// True if a part of the answer was written.
    pub fn has_written(&self) -> bool {
        self.has_written
    }

    /// Adds the rows of a batch.
    ///
    /// # Errors
    /// Writing fails.
    pub fn batch(&mut self, batch: &RecordBatch) -> std::io::Result<()> {
        for row in 0..batch.num_rows() {
            let values = batch.columns().iter().map(|column| Value::at(column, row));
            match self.format {
                Format::Table if self.table.len() < self.most_rows => {
                    self.table.push(values.map(|value| value.shown()).collect());
                }
                Format::Table => {}
                Format::Csv => csv_line(values.map(|value| value.plain()), &mut self.kept),
                Format::Json => {
                    let start: &[u8] = if self.rows == 0 { b"[\n  {" } else { b",\n  {" };
                    self.kept.extend_from_slice(start);
                    for (i, (name, value)) in self.names.iter().zip(values).enumerate() {
                        let comma = if i > 0 { ", " } else { "" };
                        write!(self.kept, "{comma}{}: {}", json!(name), value.json())?;
                    }
                    self.kept.push(b'}');
                }
            }
            self.rows += 1;
        }
        if self.kept.len() > KEPT_BYTES {
            self.write()?;
        }
        Ok(())
    }

    fn write(&mut self) -> std::io::Result<()> {
        self.has_written = true;
        self.out.write_all(&self.kept)?;
        self.kept.clear();
        Ok(())
    }

    /// Writes the end of the answer.
    ///
    /// # Errors
    /// Writing fails.
    pub fn finish(mut self) -> std::io::Result<()> {
        match self.format {
            Format::Table => self.finish_table()?,
            Format::Csv => {}
            Format::Json => {
                let end: &[u8] = if self.rows == 0 { b"[]\n" } else { b"\n]\n" };
                self.kept.extend_from_slice(end);
            }
        }
        self.write()?;
        self.out.flush()
    }

    fn finish_table(&mut self) -> std::io::Result<()> {
        let rows = &self.table;
        let width = |i: usize| {
            let cells = rows.iter().map(|row| row[i].0.chars().count());
            cells
                .chain([self.names[i].chars().count()])
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.names.len()).map(width).collect();
        let is_number = |i: usize| {
            let mut known = rows.iter().filter(|row| !row[i].0.is_empty());
            !rows.is_empty() && known.all(|row| row[i].1)
        };
        let numbers: Vec<bool> = (0..self.names.len()).map(is_number).collect();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let mut text = String::new();
            for (i, cell) in cells.enumerate() {
                let (gap, w) = (if i > 0 { "  " } else { "" }, widths[i]);
                text.push_str(&if numbers[i] {
                    format!("{gap}{cell:>w$}")
                } else {
                    format!("{gap}{cell:<w$}")
                });
            }
            format!("{}\n", text.trim_end())
        };
        let mut text = line(&mut self.names.iter().map(String::as_str));
        let rule: Vec<String> = widths.iter().map(|&w| "-".repeat(w)).collect();
        text.push_str(&line(&mut rule.iter().map(String::as_str)));
        for row in rows {
            text.push_str(&line(&mut row.iter().map(|cell| cell.0.as_str())));
        }
        let more = self.rows - rows.len() as u64;
        if more > 0 {
            text.push_str(&format!("… {more} more rows (--rows N, or --format csv)\n"));
        }
        self.kept.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

fn csv_line(cells: impl Iterator<Item = String>, out: &mut Vec<u8>) {
    for (i, cell) in cells.enumerate() {
        if i > 0 {
            out.push(b',');
        }
        if cell.contains(['"', ',', '\n', '\r']) {
            out.extend_from_slice(format!("\"{}\"", cell.replace('"', "\"\"")).as_bytes());
        } else {
            out.extend_from_slice(cell.as_bytes());
        }
    }
    out.extend_from_slice(b"\r\n");
}
