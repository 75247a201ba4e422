//! Lines of comma-separated values (RFC 4180, without line breaks inside of cells).

use workspan_dag::Error;

/// The largest length of a cell, in bytes. Cells are names and numbers.
const MAX_CELL_BYTES: usize = 4096;

/// A line with its number, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub line: usize,
    pub cells: Vec<String>,
}

impl Row {
    /// Returns an error of this line.
    pub(crate) fn fail<T>(&self, what: impl std::fmt::Display) -> Result<T, Error> {
        Err(Error::Text {
            line: self.line,
            what: what.to_string(),
        })
    }

    /// The text of a cell; empty if there is no such cell.
    pub(crate) fn text(&self, cell: usize) -> &str {
        self.cells.get(cell).map_or("", |cell| cell.trim())
    }

    /// A number that is not negative. Infinite numbers are rejected, because they cannot be drawn.
    pub(crate) fn number(&self, cell: usize, what: &str) -> Result<f64, Error> {
        match self.text(cell).parse::<f64>() {
            Ok(n) if n.is_finite() && n >= 0.0 => Ok(n),
            _ => {
                let found: String = self.text(cell).chars().take(40).collect();
                self.fail(format!(
                    "{what} is `{}`; expected a number, not negative",
                    found.escape_default()
                ))
            }
        }
    }
}

/// The rows that are not empty.
///
/// # Errors
/// A quote without its end, or a cell of more than 4096 bytes.
pub(crate) fn rows(text: &str) -> Result<Vec<Row>, Error> {
    let lines = (1..).zip(text.lines());
    let used = lines.filter(|(_, text)| !text.trim().is_empty());
    used.map(|(line, text)| row(line, text)).collect()
}

fn row(line: usize, text: &str) -> Result<Row, Error> {
    let mut row = Row {
        line,
        cells: vec![String::new()],
    };
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    let mut bytes = 0;
    while let Some(c) = characters.next() {
        bytes += c.len_utf8();
        if bytes > MAX_CELL_BYTES {
            return row.fail(format!("a cell of more than {MAX_CELL_BYTES} bytes"));
        }
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                push(&mut row, '"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => {
                row.cells.push(String::new());
                bytes = 0;
            }
            c => push(&mut row, c),
        }
    }
    if quoted {
        return row.fail("a quote without its end");
    }
    Ok(row)
}

fn push(row: &mut Row, c: char) {
    if let Some(cell) = row.cells.last_mut() {
        cell.push(c);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_commas_and_quotes() {
        let rows = rows("a,\"b,c\",\"d\"\"e\"\r\n\n,\n").unwrap();
        assert_eq!(rows[0].cells, ["a", "b,c", "d\"e"]);
        assert_eq!((rows[1].line, rows[1].cells.len()), (3, 2));
        assert!(super::rows("\"a").is_err());
    }
}
