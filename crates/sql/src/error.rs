//! What can go wrong.

use std::io;

/// Why a query gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// SQLite refused it: syntax, no such table or column, something that is not allowed.
    #[error("{0}")]
    Sql(String),
    /// There is no ready query of that name.
    #[error("there is no query `{0}`; `workspan sql --list` lists them")]
    NoSuchQuery(String),
    /// A database file that is not one of ours.
    #[error("{0}")]
    File(String),
    /// A measure failed.
    #[error(transparent)]
    Measure(#[from] workspan_analysis::Error),
    /// The answer could not be written. What was wrong is the source, so that whoever asked can tell a reader that has left from a full disk.
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
            rusqlite::Error::MultipleStatement => "one statement at a time, please".into(),
            other => other.to_string(),
        };
        let refused = text.contains("not authorized") || text.contains("prohibited");
        Error::Sql(if refused {
            format!("{text}: a query may only read the tables of `workspan sql --schema`")
        } else if text.contains("no such table") || text.contains("no such column") {
            format!("{text}; `workspan sql --schema` says what there is")
        } else {
            text
        })
    }
}
