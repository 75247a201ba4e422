//! Appends runs to a database file.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rusqlite::Connection;

use crate::database::insert;
use crate::error::Error;
use crate::run::Run;
use crate::schema::{TABLES, schema};

/// Marks a database as workspan's in the file's header: `wspn`.
const APPLICATION_ID: i64 = 0x7773_706e;

/// True if the file at `path` is an SQLite database.
pub fn is_database(path: &Path) -> bool {
    let mut magic = [0; 16];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && &magic == b"SQLite format 3\0"
}

/// Appends `runs` runs to the database at `path`, which is created if it does not exist. `make`
/// makes the run with the given index and number. Returns the runs' numbers.
///
/// # Errors
/// The file exists but is not a database of workspan's, or it cannot be written, or `make` fails.
pub fn append<E: From<Error>>(
    path: &Path,
    runs: usize,
    mut make: impl FnMut(usize, i64) -> Result<Run, E>,
) -> Result<Vec<i64>, E> {
    let mut connection = open(path)?;
    let first = next_number(&connection)?;
    let mut numbers = Vec::new();
    for (i, number) in (0..runs).zip(first..) {
        let run = make(i, number)?;
        for table in TABLES {
            let columns: Vec<usize> = (0..table.columns.len()).collect();
            insert(&mut connection, table, &columns, &run).map_err(|e| write_error(path, e))?;
        }
        numbers.push(number);
    }
    for table in TABLES {
        for column in table.index {
            let sql = format!(
                "CREATE INDEX IF NOT EXISTS {0}_by_{column} ON {0} (run, {column})",
                table.name
            );
            let made = connection.execute_batch(&sql).map_err(Error::from);
            made.map_err(|e| write_error(path, e))?;
        }
    }
    Ok(numbers)
}

/// A failure to write the database, with the file's name.
fn write_error(path: &Path, error: Error) -> Error {
    let what = match error {
        Error::Sql(what) if what.contains("has no column named") => {
            "was made by an older workspan, whose tables have fewer columns; choose another name"
                .into()
        }
        Error::Sql(what) => format!("could not be written ({what})"),
        other => return other,
    };
    Error::File(format!("{}: {what}", path.display()))
}

/// Creates a file that only its user may read, because the database has the contents of a trace.
fn make_private(path: &Path) -> Result<(), Error> {
    let opened = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path);
    opened
        .map(drop)
        .map_err(|e| Error::File(format!("{}: cannot be written ({e})", path.display())))
}

fn open(path: &Path) -> Result<Connection, Error> {
    let fail = |what: &str| Error::File(format!("{}: {what}", path.display()));
    let exists = path.metadata().map(|m| m.len()).unwrap_or(0) > 0;
    if exists && !is_database(path) {
        return Err(fail("exists and is not a database; choose another name"));
    }
    make_private(path)?;
    let connection = Connection::open(path).map_err(|e| fail(&e.to_string()))?;
    // A crash loses nothing: the traces are still there.
    connection.execute_batch("PRAGMA synchronous = OFF;")?;
    if exists {
        let id: i64 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
        if id != APPLICATION_ID {
            return Err(fail(
                "is a database that workspan did not create; choose another name",
            ));
        }
    } else {
        let made = format!("{}PRAGMA application_id = {APPLICATION_ID};", schema());
        let made = connection.execute_batch(&made).map_err(Error::from);
        made.map_err(|e| write_error(path, e))?;
    }
    Ok(connection)
}

fn next_number(connection: &Connection) -> Result<i64, Error> {
    let last: Option<i64> =
        connection.query_row("SELECT max(run) FROM runs", [], |row| row.get(0))?;
    Ok(last.unwrap_or(0) + 1)
}
