//! A database file of several runs.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rusqlite::Connection;

use crate::database::insert;
use crate::error::Error;
use crate::run::Run;
use crate::schema::{TABLES, schema};

/// Says "this database is workspan's" in the file's header: `wspn`.
const APPLICATION: i64 = 0x7773_706e;

/// True for a file that SQLite wrote.
pub fn is_database(path: &Path) -> bool {
    let mut magic = [0; 16];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && &magic == b"SQLite format 3\0"
}

/// Appends runs to the database at `path`, which is made when it is not there. `make` is given each run's number. Returns the
/// numbers given. When something fails the file is as it was.
///
/// # Errors
/// The file is there and is no database of workspan's, or can't be written; or `make` fails.
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
            insert(&mut connection, table, &columns, &run).map_err(|e| unwritten(path, e))?;
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
            made.map_err(|e| unwritten(path, e))?;
        }
    }
    Ok(numbers)
}

/// The error with the file's name.
fn unwritten(path: &Path, error: Error) -> Error {
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

/// A new file that only its user may read: what is in a trace is in the database.
fn make_private(path: &Path) -> Result<(), Error> {
    let opened = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path);
    opened
        .map(drop)
        .map_err(|e| Error::File(format!("{}: can't be written ({e})", path.display())))
}

fn open(path: &Path) -> Result<Connection, Error> {
    let fail = |what: &str| Error::File(format!("{}: {what}", path.display()));
    let there = path.metadata().map(|m| m.len()).unwrap_or(0) > 0;
    if there && !is_database(path) {
        return Err(fail("exists and is no database; choose another name"));
    }
    make_private(path)?;
    let connection = Connection::open(path).map_err(|e| fail(&e.to_string()))?;
    // What is lost by a crash is recorded elsewhere.
    connection.execute_batch("PRAGMA synchronous = OFF;")?;
    if there {
        let id: i64 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
        if id != APPLICATION {
            return Err(fail(
                "is a database, but none that workspan made; choose another name",
            ));
        }
    } else {
        let made = format!("{}PRAGMA application_id = {APPLICATION};", schema());
        let made = connection.execute_batch(&made).map_err(Error::from);
        made.map_err(|e| unwritten(path, e))?;
    }
    Ok(connection)
}

fn next_number(connection: &Connection) -> Result<i64, Error> {
    let last: Option<i64> =
        connection.query_row("SELECT max(run) FROM runs", [], |row| row.get(0))?;
    Ok(last.unwrap_or(0) + 1)
}
