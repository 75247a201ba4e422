//! Answers queries from a database in memory that holds only the columns a query reads, or from a
//! database file opened read-only.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rusqlite::functions::FunctionFlags;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use crate::cell::Cell;
use crate::error::Error;
use crate::print::{Format, Limits, print};
use crate::run::{Run, missing_rows_note};
use crate::schema::{TABLES, Table, schema};

/// The columns that a query reads, as (table, column). The column is empty if the query only counts
/// the rows of the table.
pub type ReadColumns = BTreeSet<(String, String)>;

/// Number of steps of SQLite's program between two checks of the time.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

/// A database that answers queries.
pub struct Database {
    connection: Connection,
}

impl Database {
    /// Opens an empty database in memory that has all tables.
    ///
    /// # Errors
    /// SQLite failed.
    pub fn in_memory() -> Result<Database, Error> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(&schema())?;
        with_functions(connection)
    }

    /// Opens a database file for reading.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn read_only(path: &Path) -> Result<Database, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        with_functions(Connection::open_with_flags(path, flags)?)
    }

    /// The columns that `query` reads.
    ///
    /// # Errors
    /// The query is wrong, or does anything except reading.
    pub fn columns_read_by(&self, query: &str) -> Result<ReadColumns, Error> {
        let seen = Arc::new(Mutex::new(ReadColumns::new()));
        let note = Arc::clone(&seen);
        self.connection
            .authorizer(Some(move |context: AuthContext<'_>| {
                if let AuthAction::Read {
                    table_name,
                    column_name,
                } = context.action
                    && let Ok(mut seen) = note.lock()
                {
                    seen.insert((table_name.to_lowercase(), column_name.to_lowercase()));
                }
                allowed(&context)
            }))?;
        let prepared = self.connection.prepare(query);
        let prepared = prepared.map(|statement| statement.column_count());
        self.remove_authorizer()?;
        if prepared? == 0 {
            return Err(Error::Sql(
                "the query returns no rows; expected a SELECT".into(),
            ));
        }
        let seen = seen.lock().map(|seen| seen.clone());
        let mut columns = seen.unwrap_or_default();
        columns.extend(self.compiled(query)?.unwrap_or_else(all_columns));
        Ok(columns)
    }

    /// The columns that SQLite's compiled program for `query` reads. `None` for a query that cannot
    /// be explained, such as an `EXPLAIN` itself.
    ///
    /// The authorizer alone is not enough: it is not called for columns that `USING` and `NATURAL`
    /// join by, nor for tables from which nothing else is read. A column that is not loaded is
    /// NULL, so such a join would find nothing. The compiled program is complete: its plan depends
    /// only on the schema, because there are no statistics of the tables' contents.
    fn compiled(&self, query: &str) -> Result<Option<ReadColumns>, Error> {
        let Ok(mut explained) = self.connection.prepare(&format!("EXPLAIN {query}")) else {
            return Ok(None);
        };
        let mut pages = self
            .connection
            .prepare("SELECT rootpage, name FROM sqlite_schema WHERE type = 'table'")?;
        let pages = pages
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<HashMap<i64, String>, _>>()?;
        let (mut open, mut read) = (HashMap::new(), Vec::new());
        let mut steps = explained.query([])?;
        while let Some(step) = steps.next()? {
            let (code, cursor, number): (String, i64, i64) =
                (step.get("opcode")?, step.get("p1")?, step.get("p2")?);
            match code.as_str() {
                "OpenRead" => {
                    open.insert(cursor, number);
                }
                "Column" => read.push((cursor, number)),
                _ => {}
            }
        }
        let table = |cursor| Table::named(pages.get(open.get(cursor)?)?);
        let rows = open.keys().filter_map(table);
        let mut columns: ReadColumns = rows.map(|t| (t.name.into(), String::new())).collect();
        for (cursor, column) in &read {
            let Some(table) = table(cursor) else {
                // A temporary table, which the program fills with columns it has read.
                continue;
            };
            let column = usize::try_from(*column).ok();
            if let Some(column) = column.and_then(|at| table.columns.get(at)) {
                columns.insert((table.name.into(), column.name.into()));
            }
        }
        Ok(Some(columns))
    }

    /// Removes the authorizer, so that tables can be filled again.
    fn remove_authorizer(&self) -> Result<(), Error> {
        let none: Option<fn(AuthContext<'_>) -> Authorization> = None;
        Ok(self.connection.authorizer(none)?)
    }

    /// Loads the columns in `read` of a run; other columns stay NULL. O(rows).
    ///
    /// # Errors
    /// SQLite failed.
    pub fn load(&mut self, run: &Run, read: &ReadColumns) -> Result<(), Error> {
        for table in TABLES {
            let columns: Vec<usize> = (0..table.columns.len())
                .filter(|&c| read.contains(&(table.name.into(), table.columns[c].name.into())))
                .collect();
            if !columns.is_empty() {
                insert(&mut self.connection, table, &columns, run)?;
            } else if read.iter().any(|(name, _)| name == table.name) {
                // `count(*)`: load the rows with only their run.
                insert(&mut self.connection, table, &[0], run)?;
            }
        }
        if read.iter().any(|(name, _)| name == "task_paths") {
            // Without this index, each step of the view would search all tasks.
            self.connection.execute_batch(
                "CREATE INDEX IF NOT EXISTS tasks_by_parent ON tasks (run, parent)",
            )?;
        }
        Ok(())
    }

    /// For a database file: a note for each run whose tables lack rows of folded tasks (see
    /// [`Run::missing_rows_note`]).
    pub fn missing_rows_notes(&self, read: &ReadColumns) -> Vec<String> {
        let Some(table) = table_of_tasks(read) else {
            return Vec::new();
        };
        let notes = || {
            let mut folded_tasks = self.connection.prepare(
                "SELECT r.run, r.file, sum(t.folded) FROM runs r JOIN tasks t ON t.run = r.run GROUP BY r.run HAVING sum(t.folded) > 0",
            )?;
            let notes = folded_tasks.query_map([], |row| {
                let (run, file, folded): (_, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok(missing_rows_note(run, &file, table, folded.unsigned_abs()))
            })?;
            notes.collect::<Result<Vec<_>, _>>()
        };
        // Databases of older versions do not have the column.
        notes().unwrap_or_default()
    }

    /// Runs `query` and writes its rows to `out`. The query may only read the tables.
    ///
    /// # Errors
    /// The query is wrong or not allowed, or `out` cannot be written.
    pub fn query(
        &self,
        query: &str,
        format: Format,
        limits: &Limits,
        out: &mut impl Write,
    ) -> Result<(), Error> {
        self.connection
            .authorizer(Some(|context: AuthContext<'_>| allowed(&context)))?;
        let deadline = limits.time.map(|time| Instant::now() + time);
        let is_late = move || deadline.is_some_and(|deadline| Instant::now() > deadline);
        self.connection
            .progress_handler(STEPS_BETWEEN_LOOKS, Some(is_late))?;
        let result = print(&self.connection, query, format, limits, out);
        let none: Option<fn() -> bool> = None;
        self.connection.progress_handler(0, none)?;
        self.remove_authorizer()?;
        match (result, limits.time) {
            (Err(Error::Sql(text)), Some(time)) if text == "interrupted" => Err(Error::Sql(
                format!("the query was ended because it took longer than {time:?}"),
            )),
            (result, _) => result,
        }
    }
}

/// The first of the tables in `read` that lacks rows of folded tasks.
pub(crate) fn table_of_tasks(read: &ReadColumns) -> Option<&'static str> {
    let is_read = |table: &&str| read.iter().any(|(name, _)| name == table);
    ["tasks", "strands", "edges"].into_iter().find(is_read)
}

/// All columns of all tables.
fn all_columns() -> ReadColumns {
    let columns = |table: &'static Table| {
        let columns = table.columns.iter();
        columns.map(|column| (table.name.into(), column.name.into()))
    };
    TABLES.iter().flat_map(columns).collect()
}

/// Adds `log2(x)`, which SQLite's bundled build lacks. It is NULL unless `x` is a number above 0.
fn with_functions(connection: Connection) -> Result<Database, Error> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("log2", 1, flags, |context| {
        let value = match context.get_raw(0) {
            ValueRef::Integer(v) => v as f64,
            ValueRef::Real(v) => v,
            _ => return Ok(None),
        };
        Ok((value > 0.0).then(|| value.log2()))
    })?;
    Ok(Database { connection })
}

/// Allows reading tables, calling functions and recursion, and nothing that changes a file, this
/// process or the database.
fn allowed(context: &AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => {
            Authorization::Allow
        }
        AuthAction::Function { function_name }
            if !function_name.eq_ignore_ascii_case("load_extension") =>
        {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

/// Inserts the rows of a run, with values in the given columns.
pub(crate) fn insert(
    connection: &mut Connection,
    table: &Table,
    columns: &[usize],
    run: &Run,
) -> Result<(), Error> {
    let names: Vec<String> = columns
        .iter()
        .map(|&c| format!("\"{}\"", table.columns[c].name))
        .collect();
    let marks = vec!["?"; columns.len()].join(",");
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({marks})",
        table.name,
        names.join(",")
    );
    let transaction = connection.transaction()?;
    {
        let mut statement = transaction.prepare(&sql)?;
        let mut cells: Vec<Cell> = Vec::with_capacity(columns.len());
        for row in 0..(table.rows)(run) {
            cells.clear();
            cells.extend(columns.iter().map(|&c| (table.columns[c].value)(run, row)));
            statement.execute(rusqlite::params_from_iter(&cells))?;
        }
    }
    transaction.commit()?;
    Ok(())
}
