//! The error type of this crate.

use std::io;

/// The reason why a query could not be answered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// SQLite rejected the query: a syntax error, an unknown table or column, or a forbidden
    /// action.
    #[error("{0}")]
    Sql(String),
    /// There is no ready-made query with that name.
    #[error("there is no query `{0}`; `workspan sql --list` lists all queries")]
    NoSuchQuery(String),
    /// The database file cannot be used.
    #[error("{0}")]
    File(String),
    /// A measure failed.
    #[error(transparent)]
    Measure(#[from] workspan_analysis::Error),
    /// The answer could not be written. The source says why, so that callers can tell a closed pipe
    /// from a full disk.
    #[error("the answer could not be written")]
    Write(#[from] io::Error),
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Error {
        let text = match &error {
            rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
            rusqlite::Error::SqlInputError { msg, offset, .. } if *offset >= 0 => {
                format!("{msg} (at character {})", offset + 1)
            }
            rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
            rusqlite::Error::MultipleStatement => "expected a single statement".into(),
            other => other.to_string(),
        };
        let refused = text.contains("not authorized") || text.contains("prohibited");
        Error::Sql(if refused {
            format!("{text}: a query may only read the tables of `workspan sql --schema`")
        } else if text.contains("no such table") || text.contains("no such column") {
            format!("{text}; `workspan sql --schema` lists tables and columns")
        } else {
            text
        })
    }
}
